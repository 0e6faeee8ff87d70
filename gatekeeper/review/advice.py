"""What a policy may do and a reviewer should know: the rules behind `warnings_for`."""

from __future__ import annotations

import re

from gatekeeper.documents.problem import Problem
from gatekeeper.model.policy import Enforcement, Precedence
from gatekeeper.model.stages import RUN_ID_PATTERN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.model.policy import Constraint, Guardrail, Policy

_MISSING = "/missing_data_policy"


def advice(policy: Policy) -> list[Problem]:
    """Every warning about *policy*, in a fixed order."""
    return [
        *_version(policy),
        *_baseline(policy),
        *_guardrails(policy),
        *_repeated(policy),
        *_missing_data(policy),
        *_promotion(policy),
        *_stages(policy),
    ]


def _version(policy: Policy) -> Iterator[Problem]:
    if not re.fullmatch(RUN_ID_PATTERN, policy.policy_version):
        message = "the version cannot be part of a run's name, and a run is named after it by default"
        remedy = "use letters, digits and . _ - : / @ only, or give every run a --run-id"
        yield Problem("policy.version_not_a_name", "/policy_version", message, remedy)


def _baseline(policy: Policy) -> Iterator[Problem]:
    budgets = [one.metric for one in policy.guardrails if one.budget_delta is not None or one.budget_ratio is not None]
    if budgets and policy.missing_data_policy.on_missing_baseline is None:
        message = f"without a baseline nothing checks the budget of {', '.join(dict.fromkeys(budgets))}"
        remedy = 'add "on_missing_baseline": "DEGRADE" to missing_data_policy'
        yield Problem("policy.budget_without_baseline_rule", _MISSING, message, remedy)


def _guardrails(policy: Policy) -> Iterator[Problem]:
    for index, guardrail in enumerate(policy.guardrails):
        pointer = f"/guardrails/{index}"
        if guardrail.range is None:
            message = f"{guardrail.metric} has no range: a value in the wrong unit is judged as it stands"
            remedy = 'add "range": [low, high], the values that the metric can have at all'
            yield Problem("policy.guardrail_without_range", pointer, message, remedy)
        elif guardrail.threshold is not None and not guardrail.range[0] <= guardrail.threshold <= guardrail.range[1]:
            message = f"the threshold {guardrail.threshold} of {guardrail.metric} lies outside its range"
            remedy = "check the unit of both: percent or ratio, seconds or milliseconds"
            yield Problem("policy.threshold_outside_range", f"{pointer}/threshold", message, remedy)
        if guardrail.budget_ratio is not None and guardrail.budget_ratio > 1:
            message = f"{guardrail.metric} may worsen by more than its baseline: 1 is 100 %"
            remedy = "state the budget as a ratio: 0.02 is 2 %"
            yield Problem("policy.budget_ratio_above_one", f"{pointer}/budget_ratio", message, remedy)


def _repeated(policy: Policy) -> Iterator[Problem]:
    yield from _twice("guardrails", policy.guardrails, "policy.duplicate_guardrail")
    yield from _twice("constraints", policy.constraints, "policy.duplicate_constraint")
    metrics = policy.missing_data_policy.required_metrics
    for index, metric in enumerate(metrics):
        if metric in metrics[:index]:
            pointer = f"{_MISSING}/required_metrics/{index}"
            yield Problem("policy.duplicate_required_metric", pointer, f"{metric} is required twice", "keep one")


def _twice(key: str, rules: Sequence[Guardrail | Constraint], code: str) -> Iterator[Problem]:
    for index, rule in enumerate(rules):
        first = rules.index(rule)
        if first != index:
            message = f"the same rule for {rule.metric} stands at /{key}/{first} already"
            yield Problem(code, f"/{key}/{index}", message, "keep one of the two")


def _missing_data(policy: Policy) -> Iterator[Problem]:
    part = policy.missing_data_policy
    if part.max_freshness_seconds is None:
        message = "no limit on the age of evidence: yesterday's snapshot is accepted today"
        yield Problem("policy.no_freshness_limit", _MISSING, message, 'add "max_freshness_seconds"')
    if part.precedence is Precedence.EVIDENCE_FIRST:
        message = "evidence_first: while a metric is missing, a violated constraint holds the run and does not stop it"
        remedy = "use violations_first unless an older gate must be matched"
        yield Problem("policy.evidence_first", f"{_MISSING}/precedence", message, remedy)


def _promotion(policy: Policy) -> Iterator[Problem]:
    gate = policy.promotion_gate
    if gate is None:
        message = "no promotion gate: statistics are not asked, not even at 100 percent"
        remedy = 'add "promotion_gate", or leave it out on purpose where nothing is to be won'
        yield Problem("policy.no_promotion_gate", "", message, remedy)
    elif (
        gate.min_sample_size is None
        and gate.require_ci_low_gt is None
        and all(primary.min_lift is None for primary in policy.primary)
    ):
        message = "the promotion gate asks for no sample, no bound and no lift, and so for nothing"
        remedy = 'add "min_sample_size" and "require_ci_low_gt", or "min_lift" to a primary'
        yield Problem("policy.promotion_gate_asks_nothing", "/promotion_gate", message, remedy)


def _stages(policy: Policy) -> Iterator[Problem]:
    enforced: list[Guardrail | Constraint] = [
        *(one for one in policy.guardrails if one.enforcement is Enforcement.ENFORCE),
        *policy.constraints,
    ]
    for index, stage in enumerate(policy.stages):
        if not any(rule.stages is None or stage in rule.stages for rule in enforced):
            message = f"no enforced guardrail and no constraint is asked at {stage}"
            remedy = 'add the stage to the "stages" of a rule, or take "stages" out of it'
            yield Problem("policy.stage_without_rule", f"/stages/{index}", message, remedy)
