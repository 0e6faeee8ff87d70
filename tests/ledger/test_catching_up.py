"""The state behind a log whose files have moved meanwhile: sealed, renamed or put together by others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.ledger.segments import files_of
from gatekeeper.model.run import RunState
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.drafts import decision, stop
from tests.ledger.segments import all_events, lose_state, put_state_back, rotated_log, state_of


def test_a_state_that_lags_behind_a_rotation_reads_the_sealed_file(tmp_path: Path) -> None:
    """Killed before the state was written: what it has not seen is read where it stands now, and nothing is missing."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    ledger.close()
    state = state_of(path)
    ledger = ledger_at(path)
    ledger.append([decision("a", "SHADOW", from_stage="DRY_RUN"), stop("a")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.append([decision("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    expected = list(ledger_at(path).view().runs())
    put_state_back(path, state)
    late = ledger_at(path)
    view = late.view()
    assert (list(view.runs()), view.warnings, view.is_complete) == (expected, (), True)
    assert view.event("a:SHADOW") is not None
    assert names_of_segments(late) == [(1, "decision.ndjson.000000000001-000000000003"), (2, "")]


def test_a_live_file_that_is_gone_begins_no_new_history(tmp_path: Path) -> None:
    """Only sealed segments are left, and the state is lost: seqs go on, a stopped run stays stopped."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    lose_state(path)
    path.unlink()
    view = ledger_at(path).view()
    run = view.run("a")
    assert run is not None
    assert run.state is RunState.STOPPED
    lose_state(path)
    event = ledger_at(path).append([decision("new", experiment="e3")], expect=None, actor="t").events[0]
    assert event["seq"] == 9
    assert len(all_events(path)) == 9


def test_rotation_by_others_and_by_us_reads_as_one(tmp_path: Path) -> None:
    """Logrotate has renamed the first file, we have sealed the second: the state made anew knows all runs."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a"), stop("a")], expect=None, actor="t")
    path.rename(tmp_path / "decision.ndjson-20260218")
    ledger.append([decision("b", experiment="e2")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    lose_state(path)
    view = ledger_at(path).view()
    assert [(run.run_id, run.state.value) for run in view.runs()] == [("a", "STOPPED"), ("b", "ACTIVE")]
    assert (view.warnings, view.is_complete) == ((), True)


def names_of_segments(ledger: NdjsonLedger) -> list[Any]:
    """The files that the state has seen, by number; the live one has no name."""
    connection = ledger._follower.projection().connection
    return connection.execute("SELECT number, name FROM segments ORDER BY number").fetchall()


class RotatesAt(Unflushed):
    """Somebody else seals the log and goes on, right before the first call of this name, or behind it."""

    def __init__(self, name: str, path: Path, *, is_behind: bool = False) -> None:
        self._path: Path | None = path
        self._is_behind = is_behind
        setattr(self, name, self._first(getattr(super(), name)))

    def _first(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def first(*arguments: Any) -> Any:
            answer = call(*arguments) if self._is_behind else None
            path, self._path = self._path, None
            if path is not None:
                other = ledger_at(path)
                other.rotate(actor="other")
                other.append([decision("other", experiment="e9")], expect=None, actor="other")
                other.close()
            return answer if self._is_behind else call(*arguments)

        return first


def test_a_view_that_waited_for_a_rotation_reads_the_new_file(tmp_path: Path) -> None:
    """Opened before the file was sealed, and the lock taken after: the old file is not taken for the live one."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    ledger.close()
    lose_state(path)
    waiting = ledger_at(path, ops=RotatesAt("lock", path))
    view = waiting.view()
    assert [run.run_id for run in view.runs()] == ["a", "other"]
    assert view.warnings == ()
    assert names_of_segments(waiting) == [(1, "decision.ndjson.000000000001-000000000001"), (2, "")]


def test_files_that_are_listed_while_somebody_rotates_have_no_hole(tmp_path: Path) -> None:
    """The directory was listed before, the live file looked at after: the segment between them is not left out."""
    path = tmp_path / "decision.ndjson"
    ledger_at(path).append([decision("a")], expect=None, actor="t")
    files = files_of(str(path), RotatesAt("list_directory", path, is_behind=True))
    assert [(file.first_seq, file.last_seq) for file in files] == [(1, 1), (2, None)]


def test_lines_that_others_have_put_together_are_folded_once(tmp_path: Path) -> None:
    """Half of a file is known, and somebody made one of it and what stood before: only what is new is taken."""
    path, whole = tmp_path / "log", tmp_path / "whole"
    for place in (path, whole):
        ledger = ledger_at(place)
        for name in ("a", "b", "c", "d"):
            ledger.append([decision(name, experiment=name)], expect=None, actor="t")
            if place == path and name == "b":
                path.rename(tmp_path / "log.1")
    ledger_at(path).view()
    ledger = ledger_at(whole)
    ledger.append([decision("e", experiment="e")], expect=None, actor="t")
    ledger.append([decision("f", experiment="f")], expect=None, actor="t")
    lines = whole.read_bytes().splitlines(keepends=True)
    (tmp_path / "log.1").unlink()
    (tmp_path / "log-20260218").write_bytes(b"".join(lines[:5]))
    path.write_bytes(lines[5])
    view = ledger_at(path).view()
    assert [(run.run_id, run.version) for run in view.runs()] == [(name, seq) for seq, name in enumerate("abcdef", 1)]
    assert (view.warnings, view.is_complete) == ((), True)
