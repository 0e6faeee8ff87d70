from __future__ import annotations

from typing import Any

from gatekeeper.model.snapshot import Snapshot, snapshot_from_document
from tests.orchestrator.desk import Desk, policy

GATE = {"required_for_stages": ["ROLLOUT_100"], "require_ci_low_gt": 0.0}


def with_bound(desk: Desk, ci_low: float, **metrics: Any) -> Snapshot:
    """Healthy evidence with this lower bound of the primary's effect."""
    document = dict(desk.evidence(**metrics).document)
    return snapshot_from_document({**document, "promotion": {"conversion": {"ci_low": ci_low}}})


def test_forty_looks_and_one_more_are_visible(desk: Desk) -> None:
    """Handout HO-18.7: ACCEPT by the policy's letter at the 41st look, and the decision says that it was the 41st."""
    desk.policy = policy(promotion_gate=GATE)
    desk.walk(*desk.policy.policy.stages[:-1])
    for _ in range(40):
        assert desk.check(snapshot=with_bound(desk, -0.001)).verdict == "DEGRADE"
        desk.clock.advance(300)
    answer = desk.check(snapshot=with_bound(desk, 0.0001))
    assert (answer.verdict, answer.event["context"]["looks"]) == ("ACCEPT", 41)
    assert any("41 times" in note for note in answer.event["decision"]["notes"])
    assert desk.run().looks == 41


def test_other_stages_do_not_look(desk: Desk) -> None:
    """Statistics that are not asked are not looked at; remaining does not ask them either."""
    desk.policy = policy(promotion_gate=GATE)
    desk.walk(*desk.policy.policy.stages[:-1])
    assert desk.run().looks == 0
    desk.check(snapshot=with_bound(desk, 0.1))
    desk.check(snapshot=with_bound(desk, 0.1))
    assert desk.run().looks == 1


def test_failed_safety_is_no_look(desk: Desk) -> None:
    """Where safety does not pass, the statistics are not looked at and the count stays."""
    desk.policy = policy(promotion_gate=GATE)
    desk.walk(*desk.policy.policy.stages[:-1])
    desk.check(snapshot=with_bound(desk, 0.1, errors=...))
    desk.check(snapshot=with_bound(desk, -0.1))
    assert desk.run().looks == 1
    assert desk.check(snapshot=with_bound(desk, 0.1)).event["context"]["looks"] == 2
