"""A log without its projection that answers otherwise when it is searched than when every line is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gatekeeper.errors import UsageError
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.times import parse_time, require_time
from gatekeeper.replay import scan as module
from gatekeeper.replay import window
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.group import group
from gatekeeper.replay.lines import is_blank, parse_line
from gatekeeper.replay.query import Filter, select
from gatekeeper.replay.scan import Pace, Scan
from tests.replay.builder import at_minute, changed, rollout, write
from tests.replay.plainly import Plainly
from tests.replay.tampering import BYTES, LOG, STEPS, Step, tampered
from tests.replay.test_query import FILTERS
from tests.replay.test_verify_in_parts import InThisProcess

pytestmark = pytest.mark.slow

NAME = "decision.ndjson"
FILTERS_OF_PARTS = st.builds(
    Filter,
    run=st.none() | st.sampled_from(("exp-42:B:2026-02-18", "exp-1:A:v8", "nobody")),
    stage=st.none() | st.sampled_from(("SHADOW", "CANARY_25")),
    verdicts=st.sets(st.sampled_from(("ACCEPT", "REJECT", "DEGRADE")), max_size=2),
    reason=st.none() | st.sampled_from(("guardrail_violation:*", "observation_missing", "*:error_rate")),
    policy=st.none() | st.sampled_from(("exp-eval-policy", "v8", "other-policy@v8", "sha256:1234567890", "a@b")),
    kinds=st.sampled_from(((), ("decision",), ("policy",), ("action", "refusal"))),
    limit=st.none() | st.integers(0, 6),
    until=st.none() | st.sampled_from((require_time(at_minute(3)), require_time(at_minute(9)))),
)
FIELDS = st.lists(
    st.sampled_from(("verdict", "reason", "stage", "run", "policy", "day", "kind", "actor", "experiment")),
    min_size=1,
    max_size=3,
)


def all_lines(*paths: Path) -> Iterator[LogLine]:
    """Every line, parsed; blank ones are left out."""
    for path in paths:
        *whole, rest = path.read_bytes().split(b"\n")
        for number, data in enumerate(whole, 1):
            if not is_blank(LogLine("", 0, data, None)):
                yield parse_line(str(path), number, data)
        if rest:
            yield parse_line(str(path), len(whole) + 1, rest, is_terminated=False)


def is_in_order(path: Path) -> bool:
    """Whether no event's time runs back; a reader may stop at the first one behind `until` only then."""
    moments = [parse_time(line.event.get("ts")) or 0 for line in all_lines(path) if line.event is not None]
    return moments == sorted(moments)


class Plain(Plainly):
    """The answer by reading every line in order."""

    def __init__(self, path: Path, wanted: Filter) -> None:
        super().__init__(all_lines(path), wanted)


def gaps_of(scan: Scan) -> list[tuple[int, int]]:
    """First and last seq of each gap that a search has told."""
    return [(gap.from_seq, gap.to_seq) for gap in scan.holes.gaps]


def searched(path: Path, wanted: Filter, range_bytes: int, jobs: int = 2) -> tuple[Scan, list[LogLine]]:
    """The answer by searching, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Workers", InThisProcess)
        found = Scan([Source(str(path))], wanted, Pace(jobs=jobs, range_bytes=range_bytes))
        return found, list(found.lines())


@settings(deadline=None, max_examples=150)
@given(STEPS, FILTERS_OF_PARTS, st.sampled_from((600, 2500, 9000, 1 << 20)), st.sampled_from((b"", b'{"seq":', b"  ")))
def test_searching_finds_what_reading_every_line_finds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], wanted: Filter, range_bytes: int, rest: bytes
) -> None:
    """Whatever was done to the log, wherever it is cut: the same lines, numbers, damage and gaps."""
    path = write(tmp_path_factory.mktemp("log") / NAME, tampered(steps), rest=rest)
    assume(wanted.until is None or is_in_order(path))
    plain = Plain(path, wanted)
    found, lines = searched(path, wanted, range_bytes)
    assert lines == plain.lines
    assert found.holes.damaged == plain.damaged
    assert gaps_of(found) == plain.gaps


@settings(deadline=None, max_examples=150)
@given(STEPS, FILTERS_OF_PARTS, FIELDS, st.sampled_from((600, 2500, 9000, 1 << 20)))
def test_counting_on_bytes_counts_what_reading_every_line_counts(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], wanted: Filter, fields: list[str], range_bytes: int
) -> None:
    """By any fields, in any number of parts."""
    path = write(tmp_path_factory.mktemp("log") / NAME, tampered(steps))
    assume(wanted.until is None or is_in_order(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Workers", InThisProcess)
        rows = Scan([Source(str(path))], wanted, Pace(jobs=2, range_bytes=range_bytes)).groups(fields)
    assert rows == group(Plain(path, wanted).lines, fields)


@pytest.mark.parametrize("name", FILTERS)
def test_real_processes_find_what_reading_finds(name: str, tmp_path: Path) -> None:
    """Each filter of the query's own table, with a damaged and a torn line in the log."""
    log = rollout()
    log[3] = log[3][:200]
    path = write(tmp_path / NAME, log, rest=b'{"seq":11')
    wanted = FILTERS[name][0]
    plain = Plain(path, wanted)
    found = Scan([Source(str(path))], wanted, Pace(jobs=3, range_bytes=2000))
    assert list(found.lines()) == plain.lines
    assert Scan([Source(str(path))], wanted, Pace(jobs=3, range_bytes=2000)).groups(["run", "reason"]) == group(
        plain.lines, ["run", "reason"]
    )
    assert (found.holes.damaged, gaps_of(found)) == (plain.damaged, plain.gaps)


