"""The log was rotated, cut, emptied or replaced under the state: never folded back, never taken for new."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from gatekeeper.errors import LogError, StateUnreadableError
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.model.event import line_digest
from gatekeeper.model.run import RunState
from tests.ledger.checking import assert_whole, events_of, ledger_at
from tests.ledger.drafts import accept_gap, decision, stop
from tests.ledger.reading import read_lines


def make_log(path: Path) -> bytes:
    """Four events: run `a` enters two stages and is stopped, run `h` is held. The last line."""
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("a", "SHADOW", from_stage="DRY_RUN")], expect=None, actor="t")
    ledger.append([decision("h", verdict="DEGRADE", experiment="e2", token="T"), stop("a")], expect=None, actor="t")
    ledger.close()
    return path.read_bytes().split(b"\n")[-2]


def remove_state(path: Path) -> None:
    """Lose the database and what SQLite keeps with it."""
    for found in path.parent.iterdir():
        if found.name.startswith(f"{path.name}.db"):
            found.unlink()


def assert_goes_on(path: Path, last_line: bytes, missing: str | None) -> None:
    """Runs stay where they were, what no file has any more is named, the next event continues from the head."""
    view = ledger_at(path).view()
    stopped, held = view.run("a"), view.run("h")
    assert stopped is not None
    assert held is not None
    assert (stopped.state, held.state) == (RunState.STOPPED, RunState.HELD)
    assert view.is_complete
    assert missing is not None or view.warnings == ()
    assert missing is None or any(missing in warning for warning in view.warnings)
    event = ledger_at(path).append([decision("new", experiment="e3")], expect=None, actor="t").events[0]
    assert (event["seq"], event["prev"]) == (5, line_digest(last_line))


@pytest.mark.parametrize(("name", "missing"), [("decision.ndjson.1", None), ("elsewhere", "seqs 1-4")])
def test_a_log_rotated_by_rename_goes_on_from_its_head(name: str, missing: str | None, tmp_path: Path) -> None:
    """No new history where the log was: a rejected run stays rejected, what nobody finds any more is named."""
    path = tmp_path / "decision.ndjson"
    last = make_log(path)
    path.rename(tmp_path / name)
    assert_goes_on(path, last, missing)
    assert [event["seq"] for event in events_of(path)] == [5]


def test_a_log_copied_and_truncated_goes_on_from_its_head(tmp_path: Path) -> None:
    """The copytruncate of logrotate leaves an empty file in the same place."""
    path = tmp_path / "decision.ndjson"
    last = make_log(path)
    shutil.copy(path, tmp_path / "decision.ndjson.1")
    os.truncate(path, 0)
    assert_goes_on(path, last, None)


def test_a_log_that_was_cut_goes_on_from_its_head(tmp_path: Path) -> None:
    """The last two lines are gone, among them a stop: it still holds."""
    path = tmp_path / "decision.ndjson"
    last = make_log(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:2]) + b"\n")
    assert_goes_on(path, last, "seqs 3-4")
    assert [event["seq"] for event in events_of(path)] == [1, 2, 5]
    problems = [line.problem for line in read_lines(path) if line.problem is not None]
    assert problems == ["follows a gap: seq 3 to 4 missing"]


def test_the_chain_runs_across_rotated_files(tmp_path: Path) -> None:
    """Readers take several files or a pattern and find no gap between them, whatever their names' order."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    path.rename(tmp_path / "decision.ndjson.1")
    ledger_at(path).append([decision("new", experiment="e3")], expect=None, actor="t")
    lines = list(raw_lines([str(path), str(tmp_path / "*.1")]))
    assert [json.loads(raw)["seq"] for _, _, raw, _ in lines] == [1, 2, 3, 4, 5]
    assert [line.problem for line in read_lines(tmp_path / "decision.ndjson.1", path)] == [None] * 5
    alone = list(read_lines(path))
    assert [line.problem for line in alone] == ["follows a gap: seq 1 to 4 missing"]


def test_a_file_that_was_named_and_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A report over a mistyped path is no empty report."""
    with pytest.raises(LogError):
        list(raw_lines([str(tmp_path / "nowhere.ndjson")]))


def test_rotated_events_are_still_found(tmp_path: Path) -> None:
    """`explain` finds the line in the file that bears the log's name."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    path.rename(tmp_path / "decision.ndjson-20260218")
    event = ledger_at(path).view().event("a:SHADOW")
    assert event is not None
    assert event["seq"] == 2


