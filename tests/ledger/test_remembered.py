"""The index holds no lines: what is lost with a log's file, and what must answer all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.ledger import projection_index, projection_view
from gatekeeper.ledger.remembered import NOTE
from gatekeeper.model.event import content_question_of
from tests.ledger.checking import ledger_at
from tests.ledger.damage import state_files
from tests.ledger.drafts import decision, stop

MARK = "a-mark-in-the-evidence"


def marked(*given: Any, **named: Any) -> dict[str, Any]:
    """A decision whose evidence can be told in any file."""
    return decision(*given, **named, metrics_snapshot={"metrics": {"m": MARK}})


def lose_log(path: Path, *drafts: dict[str, Any]) -> None:
    """A log of these events, its file removed."""
    ledger = ledger_at(path)
    ledger.append(drafts, expect=None, actor="t")
    ledger.close()
    path.unlink()


def test_no_line_of_an_ended_run_is_kept_beside_the_log(tmp_path: Path) -> None:
    """Lines kept for every stopped run made the state half as long as the log."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    held = marked("a", "SHADOW", verdict="DEGRADE", from_stage="DRY_RUN")
    ledger.append([marked("a"), held, marked("a", "SHADOW", number=2, verdict="REJECT")], expect=None, actor="t")
    ledger.append([marked("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    assert sum(found.read_bytes().count(MARK.encode()) for found in state_files(path)) == 0
    assert path.read_bytes().count(MARK.encode()) == 4


def test_a_rejected_run_answers_with_what_is_remembered(tmp_path: Path) -> None:
    """Its file is gone: verdict, reasons, stage, policy, time and place in the log are still told, and why no more."""
    path = tmp_path / "decision.ndjson"
    reject = decision("a", "SHADOW", verdict="REJECT", from_stage="DRY_RUN")
    lose_log(path, decision("a"), reject)
    event = ledger_at(path).view().event("a:SHADOW")
    assert event is not None
    told = ("kind", "seq", "ts", "run_id", "stage", "policy_id", "policy_version", "policy_digest", "revision")
    assert [event[name] for name in told] == [
        "decision", 2, "2026-02-18T01:00:10.000000Z", "a", "SHADOW", "p", "1", reject["policy_digest"], "sha256:rev",
    ]  # fmt: skip
    assert event["decision"]["verdict"] == "REJECT"
    assert event["decision"]["reason_codes"] == ["guardrail_violation:error_rate"]
    assert event["decision"]["notes"] == [NOTE]
    assert "metrics_snapshot" not in event


def test_what_no_run_stands_on_is_not_invented(tmp_path: Path) -> None:
    """An event of the middle of a run whose line is gone is unknown, not half known."""
    path = tmp_path / "decision.ndjson"
    lose_log(path, decision("a"), decision("a", "SHADOW", from_stage="DRY_RUN"), stop("a"))
    view = ledger_at(path).view()
    assert view.event("a:DRY_RUN") is None
    assert view.event("a:nothing") is None
    assert view.event("nobody:DRY_RUN") is None


def test_a_stop_and_an_open_hold_are_whole(tmp_path: Path) -> None:
    """Who stopped it for what, and the evidence of the last attempt, stand in no index: their lines are kept."""
    path = tmp_path / "decision.ndjson"
    lose_log(path, decision("a"), stop("a"), marked("h", verdict="DEGRADE", experiment="e2"))
    view = ledger_at(path).view()
    stopped, held = view.event("a:action#1"), view.event("h:DRY_RUN")
    assert stopped is not None
    assert held is not None
    assert stopped["action"] == {"name": "stop", "params": {}, "reason": "incident"}
    assert held["metrics_snapshot"]["metrics"] == {"m": MARK}


def test_the_line_of_a_hold_goes_with_the_hold(tmp_path: Path) -> None:
    """Else every hold of the past would be kept."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([marked("h", verdict="DEGRADE")], expect=None, actor="t")
    ledger.append([decision("h", number=2)], expect=None, actor="t")
    connection = ledger.view()._connection
    assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


@pytest.mark.parametrize("is_lost", [False, True])
def test_an_accept_answers_its_own_question_and_no_other(
    is_lost: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by a part of a digest, it is compared as a whole: with its line, or with what the run knows of it."""
    monkeypatch.setattr(projection_index, "question_number", lambda *_given: 1)
    monkeypatch.setattr(projection_view, "question_number", lambda *_given: 1)
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("a"), decision("b", experiment="e2")], expect=None, actor="t")
    ledger.close()
    if is_lost:
        path.unlink()
    view = ledger_at(path).view()
    found = view.accepted("a", content_question_of(decision("a")))
    assert found is not None
    assert (found["event_id"], found["decision"]["verdict"], found["stage"]) == ("a:DRY_RUN", "ACCEPT", "DRY_RUN")
    assert view.accepted("a", content_question_of(decision("a", revision="other"))) is None
    assert view.accepted("a", content_question_of(decision("b", experiment="e2"))) is None


def test_a_founding_reject_still_stops_when_its_file_is_gone(tmp_path: Path) -> None:
    """With its file the line answers, with its reasons; without it the run is stopped all the same."""
    path = tmp_path / "decision.ndjson"
    line = {"run_id": "r", "stage": "SHADOW", "verdict": "REJECT", "reason_codes": ["a:b"], "event_id": "own name"}
    path.write_bytes(json.dumps(line).encode() + b"\n")
    ledger = ledger_at(path)
    event = ledger.view().event("own name")
    assert event is not None
    assert event["decision"]["reason_codes"] == ["a:b"]
    ledger.close()
    path.unlink()
    event = ledger_at(path).view().event("own name")
    assert event is not None
    assert (event["decision"]["verdict"], event["run_id"]) == ("REJECT", "r")


@pytest.mark.parametrize("event_id", ["r:1:X", "r:1:X#2", "r:1:X#1", "r:1:X#02", "r:1:#3", "r:1:5", "own", "policy#1"])
def test_an_event_is_found_by_any_name(event_id: str, tmp_path: Path) -> None:
    """The index holds the run's id and a number for the rest: what is told must be the same text again."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    names = ["r:1:X", "r:1:X#2", "r:1:X#1", "r:1:X#02", "r:1:#3", "r:1:5", "own", "policy#1"]
    for name in names:
        ledger.append([{**decision("r:1", "X"), "event_id": name}], expect=None, actor="t")
    ledger.append([{**decision("r", "X", experiment="e2"), "event_id": "r:1:Y"}], expect=None, actor="t")
    view = ledger.view()
    event, other = view.event(event_id), view.event("r:1:Y")
    assert event is not None
    assert other is not None
    assert (event["event_id"], event["seq"]) == (event_id, names.index(event_id) + 1)
    assert other["run_id"] == "r"
    assert view.event("r:1:X#3") is None
