from __future__ import annotations

import json

import pytest

from gatekeeper.errors import LogError
from gatekeeper.ledger.projection_view import ProjectionView
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.run import Run
from tests.orchestrator.desk import POLICY, STAGES, Desk, policy

LOOSE = policy(guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.5}])
"""The same version as POLICY, and a threshold that nobody would meet."""
NEXT = policy(policy_version="2")
STRICT = policy(policy_version="2", guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.001}])
ADOPT = "reviewed in PR 12"


def identity(run: Run) -> tuple[str | None, str | None]:
    """What a run says of its policy."""
    return run.policy_version, run.policy_digest


def test_a_loosened_policy_of_the_same_version_holds(desk: Desk) -> None:
    """Handout HO-11 a with healthy evidence: hold naming the policy, both digests in the log, no advance."""
    desk.walk("DRY_RUN")
    answer = desk.check(policy=LOOSE)
    assert answer.verdict == "DEGRADE"
    assert answer.event["decision"]["reason_codes"] == ["precondition_unknown:policy_changed"]
    assert answer.event["context"]["policy"] == {"run": desk.policy.digest, "given": LOOSE.digest}
    assert answer.event["policy_digest"] == desk.policy.digest
    assert {"name": "adopt_policy", "params": {"digest": LOOSE.digest}} in answer.event["decision"]["requested_actions"]
    assert (desk.run().state, desk.run().stage) == ("HELD", "DRY_RUN")
    assert identity(desk.run()) == ("1", desk.policy.digest)


def test_harm_under_the_runs_own_policy_rejects(desk: Desk) -> None:
    """Handout HO-11 a: 0.15 would pass the loosened file, which is never evaluated."""
    desk.walk("DRY_RUN")
    answer = desk.check(policy=LOOSE, metrics={"errors": 0.15})
    assert answer.verdict == "REJECT"
    assert answer.event["decision"]["reason_codes"] == ["guardrail_violation:errors"]
    codes = [finding["code"] for finding in answer.event["decision"]["findings"]]
    assert "precondition_unknown:policy_changed" in codes


def test_harm_under_the_given_policy_only_is_no_harm(desk: Desk) -> None:
    """The given file is never evaluated, a stricter one neither."""
    desk.walk("DRY_RUN")
    assert desk.check(policy=STRICT).event["decision"]["reason_codes"] == ["precondition_unknown:policy_changed"]


def test_a_given_policy_does_not_stand_in_for_one_that_the_log_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its harm is no harm under the run's own rules, which nobody knows: 74, and the run is as it was."""
    desk.walk("DRY_RUN")
    monkeypatch.setattr(ProjectionView, "policy", lambda _self, _digest: None)
    with pytest.raises(LogError, match="does not hold the policy"):
        desk.check(policy=STRICT, metrics={"errors": 0.15})
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "DRY_RUN")


def test_spacing_and_key_order_are_no_change(desk: Desk) -> None:
    """Handout HO-11 e: the same content saved again is the same policy."""
    desk.walk("DRY_RUN")
    turned = loaded_policy(json.loads(json.dumps(dict(reversed(POLICY.items())), indent=7)))
    assert desk.check(policy=turned).verdict == "ACCEPT"


def test_resume_uses_the_runs_policy(desk: Desk) -> None:
    """A hold for a changed file ends when the run's own policy is asked."""
    desk.walk("DRY_RUN")
    answer = desk.check(policy=LOOSE)
    assert desk.resume(answer.event["resume"]["resume_token"]).verdict == "ACCEPT"


@pytest.mark.parametrize(
    ("state", "stages", "after"),
    [("ACTIVE", STAGES[:2], "CANARY_10"), ("COMPLETED", STAGES, "ROLLOUT_100")],
)
def test_an_adopted_policy_judges_from_then_on(desk: Desk, state: str, stages: list[str], after: str) -> None:
    """ACTIVE and COMPLETED: an action event with both digests, then the decision by the new policy, in one write."""
    desk.walk(*stages)
    assert desk.run().state == state
    answer = desk.check(policy=NEXT, adopt_reason=ADOPT)
    recorded, action, decision = desk.events()[-3:]
    assert (recorded["kind"], recorded["policy_digest"]) == ("policy", NEXT.digest)
    assert action["action"] == {
        "name": "adopt-policy",
        "reason": ADOPT,
        "params": {
            "from_policy_digest": desk.policy.digest,
            "from_policy_version": "1",
            "to_policy_digest": NEXT.digest,
            "to_policy_version": "2",
        },
    }
    assert decision["context"]["policy"] == {"run": NEXT.digest, "given": NEXT.digest}
    assert (answer.verdict, answer.event["stage"], desk.run().state) == (
        "ACCEPT",
        after,
        "COMPLETED" if state == "COMPLETED" else "ACTIVE",
    )
    assert identity(desk.run()) == ("2", NEXT.digest)
    assert desk.check("ROLLOUT_100" if state == "COMPLETED" else after).verdict == "DEGRADE"


