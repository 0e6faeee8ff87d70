"""A policy as it will be carried out: per stage every rule that is asked, with what its failure and its absence mean.

The rules are those of the evaluator's own plan, so that what is explained is what happens.
"""

from __future__ import annotations

from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.model.hold import UNNAMED
from gatekeeper.model.reasons import HOLD_CATEGORIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.evaluator.rules import GuardrailPlan, PromotionPlan, Rule
    from gatekeeper.model.policy import LoadedPolicy, Policy
    from gatekeeper.model.reasons import Verdict

    Row = dict[str, Any]


def explanation(loaded: LoadedPolicy) -> dict[str, Any]:
    """What a policy does, as plain JSON values.

    Returns:
        `policy_id`, `policy_version`, `policy_digest`; `goals`, `words` (descriptions and runbooks by rule),
        `precedence`, `suppressions`; `baseline_age`, null or `limit_seconds` and the verdict `on_failure`; `stages`,
        each with `stage`, `percent` and its `rules`; `holds`, each with `category`, `owners`, `retry_after_seconds`,
        `escalate_after_seconds`, `deadline_seconds`, `on_deadline` and `is_named`. A rule has `rule` (as findings name
        it), `metric`, `op`, `limit`, `range`, `is_observed`, `is_asked_on_entering` (asked on entering the stage only),
        and the verdicts `on_failure` and `on_missing`, null where nothing follows.
    """
    policy = loaded.policy
    return {
        "policy_id": policy.policy_id,
        "policy_version": policy.policy_version,
        "policy_digest": loaded.digest,
        "precedence": policy.missing_data_policy.precedence.value,
        "baseline_age": _baseline_age(policy),
        "goals": [
            {"metric": one.metric, "direction": one.direction.value, "min_lift": one.min_lift} for one in policy.primary
        ],
        "words": _words(policy),
        "stages": [_stage(policy, index) for index in range(len(policy.stages))],
        "holds": [_hold(policy, category) for category in HOLD_CATEGORIES],
        "suppressions": [{"code": one.code, "rule": one.rule, "reason": one.reason} for one in policy.suppressions],
    }


def _baseline_age(policy: Policy) -> Row | None:
    """Asked with each budget, and no rule of its own."""
    plan = stage_plan(policy, policy.stages[0], is_entering=True)
    if plan.max_baseline_age_seconds is None:
        return None
    on_failure = plan.effect("observation_stale:baseline_age").value
    return {"limit_seconds": plan.max_baseline_age_seconds, "on_failure": on_failure}


def _words(policy: Policy) -> list[Row]:
    rows: list[Row] = [
        {"rule": f"primary:{one.metric}", "metric": one.metric, "description": one.description, "runbook": None}
        for one in policy.primary
    ]
    for kind, rules in (("constraint", policy.constraints), ("guardrail", policy.guardrails)):
        for rule in rules:
            words = {"description": rule.description, "runbook": rule.runbook}
            rows.append({"rule": f"{kind}:{rule.metric}", "metric": rule.metric, **words})
    return [row for row in rows if row["description"] or row["runbook"]]


def _hold(policy: Policy, category: str) -> Row:
    hold = policy.holds.get(category, UNNAMED)
    return {
        "category": str(category),
        "owners": list(hold.owners),
        "retry_after_seconds": hold.retry_after_seconds,
        "escalate_after_seconds": hold.escalate_after_seconds,
        "deadline_seconds": hold.deadline_seconds,
        "on_deadline": None if hold.deadline_seconds is None else hold.on_deadline.value,
        "is_named": category in policy.holds,
    }


def _stage(policy: Policy, index: int) -> Row:
    plan = stage_plan(policy, policy.stages[index], is_entering=True)
    return {"stage": plan.stage, "percent": plan.percent, "rules": list(_rules(policy, plan, is_first=index == 0))}


def _rules(policy: Policy, plan: StagePlan, *, is_first: bool) -> Iterator[Row]:
    """In the order of findings."""
    missing = plan.effect("observation_missing:required_metric")
    if plan.has_stage_policy and not is_first:
        if plan.min_stage_seconds is not None:
            yield _row(plan.stage_wait, on_failure=plan.effect(plan.stage_wait.code), is_asked_on_entering=True)
        window = plan.effect("observation_stale:window_before_stage")
        yield _row(plan.window, on_failure=window, on_missing=window, is_asked_on_entering=True)
    for required in plan.required:
        yield _row(required.rule, on_missing=missing)
    if plan.max_freshness_seconds is not None:
        stale = plan.effect("observation_stale:over_freshness_budget")
        yield _row(plan.freshness, on_failure=stale, on_missing=stale)
    if plan.max_skew_seconds is not None:
        lost = plan.effect("observation_missing:watermark_event_time")
        yield _row(plan.skew, on_failure=plan.effect("observation_stale:watermark_skew"), on_missing=lost)
    for constraint in plan.constraints:
        if constraint.is_asked:
            yield _row(constraint.rule, on_failure=plan.effect(constraint.rule.code), on_missing=missing)
    for guardrail in plan.guardrails:
        if guardrail.is_asked:
            yield from _guardrail(policy, plan, guardrail)
    for reference in plan.references:
        yield _row(reference, on_missing=plan.effect(reference.code))
    if plan.needs_approval:
        yield {**_EMPTY, "rule": "evidence:approval", "on_missing": plan.effect("evidence_missing:approval").value}
    if plan.is_promotion_asked:
        for primary in plan.promotion:
            yield from _promotion(plan, primary)


def _guardrail(policy: Policy, plan: StagePlan, guardrail: GuardrailPlan) -> Iterator[Row]:
    bounds = None if guardrail.range is None else list(guardrail.range)
    for rule in guardrail.rules():
        code = (
            "observation_missing:guardrail_metric" if rule is guardrail.rule else "observation_missing:baseline_metric"
        )
        is_checked = rule is guardrail.rule or policy.missing_data_policy.on_missing_baseline is not None
        failed, lost = (plan.effect(rule.code), plan.effect(code)) if guardrail.is_enforced else (None, None)
        yield {**_row(rule, on_failure=failed, on_missing=lost if is_checked else None), "range": bounds}


def _promotion(plan: StagePlan, primary: PromotionPlan) -> Iterator[Row]:
    for rule in primary.rules:
        verdict = plan.effect(rule.code)
        # an unknown assignment is not asked: only one that is known to be unstable holds
        lost = None if rule is primary.stable else verdict
        yield _row(rule, on_failure=verdict, on_missing=lost, is_asked_on_entering=True)


_EMPTY: dict[str, Any] = {
    "rule": "",
    "metric": None,
    "op": None,
    "limit": None,
    "range": None,
    "is_observed": False,
    "is_asked_on_entering": False,
    "on_failure": None,
    "on_missing": None,
}


def _row(
    rule: Rule,
    *,
    on_failure: Verdict | None = None,
    on_missing: Verdict | None = None,
    is_asked_on_entering: bool = False,
) -> Row:
    return {
        **_EMPTY,
        "rule": rule.name,
        "metric": rule.metric,
        "op": rule.passed["op"],
        "limit": rule.passed["limit"],
        "is_observed": rule.is_observed,
        "is_asked_on_entering": is_asked_on_entering,
        "on_failure": None if on_failure is None else on_failure.value,
        "on_missing": None if on_missing is None else on_missing.value,
    }
