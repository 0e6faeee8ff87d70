"""What a query reads is found whole, and the query that is sent says what the reviewed one says."""

from __future__ import annotations

import promql_parser as pp
import pytest

from gatekeeper.evidence.prometheus import promql
from gatekeeper.evidence.prometheus.promql import PromqlError, Selector, bind, parse, selectors
from tests.evidence.prometheus.promql_corpus import QUERIES


def found(query: str) -> list[tuple[str, float, float, bool]]:
    """Text, window, offset and `has_at` of each selector."""
    return [(one.text, one.window_seconds, one.offset_seconds, one.has_at) for one in selectors(parse(query))]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("x", [("x", 0, 0, False)]),
        ("rate(x[5m])", [("x", 300, 0, False)]),
        ("rate(x[5m] offset 1h)", [("x", 300, 3600, False)]),
        ("x offset -90s500ms", [("x", 0, -90.5, False)]),
        ("x @ 5 offset 1m", [("x", 0, 60, True)]),
        ("rate(x[5m] @ end())", [("x", 300, 0, True)]),
        ("max_over_time(x[30m:1m])", [("x", 1800, 0, False)]),
        ("max_over_time(rate(x[5m] offset 1m)[30m:] offset 2m)", [("x", 2100, 180, False)]),
        (
            "max_over_time(min_over_time(rate(x[1m] offset 1s)[2m:30s] offset 10s)[5m:1m] offset 100s)",
            [("x", 480, 111, False)],
        ),
        ("max_over_time(rate(x[5m])[30m:1m] @ 5) + y", [("x", 2100, 0, True), ("y", 0, 0, False)]),
        ("x + max_over_time(x[30m:1m]) + x", [("x", 0, 0, False), ("x", 1800, 0, False)]),
        ("topk(scalar(z), y) + label_replace(x, 'a', 'b', 'c', 'd')", [(one, 0, 0, False) for one in "zyx"]),
        ("-(x) ^ sum by (a) (rate(y[1m])) or z", [("x", 0, 0, False), ("y", 60, 0, False), ("z", 0, 0, False)]),
        ("1 + time()", []),
    ],
)
def test_no_selector_and_no_reach_of_one_is_overlooked(
    query: str, expected: list[tuple[str, float, float, bool]]
) -> None:
    """A window or an offset that is left out would make old data look fresh."""
    assert found(query) == expected


@pytest.mark.parametrize(
    ("query", "name", "text"),
    [
        ("x", "x", "x"),
        ("x{}", "x", "x"),
        ('{__name__="x"}', "x", '{__name__="x"}'),
        ('{__name__=~"x.*"}', None, '{__name__=~"x.*"}'),
        ('{job="a"}', None, '{job="a"}'),
        ('{"quoted.name", a="b"}', "quoted.name", '{__name__="quoted.name",a="b"}'),
        ('x{"a.b"="c"}', "x", 'x{"a.b"="c"}'),
        ('{__name__="x",__name__="y"}', None, '{__name__="x",__name__="y"}'),
        ('a:b{z="1",a!="2",m=~"3",b!~"4"}', "a:b", 'a:b{a!="2",b!~"4",m=~"3",z="1"}'),
        (r"""x{a='"\\d\n\x07'}""", "x", r'x{a="\"\\d\n\u0007"}'),
        (r"x{a=~`\d+`}", "x", r'x{a=~"\\d+"}'),
        ('x{a="}"} offset 1m', "x", 'x{a="}"}'),
        ("x{a='\N{RIGHT-TO-LEFT OVERRIDE}\N{TAG SPACE}é'}", "x", r'x{a="\u202e\U000e0020é"}'),
    ],
)
def test_a_selector_reads_back_as_itself(query: str, name: str | None, text: str) -> None:
    """Its text is asked again for the watermark: without an escape it would be another selector, or none."""
    assert [(one.name, one.text) for one in selectors(parse(query))] == [(name, text)]
    assert selectors(parse(text)) == (Selector(name, text, 0.0, 0.0, has_at=False),)


def test_the_same_matchers_in_another_order_are_one_selector() -> None:
    """Each distinct selector costs a request."""
    assert len(selectors(parse('x{a="1",b="2"} + x{b="2",a="1",a="1"}'))) == 1


BOUND = 'x{v="c"}'


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("x", BOUND),
        ('x{v="baseline"}', BOUND),
        ('x{v="baseline",v="other"}', BOUND),
        ('{__name__="x"}', '{__name__="x",v="c"}'),
        ("x offset 1m", f"{BOUND} offset 1m"),
        ("x offset -90s500ms", f"{BOUND} offset -1m30s500ms"),
        ("x offset 1w @ 5.25", f"{BOUND} @ 5.250 offset 1w"),
        ("x @ end()", f"{BOUND} @ end()"),
        ("rate(x[5m] offset 1h @ start())", f"rate({BOUND}[5m] @ start() offset 1h)"),
        ("max_over_time(x[5m:] offset 1m)", f"max_over_time({BOUND}[5m:] offset 1m)"),
        ('x{a=~"}|b"} / on (a) group_left (b) y', 'x{a=~"}|b",v="c"} / on (a) group_left (b) y{v="c"}'),
        ("topk(scalar(x), -x)", f"topk(scalar({BOUND}), -{BOUND})"),
        ("1 + 2", "1 + 2"),
    ],
)
def test_every_selector_is_bound_and_nothing_else_changes(query: str, expected: str) -> None:
    """One selector that was missed would mix the baseline's data into the variant's."""
    assert bind(query, {"v": "c"}) == expected


