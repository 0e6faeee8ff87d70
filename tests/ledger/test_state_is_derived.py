"""The state beside the log can be lost, damaged or late, and never rules over the log."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gatekeeper.errors import LogDamagedError, LogError, StateUnreadableError
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import ConflictError, Expectation
from gatekeeper.model.run import RunState
from tests.ledger.checking import Unflushed, Weighed, assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.damage import (
    DAMAGES,
    database,
    lose,
    make_log,
    state_files,
)
from tests.ledger.drafts import decision, policy, stop


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_state_is_made_anew_from_the_log(damage: Callable[[Path], None], tmp_path: Path) -> None:
    """Handout HO-12 d: state of 0 bytes, garbage, half, or gone is never read as "no such run"."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    damage(path)
    ledger = ledger_at(path)
    view = ledger.view()
    held, stopped = view.run("held"), view.run("stopped")
    assert held is not None
    assert stopped is not None
    assert (held.state, held.stage, stopped.state) == (RunState.HELD, "DRY_RUN", RunState.STOPPED)
    assert view.token("T") == ("held", None)
    assert view.event("stopped:action#1") is not None
    ledger.append([decision("new", experiment="e4")], expect=None, actor="t")
    ledger.close()
    assert_whole(path)
    assert_state_follows(path)
    assert ledger_at(path).view().warnings == ()


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_append_over_damaged_state_goes_on(damage: Callable[[Path], None], tmp_path: Path) -> None:
    """The first call after the damage may be the one that writes."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    damage(path)
    receipt = ledger_at(path).append([decision("new", experiment="e4")], expect=None, actor="t")
    assert receipt.events[0]["seq"] == 6
    assert_whole(path)
    assert_state_follows(path)


def test_state_damaged_while_a_view_reads_it_is_mended(tmp_path: Path) -> None:
    """Damage that the head does not show is met by a later look-up, which reads the log instead."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    view = ledger_at(path).view()
    view._connection.execute("COMMIT")
    view._connection.execute("DROP TABLE tokens")
    assert view.token("T") == ("held", None)


def test_state_that_is_late_reads_on(tmp_path: Path) -> None:
    """Handout HO-12 e: a line was written, the state not yet."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    saved = {found: found.read_bytes() for found in state_files(path)}
    ledger = ledger_at(path)
    ledger.append([stop("held")], expect=None, actor="t")
    ledger.close()
    lose(path)
    for found, content in saved.items():
        found.write_bytes(content)
    run = ledger_at(path).view().run("held")
    assert run is not None
    assert run.state is RunState.STOPPED
    assert_state_follows(path)


def test_lines_that_no_one_has_seen_are_flushed_before_they_are_told(tmp_path: Path) -> None:
    """A writer was killed between write and flush: its ACCEPT is repeated to no one before it is on the device."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    lose(path)
    calls: list[str] = []

    class Watched(FileOps):
        def flush(self, descriptor: int) -> None:
            calls.append("flush")
            super().flush(descriptor)

    ledger_at(path, ops=Watched()).view()
    assert calls == ["flush"]
    ledger_at(path, ops=Watched()).view()
    assert calls == ["flush"]


def test_state_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    """A directory in the place of the database: every answer is right, only slower, and people are told."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    lose(path)
    database(path).mkdir()
    ledger = ledger_at(path)
    view = ledger.view()
    assert view.run("held") is not None
    assert any("read anew" in warning for warning in view.warnings)
    ledger.append([decision("new", experiment="e4")], expect=None, actor="t")
    assert ledger.view().run("new") is not None
    assert_whole(path)


def test_a_log_where_no_lock_can_be_made_can_still_be_looked_into(tmp_path: Path) -> None:
    """A read-only archive: views answer, and write nothing."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    lose(path)

    class ReadOnly(FileOps):
        def open(self, path: str, flags: int) -> int:
            if flags & (os.O_CREAT | os.O_RDWR | os.O_WRONLY):
                raise PermissionError(13, "Permission denied")
            return super().open(path, flags)

    ledger = ledger_at(path, ops=ReadOnly())
    view = ledger.view()
    assert view.run("held") is not None
    assert any("lock cannot be taken" in warning for warning in view.warnings)
    with pytest.raises(LogError):
        ledger.append([decision("new")], expect=None, actor="t")


