from __future__ import annotations

from typing import Any

import pytest

from tests.orchestrator.desk import STAGES, Desk, policy

IRREVERSIBLE = "stateful_or_irreversible"


def rml(event: Any) -> tuple[str, str]:
    """World and action."""
    return event["rml"]["world"], event["rml"]["action"]


def test_an_unsafe_change_is_rejected_at_its_first_check(desk: Desk) -> None:
    """REJECT at DRY_RUN already, whatever the evidence."""
    answer = desk.check(change_class="unsafe_for_experiment")
    assert (answer.verdict, desk.run().state) == ("REJECT", "STOPPED")
    assert answer.event["decision"]["reason_codes"] == ["change_refused:unsafe_for_experiment"]
    assert answer.event["change_class"] == "unsafe_for_experiment"


def test_an_irreversible_change_holds_at_the_first_canary(desk: Desk) -> None:
    """DRY_RUN and SHADOW pass; then an approval is needed, which a reference cannot be."""
    desk.walk("DRY_RUN", "SHADOW", change_class=IRREVERSIBLE)
    answer = desk.check(evidence={"approval": "yes"})
    assert (answer.verdict, answer.event["stage"]) == ("DEGRADE", "CANARY_10")
    assert answer.event["decision"]["reason_codes"] == ["evidence_missing:approval"]
    assert answer.event["resume"]["next_evaluation"]["on"] == ["approval"]


@pytest.mark.parametrize("stage", ["CANARY_10", "CANARY_50", "ROLLOUT_100"])
def test_every_exposed_stage_needs_the_approval(desk: Desk, stage: str) -> None:
    """From the first canary on, 100 percent included."""
    answer = desk.check(start_stage=stage, reason="x", change_class=IRREVERSIBLE)
    assert answer.event["decision"]["reason_codes"] == ["evidence_missing:approval"]


def test_the_class_of_the_first_decision_lasts(desk: Desk) -> None:
    """A later check that does not repeat it is judged by it."""
    desk.check(change_class=IRREVERSIBLE)
    assert desk.check().event["change_class"] == IRREVERSIBLE
    assert "reversible" in desk.refused(change_class="reversible").message


@pytest.mark.parametrize("stage", STAGES)
def test_where_a_mistake_would_live(desk: Desk, stage: str) -> None:
    """RML1 before anybody is exposed, RML2 behind, with the hint for each verdict."""
    exposed = stage not in {"DRY_RUN", "SHADOW"}
    world = "RML2" if exposed else "RML1"
    start: dict[str, Any] = {"start_stage": stage, "reason": "x"}
    assert rml(desk.check(run_id="a", variant_id="A", **start).event) == (world, "proceed")
    held = desk.check(run_id="b", variant_id="B", metrics={"errors": ...}, **start)
    assert rml(held.event) == (world, "retry-with-backoff")
    stopped = desk.check(run_id="c", variant_id="C", metrics={"leaks": 1}, **start)
    assert rml(stopped.event) == (world, "start-compensation" if exposed else "abort")


def test_an_irreversible_mistake_is_for_people(desk: Desk) -> None:
    """RML3: DEGRADE and REJECT both escalate; before exposure the irreversible change is in RML1 like any other."""
    fields: dict[str, Any] = {"change_class": IRREVERSIBLE}
    assert rml(desk.check(**fields).event) == ("RML1", "proceed")
    desk.check(**fields)
    assert rml(desk.check(**fields).event) == ("RML3", "escalate-history")
    rejected = desk.check(metrics={"leaks": 1}, **fields)
    assert rml(rejected.event) == ("RML3", "escalate-history")
    assert [action["name"] for action in rejected.event["decision"]["next_actions"]] == ["escalate"]


def test_every_event_names_its_actor(desk: Desk) -> None:
    """Decision, policy, action and refusal: who it was."""
    desk.check(actor="ann")
    desk.check(run_id="r2", supersede="r", actor="bob")
    desk.refused("ROLLOUT_100", run_id="r2", actor="eve")
    kinds = [(event["kind"], event["actor"]) for event in desk.events()]
    assert kinds == [
        ("policy", "ann"),
        ("decision", "ann"),
        ("action", "bob"),
        ("decision", "bob"),
        ("refusal", "eve"),
    ]


def test_the_policy_stands_in_the_log_before_its_first_use(desk: Desk) -> None:
    """In the same write, once per content."""
    desk.check()
    desk.check()
    desk.policy = policy(policy_version="2")
    desk.check(run_id="r2", supersede="r")
    recorded = [(event["kind"], event["policy_version"]) for event in desk.events()]
    assert recorded == [
        ("policy", "1"),
        ("decision", "1"),
        ("decision", "1"),
        ("policy", "2"),
        ("action", "1"),
        ("decision", "2"),
    ]