def test_several_labels_are_bound_together() -> None:
    """A variant may be told by two labels."""
    assert bind('x{a="0",b="0"}', {"a": "1", "z": ""}) == 'x{a="1",b="0",z=""}'


@pytest.mark.parametrize("op", ["!=", "=~", "!~"])
def test_a_label_matched_otherwise_is_refused(op: str) -> None:
    """Binding would contradict the query: the answer would be empty or another one than was reviewed."""
    with pytest.raises(PromqlError) as caught:
        bind(f'y / rate(x{{v{op}"a"}}[5m])', {"v": "c"})
    assert str(caught.value) == (
        f'x{{v{op}"a"}} matches v with {op}: state `variant_query` and `baseline_query`, or `bind: false`'
    )
    assert bind(f'x{{v{op}"a"}}', {"w": "c"}) == f'x{{v{op}"a",w="c"}}'


@pytest.mark.parametrize("name", ["", "a-b", "a.b", "1a", "é", "__name__", 'a="1",b', "a:b"])
def test_a_name_that_is_no_label_is_not_bound(name: str) -> None:
    """It would be text that the server reads as something else."""
    with pytest.raises(PromqlError, match="is no label that can be bound"):
        bind("x", {name: "c"})


def test_binding_that_leaves_nothing_to_match_is_refused() -> None:
    """A selector of an empty label alone would be all series; the server refuses it, and so do we."""
    with pytest.raises(PromqlError, match="at least one non-empty matcher"):
        bind('{v="a"}', {"v": ""})


def test_half_of_a_surrogate_pair_is_refused() -> None:
    """No server can be sent it, and it must not end the program."""
    with pytest.raises(PromqlError, match=r"'\\ud800' is no text"):
        bind("x", {"v": "\ud800"})
    with pytest.raises(PromqlError):
        parse("x{v='\ud800'}")


@pytest.mark.parametrize("query", QUERIES)
def test_the_text_that_is_sent_is_one_line_and_means_the_same(query: str) -> None:
    """Line breaks in the log and in tables would hide what was asked; spaces inside a string are part of it."""
    text = bind(query, {})
    assert text.isprintable()
    assert text == text.strip()
    assert parse(text).prettify() == parse(query).prettify()
    assert bind(text, {}) == text


def test_a_long_query_is_one_line_without_spaces_at_brackets() -> None:
    """The parser writes it on a line per operand."""
    rate = 'sum by (le) (rate(http_requests_total{code=~"5..",path="( a )  b"}[5m]))'
    query = f'{rate} / label_replace(max_over_time(({rate} - {rate})[5m:]), "( a", "( ", ".*", " )")'
    assert parse(query).prettify().count("\n") > 10
    assert bind(query, {}) == query


def test_a_text_that_would_say_something_else_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should a way of writing be found that changes the query, it is refused."""
    monkeypatch.setattr(promql, "one_line", lambda pretty: " ".join(pretty.split()))
    assert bind('x{a="b c"}', {}) == 'x{a="b c"}'
    with pytest.raises(PromqlError, match="cannot be written in one line"):
        bind('x{a="b  c"}', {})


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "no expression found in input"),
        ("sum(x", "unclosed left parenthesis"),
        ("x y", "invalid promql query"),
        ("rate(x)", "expected type matrix in call to function 'rate', got vector"),
        ("nonsense(x)", "unknown function with name 'nonsense'"),
        ("{}", "vector selector must contain at least one non-empty matcher"),
        ('x{a="1" or b="2"}', "`or` between matchers is MetricsQL, not PromQL"),
        ("x default 0", "invalid promql query"),
        ("x{\n\na~'b'}", "unexpected character"),
        ('x{a=~"(\\n\\n"}', "illegal regex for ("),
    ],
)
def test_what_is_not_promql_is_refused_with_the_reason(query: str, reason: str) -> None:
    """A mistake in a reviewed file is told when it is loaded, not by a server at night."""
    with pytest.raises(PromqlError) as caught:
        parse(query)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_alternatives_in_braces_are_refused_wherever_they_stand() -> None:
    """Their matchers would be overlooked: the parser keeps them in a place of their own."""
    with pytest.raises(PromqlError, match="MetricsQL"):
        parse('1 + sum(rate(x{a="1" or b="2"}[5m]))')


def test_own_walk_meets_every_node_that_the_parsers_walk_meets() -> None:
    """A construct of the language that ours skips would hide the selectors inside."""
    for query in QUERIES:
        expr = parse(query)
        theirs: list[str] = []
        pp.walk(expr, pre_visit=lambda node, theirs=theirs: theirs.append(node.prettify()))  # type: ignore[misc]
        assert [node.prettify() for node in promql.nodes(expr)] == theirs, query