@pytest.mark.parametrize("name", [name for name in BYTES if name not in {"whole double", "slashed"}])
def test_a_line_that_holds_no_event_is_named_though_nothing_in_it_was_asked(name: str, tmp_path: Path) -> None:
    """By file, number and what is wrong with it; written in an unusual way alone is no damage."""
    log = list(LOG)
    log[11] = BYTES[name](log[11])
    path = write(tmp_path / NAME, log)
    wanted = Filter(run="nobody")
    found, lines = searched(path, wanted, 3000)
    assert lines == []
    assert found.holes.damaged == Plain(path, wanted).damaged
    assert [line.number for line in found.holes.damaged] == (
        [] if name in {"spaced", "escaped", "carriage return", "blank", "spaces", "founding-style"} else [12]
    )


def test_a_sector_of_zeros_within_a_line_is_damage(tmp_path: Path) -> None:
    """What a crash leaves in the middle of a long line, both of its ends in place."""
    log = list(LOG)
    log[11] = log[11][:1000] + b"\0" * 512 + log[11][1512:]
    found, _ = searched(write(tmp_path / NAME, log), Filter(run="nobody"), 1 << 20)
    assert [line.number for line in found.holes.damaged] == [12]


def test_a_torn_line_with_the_next_one_glued_to_it_is_damage_wherever_it_was_cut(tmp_path: Path) -> None:
    """Also where all brackets are in pairs: its seq is not the one that follows."""
    for cut in range(1, len(LOG[11]), 37):
        log = [*LOG[:11], LOG[11][:cut] + LOG[12], *LOG[13:]]
        found, _ = searched(write(tmp_path / NAME, log), Filter(run="nobody"), 1 << 20)
        assert [line.number for line in found.holes.damaged] == [12], cut
        path = write(tmp_path / NAME, log)
        assert Scan([Source(str(path))], Filter(), Pace(jobs=1)).groups(["verdict"]) == group(
            select(all_lines(path), Filter()), ["verdict"]
        ), cut


@pytest.mark.parametrize("at", [0, 11, 12])
def test_a_torn_line_with_its_own_repetition_glued_to_it_is_damage(at: int, tmp_path: Path) -> None:
    """Whoever appends again after a crash, without cutting the torn end off, writes the seq that follows."""
    for cut in (*range(1, 40), *range(40, len(LOG[at]), 37), len(LOG[at])):
        log = [*LOG[:at], LOG[at][:cut] + LOG[at], *LOG[at + 1 :]]
        found, _ = searched(write(tmp_path / NAME, log), Filter(run="nobody"), 1 << 20)
        assert [line.number for line in found.holes.damaged] == [at + 1], cut


_FORGED = {"findings": [], "missing": [], "notes": [], "reason_codes": ["forged"], "verdict": "REJECT"}


@pytest.mark.parametrize(
    "evidence",
    [
        {"decision": _FORGED, "metrics_snapshot": {"a": {}, "policy_digest": "x"}, "policy_digest": "y", "z": [1]},
        {"decision": _FORGED, "metrics_snapshot": {}},
        {"a": {}, "decision": _FORGED, "kind": "policy", "metrics_snapshot": {"z": {"policy_digest": "x"}}},
        {"a": {"a": {}, "policy_digest": "x", "run_id": "forged", "seq": 1}, "seq": 2, "stage": "forged"},
    ],
)
@pytest.mark.parametrize("fields", [["verdict", "reason"], ["verdict", "run", "stage", "kind"]])
def test_evidence_that_looks_like_a_decision_is_not_counted(
    evidence: dict[str, object], fields: list[str], tmp_path: Path
) -> None:
    """A snapshot may hold anything, also what the reader looks for to cut it out."""

    def nest(event: dict[str, object]) -> None:
        event["metrics_snapshot"] = {"metrics": {}, **evidence}

    path = write(tmp_path / NAME, [changed(line, nest) if b"metrics_snapshot" in line else line for line in LOG])
    rows = Scan([Source(str(path))], Filter(), Pace(jobs=1)).groups(fields)
    assert rows == group(select(all_lines(path), Filter()), fields)


