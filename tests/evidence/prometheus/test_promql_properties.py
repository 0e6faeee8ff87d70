"""Laws of binding and of texts: whatever a label value holds, the server is asked for exactly that value."""

from __future__ import annotations

import promql_parser as pp
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.evidence.prometheus.promql import bind, nodes, parse, selectors
from gatekeeper.evidence.prometheus.promql_text import duration_text, quoted
from gatekeeper.model.times import parse_duration

VALUES = st.text() | st.text(alphabet="\"'`\\\n\r\t\x00\x1b\x7f\x85\u2028\u202e#{}()[]$, du0é😀", max_size=12)
QUERIES = st.sampled_from(
    [
        "up",
        'up{v="old"}',
        '{__name__="up",a="b c",z!~"y|"}',
        "sum(rate(up[5m] offset 1m)) / on (v) max_over_time(up{v='old'}[30m:1m] offset -2m)",
        "topk(3, up offset 5m) or -up",
    ]
)


def matchers(query: str) -> list[set[tuple[str, bool, str]]]:
    """Label, whether it is matched with `=`, and value, of each selector in turn; as the parser reads it."""
    return [
        {(one.name, one.op == pp.MatchOp.Equal, one.value) for one in node.matchers.matchers}
        for node in nodes(pp.parse(query))
        if isinstance(node, pp.VectorSelector)
    ]


@given(VALUES, QUERIES)
@example('a"b\\c\né', "up")
@example("\\", "up")
@example("\ud7ff\U0010ffff", "up")
def test_the_bound_value_is_the_stated_one(value: str, query: str) -> None:
    """A value that were cut short or read as PromQL would ask for another variant's data."""
    text = bind(query, {"v": value})
    for was, now in zip(matchers(query), matchers(text), strict=True):
        assert now == {one for one in was if one[0] != "v"} | {("v", True, value)}
    assert text.isprintable()
    assert bind(text, {"v": value}) == text


@given(VALUES, st.sampled_from(["=", "!="]))
def test_a_selectors_text_asks_for_the_same_value(value: str, op: str) -> None:
    """Its watermark would else be that of other series."""
    (selector,) = selectors(parse(f"rate(up{{a{op}{quoted(value)}}}[5m])"))
    assert matchers(selector.text) == [{("a", op == "=", value)}]


@given(st.text(alphabet="\"'\\\n #{}()[]$dwé\x00", max_size=12))
def test_a_backtick_string_is_what_stands_between_the_backticks(value: str) -> None:
    """The server takes it as it stands; it is sent in double quotes."""
    (selector,) = selectors(parse(f"up{{a!=`{value}`}}"))
    assert matchers(selector.text) == [{("a", False, value)}]


@given(st.integers(min_value=1, max_value=100 * 365 * 86_400_000))
def test_a_duration_reads_back_as_itself(milliseconds: int) -> None:
    """An offset that were rounded would ask about another time."""
    assert parse_duration(duration_text(milliseconds / 1000)) == milliseconds
    assert duration_text(-milliseconds / 1000) == "-" + duration_text(milliseconds / 1000)
