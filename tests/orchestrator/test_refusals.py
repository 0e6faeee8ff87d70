from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import LogError
from tests.doubles import MemoryLedger
from tests.orchestrator.desk import Desk, policy


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"stage": "ROLLOUT_100"}, "stage_not_askable"),
        ({"stage": "CANARY_25"}, "stage_not_askable"),
        ({"revision": "rev-b"}, "other_revision"),
        ({"change_class": "unsafe_for_experiment"}, "other_change_class"),
        ({"idempotency_key": "job-1"}, "key_reused"),
        ({"start_stage": "CANARY_10", "reason": "x"}, "already_begun"),
        ({"as_of": "2026-02-18T02:00:00Z"}, "mixed_simulation"),
    ],
)
def test_a_known_run_that_is_turned_away_keeps_a_refusal(desk: Desk, other: dict[str, Any], reason: str) -> None:
    """One event that says what was asked and why not; the run is as it was."""
    desk.check(idempotency_key="job-1")
    desk.refused(actor="eve", **other)
    (event,) = desk.events("refusal")
    assert (event["run_id"], event["event_id"], event["actor"]) == ("r", "r:refusal#1", "eve")
    assert event["refusal"]["reason"] == reason
    assert event["refusal"]["stage"] == other.get("stage", other.get("start_stage"))
    assert event.get("as_of") == other.get("as_of")


def test_the_same_question_is_refused_once_in_the_log(desk: Desk) -> None:
    """A pipeline that asks every minute does not fill the log; another question is noted again."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence()
    for _ in range(3):
        desk.refused("CANARY_50", snapshot=evidence)
    desk.refused("ROLLOUT_100", snapshot=evidence)
    assert [event["event_id"] for event in desk.events("refusal")] == ["r:refusal#1", "r:refusal#2"]


def test_a_refusal_of_one_run_does_not_silence_another_runs(desk: Desk) -> None:
    """Once per run and question."""
    desk.walk("DRY_RUN")
    desk.walk("DRY_RUN", run_id="r2", variant_id="C")
    evidence = desk.evidence()
    desk.refused("CANARY_50", snapshot=evidence)
    desk.refused("CANARY_50", snapshot=evidence, run_id="r2", variant_id="C")
    assert [event["run_id"] for event in desk.events("refusal")] == ["r", "r2"]


def test_a_spent_token_is_noted(desk: Desk) -> None:
    """It names a known run, which was turned away."""
    token = desk.hold()
    desk.check()
    desk.refuses(desk.by_token(token))
    (event,) = desk.events("refusal")
    assert (event["refusal"]["reason"], event["refusal"]["token"]) == ("token_spent", token)


def test_an_unknown_run_leaves_no_trace(desk: Desk) -> None:
    """Wrong first stage, live run elsewhere, adoption without a run: nobody known was turned away."""
    desk.check()
    before = desk.path.read_bytes()
    desk.refused(run_id="r2")
    desk.refused("SHADOW", run_id="r3", variant_id="C")
    desk.refused(run_id="r4", variant_id="C", adopt_reason="x", policy=policy(policy_version="2"))
    assert desk.path.read_bytes() == before


def test_a_refusal_that_cannot_be_written_changes_nothing(desk: Desk) -> None:
    """65 stays 65 when the disk is full."""
    memory = MemoryLedger(desk.clock)
    desk.ledger = memory
    desk.walk("DRY_RUN")
    lines = list(memory.lines)
    memory.fail_with = LogError("no space left", remedy="make room")
    error = desk.refused("CANARY_50")
    assert "CANARY_50" in error.message
    assert memory.lines == lines


def test_a_refusal_moves_nothing_but_its_own_number(desk: Desk) -> None:
    """Decisions keep their numbers, holds their token, and the next check is answered as before."""
    desk.walk("DRY_RUN")
    token = desk.hold("SHADOW")
    desk.refused("ROLLOUT_100")
    assert desk.resume(token).event["event_id"] == "r:SHADOW#2"