def test_a_stopped_run_answers_when_its_file_is_gone(tmp_path: Path) -> None:
    """The stopping event, an open hold's last attempt: what a run stands on is kept with the state."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    path.unlink()
    view = ledger_at(path).view()
    stopped, held = view.event("a:action#1"), view.event("h:DRY_RUN")
    assert stopped is not None
    assert held is not None
    assert (stopped["decision"]["verdict"], held["decision"]["verdict"]) == ("REJECT", "DEGRADE")
    assert view.event("a:SHADOW") is not None, "the last ACCEPT"
    assert view.event("a:DRY_RUN") is None


def test_a_log_put_back_is_the_log_again(tmp_path: Path) -> None:
    """Renamed away by mistake and back: nothing is folded twice, nothing is missing."""
    path, aside = tmp_path / "decision.ndjson", tmp_path / "aside"
    make_log(path)
    path.rename(aside)
    before = list(ledger_at(path).view().runs())
    aside.rename(path)
    view = ledger_at(path).view()
    assert list(view.runs()) == before
    assert view.warnings == ()
    assert view.event("a:DRY_RUN") is not None
    ledger_at(path).append([decision("new", experiment="e3")], expect=None, actor="t")
    assert_whole(path)


def test_another_history_in_the_logs_place_is_not_used(tmp_path: Path) -> None:
    """The log of another team under this path: its runs are not ours, and ours are not theirs."""
    path, other = tmp_path / "decision.ndjson", tmp_path / "other.ndjson"
    make_log(path)
    ledger = ledger_at(other)
    for number in range(1, 7):
        ledger.append([decision("x", number=number)], expect=None, actor="t")
    shutil.copy(other, path)
    ledger = ledger_at(path)
    with pytest.raises(StateUnreadableError, match="another history") as caught:
        ledger.view()
    assert "log rebuild" in caught.value.remedy
    with pytest.raises(StateUnreadableError):
        ledger.append([decision("x", number=7)], expect=None, actor="t")
    assert len(events_of(path)) == 6
    assert [run.run_id for run in ledger.rebuild().runs()] == ["x"]


def test_lines_that_others_added_by_our_rules_are_read_on(tmp_path: Path) -> None:
    """A log that was synchronised from another machine, longer by two events of the same chain."""
    path, longer = tmp_path / "decision.ndjson", tmp_path / "longer.ndjson"
    make_log(path)
    shutil.copy(path, longer)
    ledger_at(longer).append([decision("b", experiment="e4"), decision("c", experiment="e5")], expect=None, actor="t")
    shutil.copy(longer, path)
    view = ledger_at(path).view()
    assert view.run("c") is not None
    assert view.is_complete
    assert view.warnings == ()


def test_a_log_without_its_beginning_is_incomplete(tmp_path: Path) -> None:
    """Without state nothing vouches for the missing part: a run unknown here may have been stopped there."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    lines = path.read_bytes().split(b"\n")
    remove_state(path)
    path.write_bytes(b"\n".join(lines[1:]))
    view = ledger_at(path).view()
    stopped, held = view.run("a"), view.run("h")
    assert stopped is not None
    assert held is not None
    assert (stopped.state, stopped.history) == (RunState.STOPPED, "incomplete")
    assert held.history == "complete", "its first event lies behind the gap"
    assert not view.is_complete
    assert any("follows a gap: seq 1 missing" in warning for warning in view.warnings)


def test_runs_that_cross_a_gap_are_incomplete_and_stopped_ones_are_not(tmp_path: Path) -> None:
    """An event in the gap could have stopped any run; one that is stopped already cannot be moved by it."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("s"), stop("s"), decision("open", experiment="e2")], expect=None, actor="t")
    ledger.append([decision("gone", experiment="e3")], expect=None, actor="t")
    ledger.append([decision("late", experiment="e4")], expect=None, actor="t")
    ledger.close()
    remove_state(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:3] + lines[4:]))
    view = ledger_at(path).view()
    histories = {run.run_id: run.history for run in view.runs()}
    assert histories == {"s": "complete", "open": "incomplete", "late": "complete"}
    assert not view.is_complete


def test_an_edited_line_breaks_the_chain_when_the_log_is_read_anew(tmp_path: Path) -> None:
    """A REJECT edited into an ACCEPT does not match the digest in the next line."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    remove_state(path)
    path.write_bytes(path.read_bytes().replace(b'"stage":"SHADOW"', b'"stage":"SHADOX"', 1))
    view = ledger_at(path).view()
    assert not view.is_complete
    assert any("does not hold the digest" in warning for warning in view.warnings)


