"""Notes of a REJECT that could not be recorded: best effort when written, never lost when read."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from gatekeeper.model.run import RunState
from tests.faults.faulty_ops import FaultyOps, fails_with
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision, policy, stop


def test_a_note_is_gone_once_it_is_an_event(tmp_path: Path) -> None:
    """Neither recorded twice nor told of for ever."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    place = ledger.leave_marker([decision("r", "SHADOW", verdict="REJECT")])
    assert place == f"{path}.unrecorded"
    assert any("recorded from" in warning for warning in ledger.view().warnings)
    assert not Path(place).exists()
    assert ledger.view().warnings == ()
    assert_whole(path)
    assert_state_follows(path)


def test_a_first_check_that_could_not_be_recorded_stops_its_run(tmp_path: Path) -> None:
    """There is no log yet, only the note and the policy that it was judged by."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    loaded = policy()
    recorded = {
        "kind": "policy",
        "policy_digest": loaded.digest,
        "policy": dict(loaded.document),
        "schema_version": 1,
        "actor": "t",
    }
    ledger.leave_marker([recorded, decision(verdict="REJECT"), stop("other")])
    view = ledger.view()
    run = view.run("r")
    assert run is not None
    assert run.state is RunState.STOPPED
    assert view.policy(loaded.digest) == loaded.document
    assert [event["kind"] for event in events_of(path)] == ["policy", "decision", "action"]


def test_a_note_that_cannot_be_read_is_kept_aside(tmp_path: Path) -> None:
    """Half a note, as a full disk leaves it: its neighbour becomes an event, its bytes stay."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    marker = Path(f"{path}.unrecorded")
    marker.write_bytes(b'{"kind":"decision","run')
    ledger.leave_marker([decision("r", "SHADOW", verdict="REJECT")])
    view = ledger.view()
    run = view.run("r")
    assert run is not None
    assert run.state is RunState.STOPPED
    assert Path(f"{marker}.bad-1").read_bytes() == b'{"kind":"decision","run\n'
    assert any("bad-1" in warning for warning in view.warnings)


def test_a_note_that_parses_and_is_no_draft_does_not_block_the_gate(tmp_path: Path) -> None:
    """Somebody wrote something of their own into the file."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    Path(f"{path}.unrecorded").write_bytes(b'{"kind":"decision","run_id":"r"}\n{"kind":"policy"}\n')
    view = ledger.view()
    assert view.run("r") is not None
    assert any("bad-1" in warning for warning in view.warnings)
    ledger.append([decision("x", experiment="e2")], expect=None, actor="t")


def test_a_note_stays_while_the_log_cannot_be_written(tmp_path: Path) -> None:
    """The disk is still full: the view says so and answers, the note waits."""
    path = tmp_path / "decision.ndjson"
    ledger_at(path).append([decision()], expect=None, actor="t")
    ledger_at(path).leave_marker([decision("r", "SHADOW", verdict="REJECT")])
    full = FaultyOps(fault=fails_with(errno.ENOSPC), names=frozenset({"write"})).arm()
    view = ledger_at(path, ops=full).view()
    assert any("still not recorded" in warning for warning in view.warnings)
    assert Path(f"{path}.unrecorded").exists()
    run = ledger_at(path).view().run("r")
    assert run is not None
    assert run.state is RunState.STOPPED


def test_a_note_that_cannot_be_left_is_reported_as_such(tmp_path: Path) -> None:
    """Best effort: the caller still exits with REJECT and says that nothing was kept."""
    full = FaultyOps(fault=fails_with(errno.ENOSPC), names=frozenset({"open"})).arm()
    assert ledger_at(tmp_path / "decision.ndjson", ops=full).leave_marker([decision(verdict="REJECT")]) is None


def test_a_note_can_only_take_a_run_back(tmp_path: Path) -> None:
    """A file that anybody may write beside the log is no way to record an ACCEPT."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    ledger.leave_marker([decision("r", "SHADOW", from_stage="DRY_RUN"), decision("r", "SHADOW", verdict="DEGRADE")])
    run = ledger.view().run("r")
    assert run is not None
    assert (run.stage, run.hold) == ("DRY_RUN", None)
    assert len(Path(f"{path}.unrecorded.bad-1").read_bytes().split(b"\n")) == 3


def test_a_note_is_recorded_over_damaged_state_too(tmp_path: Path) -> None:
    """Both at once, as after a crash: the state is made anew and the run is stopped."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    ledger.close()
    ledger.leave_marker([decision("r", "SHADOW", verdict="REJECT")])
    connection = sqlite3.connect(f"{path}.db", isolation_level=None)
    connection.execute("DROP TABLE runs")
    connection.close()
    run = ledger_at(path).view().run("r")
    assert run is not None
    assert run.state is RunState.STOPPED
    assert_state_follows(path)