def test_looking_at_a_log_that_does_not_exist_creates_nothing(tmp_path: Path) -> None:
    """`status` in an empty directory leaves it empty."""
    ledger = ledger_at(tmp_path / "logs" / "decision.ndjson")
    ledger.view()
    assert list(ledger.read()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_the_place_of_the_log_is_no_empty_log(tmp_path: Path) -> None:
    """Handout HO-13: the state cannot be read, which is not the same as a state without runs."""
    path = tmp_path / "decision.ndjson"
    path.mkdir()
    with pytest.raises(StateUnreadableError):
        ledger_at(path).view()
    with pytest.raises(LogError):
        ledger_at(path).append([decision()], expect=None, actor="t")


def test_a_pipe_in_the_place_of_the_log_hangs_no_job(tmp_path: Path) -> None:
    """Nobody reads its other end, and nobody ever will: the append fails at once, and so does a reader."""
    path = tmp_path / "decision.ndjson"
    os.mkfifo(path)
    with pytest.raises(LogError):
        ledger_at(path).append([decision()], expect=None, actor="t")
    assert list(raw_lines([str(path)])) == []


def test_a_new_log_is_announced_once(tmp_path: Path) -> None:
    """A typing mistake in --log would otherwise start a new history in silence."""
    path = tmp_path / "logs" / "decision.ndjson"
    ledger = ledger_at(path)
    first = ledger.append([decision("a")], expect=None, actor="t")
    second = ledger.append([decision("b")], expect=None, actor="t")
    assert first.warnings == (f"new log created at {path}",)
    assert second.warnings == ()


def test_appends_in_a_row_are_all_seen_by_others(tmp_path: Path) -> None:
    """One writer may leave its state behind for a while; another process reads the lines from the log."""
    path = tmp_path / "decision.ndjson"
    writer = ledger_at(path)
    for number in range(1, 8):
        writer.append([decision("r", number=number)], expect=None, actor="t")
    other = ledger_at(path)
    run = other.view().run("r")
    assert run is not None
    assert run.version == 7
    other.append([stop("r")], expect=None, actor="t")
    seen = writer.view().run("r")
    assert seen is not None
    assert seen.state is RunState.STOPPED
    assert_whole(path)


def test_rebuilding_gives_the_same_state(tmp_path: Path) -> None:
    """Run state is the fold of the log, however it came about."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    ledger = ledger_at(path)
    before = {run.run_id: run for run in ledger.view().runs()}
    assert {run.run_id: run for run in ledger.rebuild().runs()} == before
    assert len(events_of(path)) == 5


def test_rebuilding_without_any_state_folds_the_log_once(tmp_path: Path) -> None:
    """A log of a million events is folded in minutes: after its state was lost nobody waits for that twice."""

    def read_by(call: Callable[[NdjsonLedger], object]) -> int:
        ops = Weighed()
        with closing(ledger_at(path, ops=ops)) as ledger:
            call(ledger)
        return ops.read

    path = tmp_path / "decision.ndjson"
    writer = ledger_at(path, ops=Unflushed())
    for number in range(200):
        writer.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
    writer.close()
    lose(path)
    once = read_by(NdjsonLedger.view)
    assert once >= path.stat().st_size
    lose(path)
    assert read_by(NdjsonLedger.rebuild) < 1.5 * once
    assert_state_follows(path)


@pytest.mark.parametrize("kept", [0, 2, 4])
def test_rebuilding_from_a_cut_log_does_not_bring_a_stopped_run_back(tmp_path: Path, kept: int) -> None:
    """What the state has seen is not forgotten on request: the command is refused and the runs stay."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    ledger = ledger_at(path)
    before = list(ledger.view().runs())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:kept]))
    with pytest.raises(LogDamagedError, match=f"ends at seq {kept}, and seq 5 has been seen") as refused:
        ledger.rebuild()
    assert "goes on at seq 6" in refused.value.remedy
    assert list(ledger_at(path).view().runs()) == before


def test_a_copied_log_brings_its_state_along(tmp_path: Path) -> None:
    """A cached log restored by CI without its database is the same log."""
    path, copy = tmp_path / "decision.ndjson", tmp_path / "restored" / "decision.ndjson"
    make_log(path)
    copy.parent.mkdir()
    shutil.copy(path, copy)
    assert list(ledger_at(copy).view().runs()) == list(ledger_at(path).view().runs())


@pytest.mark.parametrize("table", ["runs", "events", "policies"])
def test_a_table_that_is_gone_under_an_append_is_made_anew(table: str, tmp_path: Path) -> None:
    """The look-ups of an append meet damage that the head does not show."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    connection = sqlite3.connect(database(path), isolation_level=None)
    connection.execute(f"DROP TABLE {table}")
    connection.close()
    ledger = ledger_at(path)
    expect = Expectation("active", 5, slot=("e3", "B", False), live_run_id="active")
    ledger.append([stop("active")], expect=expect, policies=[policy()], actor="t")
    ledger.close()
    assert_whole(path)
    assert_state_follows(path)


def test_the_head_says_where_the_log_ends(tmp_path: Path) -> None:
    """`log head`: the seq and the digest that the next event will hold as `prev`."""
    path = tmp_path / "decision.ndjson"
    assert ledger_at(path).head() == {"seq": 0, "digest": "sha256:" + "0" * 64, "ts": None, "is_complete": True}
    make_log(path)
    last = path.read_bytes().split(b"\n")[-2]
    head = ledger_at(path).head()
    assert (head["seq"], head["digest"], head["ts"]) == (5, line_digest(last), "2026-02-18T01:00:10.000000Z")


def test_a_slot_is_compared_with_appends_that_are_not_in_the_tables_yet(tmp_path: Path) -> None:
    """Appends in a row leave the tables behind; the rule of one live run must see them all the same."""
    ledger = ledger_at(tmp_path / "decision.ndjson")
    for number in range(1, 4):
        ledger.append([decision("r", number=number)], expect=None, actor="t")
    ledger.append([decision("x", experiment="e9")], expect=None, actor="t")
    with pytest.raises(ConflictError):
        ledger.append([decision("y", experiment="e9")], expect=Expectation("y", 0, slot=("e9", "B", False)), actor="t")


def test_state_left_behind_by_one_writer_does_not_overwrite_newer_state(tmp_path: Path) -> None:
    """Another process has read on and appended: tables written late by the first would count events twice."""
    path = tmp_path / "decision.ndjson"
    writer, other = ledger_at(path), ledger_at(path)
    for number in range(1, 4):
        writer.append([decision("r", number=number)], expect=None, actor="t")
    other.append([decision("x", experiment="e9")], expect=None, actor="t")
    writer.view()
    run = ledger_at(path).view().run("x")
    assert run is not None
    assert run.decisions_at == {"DRY_RUN": 1}
    assert_state_follows(path)
