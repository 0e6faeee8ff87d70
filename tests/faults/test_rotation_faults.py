"""The n-th disk call of a rotation fails, or the process is killed at it: the log goes on, whole and in one chain."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.model.run import RunState
from tests.faults.faulty_ops import (
    FaultyOps,
    fails_with,
    in_killed_process,
    killed_after,
    killed_before,
    killed_within,
    takes_only,
)
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.segments import all_events, lose_state

Step = Callable[[Path, FaultyOps], None]


def prepare(path: Path) -> None:
    """A stopped run and a held one, in 4 events."""
    ledger = ledger_at(path)
    ledger.append([decision("a"), stop("a")], expect=None, policies=[policy()], actor="t")
    ledger.append([decision("h", verdict="DEGRADE", experiment="e2", token="T")], expect=None, actor="t")
    ledger.close()


def prepare_torn(path: Path) -> None:
    """The same, and somebody was killed within a write."""
    prepare(path)
    with path.open("ab") as log:
        log.write(b'{"decision":{"verdict":"ACC')


def rotate(path: Path, ops: FaultyOps) -> None:
    """`log rotate`."""
    ledger = ledger_at(path, ops=ops)
    ops.arm()
    ledger.rotate(actor="t")


def append_to_long(path: Path, ops: FaultyOps) -> None:
    """An append that finds the file too long."""
    ledger = ledger_at(path, ops=ops, rotate_bytes=100)
    ops.arm()
    ledger.append([decision("new", experiment="e3")], expect=None, actor="t")


def calls_of(step: Step, make: Callable[[Path], None], tmp_path: Path) -> list[str]:
    """The disk calls of the step, in order."""
    path = tmp_path / "count" / "decision.ndjson"
    path.parent.mkdir()
    make(path)
    ops = FaultyOps()
    step(path, ops)
    return ops.log


def assert_sound(path: Path, *, told: bool, at: str) -> None:
    """What was there is there, the next append passes without repair by hand, with the state and without it."""
    ledger = ledger_at(path)
    view = ledger.view()
    stopped, held = view.run("a"), view.run("h")
    assert stopped is not None, at
    assert held is not None, at
    assert (stopped.state, held.state, view.is_complete) == (RunState.STOPPED, RunState.HELD, True), at
    ledger.append([decision("next", experiment="e4")], expect=None, actor="t")
    ledger.close()
    events = all_events(path)
    ids = [event["event_id"] for event in events]
    assert ids[:4] == ["policy#1", "a:DRY_RUN", "a:action#1", "h:DRY_RUN"], at
    assert ids[-1] == "next:DRY_RUN", at
    assert not told or "new:DRY_RUN" in ids, at
    runs = list(ledger_at(path).view().runs())
    lose_state(path)
    fresh = ledger_at(path).view()
    assert (list(fresh.runs()), fresh.is_complete) == (runs, True), at


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fails_with(errno.EIO), takes_only(0.5)])
@pytest.mark.parametrize("make", [prepare, prepare_torn])
@pytest.mark.parametrize("step", [rotate, append_to_long])
def test_a_disk_call_that_fails_leaves_a_log_that_goes_on(
    step: Step, make: Callable[[Path], None], fault: Callable[..., Any], tmp_path: Path
) -> None:
    """Whichever call fails: the rotation is done or it is not, an append within it is whole or absent."""
    calls = calls_of(step, make, tmp_path)
    assert calls.count("replace") >= 2
    for at in range(1, len(calls) + 1):
        path = tmp_path / str(at) / "decision.ndjson"
        path.parent.mkdir()
        make(path)
        told = False
        try:
            step(path, FaultyOps(at, fault))
            told = step is append_to_long
        except LogError:
            pass
        assert_sound(path, told=told, at=f"call {at} ({calls[at - 1]})")


@pytest.mark.slow
@pytest.mark.parametrize("kill", [killed_before, killed_within, killed_after])
@pytest.mark.parametrize("make", [prepare, prepare_torn])
@pytest.mark.parametrize("step", [rotate, append_to_long])
def test_a_process_killed_at_any_disk_call_leaves_a_log_that_goes_on(
    step: Step, make: Callable[[Path], None], kill: Callable[..., Any], tmp_path: Path
) -> None:
    """SIGKILL at every call of a rotation: the next process goes on without repair by hand, nothing is lost."""
    calls = calls_of(step, make, tmp_path)
    for at in range(1, len(calls) + 1):
        path = tmp_path / str(at) / "decision.ndjson"
        path.parent.mkdir()
        make(path)
        assert not in_killed_process(lambda path=path, at=at: step(path, FaultyOps(at, kill)))  # type: ignore[misc]
        assert_sound(path, told=False, at=f"call {at} ({calls[at - 1]})")


@pytest.mark.slow
def test_a_rotation_cut_short_is_finished_by_the_next_append(tmp_path: Path) -> None:
    """Killed between the two renames: the head that was on the device takes its place, with nothing written anew."""
    calls = calls_of(rotate, prepare, tmp_path)
    second = [at for at, name in enumerate(calls, 1) if name == "replace"][-1]
    path = tmp_path / "log" / "decision.ndjson"
    path.parent.mkdir()
    prepare(path)
    assert not in_killed_process(lambda: rotate(path, FaultyOps(second, killed_before)))
    assert not path.exists()
    head = (path.parent / "decision.ndjson.next").read_bytes()
    ledger_at(path).append([decision("next", experiment="e4")], expect=None, actor="t")
    assert path.read_bytes().startswith(head)
    assert not (path.parent / "decision.ndjson.next").exists()


def test_a_head_that_does_not_fit_is_not_put_in_place(tmp_path: Path) -> None:
    """Left by a rotation that failed long ago: the log has gone on since, and the file is of no use."""
    path = tmp_path / "decision.ndjson"
    prepare(path)
    stale = tmp_path / "stale" / "decision.ndjson"
    stale.parent.mkdir()
    prepare(stale)
    ledger_at(stale).rotate(actor="t")
    ledger = ledger_at(path)
    ledger.append([decision("h", number=2, experiment="e2")], expect=None, actor="t")
    ledger.close()
    path.rename(tmp_path / "decision.ndjson.1")
    (tmp_path / "decision.ndjson.next").write_bytes(stale.read_bytes())
    event = ledger_at(path).append([decision("next", experiment="e4")], expect=None, actor="t").events[0]
    assert event["seq"] == 6
    assert path.read_bytes().count(b"\n") == 1
    assert not (tmp_path / "decision.ndjson.next").exists()


def test_the_head_is_on_the_device_before_the_log_is_renamed(tmp_path: Path) -> None:
    """In this order a power cut leaves the old file, or the sealed one with its successor ready."""
    calls = calls_of(rotate, prepare, tmp_path)
    first, second = [at for at, name in enumerate(calls) if name == "replace"]
    write = calls.index("write")
    assert calls[write + 1] == "flush"
    assert write + 1 < first
    assert "flush_directory" in calls[first:second]
    assert "flush_directory" in calls[second:]
