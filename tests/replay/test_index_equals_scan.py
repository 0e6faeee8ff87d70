"""A query that is answered otherwise from the index than by reading every line."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gatekeeper.cli.damaged import as_documents
from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.indexing import open_index
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.ports import EventIndex
from gatekeeper.replay.group import FIELDS, group
from gatekeeper.replay.indexed import IndexedQuery
from gatekeeper.replay.lines import parse_line
from gatekeeper.replay.query import Filter
from tests.ledger.drafts import accept_gap, decision, stop
from tests.replay.builder import START, rollout
from tests.replay.logs import (
    CHANGES,
    EXPERIMENTS,
    HOUR,
    POLICIES,
    REASONS,
    RUNS,
    STAGES,
    VERDICTS,
    Quick,
    Writer,
    ledger_at,
    logs,
    take_in,
)
from tests.replay.plainly import Plainly
from tests.replay.test_query import ALL_KINDS, FILTERS

pytestmark = pytest.mark.slow

MOMENTS = st.sampled_from([START + hours * HOUR + offset for hours in (0, 1, 2, 30, 61, 120) for offset in (-1, 0, 1)])


def seldom(*values: Any) -> st.SearchStrategy[Any]:
    """One of the values, but as a rule None: filters that ask everything at once mean nothing."""
    return st.sampled_from((*(None for _ in range(3 * len(values))), *values))


def filters() -> st.SearchStrategy[Filter]:
    """Every option of `replay`, with values that logs hold and some that they do not."""
    return st.builds(
        Filter,
        run=seldom(*RUNS, "nobody", "old"),
        experiment=seldom(*EXPERIMENTS, "none"),
        verdicts=st.just(()) | st.just(()) | st.sets(st.sampled_from(VERDICTS), max_size=2),
        stage=seldom(*STAGES, ""),
        reason=seldom(*REASONS, "guardrail_violation", "*:x", "*"),
        policy=seldom(*POLICIES, "p@1", "2", "sha256:" + "a" * 9),
        since=st.none() | st.none() | MOMENTS,
        until=st.none() | st.none() | MOMENTS,
        kinds=st.just(()) | st.just(ALL_KINDS) | st.sets(st.sampled_from(ALL_KINDS), max_size=3),
        limit=seldom(0, 1, 2, 3),
        include_simulated=st.booleans(),
    )


def indexed(path: Path, wanted: Filter, fields: tuple[str, ...]) -> dict[str, Any]:
    """The answer of the index."""
    index, _ = open_index(str(path), ops=Quick())
    assert index is not None
    try:
        return told_by(index, wanted, fields)
    finally:
        index.close()


def told_by(index: EventIndex, wanted: Filter, fields: tuple[str, ...]) -> dict[str, Any]:
    """The same, of an index that is open."""
    query = IndexedQuery(index, wanted)
    return {
        "lines": list(query.data()),
        "damaged": as_documents(query.holes.damaged),
        "gaps": [(gap.from_seq, gap.to_seq) for gap in query.holes.gaps],
        "groups": [row.to_dict() for row in query.groups(fields)],
    }


def scanned(path: Path, wanted: Filter, fields: tuple[str, ...]) -> dict[str, Any]:
    """The answer of reading every line."""
    lines = [
        parse_line(source, number, data, is_terminated=is_terminated)
        for source, number, data, is_terminated in raw_lines([str(path)])
    ]
    found = Plainly(lines, wanted)
    return {
        "lines": [line.data for line in found.lines],
        "damaged": as_documents(found.damaged),
        "gaps": found.gaps,
        "groups": [row.to_dict() for row in group(found.lines, fields)],
    }


@pytest.fixture(scope="module")
def place() -> Iterator[Callable[[], Path]]:
    """Gives a new path for a log each time."""
    directory = Path(tempfile.mkdtemp())
    yield lambda: Path(tempfile.mkdtemp(dir=directory)) / "decision.ndjson"
    shutil.rmtree(directory)


@settings(max_examples=150, deadline=None)
@given(
    log=logs(),
    seen=st.integers(0, 14),
    wanted=st.lists(filters(), min_size=1, max_size=5),
    fields=st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3)
    | st.sampled_from((["verdict", "reason"], ["day"])),
)
def test_both_ways_give_the_same_answer(
    log: tuple[list[bytes], bytes], seen: int, wanted: list[Filter], fields: list[str], place: Callable[[], Path]
) -> None:
    """Whatever stands in the log, read at once or in two parts: lines, counts, damaged lines and gaps."""
    lines, rest = log
    path = place()
    take_in(path, lines[:seen])
    take_in(path, lines, rest)
    for one in wanted:
        assert indexed(path, one, tuple(fields)) == scanned(path, one, tuple(fields)), one


def looks_the_same(lines: list[bytes], other: list[bytes]) -> bool:
    """Whether a file was changed before a last line that stands where it stood: `verify` finds that, not the ledger."""
    before, after = (b"".join(line + b"\n" for line in given) for given in (lines, other))
    last = next((line for line in reversed(lines) if line.strip()), b"")
    place = before.rfind(last + b"\n")
    return after[: len(before)] != before and after[place : place + len(last) + 1] == last + b"\n"


@settings(max_examples=150, deadline=None)
@given(log=logs(), again=st.data(), wanted=st.lists(filters(), min_size=1, max_size=4), field=st.sampled_from(FIELDS))
def test_both_ways_agree_on_a_file_that_was_replaced(
    log: tuple[list[bytes], bytes], again: st.DataObject, wanted: list[Filter], field: str, place: Callable[[], Path]
) -> None:
    """Cut, thinned out, doubled or shuffled under the ledger: the index knows what stands there now, and what not."""
    lines, rest = log
    path = place()
    take_in(path, lines)
    dropped = again.draw(st.sets(st.integers(0, 15), min_size=1, max_size=4))
    other = [line for number, line in enumerate(lines) if number not in dropped]
    if again.draw(st.integers(0, 3)) == 0:
        other = again.draw(st.permutations(other + other[:1]))
    assume(not looks_the_same(lines, other))
    try:
        take_in(path, other, rest)
    except StateUnreadableError:  # two events of one seq, the other was seen before: the log is not used at all
        return
    for one in wanted:
        assert indexed(path, one, (field,)) == scanned(path, one, (field,)), one


@pytest.mark.parametrize("name", FILTERS)
def test_both_ways_agree_on_events_as_the_product_writes_them(name: str, tmp_path: Path) -> None:
    """Each filter of the query's own table, on evaluated decisions, with every field to group by."""
    path = tmp_path / "decision.ndjson"
    take_in(path, rollout())
    for wanted in (FILTERS[name][0], replace(FILTERS[name][0], kinds=ALL_KINDS)):
        assert indexed(path, wanted, FIELDS) == scanned(path, wanted, FIELDS)
        for field in FIELDS:
            assert indexed(path, wanted, (field,)) == scanned(path, wanted, (field,))


