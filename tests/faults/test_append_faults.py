"""The n-th disk call of an append fails, or the process is killed at it, for every n there is."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import LogError, LogInDoubtError
from gatekeeper.ledger.fsops import FileOps
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
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision, policy

Prepare = Callable[[Path], None]


def steady(path: Path) -> None:
    """A log with two events, and state that is level with it."""
    ledger = ledger_at(path)
    ledger.append([decision("old")], expect=None, actor="t")
    ledger.append([decision("old", "SHADOW", from_stage="DRY_RUN")], expect=None, actor="t")
    ledger.close()


def new(path: Path) -> None:
    """No log, and not even its directory."""


def torn(path: Path) -> None:
    """Somebody was killed within a write."""
    steady(path)
    with path.open("ab") as log:
        log.write(b'{"decision":{"verdict":"ACC')


def marked(path: Path) -> None:
    """A REJECT waits beside the log."""
    steady(path)
    assert ledger_at(path).leave_marker([decision("old", "CANARY_10", verdict="REJECT")]) is not None


def stale(path: Path) -> None:
    """The state has not seen the last line."""
    steady(path)
    state = {name: (path.parent / name).read_bytes() for name in names_of_state(path)}
    ledger = ledger_at(path)
    ledger.append([decision("lag")], expect=None, actor="t")
    ledger.close()
    for name in names_of_state(path):
        (path.parent / name).unlink()
    for name, content in state.items():
        (path.parent / name).write_bytes(content)


def names_of_state(path: Path) -> list[str]:
    """What SQLite keeps beside the log."""
    return [found.name for found in path.parent.iterdir() if found.name.startswith(f"{path.name}.db")]


SITUATIONS: list[Prepare] = [steady, new, torn, marked, stale]


def append_new(path: Path, ops: FaultyOps) -> None:
    """The append under test: a policy and the first decision of a run, in one write."""
    ledger = ledger_at(path, ops=ops)
    ops.arm()
    ledger.append([decision("new")], expect=None, policies=[policy()], actor="t")


def calls_of(prepare: Prepare, tmp_path: Path) -> list[str]:
    """The disk calls of an append in this situation, in order."""
    path = tmp_path / "count" / "logs" / "decision.ndjson"
    prepare(path)
    ops = FaultyOps()
    append_new(path, ops)
    return ops.log


def whole_events_of(path: Path) -> list[dict[str, Any]]:
    """Events of the lines that are terminated."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def assert_sound(path: Path, before: list[dict[str, Any]], *, told: bool) -> None:
    """Nothing promised is lost, the next append passes without repair by hand, the chain holds."""
    ledger = ledger_at(path)
    ledger.append([decision("next")], expect=None, actor="t")
    ledger.close()
    events = events_of(path)
    assert events[: len(before)] == before
    ids = [event["event_id"] for event in events]
    assert not told or "new:DRY_RUN" in ids
    assert ids[-1] == "next:DRY_RUN"
    assert_whole(path)
    assert_state_follows(path)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fails_with(errno.EIO), fails_with(errno.ENOSPC), takes_only(0.5)])
@pytest.mark.parametrize("prepare", SITUATIONS)
def test_a_disk_call_that_fails_leaves_no_part_of_an_event(
    prepare: Prepare, fault: Callable[..., Any], tmp_path: Path
) -> None:
    """Whichever call fails: the event is there whole and the caller heard so, or neither is the case."""
    calls = calls_of(prepare, tmp_path)
    assert calls.count("write") >= 1
    for at in range(1, len(calls) + 1):
        path = tmp_path / str(at) / "logs" / "decision.ndjson"
        prepare(path)
        before = whole_events_of(path)
        told = False
        try:
            append_new(path, FaultyOps(at, fault))
            told = True
        except LogInDoubtError:
            pytest.fail(f"call {at} ({calls[at - 1]}): one failing call must not leave doubt")
        except LogError:
            if path.exists():
                ids = [event["event_id"] for event in events_of(path)] if path.read_bytes().endswith(b"\n") else []
                assert "new:DRY_RUN" not in ids, f"call {at} ({calls[at - 1]})"
        assert_sound(path, before, told=told)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [killed_before, killed_within, killed_after])
@pytest.mark.parametrize("prepare", SITUATIONS)
def test_a_process_killed_at_any_disk_call_loses_nothing_promised(
    prepare: Prepare, kill: Callable[..., Any], tmp_path: Path
) -> None:
    """SIGKILL at every call of an append: the next process goes on without repair by hand."""
    calls = calls_of(prepare, tmp_path)
    for at in range(1, len(calls) + 1):
        path = tmp_path / str(at) / "logs" / "decision.ndjson"
        prepare(path)
        before = whole_events_of(path)
        told = in_killed_process(lambda path=path, at=at: append_new(path, FaultyOps(at, kill)))  # type: ignore[misc]
        assert not told
        assert_sound(path, before, told=told)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [killed_before, killed_within, killed_after])
