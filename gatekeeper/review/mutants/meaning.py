"""What a policy means to golden cases: equal meanings answer every question alike.

"Alike" is about what a case can expect: verdict, reason codes, missing and requested actions. A change that leaves
the meaning as it was is no change that a case could notice, and is not counted against the cases. The other direction
is not claimed: meanings that differ may still answer alike, and count.
"""

from __future__ import annotations

from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.model.policy import OnTrouble
from gatekeeper.review.mutants.limits import limits_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.model.policy import Policy

    Meaning = tuple[object, ...]


def meaning(policy: Policy) -> Meaning:
    """A normal form of *policy*, comparable and hashable: what is asked at each stage, to enter and to remain.

    Which metrics are needed at a stage, in which order and by what code their absence goes, follows from all of it:
    every rule is asked at some stage, and a limit that is left out has another one of its metric at its place.
    """
    plans = [
        stage_plan(policy, stage, is_entering=is_entering) for stage in policy.stages for is_entering in (True, False)
    ]
    return tuple(_at_stage(policy, plan) for plan in plans)


def _at_stage(policy: Policy, plan: StagePlan) -> Meaning:
    missing, limits = policy.missing_data_policy, limits_of(policy.guardrails, plan.stage)
    has_budgets = any(limit[2] != "threshold" for limit in limits)
    return (
        plan.stage,
        # required metrics and constraints: a repeated one repeats its code, which is named once
        tuple(dict.fromkeys((required.metric, required.kind) for required in plan.required)),
        tuple(dict.fromkeys((one.metric, one.is_boolean) for one in plan.constraints if one.is_asked)),
        limits,
        (plan.max_freshness_seconds, plan.max_skew_seconds),
        (plan.max_baseline_age_seconds, plan.holds_without_baseline) if has_budgets else (),
        (plan.has_stage_policy, plan.min_stage_seconds),
        (tuple(dict.fromkeys(plan.reference_names)), plan.needs_approval),
        _promotion(plan),
        plan.evidence_first,
        # what the settings make of a trouble; a `problem` in a snapshot may state most codes, rules or not
        (missing.on_missing, missing.on_stale, missing.on_missing_baseline is OnTrouble.REJECT),
        policy.evidence.on_missing if plan.reference_names else None,
        policy.promotion_gate.on_not_ready if policy.promotion_gate and plan.is_promotion_asked else None,
    )


def _promotion(plan: StagePlan) -> Meaning:
    """The statistics that are asked here; elsewhere they are watched, and decide nothing."""
    if not plan.is_promotion_asked:
        return ()
    return tuple(
        (part.metric, part.is_up, part.sample_size_limit, part.bound_limit, part.lift_limit) for part in plan.promotion
    )