def test_events_of_one_writer_are_all_listed(tmp_path: Path) -> None:
    """An index that took every line for odd would be right, and slow."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("b", verdict="REJECT", experiment="f")], expect=None, actor="t")
    ledger.append([stop("a"), accept_gap()], expect=None, actor="t")
    ledger.close()
    index, _ = open_index(str(path))
    assert index is not None
    assert (index.spans(), list(index.odd_lines()), index.torn_line()) == ([(1, 4)], [], None)
    index.close()


def test_odd_lines_are_told_from_listed_ones(tmp_path: Path) -> None:
    """Damage in the middle, a gap, a founding-style line: the rest stays listed."""
    path, whole = tmp_path / "decision.ndjson", [line for line in rollout() if b'"DEGRADE"' not in line]
    founding = b'{"run_id": "r", "verdict": "REJECT", "stage": "SHADOW"}'
    take_in(path, [*whole[:2], b"no JSON", whole[2], founding, *whole[3:]])
    index, _ = open_index(str(path))
    assert index is not None
    assert index.spans() == [(1, 3), (5, 10)]
    assert [(line.number, line.after_seq, line.data) for line in index.odd_lines()] == [
        (3, 2, b"no JSON"),
        (5, 3, founding),
    ]
    index.close()


def test_a_gap_before_the_line_that_ends_the_reading_is_reported(tmp_path: Path) -> None:
    """The first line behind `until` was read, too: what is missing before it was noticed."""
    path, whole = tmp_path / "decision.ndjson", [line for line in rollout() if b'"DEGRADE"' not in line]
    take_in(path, [*whole[:2], *whole[5:]])  # seqs 1, 2, 7, 8, …; line n lies n minutes after the start
    wanted = Filter(until=START + 3 * 60_000_000)
    answer = indexed(path, wanted, ("verdict",))
    assert answer["gaps"] == [(3, 6)]
    assert answer == scanned(path, wanted, ("verdict",))


def test_an_older_line_that_came_back_is_part_of_the_answer(tmp_path: Path) -> None:
    """Its seq lies in a gap that the ledger has passed: it is in no row of the index, and in the file all the same."""
    path, whole = tmp_path / "decision.ndjson", [line for line in rollout() if b'"DEGRADE"' not in line]
    take_in(path, [*whole[:2], *whole[4:]])
    take_in(path, whole)
    for wanted in (Filter(), Filter(kinds=ALL_KINDS), Filter(limit=3)):
        assert indexed(path, wanted, ("kind",)) == scanned(path, wanted, ("kind",))
    assert len(indexed(path, Filter(kinds=ALL_KINDS), ("kind",))["lines"]) == 9


@pytest.mark.parametrize("field", ["day", "verdict", "reason"])
def test_days_are_counted_as_they_were_kept(field: str, tmp_path: Path) -> None:
    """A range of four days: parts of the first and the last, and the whole ones between."""
    path, writer = tmp_path / "decision.ndjson", Writer()
    for number in range(40):
        verdict = ("ACCEPT", "REJECT")[number % 2]
        writer.event(decision(f"r{number}", verdict=verdict, experiment=f"e{number}"), wait=3 * HOUR)
    take_in(path, writer.lines)
    for since, until in ((10, 100), (22, 26), (22, 48), (0, 47), (3, 6), (200, 300)):
        wanted = Filter(since=START + since * HOUR, until=START + until * HOUR)
        assert indexed(path, wanted, (field,)) == scanned(path, wanted, (field,)), (since, until)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_both_ways_agree_on_a_field_of_another_type(change: dict[str, Any], tmp_path: Path) -> None:
    """Among usual events, one that says something odd of itself: each filter, alone."""
    path, writer = tmp_path / "decision.ndjson", Writer()
    writer.event(decision("r", verdict="REJECT"), wait=HOUR)
    writer.event(decision("r", number=2), wait=HOUR, **change)
    writer.event(decision("q/é", experiment="f"), wait=HOUR)
    take_in(path, writer.lines)
    asked = (
        Filter(),
        Filter(stage=""),
        Filter(stage="DRY_RUN"),
        Filter(verdicts=("REJECT",)),
        Filter(reason="guardrail_violation:a"),
        Filter(policy="1"),
        Filter(run="r"),
        Filter(include_simulated=False),
        Filter(since=START + 2 * HOUR),
        Filter(until=START + 2 * HOUR),
        Filter(limit=2),
    )
    for wanted in (*asked, *(replace(one, kinds=ALL_KINDS) for one in asked)):
        assert indexed(path, wanted, FIELDS) == scanned(path, wanted, FIELDS), wanted


def test_an_odd_line_behind_the_range_ends_the_reading(tmp_path: Path) -> None:
    """A doubled event from the future: what stands behind it, whatever its time, is not read by either way."""
    path, writer = tmp_path / "decision.ndjson", Writer()
    writer.event(decision("a"))
    writer.event(decision("a", number=2), ts="2030-01-01T00:00:00Z", seq=1)
    writer.event(decision("a", number=3), seq=2)
    take_in(path, writer.lines, b'{"torn')
    answer = indexed(path, Filter(until=START + HOUR), ("run",))
    assert answer == scanned(path, Filter(until=START + HOUR), ("run",))
    assert (len(answer["lines"]), answer["damaged"]) == (1, [])


def test_a_refusal_of_an_empty_stage_is_one(tmp_path: Path) -> None:
    """The stage of a refusal is the one that was turned away, whatever text that is."""
    path, writer = tmp_path / "decision.ndjson", Writer()
    refusal = {"kind": "refusal", "run_id": "r", "event_id": "r:refusal#1", "question_digest": "q", "actor": "ci"}
    writer.event({**refusal, "refusal": {"stage": ""}})
    writer.event({**refusal, "event_id": "r:refusal#2", "refusal": {"stage": "S"}})
    take_in(path, writer.lines)
    answer = indexed(path, Filter(stage="", kinds=("refusal",)), ("stage",))
    assert answer == scanned(path, Filter(stage="", kinds=("refusal",)), ("stage",))
    assert len(answer["lines"]) == 1