@pytest.mark.parametrize(
    ("metrics", "verdict", "state"), [({"errors": ...}, "DEGRADE", "HELD"), ({"leaks": 1}, "REJECT", "STOPPED")]
)
def test_an_adoption_takes_effect_whatever_the_verdict(
    desk: Desk, metrics: dict[str, object], verdict: str, state: str
) -> None:
    """DEGRADE and REJECT do not undo it."""
    desk.walk("DRY_RUN")
    answer = desk.check(policy=NEXT, adopt_reason=ADOPT, metrics=metrics)
    assert (answer.verdict, desk.run().state, desk.run().stage) == (verdict, state, "DRY_RUN")
    assert identity(desk.run()) == ("2", NEXT.digest)


def test_an_adoption_ends_a_hold_and_its_token(desk: Desk) -> None:
    """HELD: the check goes on for the same stage, its DEGRADE begins a new hold with a new token."""
    desk.walk("DRY_RUN")
    old = desk.hold()
    desk.clock.advance(100)
    answer = desk.check(policy=NEXT, adopt_reason=ADOPT, metrics={"errors": ...})
    assert (answer.event["stage"], answer.event["attempt"]) == ("SHADOW", 1)
    resume = answer.event["resume"]
    assert resume["resume_token"] != old
    assert (resume["attempt"], resume["first_held_at"]) == (1, answer.event["context"]["evaluated_at"])
    assert desk.run().ended_holds == {old: "r:action#1"}
    assert "r:action#1" in desk.refuses(desk.by_token(old)).message
    assert desk.resume(resume["resume_token"]).verdict == "ACCEPT"


def test_an_adoption_ends_a_hold_on_remaining_in_the_last_stage(desk: Desk) -> None:
    """COMPLETED, HELD, adopted, healthy: COMPLETED again."""
    desk.walk(*STAGES)
    desk.hold()
    assert desk.check(policy=NEXT, adopt_reason=ADOPT).verdict == "ACCEPT"
    assert desk.run().state == "COMPLETED"


def test_the_old_deadline_does_not_follow_into_the_new_hold(desk: Desk) -> None:
    """The hold ended, so its passed deadline does not reject the first check under the new policy."""
    desk.policy = policy(holds={"observation_missing": {"deadline_seconds": 60, "on_deadline": "REJECT"}})
    desk.hold()
    desk.clock.advance(100)
    assert desk.check(policy=NEXT, adopt_reason=ADOPT, metrics={"errors": ...}).verdict == "DEGRADE"


@pytest.mark.parametrize("missing", ["the current stage", "the held stage", "the stage asked"])
def test_a_policy_without_the_runs_stages_is_not_adopted(desk: Desk, missing: str) -> None:
    """65, nothing adopted: the new policy must name the stage the run is in and the one that is asked."""
    desk.walk("DRY_RUN", "SHADOW")
    gone = {"the current stage": "SHADOW", "the held stage": "CANARY_10", "the stage asked": "CANARY_10"}[missing]
    if missing == "the held stage":
        desk.hold()
    given = policy(policy_version="2", stages=[stage for stage in STAGES if stage != gone])
    error = desk.refused("CANARY_10", policy=given, adopt_reason=ADOPT)
    assert f"has no stage {gone}" in error.message
    assert "nothing was adopted" in error.message
    assert desk.events("action") == []


def test_an_adoption_needs_a_run(desk: Desk) -> None:
    """A first check fixes its policy; there is nothing to adopt from."""
    assert "needs an existing run" in desk.refused(adopt_reason=ADOPT).message
    assert desk.events() == []


def test_adopting_the_same_policy_changes_nothing(desk: Desk) -> None:
    """No event for it; the check goes on, and a hold keeps its token."""
    token = desk.hold()
    answer = desk.check(adopt_reason=ADOPT, metrics={"errors": ...})
    assert (answer.event["resume"]["resume_token"], answer.event["attempt"]) == (token, 2)
    assert desk.events("action") == []


def test_a_stopped_run_adopts_nothing(desk: Desk) -> None:
    """Its answer is its REJECT, its policy stays."""
    desk.check(metrics={"leaks": 1})
    answer = desk.check(policy=NEXT, adopt_reason=ADOPT)
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)
    assert identity(desk.run()) == ("1", desk.policy.digest)
    assert desk.events("action") == []


def test_adopting_back_with_the_old_evidence_is_an_adoption(desk: Desk) -> None:
    """An ACCEPT recorded under the first policy does not swallow the way back to it."""
    evidence = desk.evidence()
    desk.check("DRY_RUN", snapshot=evidence)
    desk.check("DRY_RUN", policy=NEXT, adopt_reason=ADOPT)
    answer = desk.check("DRY_RUN", snapshot=evidence, adopt_reason="was wrong")
    assert not answer.is_recorded
    assert identity(desk.run()) == ("1", desk.policy.digest)


def test_a_refused_stage_adopts_nothing(desk: Desk) -> None:
    """The stage cannot be asked, so neither decision nor adoption is recorded."""
    desk.walk("DRY_RUN")
    desk.refused("CANARY_50", policy=NEXT, adopt_reason=ADOPT)
    assert identity(desk.run()) == ("1", desk.policy.digest)


def test_a_dry_run_adopts_nothing(desk: Desk) -> None:
    """Evaluated by the new policy, and nothing is taken over."""
    desk.walk("DRY_RUN")
    answer = desk.check(policy=STRICT, adopt_reason=ADOPT, dry_run=True)
    assert answer.verdict == "REJECT"
    assert identity(desk.run()) == ("1", desk.policy.digest)
