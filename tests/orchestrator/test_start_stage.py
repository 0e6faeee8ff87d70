from __future__ import annotations

from typing import Any

from gatekeeper.errors import RunRefusedError
from tests.orchestrator.desk import Desk, policy


def test_a_rollout_under_way_is_adopted_visibly(desk: Desk) -> None:
    """The stage is asked from null, with an action event in the same write that says why."""
    answer = desk.check(start_stage="CANARY_10", reason="was rolled out by hand")
    action, decision = desk.events()[-2:]
    assert (action["kind"], action["action"]) == (
        "action",
        {"name": "start-stage", "reason": "was rolled out by hand", "params": {"stage": "CANARY_10"}},
    )
    assert decision["state_transition"] == {"from": None, "to": "CANARY_10"}
    assert decision["event_id"] == "r:CANARY_10"
    assert (answer.verdict, desk.run().stage) == ("ACCEPT", "CANARY_10")
    assert desk.check().event["stage"] == "CANARY_50"


def test_harm_found_on_adoption_stops(desk: Desk) -> None:
    """Safety is asked like at any entry."""
    assert desk.check(start_stage="CANARY_10", reason="x", metrics={"leaks": 1}).verdict == "REJECT"


def test_evidence_is_asked_on_adoption(desk: Desk) -> None:
    """A rollout under way has no reference on record: it must be given now."""
    desk.policy = policy(evidence={"required": ["change_id"]})
    answer = desk.check(start_stage="CANARY_10", reason="x")
    assert answer.event["decision"]["reason_codes"] == ["evidence_missing:change_id"]


def test_approval_is_asked_on_adoption(desk: Desk) -> None:
    """An irreversible change does not pass the first canary by being there already."""
    answer = desk.check(start_stage="CANARY_10", reason="x", change_class="stateful_or_irreversible")
    assert answer.event["decision"]["reason_codes"] == ["evidence_missing:approval"]


def test_the_promotion_gate_of_the_stage_is_asked_on_adoption(desk: Desk) -> None:
    """Entering a stage that needs statistics needs them from null, too."""
    desk.policy = policy(promotion_gate={"required_for_stages": ["CANARY_50"], "min_sample_size": 1000})
    answer = desk.check(start_stage="CANARY_50", reason="x")
    assert answer.event["decision"]["reason_codes"] == ["precondition_unknown:sample_size_not_reached"]


def test_wait_and_window_are_not_asked_on_adoption(desk: Desk) -> None:
    """The run has been in no stage yet, so no time there has to have passed."""
    desk.policy = policy(stage_policy={"min_stage_seconds": 900})
    assert desk.check(start_stage="CANARY_10", reason="x").verdict == "ACCEPT"
    assert desk.check().event["decision"]["reason_codes"] == [
        "precondition_unknown:stage_wait_not_elapsed",
        "observation_stale:window_before_stage",
    ]


def test_a_begun_run_is_not_lifted(desk: Desk) -> None:
    """--start-stage at a later check is refused: it would skip stages."""
    desk.check()
    error = desk.refused(start_stage="CANARY_50", reason="hurry")
    assert isinstance(error, RunRefusedError)
    assert error.reason == "already_begun"
    desk.hold()
    desk.refused(start_stage="CANARY_50", reason="hurry")


def test_an_unknown_start_stage_begins_nothing(desk: Desk) -> None:
    """A stage that the policy does not name: refused, no run."""
    assert "CANARY_25" in desk.refused(start_stage="CANARY_25", reason="x").message
    assert desk.events() == []


def test_a_held_start_goes_on_at_its_stage(desk: Desk) -> None:
    """DEGRADE at the adopted stage: held there at no stage; the default and the only stage is that one."""
    answer = desk.check(start_stage="CANARY_10", reason="x", metrics={"errors": ...})
    assert (desk.run().state, desk.run().stage) == ("HELD", None)
    assert desk.refused("DRY_RUN").remedy == "ask CANARY_10"
    resumed = desk.resume(answer.event["resume"]["resume_token"])
    assert (resumed.verdict, desk.run().stage) == ("ACCEPT", "CANARY_10")


def test_starting_late_may_supersede(desk: Desk) -> None:
    """Both actions and the decision are one write, in an order that a reader can follow."""
    desk.check()
    fields: dict[str, Any] = {"run_id": "r2", "supersede": "r", "start_stage": "CANARY_10", "reason": "x"}
    desk.check(**fields)
    assert [event["event_id"] for event in desk.events()[-3:]] == ["r:action#1", "r2:action#1", "r2:CANARY_10"]
