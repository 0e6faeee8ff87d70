"""Typed actions of a decision: what would end a hold, and what to do next. gatekeeper only states them."""

from __future__ import annotations

from gatekeeper.evaluator.plan import APPROVAL, stage_plan
from gatekeeper.evaluator.preconditions import IRREVERSIBLE, wait_until
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.decision import Action
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.stages import DRY_RUN, is_exposed, stage_percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.evaluator.check import Check
    from gatekeeper.model.policy import Policy

_ROLLBACK = Action("rollback", {"to_percent": 0})


def requested_actions(check: Check, verdict: Verdict) -> tuple[Action, ...]:
    """What would end a hold: sorted by canonical bytes, no repeats, the next check last."""
    if verdict is not Verdict.DEGRADE:
        return ()
    by_bytes = {canonical_bytes(action.to_dict()): action for trouble in check.troubles for action in trouble.actions}
    ordered = [by_bytes[key] for key in sorted(by_bytes)]
    return (*ordered, Action("rerun_gate_check", {"stage": check.context.stage}))


def next_actions(check: Check, verdict: Verdict, reason_codes: tuple[str, ...]) -> tuple[Action, ...]:
    """What the pipeline does with the answer."""
    context, plan = check.context, check.plan
    actions: list[Action] = []
    if verdict is Verdict.ACCEPT:
        actions.append(plan.set_percent)
        if plan.has_next_stage and plan.min_stage_seconds is not None:
            is_remaining = context.stage == context.from_stage and check.entered_at is not None
            entered_at = check.entered_at if is_remaining and check.entered_at is not None else check.evaluated_at
            actions.append(wait_until(entered_at, plan.min_stage_seconds, not_before=check.evaluated_at))
    elif verdict is Verdict.REJECT:
        if context.change_class == IRREVERSIBLE and is_exposed(context.stage):
            actions.append(Action("escalate", {"reason_codes": list(reason_codes)}))
        else:
            actions.append(_ROLLBACK)
    if context.stage == DRY_RUN:
        actions.append(Action("plan", {"stages": planned_stages(plan.policy, context.change_class)}))
    return tuple(actions)


def planned_stages(policy: Policy, change_class: str) -> list[dict[str, Any]]:
    """For each stage of *policy*, the rules asked on entering it and the references that it needs."""
    stages = []
    for stage in policy.stages:
        plan = stage_plan(policy, stage, is_entering=True)
        rules = [required.rule.name for required in plan.required]
        if plan.max_freshness_seconds is not None:
            rules.append("freshness")
        if plan.max_skew_seconds is not None:
            rules.append("skew")
        if plan.has_stage_policy and stage != policy.stages[0]:
            rules += ["stage_wait", "window"] if plan.min_stage_seconds is not None else ["window"]
        rules += [constraint.rule.name for constraint in plan.constraints if constraint.is_asked]
        for guardrail in plan.guardrails:
            if guardrail.is_asked:
                rules += [rule.name for rule in guardrail.rules()]
        if plan.is_promotion_asked:
            rules += [rule.name for primary in plan.promotion for rule in primary.rules]
        evidence = list(plan.reference_names)
        if plan.needs_approval or (change_class == IRREVERSIBLE and is_exposed(stage)):
            evidence.append(APPROVAL)
        stages.append({"stage": stage, "percent": stage_percent(stage), "rules": rules, "evidence": evidence})
    return stages
