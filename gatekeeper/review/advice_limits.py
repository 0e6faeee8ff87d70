"""Limits held against the range of their metric: what they never reject, and what they always reject.

Numbers are compared as the evaluator compares them, as the decimal numbers that are written (SPEC 4).
"""

from __future__ import annotations

from gatekeeper.evaluator.numbers import left_of_budget
from gatekeeper.model.canonical import number_text
from gatekeeper.model.policy import Operator
from gatekeeper.review.catalogue import remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import Guardrail, Policy


def limit_advice(policy: Policy) -> Iterator[Problem]:
    """Every remark about a guardrail alone."""
    for index, guardrail in enumerate(policy.guardrails):
        pointer = f"/guardrails/{index}"
        if guardrail.range is None:
            message = f"{guardrail.metric} has no range: a value in the wrong unit is judged as it stands"
            yield remark("policy.guardrail_without_range", pointer, message, rule=f"guardrail:{guardrail.metric}")
        yield from _threshold(guardrail, pointer)
        yield from _budget_delta(guardrail, pointer)
        yield from _budget_ratio(guardrail, pointer)


def _threshold(guardrail: Guardrail, pointer: str) -> Iterator[Problem]:
    threshold, place = guardrail.threshold, f"{pointer}/threshold"
    if threshold is None or guardrail.range is None:
        return
    low, high = guardrail.range
    about = f"guardrail:{guardrail.metric}"
    limit = f"{guardrail.op.value} {number_text(threshold)}"
    best, worst = (low, high) if guardrail.op.lower_is_better else (high, low)
    if is_healthy(guardrail.op, worst, threshold):
        message = f"{_range_text(guardrail)}: nothing violates {limit}"
        yield remark("policy.limit_never_fires", place, message, rule=about)
    elif not is_healthy(guardrail.op, best, threshold):
        message = f"{_range_text(guardrail)}: everything violates {limit}"
        yield remark("policy.limit_always_fires", place, message, rule=about)


def _budget_of_zero(guardrail: Guardrail, place: str, about: str) -> Problem:
    message = f"{guardrail.metric} may not worsen at all: the smallest difference to the baseline rejects"
    return remark("policy.budget_of_zero", place, message, rule=about)


def _budget_delta(guardrail: Guardrail, pointer: str) -> Iterator[Problem]:
    budget, place, about = guardrail.budget_delta, f"{pointer}/budget_delta", f"budget:{guardrail.metric}"
    if budget is None:
        return
    if budget == 0:
        yield _budget_of_zero(guardrail, place, about)
    elif guardrail.range is not None and left_of_budget(guardrail.range[1], guardrail.range[0], budget) >= 0:
        message = f"{_range_text(guardrail)}: nothing worsens by more than {number_text(budget)}"
        yield remark("policy.limit_never_fires", place, message, rule=about)
    elif _lies_behind_threshold(guardrail, budget):
        worsened = f"{guardrail.metric} has worsened by more than {number_text(budget)}"
        message = f"where {worsened}, the threshold is violated already"
        yield remark("policy.budget_beyond_threshold", place, message, rule=about)


def _lies_behind_threshold(guardrail: Guardrail, budget: float) -> bool:
    """Whether even from the best baseline the threshold comes first.

    Without a range 0 is taken for the lowest value of a metric whose upper limit is above 0.
    """
    threshold = guardrail.threshold
    if threshold is None:
        return False
    if guardrail.op.lower_is_better:
        best = guardrail.range[0] if guardrail.range is not None else 0
        return threshold > best and left_of_budget(threshold, best, budget) >= 0
    if guardrail.range is None:
        return False
    best = guardrail.range[1]
    return threshold < best and left_of_budget(best, threshold, budget) >= 0


def _budget_ratio(guardrail: Guardrail, pointer: str) -> Iterator[Problem]:
    budget, place, about = guardrail.budget_ratio, f"{pointer}/budget_ratio", f"budget_ratio:{guardrail.metric}"
    if budget is None:
        return
    if budget == 0:
        yield _budget_of_zero(guardrail, place, about)
    elif budget > 1:
        message = f"{guardrail.metric} may worsen by more than its baseline: 1 is 100 %"
        yield remark("policy.budget_ratio_above_one", place, message, rule=about)
    elif guardrail.range is not None and _covers_range(guardrail.op, *guardrail.range, budget):
        message = f"{_range_text(guardrail)}: nothing worsens by more than {number_text(budget)} of its baseline"
        yield remark("policy.limit_never_fires", place, message, rule=about)


def _covers_range(op: Operator, low: float, high: float, budget: float) -> bool:
    """Whether no value within the range is worse than any baseline within it by more than the budget (at most 1).

    The worsening up to the worst value, less `budget * |baseline|`, is largest at the baseline that is best. Where the
    range holds values around 0, the worsening there is more than any share of its baseline, and so it is at the best.
    """
    return left_of_budget(high, low, budget, low if op.lower_is_better else high) >= 0


def is_healthy(op: Operator, value: float, threshold: float) -> bool:
    """Whether *value* lies on the healthy side."""
    if op is Operator.LE:
        return value <= threshold
    if op is Operator.LT:
        return value < threshold
    if op is Operator.GE:
        return value >= threshold
    return value > threshold


def _range_text(guardrail: Guardrail) -> str:
    assert guardrail.range is not None
    low, high = guardrail.range
    return f"{guardrail.metric} lies between {number_text(low)} and {number_text(high)}"