def test_an_accepted_gap_ends_the_holding(tmp_path: Path) -> None:
    """`log rebuild --accept-gap`: a person takes the history as it is, in the log, and a later rebuild agrees."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    remove_state(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:1] + lines[2:]))
    ledger = ledger_at(path)
    assert not ledger.view().is_complete
    ledger.append([accept_gap()], expect=None, actor="t")
    view = ledger.view()
    assert view.is_complete
    assert {run.history for run in view.runs()} == {"complete"}
    assert ledger.rebuild().is_complete


def test_a_run_held_for_its_history_stays_incomplete(tmp_path: Path) -> None:
    """A run unknown to an incomplete log was held: that event alone does not make it complete, nor does waiting."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    remove_state(path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[1:]))
    ledger = ledger_at(path)
    held = decision("unknown", verdict="DEGRADE", experiment="e9", token="U")
    held["context"] = {**held["context"], "history": "incomplete"}
    ledger.append([held], expect=None, actor="t")
    run = ledger.view().run("unknown")
    assert run is not None
    assert run.history == "incomplete"


def test_founding_lines_stop_or_hold_their_runs(tmp_path: Path) -> None:
    """Lines without `kind`: a REJECT stops its run, anything else leaves it to a person; ours follow in the chain."""
    path = tmp_path / "decision.ndjson"
    lines = [
        b'{"run_id":"no","stage":"CANARY_10","decision":"REJECT","reason_codes":["guardrail_violation:x"]}\r',
        b"",
        b'{"run_id":"yes","stage":"CANARY_10","decision":{"verdict":"ACCEPT"}}',
    ]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    ledger = ledger_at(path)
    view = ledger.view()
    no, yes = view.run("no"), view.run("yes")
    assert no is not None
    assert yes is not None
    assert (no.state, yes.history, yes.stage) == (RunState.STOPPED, "incomplete", "CANARY_10")
    assert no.stopped_by is not None
    stopping = view.event(no.stopped_by)
    assert stopping is not None
    assert stopping["decision"]["verdict"] == "REJECT"
    event = ledger.append([decision("new")], expect=None, actor="t").events[0]
    assert (event["seq"], event["prev"]) == (1, line_digest(lines[2]))
    assert [(line.number, line.is_chained) for line in read_lines(path)] == [(1, False), (3, False), (4, True)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"kind":"decision","run_id":5}',
        b'{"kind":"decision","seq":5,"run_id":"a","event_id":"a:X","stage":"X","decision":{"verdict":"MAYBE"}}',
        b'{"kind":"decision","seq":5,"run_id":"a","event_id":"a:X","stage":"X","decision":{"verdict":"DEGRADE"}}',
        b'{"kind":"action","seq":5,"action":null}',
        b'{"kind":"policy","seq":5,"policy_digest":7}',
        b'{"kind":"decision","seq":99999999999999999999999,"run_id":"\\ud800"}',
        b'{"kind":["x"],"seq":5,"event_id":{"a":1}}',
        b"[1,2]",
        b"\xff\xfe",
        b"NaN",
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_event_is_named_and_read_over(line: bytes, tmp_path: Path) -> None:
    """Whatever stands on a foreign line, the gate does not crash: the line is named, the runs are held."""
    path = tmp_path / "decision.ndjson"
    make_log(path)
    with path.open("ab") as log:
        log.write(line + b"\n")
    view = ledger_at(path).view()
    assert any("line 5 " in warning for warning in view.warnings)
    held = view.run("h")
    assert held is not None
    assert held.history == "incomplete"
    ledger_at(path).append([decision("new", experiment="e3")], expect=None, actor="t")
    assert ledger_at(path).view().run("new") is not None
