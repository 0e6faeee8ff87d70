"""What the rules of another policy have found is taken over although this policy's rules would find something else."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evaluator import assess, evaluate
from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.evaluator.steps import Step, alike
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import Snapshot

ERRORS = {"metric": "errors", "op": "<=", "threshold": 0.01, "budget_delta": 0.1}
SLOW = {"metric": "slow", "op": "<=", "threshold": 300}
SALES = {"metric": "sales", "op": ">=", "threshold": 1}
GATE = {"required_for_stages": ["CANARY_25", "ROLLOUT_100"], "min_sample_size": 100}
POLICY: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1",
    "primary": [{"metric": "sales", "direction": "up", "min_lift": 0.01}],
    "guardrails": [ERRORS, SLOW, SALES],
    "constraints": [{"kind": "must_be_zero", "metric": "banned"}],
    "missing_data_policy": {"required_metrics": ["banned"], "max_freshness_seconds": 120},
    "promotion_gate": GATE,
    "stage_policy": {"min_stage_seconds": 60},
}
SNAPSHOT = Snapshot(
    {
        "metrics": {"errors": 0.004, "slow": 200, "banned": 0, "sales": 3},
        "promotion": {"sales": {"sample_size": 150, "effect_estimate": 0.02}},
        "observations": {
            "slow": {"watermark_event_time": "2026-02-18T00:59:00Z"},
            "sales": {"watermark_event_time": "2026-02-18T00:58:30Z"},
        },
        "_meta": {"watermark_event_time": "2026-02-18T01:00:00Z", "window": "1m"},
    }
)
ON_THE_WAY = Context(
    stage="CANARY_25",
    evaluated_at="2026-02-18T01:00:10Z",
    from_stage="CANARY_10",
    stage_entered_at="2026-02-18T00:50:00Z",
)
CHANGES: dict[str, dict[str, Any]] = {
    "a longer wait": {"stage_policy": {"min_stage_seconds": 3600}},
    "a threshold": {"guardrails": [{**ERRORS, "threshold": 0.001}, SLOW, SALES]},
    "a budget": {"guardrails": [{**ERRORS, "budget_delta": 0.2}, SLOW, SALES]},
    "a goal that is watched only": {"guardrails": [ERRORS, SLOW, {**SALES, "enforcement": "observe"}]},
    "watched only": {"guardrails": [ERRORS, {**SLOW, "enforcement": "observe"}, SALES]},
    "not at this stage": {"guardrails": [ERRORS, {**SLOW, "stages": ["SHADOW"]}, SALES]},
    "another kind of value": {"constraints": [{"kind": "must_be_false", "metric": "banned"}]},
    "a constraint of another stage": {
        "constraints": [{"kind": "must_be_zero", "metric": "banned", "stages": ["SHADOW"]}]
    },
    "a baseline is needed": {"missing_data_policy": {**POLICY["missing_data_policy"], "on_missing_baseline": "REJECT"}},
    "a reference": {"evidence": {"required": ["ticket_link"]}},
    "an approval": {"evidence": {"required": ["approval"]}},
    "a larger sample": {"promotion_gate": {**GATE, "min_sample_size": 200}},
    "a larger lift": {"primary": [{"metric": "sales", "direction": "up", "min_lift": 0.03}]},
    "statistics at another stage": {"promotion_gate": {**GATE, "required_for_stages": ["ROLLOUT_100"]}},
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("banned", [0, True])
def test_a_changed_rule_is_asked_although_another_policy_was(name: str, banned: object) -> None:
    """The answer is that of a policy that was asked alone, and it is not the first policy's."""
    snapshot = Snapshot({**SNAPSHOT.document, "metrics": {**SNAPSHOT.document["metrics"], "banned": banned}})
    old, new = policy_from_document(POLICY), policy_from_document({**POLICY, **CHANGES[name]})
    first, _ = assess(old, snapshot, ON_THE_WAY)
    check, judgement = assess(new, snapshot, ON_THE_WAY, first)
    alone = evaluate(new, snapshot, ON_THE_WAY)
    assert (check.findings, check.notes) == (list(alone.findings), list(alone.notes))
    assert judgement == (alone.verdict, alone.reason_codes, alone.missing)
    if name != "another kind of value" or banned:
        assert (check.findings, judgement) != (first.findings, assess(old, snapshot, ON_THE_WAY)[1])


def test_what_two_policies_ask_alike_is_found_once() -> None:
    """One threshold was changed: the findings of all other steps are the very same objects."""
    old, new = policy_from_document(POLICY), policy_from_document({**POLICY, **CHANGES["a threshold"]})
    plans = [stage_plan(policy, "CANARY_25", is_entering=True) for policy in (old, new)]
    assert alike(*plans) == set(Step) - {Step.GUARDRAILS}
    first, _ = assess(old, SNAPSHOT, ON_THE_WAY)
    again, _ = assess(new, SNAPSHOT, ON_THE_WAY, first)
    others = [one.rule for one, other in zip(first.findings, again.findings, strict=True) if one is not other]
    # after failed safety no statistics are asked
    assert {rule.partition(":")[0] for rule in others} == {"guardrail", "budget", "promotion"}


def test_another_context_is_another_question() -> None:
    """The same moment and evidence, but a reference was given."""
    policy = policy_from_document({**POLICY, **CHANGES["a reference"]})
    first, _ = assess(policy, SNAPSHOT, ON_THE_WAY)
    given = Context.from_dict({**ON_THE_WAY.to_dict(), "evidence": {"ticket_link": "T-1"}})
    assert assess(policy, SNAPSHOT, given, first)[1] == assess(policy, SNAPSHOT, given)[1]


def test_statistics_that_are_not_asked_any_more_make_no_evidence_old() -> None:
    """Nothing but the gate asks for `sales`, which is 100 s old; the oldest of the others is 70 s."""
    of = {**POLICY, "guardrails": [ERRORS, SLOW]}
    old = policy_from_document(of)
    new = policy_from_document({**of, "promotion_gate": {**GATE, "required_for_stages": ["ROLLOUT_100"]}})
    first, _ = assess(old, SNAPSHOT, ON_THE_WAY)
    again, _ = assess(new, SNAPSHOT, ON_THE_WAY, first)
    ages = [next(one.observed for one in check.findings if one.rule == "freshness") for check in (first, again)]
    assert ages == [100, 70]
