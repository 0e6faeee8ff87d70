"""Stages: what is asked where, how far a step goes, and what has to be won before all users meet the change."""

from __future__ import annotations

from gatekeeper.evaluator.numbers import left_of_budget
from gatekeeper.model.canonical import number_text
from gatekeeper.model.policy import Enforcement
from gatekeeper.model.stages import ROLLOUT_100, is_exposed, stage_percent
from gatekeeper.review.catalogue import remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import Constraint, Guardrail, Policy, PromotionGate

LARGEST_JUMP = 5
"""How many times as many users a step may reach as the one before, before it is remarked upon."""


def stage_advice(policy: Policy) -> Iterator[Problem]:
    """Every remark about stages and promotion."""
    yield from _promotion(policy)
    yield from _unguarded(policy)
    yield from _jumps(policy)
    if policy.stage_policy is None:
        message = "no time is asked for in a stage: a run may go through all of them on one snapshot, within seconds"
        yield remark("policy.no_stage_wait", "/stage_policy", message, rule="stage_wait")
    for key, rules in (("guardrails", policy.guardrails), ("constraints", policy.constraints)):
        yield from _rule_stages(key, rules)


def _promotion(policy: Policy) -> Iterator[Problem]:
    gate = policy.promotion_gate
    if gate is None:
        message = "no promotion gate: statistics are not asked, not even at 100 percent"
        yield remark("policy.no_promotion_gate", "", message, rule="promotion")
        return
    if ROLLOUT_100 not in gate.required_for_stages:
        message = (
            f"the promotion gate is asked before {', '.join(gate.required_for_stages)}, and not before {ROLLOUT_100}"
        )
        yield remark("policy.no_promotion_at_100", "/promotion_gate/required_for_stages", message, rule="promotion")
    yield from _repeated(gate.required_for_stages, "/promotion_gate/required_for_stages", "promotion")
    yield from _unexposed_gate(policy, gate)
    asks = gate.min_sample_size is not None or gate.require_ci_low_gt is not None
    if not asks and all(primary.min_lift is None for primary in policy.primary):
        message = "the promotion gate asks for no sample, no bound and no lift, and so for nothing"
        yield remark("policy.promotion_gate_asks_nothing", "/promotion_gate", message, rule="promotion")
    if gate.min_sample_size == 0:
        message = "any sample is large enough, even none"
        yield remark("policy.sample_of_zero", "/promotion_gate/min_sample_size", message, rule="promotion")


def _unexposed_gate(policy: Policy, gate: PromotionGate) -> Iterator[Problem]:
    first = next(index for index, stage in enumerate(policy.stages) if is_exposed(stage))
    for place, stage in enumerate(gate.required_for_stages):
        if policy.stages.index(stage) <= first:
            message = f"before {stage} no user has met the change: there is nothing to have won yet"
            pointer = f"/promotion_gate/required_for_stages/{place}"
            yield remark("policy.promotion_without_exposure", pointer, message, rule="promotion")


def _unguarded(policy: Policy) -> Iterator[Problem]:
    enforced: list[Guardrail | Constraint] = [
        *(one for one in policy.guardrails if one.enforcement is Enforcement.ENFORCE),
        *policy.constraints,
    ]
    if any(rule.stages is None for rule in enforced):
        return
    for index, stage in enumerate(policy.stages):
        if not any(rule.stages is not None and stage in rule.stages for rule in enforced):
            message = f"no enforced guardrail and no constraint is asked at {stage}"
            yield remark("policy.stage_without_rule", f"/stages/{index}", message, rule=f"stage:{stage}")


def _jumps(policy: Policy) -> Iterator[Problem]:
    before = 0.0
    for index, stage in enumerate(policy.stages):
        percent = stage_percent(stage) or 0
        if before and left_of_budget(percent, 0, LARGEST_JUMP, before) < 0:
            steps = f"from {number_text(before)} to {number_text(percent)} percent"
            message = f"{steps}: {percent / before:.3g} times as many users in one step"
            yield remark("policy.canary_jump", f"/stages/{index}", message, rule=f"stage:{stage}")
        before = percent


def _rule_stages(key: str, rules: Sequence[Guardrail | Constraint]) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        if rule.stages is None:
            continue
        pointer, about = f"/{key}/{index}/stages", f"{key.removesuffix('s')}:{rule.metric}"
        yield from _repeated(rule.stages, pointer, about)
        if not any(map(is_exposed, rule.stages)):
            message = f"{rule.metric} is asked at {', '.join(rule.stages)} only, where no user meets the change"
            yield remark("policy.rule_without_exposure", pointer, message, rule=about)


def _repeated(names: Sequence[str], pointer: str, about: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield remark("policy.duplicate_entry", f"{pointer}/{index}", f"{name} stands twice", rule=about)
