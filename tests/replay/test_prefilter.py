"""A shortcut over bytes that answers otherwise than reading every line."""

from __future__ import annotations

import json
from tempfile import NamedTemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.replay.blocks import Source
from gatekeeper.replay.prefilter import needles_of
from gatekeeper.replay.query import Filter, select
from gatekeeper.replay.scan import Scan
from tests.replay.builder import parsed, rollout
from tests.replay.test_query import FILTERS

# few values, some hard to write in JSON, so that lines and filters meet often
RUNS = ("r1", "r/2", 'r"3', "r\\4", "ré5", "r:\u2028", "r1x")
STAGES = ("SHADOW", "CANARY_10")
REASONS = ("guardrail_violation:a", 'guardrail_violation:"q"', "evidence_missing:c/d", "observation_stale:é", "x[y]z*")
GLOBS = ("guardrail_violation:*", "*:c/d", "*[ac]", "x[[]y*", "?vidence_missing:*", "*", "guardrail[]abcd_]violation:a")
PATTERNS = (*REASONS, *GLOBS, "observation_stale")
VERDICTS = ("ACCEPT", "REJECT", "DEGRADE")
KINDS = ("decision", "action", "policy")


def _events() -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {
            "run_id": st.sampled_from(RUNS),
            "experiment_id": st.sampled_from(RUNS),
            "stage": st.sampled_from(STAGES),
            "decision": st.fixed_dictionaries(
                {
                    "verdict": st.sampled_from(VERDICTS),
                    "reason_codes": st.lists(st.sampled_from(REASONS), max_size=2),
                }
            ),
            "note": st.sampled_from(("REJECT", "{", '{"', "}", "\\", "plain")),
        },
        optional={"kind": st.sampled_from(KINDS)},
    )


@st.composite
def _lines(draw: st.DrawFn) -> bytes:
    """One event as somebody may write it: spaced or not, escaped or not, sometimes cut or glued."""
    event = draw(_events())
    text = json.dumps(
        event, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    )
    style = draw(st.sampled_from(("plain", "plain", "slash", "letters", "cut", "glued", "crlf")))
    if style == "slash":
        text = text.replace("/", "\\/")
    elif style == "letters":
        text = text.replace("r1", "\\u0072\\u0031").replace("REJECT", "\\u0052EJECT")
    data = text.encode()
    if style == "cut":
        return data[: draw(st.integers(0, len(data) - 1))]
    if style == "glued":
        return data[: draw(st.integers(1, len(data) - 1))] + data
    return data + b"\r" if style == "crlf" else data


def _filters() -> st.SearchStrategy[Filter]:
    return st.builds(
        Filter,
        run=st.none() | st.sampled_from(RUNS),
        experiment=st.none() | st.sampled_from(RUNS),
        stage=st.none() | st.sampled_from(STAGES),
        verdicts=st.sets(st.sampled_from(VERDICTS), max_size=2),
        reason=st.none() | st.sampled_from(PATTERNS),
        kinds=st.sets(st.sampled_from(KINDS), max_size=2),
    )


def _scanned(data: list[bytes], wanted: Filter) -> tuple[list[int], list[int]]:
    """Line numbers selected by searching a file of these lines, and those of the damaged lines that it names."""
    with NamedTemporaryFile() as file:
        file.write(b"".join(line + b"\n" for line in data))
        file.flush()
        scan = Scan([Source(file.name)], wanted)
        return [line.number for line in scan.lines()], [line.number for line in scan.holes.damaged]


def _both_ways(data: list[bytes], wanted: Filter) -> tuple[list[int], list[int]]:
    """Line numbers selected by reading all, and by searching for what the filter must find."""
    return [line.number for line in select(parsed(data), wanted)], _scanned(data, wanted)[0]


def _may_match(data: bytes, wanted: Filter) -> bool:
    """Whether a line holds one needle of each group."""
    return all(any(needle in data for needle in group) for group in needles_of(wanted))


@pytest.mark.slow
@given(st.lists(_lines(), max_size=8), _filters())
def test_the_prefilter_never_loses_a_line_that_is_meant(data: list[bytes], wanted: Filter) -> None:
    """Whatever spacing, escapes and damage: the same lines in the same order."""
    plain, filtered = _both_ways(data, wanted)
    assert filtered == plain


@pytest.mark.parametrize("name", FILTERS)
def test_the_prefilter_agrees_on_a_real_log(name: str) -> None:
    """Each filter of the query's own table."""
    plain, filtered = _both_ways(rollout(), FILTERS[name][0])
    assert filtered == plain


@given(st.integers(min_value=1))
def test_the_prefilter_lets_torn_and_glued_lines_through_so_that_they_are_named(cut: int) -> None:
    """A line cut anywhere, alone or with the next one glued to it, is damaged in both ways of reading."""
    whole = rollout()
    torn = whole[2][: cut % (len(whole[2]) - 1) + 1]
    data = [*whole[:2], torn, torn + whole[3], b"no JSON", b"\xff", *whole[4:]]
    wanted = Filter(run="nobody")
    assert _scanned(data, wanted) == ([], [3, 4, 5, 6])


def test_a_line_that_was_torn_behind_an_object_is_named() -> None:
    """It ends as a whole event does, and holds all that a search looks at; only its time and variant are lost."""
    whole = rollout()
    torn, _, _ = whole[2].partition(b',"ts":')
    assert torn.endswith(b'"}')
    assert _scanned([*whole[:2], torn, *whole[3:]], Filter(run="nobody")) == ([], [3])


def test_the_prefilter_saves_the_parsing_of_lines_that_cannot_match() -> None:
    """Of the example's ten lines only two hold the verdict REJECT, and none the run asked."""
    rejects, nobody = Filter(verdicts=("REJECT",)), Filter(run="nobody")
    assert [number for number, data in enumerate(rollout(), 1) if _may_match(data, rejects)] == [7, 10]
    assert needles_of(nobody)
    assert not any(_may_match(data, nobody) for data in rollout())


def test_there_is_no_prefilter_where_bytes_could_tell_nothing() -> None:
    """A decision need not say that it is one."""
    assert needles_of(Filter()) == []
    assert needles_of(Filter(reason="*a*")) == []
    assert needles_of(Filter(since=1, limit=3)) == []


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{"run_id":"\\u0072\\u0031"}', Filter(run="r1")),
        (b'{"run_id":"r\\/2"}', Filter(run="r/2")),
        (b'{"run_id":"r\\"3"}', Filter(run='r"3')),
        (b'{ "run_id" : "r1" }', Filter(run="r1")),
        ('{"run_id":"r\u00e95"}'.encode(), Filter(run="r\u00e95")),
        (b'{"decision":{"reason_codes":["evidence_missing:x"]}}', Filter(reason="evidence?missing:*")),
        (b'{"decision":{"reason_codes":["guardrail_violation:a"]}}', Filter(reason="guardrail[]abcd_]violation:a")),
        (b'{"decision":{"reason_codes":["observation_stale:x"]}}', Filter(reason="observation_stale")),
    ],
)
def test_a_line_written_in_an_unusual_way_is_still_found(data: bytes, wanted: Filter) -> None:
    """Each way of writing that JSON allows, and each sign of a glob."""
    assert _both_ways([data], wanted) == ([1], [1])


def test_a_line_that_no_utf8_holds_is_let_through_so_that_it_is_named() -> None:
    """Its braces are in pairs, and yet it is damaged."""
    assert _scanned([b'{"run_id":"\xff"}'], Filter(run="nobody")) == ([], [1])
    assert not _may_match(b'{"run_id":"x"}', Filter(run="nobody"))
