"""A log that is sealed and goes on: nothing is lost at the seam, and a head alone is enough to go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.errors import LogError
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.run import RunState
from tests.doubles import StepClock
from tests.faults.faulty_ops import FaultyOps
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.segments import all_events, files_in_order, lose_state, rotated_log


def test_segments_are_named_by_their_seqs_and_chained(tmp_path: Path) -> None:
    """Names sort in chain order, and the chain runs across all files."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    assert [file.name for file in files_in_order(path)] == [
        "decision.ndjson.000000000001-000000000005",
        "decision.ndjson.000000000006-000000000008",
        "decision.ndjson",
    ]
    assert [event["kind"] for event in events] == [
        *("policy", "decision", "decision", "decision", "action"),
        *("checkpoint", "policy", "decision"),
        *("checkpoint", "policy"),
    ]


def test_state_goes_on_across_a_rotation(tmp_path: Path) -> None:
    """The fold of all files is what a view says, before and after the state was lost."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    view = ledger_at(path).view()
    runs = list(view.runs())
    assert [(run.run_id, run.state, run.version) for run in runs] == [
        ("a", RunState.STOPPED, 5),
        ("h", RunState.ACTIVE, 8),
    ]
    assert view.warnings == ()
    lose_state(path)
    fresh = ledger_at(path).view()
    assert (list(fresh.runs()), fresh.is_complete, fresh.warnings) == (runs, True, ())


def test_events_of_sealed_segments_are_still_found(tmp_path: Path) -> None:
    """`explain` and recorded answers read the line where it stands now, with the state kept or made anew."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    for _ in range(2):
        view = ledger_at(path).view()
        assert [view.event(event["event_id"]) for event in events] == events
        lose_state(path)


def test_a_policy_is_repeated_at_its_first_use_in_a_new_file(tmp_path: Path) -> None:
    """Only policies in use stand in the head; another one that comes back is recorded anew, once."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    loaded = policy()
    ledger.append([decision("a"), stop("a")], expect=None, policies=[loaded], actor="t")
    ledger.rotate(actor="t")
    assert ledger.view().policy(loaded.digest) == loaded.document, "it need not be validated again"
    for number in range(2):
        ledger.append([decision(f"b{number}", experiment=f"e{number}")], expect=None, policies=[loaded], actor="t")
    assert [event["kind"] for event in all_events(path)][3:] == ["checkpoint", "policy", "decision", "decision"]


def test_an_append_rotates_a_file_that_has_grown(tmp_path: Path) -> None:
    """By size: the file is sealed before the append that finds it too long, and all stays one chain."""
    path = tmp_path / "decision.ndjson"
    for number in range(1, 21):
        ledger = ledger_at(path, rotate_bytes=4000)
        ledger.append([decision("r", number=number)], expect=None, actor="t")
        ledger.close()
    events = all_events(path)
    assert [event["event_id"] for event in events if event["kind"] == "decision"] == [
        "r:DRY_RUN",
        *(f"r:DRY_RUN#{number}" for number in range(2, 21)),
    ]
    sizes = [file.stat().st_size for file in files_in_order(path)]
    assert len(sizes) > 3
    assert min(sizes[:-1]) > 4000
    assert ledger_at(path).view().warnings == ()


def test_a_file_that_is_mostly_head_is_not_rotated_again(tmp_path: Path) -> None:
    """With many runs the head alone is longer than the limit: an append must not seal a head each time."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path, rotate_bytes=1000)
    for number in range(60):
        ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    heads = [event for event in all_events(path) if event["kind"] == "checkpoint"]
    assert len(heads) < 15


def test_an_append_that_does_not_rotate_costs_no_more(tmp_path: Path) -> None:
    """With rotation switched on an ordinary append makes the calls that it makes without."""
    plain, limited = FaultyOps(), FaultyOps()
    for ops, name, options in ((plain, "a", {}), (limited, "b", {"rotate_bytes": 1 << 20})):
        path = tmp_path / name / "decision.ndjson"
        ledger_at(path).append([decision("r")], expect=None, actor="t")
        ledger = ledger_at(path, ops=ops, **options)
        ops.arm()
        ledger.append([decision("r", number=2)], expect=None, actor="t")
    assert limited.log == plain.log
    assert limited.log.count("flush") == 1


def test_a_rotation_that_fails_does_not_fail_the_append(tmp_path: Path) -> None:
    """A name that is taken: the event is recorded in the file as it is, and a person is told."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path, rotate_bytes=100)
    ledger.append([decision("r")], expect=None, actor="t")
    (tmp_path / "decision.ndjson.000000000001-000000000001").write_bytes(b"")
    receipt = ledger.append([decision("r", number=2)], expect=None, actor="t")
    assert receipt.events[0]["seq"] == 2
    assert any("was not rotated" in warning for warning in receipt.warnings)
    (tmp_path / "decision.ndjson.000000000001-000000000002").write_bytes(b"")
    with pytest.raises(LogError, match="was not rotated"):
        ledger_at(path).rotate(actor="t")


def test_nothing_to_seal_is_no_rotation(tmp_path: Path) -> None:
    """No log, an empty one, one that holds a head only, one that is not larger than asked: all stay as they are."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    assert ledger.rotate(actor="t") is None
    assert list(tmp_path.iterdir()) == []
    ledger.append([decision("r")], expect=None, actor="t")
    assert ledger.rotate(actor="t", larger_than=1 << 20) is None
    assert ledger.rotate(actor="t") is not None
    assert ledger.rotate(actor="t") is None
    assert len(files_in_order(path)) == 2


def test_a_rotated_log_keeps_its_permissions(tmp_path: Path) -> None:
    """A log that others may not read does not become readable, nor an archive of it."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("r")], expect=None, actor="t")
    path.chmod(0o640)
    ledger.rotate(actor="t")
    assert path.stat().st_mode & 0o777 == 0o640


def test_torn_bytes_are_told_by_the_head(tmp_path: Path) -> None:
    """A torn tail is cut before the file is sealed, kept aside, and the first event of the new file tells of it."""
    path = tmp_path / "decision.ndjson"
    ledger_at(path).append([decision("r")], expect=None, actor="t")
    with path.open("ab") as log:
        log.write(b'{"torn')
    ledger_at(path).rotate(actor="t")
    events = all_events(path)
    assert events[1]["recovered"]["bytes"] == 6
    assert (tmp_path / "decision.ndjson.torn-1").read_bytes() == b'{"torn'


def test_writers_that_had_the_file_open_go_on_in_the_new_one(tmp_path: Path) -> None:
    """A ledger object that lives longer than a segment (`reevaluate --watch`) appends behind the head."""
    path = tmp_path / "decision.ndjson"
    old = ledger_at(path)
    old.append([decision("a")], expect=None, actor="t")
    old.view()
    ledger_at(path).rotate(actor="t")
    assert old.view().warnings == ()
    old.append([decision("b", experiment="e2")], expect=None, actor="t")
    assert [event["kind"] for event in all_events(path)] == ["decision", "checkpoint", "decision"]
    assert list(old.view().warnings) == []


def test_the_clock_gives_the_head_its_time(tmp_path: Path) -> None:
    """`ts` of the head follows the log's own rule: never before the last line's."""
    path = tmp_path / "decision.ndjson"
    clock = StepClock()
    ledger = NdjsonLedger(str(path), clock=clock)
    ledger.append([decision("r")], expect=None, actor="t")
    clock.advance(90)
    ledger.rotate(actor="t")
    assert [event["ts"] for event in all_events(path)] == ["2026-02-18T01:00:10.000000Z", "2026-02-18T01:01:40.000000Z"]