def test_a_waiting_reject_survives_a_kill_at_any_disk_call(kill: Callable[..., Any], tmp_path: Path) -> None:
    """The note beside the log is gone only once its REJECT is an event."""
    calls = calls_of(marked, tmp_path)
    for at in range(1, len(calls) + 1):
        path = tmp_path / str(at) / "logs" / "decision.ndjson"
        marked(path)
        in_killed_process(lambda path=path, at=at: append_new(path, FaultyOps(at, kill)))  # type: ignore[misc]
        run = ledger_at(path).view().run("old")
        assert run is not None
        assert run.state is RunState.STOPPED, f"killed at call {at} ({calls[at - 1]})"
        rejects = [event for event in whole_events_of(path) if event.get("decision", {}).get("verdict") == "REJECT"]
        assert len(rejects) == 1


def test_an_append_in_steady_state_flushes_once(tmp_path: Path) -> None:
    """Each flush is a wait for the device; the log's own is the only one."""
    path = tmp_path / "logs" / "decision.ndjson"
    steady(path)
    ops = FaultyOps()
    append_new(path, ops)
    assert ops.log.count("flush") == 1
    assert ops.log.count("flush_directory") == 0
    assert ops.log.count("write") == 1


def test_a_new_log_flushes_its_directory_after_its_data(tmp_path: Path) -> None:
    """A name on the device without the data behind it would be an empty log."""
    ops = FaultyOps()
    append_new(tmp_path / "logs" / "decision.ndjson", ops)
    assert ops.log.index("flush") < len(ops.log) - 1 - ops.log[::-1].index("flush_directory")


def test_a_flush_that_failed_is_not_tried_again_for_the_same_bytes(tmp_path: Path) -> None:
    """After a failed flush the system may call the lost pages clean: the lines are cut before anything else."""
    path = tmp_path / "logs" / "decision.ndjson"
    steady(path)
    ops = FaultyOps()
    append_new(path, ops)
    at = ops.log.index("flush") + 1
    other = tmp_path / "other" / "decision.ndjson"
    steady(other)
    failing = FaultyOps(at, fails_with(errno.EIO))
    with pytest.raises(LogError):
        append_new(other, failing)
    assert failing.log[at] == "truncate"


def test_a_cut_that_fails_too_says_what_counts(tmp_path: Path) -> None:
    """Not even cutting off works: the message says that a whole line counts as recorded."""
    path = tmp_path / "logs" / "decision.ndjson"
    steady(path)

    broken = FaultyOps(fault=fails_with(errno.EIO), names=frozenset({"flush", "truncate"}))
    with pytest.raises(LogInDoubtError, match="counts as recorded if its line is whole"):
        append_new(path, broken)
    assert "new:DRY_RUN" in [event["event_id"] for event in events_of(path)]
    assert_sound(path, [], told=True)


def test_a_full_disk_that_has_room_again_needs_no_repair(tmp_path: Path) -> None:
    """Handout HO-13: after space is back the next call works and the log has no torn line."""
    path = tmp_path / "logs" / "decision.ndjson"
    steady(path)
    ledger = ledger_at(path, ops=FaultyOps(1, fails_with(errno.ENOSPC)).arm())
    with pytest.raises(LogError) as caught:
        ledger.append([decision("new")], expect=None, actor="t")
    assert caught.value.exit_code == 74
    ledger.append([decision("new")], expect=None, actor="t")
    assert_whole(path)


def test_a_flush_asks_the_system(tmp_path: Path) -> None:
    """The call that durability hangs on is made: a pipe, which has no device behind it, is refused by the system."""
    reader, writer = os.pipe()
    try:
        with pytest.raises(OSError, match="Invalid argument"):
            FileOps().flush(writer)
    finally:
        os.close(reader)
        os.close(writer)
    with pytest.raises(FileNotFoundError):
        FileOps().flush_directory(str(tmp_path / "nowhere"))


def test_a_new_log_whose_name_cannot_be_flushed_is_not_told(tmp_path: Path) -> None:
    """The data is on the device and nobody could find it: the event does not count and is cut off."""
    path = tmp_path / "decision.ndjson"
    failing = FaultyOps(fault=fails_with(errno.EIO), names=frozenset({"flush_directory"}))
    with pytest.raises(LogError):
        append_new(path, failing)
    assert path.read_bytes() == b""
    assert ledger_at(path).append([decision("new")], expect=None, actor="t").events[0]["seq"] == 1