def test_a_reference_with_the_name_of_a_field_is_not_taken_for_it(tmp_path: Path) -> None:
    """People name their references as they like; those stand between the outcome and the kind."""
    references = {"kind": "policy", "verdict": "REJECT", "metrics_snapshot": "x"}
    log = [
        changed(line, lambda event: event.update(evidence_refs=references)) if b"evidence_refs" in line else line
        for line in LOG
    ]
    path = write(tmp_path / NAME, log)
    rows = Scan([Source(str(path))], Filter(), Pace(jobs=1)).groups(["kind", "verdict"])
    assert rows == group(select(all_lines(path), Filter()), ["kind", "verdict"])
    assert sum(row.count for row in rows) == 18


def test_a_field_that_nobody_knows_is_told_before_anything_is_read() -> None:
    """The file does not even exist."""
    with pytest.raises(UsageError, match="did you mean 'verdict'"):
        Scan([], Filter()).groups(["verdikt"])


def test_reading_stops_at_the_limit_and_leaves_no_process(tmp_path: Path) -> None:
    """The parts behind it are not waited for."""
    path = write(tmp_path / NAME, LOG)
    found = Scan([Source(str(path))], Filter(verdicts=("ACCEPT",), limit=2), Pace(jobs=3, range_bytes=2000))
    assert [json.loads(data)["seq"] for data in found.data()] == [2, 3]


def _timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: list[bytes]) -> Path:
    monkeypatch.setattr(window, "_FINE_BYTES", 2000)
    monkeypatch.setattr(window, "_PLACES", 4)
    return write(tmp_path / NAME, log)


@pytest.mark.parametrize("since", range(0, 26, 3))
@pytest.mark.parametrize("until", range(0, 26, 5))
def test_a_time_range_is_found_by_halving(
    since: int, until: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ends belong to it; most lines outside are not read."""
    path = _timed(tmp_path, monkeypatch, LOG)
    wanted = Filter(since=require_time(at_minute(since)), until=require_time(at_minute(until)), kinds=("decision",))
    found = Scan([Source(str(path))], wanted, Pace(jobs=1))
    assert [json.loads(data)["seq"] for data in found.data()] == [
        json.loads(line.data)["seq"] for line in Plain(path, wanted).lines
    ]
    assert gaps_of(found) == []
    place = window.window_of(Source(str(path)), wanted.since, wanted.until)
    wanted_bytes = sum(len(line) for number, line in enumerate(LOG, 1) if since <= number <= until)
    assert place.end - place.start <= wanted_bytes + 2 * (2000 + max(map(len, LOG))), "more was read than was asked"


def test_a_file_in_which_time_runs_back_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two logs that were put into one file: halving would miss the older events behind the newer ones."""
    log = [*LOG[12:], *LOG[:12]]
    path = _timed(tmp_path, monkeypatch, log)
    wanted = Filter(since=require_time(at_minute(14)))
    found = Scan([Source(str(path))], wanted, Pace(jobs=1))
    assert len(list(found.data())) == len(Plain(path, wanted).lines)


def test_a_file_without_events_of_ours_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of a founding-style driver need not be in order."""
    line = b'{"run_id":"r-41","verdict":"ACCEPT","ts":"2026-02-18T01:00:00Z"}'
    path = _timed(tmp_path, monkeypatch, [line] * 200)
    found = Scan([Source(str(path))], Filter(since=require_time("2026-02-01T00:00:00Z")), Pace(jobs=1))
    assert len(list(found.data())) == 200


def test_a_damaged_line_within_a_time_range_has_its_number_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the lines before it were not read."""
    log = [*LOG[:3], b"", *LOG[3:20], b"rubbish", *LOG[21:]]
    path = _timed(tmp_path, monkeypatch, log)
    found = Scan([Source(str(path))], Filter(since=require_time(at_minute(18))), Pace(jobs=1, range_bytes=1500))
    assert [json.loads(data)["seq"] for data in found.data()] == [18, 19, 20, 22, 23]
    assert [line.number for line in found.holes.damaged] == [22]


def test_what_lies_before_a_time_range_is_no_gap_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap in it is one; the range's first line only tells where its seqs begin."""
    path = _timed(tmp_path, monkeypatch, [*LOG[:4], *LOG[5:20], *LOG[21:]])
    found = Scan([Source(str(path))], Filter(since=require_time(at_minute(18))), Pace(jobs=1))
    list(found.data())
    assert gaps_of(found) == [(21, 21)]
