"""Rules of one metric held against each other: twice the same, one behind the other, never both."""

from __future__ import annotations

from itertools import combinations

from gatekeeper.model.canonical import number_text
from gatekeeper.model.policy import ConstraintKind, Direction, Enforcement, Operator
from gatekeeper.review.advice_limits import is_healthy
from gatekeeper.review.catalogue import remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import Constraint, Guardrail, Policy

    Placed = tuple[int, Guardrail]

_STRICT = frozenset({Operator.LT, Operator.GT})


def pair_advice(policy: Policy) -> Iterator[Problem]:
    """Every remark about two rules of one metric."""
    yield from _twice("guardrails", policy.guardrails, "policy.duplicate_guardrail")
    yield from _twice("constraints", policy.constraints, "policy.duplicate_constraint")
    yield from _thresholds(policy)
    for index, guardrail in enumerate(policy.guardrails):
        for constraint in policy.constraints:
            if constraint.metric == guardrail.metric:
                yield from _with_constraint(policy, index, guardrail, constraint)
    yield from _constraints(policy)
    yield from _primaries(policy)


def stages_of(policy: Policy, rule: Guardrail | Constraint) -> frozenset[str]:
    """Where a rule is asked."""
    return frozenset(policy.stages if rule.stages is None else rule.stages)


def _twice(key: str, rules: Sequence[Guardrail | Constraint], code: str) -> Iterator[Problem]:
    if len({rule.metric for rule in rules}) == len(rules):
        return
    for index, rule in enumerate(rules):
        first = rules.index(rule)
        if first != index:
            message = f"the same rule for {rule.metric} stands at /{key}/{first} already"
            yield remark(code, f"/{key}/{index}", message, rule=f"{key.removesuffix('s')}:{rule.metric}")


def _thresholds(policy: Policy) -> Iterator[Problem]:
    limited = [
        (index, one)
        for index, one in enumerate(policy.guardrails)
        if one.threshold is not None and one.enforcement is Enforcement.ENFORCE
    ]
    if len({one.metric for _, one in limited}) == len(limited):
        return
    for first, second in combinations(limited, 2):
        if first[1].metric != second[1].metric or first[1] == second[1]:
            continue
        if first[1].op.lower_is_better is second[1].op.lower_is_better:
            yield from _overlap(policy, first, second)
        else:
            yield from _contradiction(policy, first, second)


def _overlap(policy: Policy, first: Placed, second: Placed) -> Iterator[Problem]:
    """The looser of two is never the one that decides, if the stricter is asked wherever it is."""
    stricter, looser = (first, second) if _is_stricter_or_equal(first[1], second[1]) else (second, first)
    if not stages_of(policy, looser[1]) <= stages_of(policy, stricter[1]):
        return
    metric = looser[1].metric
    asked = f"/guardrails/{stricter[0]} asks for {_limit(stricter[1])}"
    message = f"{_limit(looser[1])} is never what decides about {metric}: {asked}"
    pointer = f"/guardrails/{looser[0]}/threshold"
    yield remark("policy.overlapping_guardrails", pointer, message, rule=f"guardrail:{metric}")


def _is_stricter_or_equal(one: Guardrail, other: Guardrail) -> bool:
    assert one.threshold is not None
    assert other.threshold is not None
    if one.threshold == other.threshold:
        return one.op in _STRICT or other.op not in _STRICT
    return (one.threshold < other.threshold) is one.op.lower_is_better


def _contradiction(policy: Policy, first: Placed, second: Placed) -> Iterator[Problem]:
    if not stages_of(policy, first[1]) & stages_of(policy, second[1]):
        return
    upper, lower = (first[1], second[1]) if first[1].op.lower_is_better else (second[1], first[1])
    assert upper.threshold is not None
    assert lower.threshold is not None
    # a value at the upper limit, or just below it, is the last that may satisfy the lower one
    is_met = is_healthy(lower.op, upper.threshold, lower.threshold) and (
        upper.op not in _STRICT or lower.threshold < upper.threshold
    )
    if not is_met:
        metric = upper.metric
        message = f"no value of {metric} is {_limit(second[1])} and, as /guardrails/{first[0]} asks, {_limit(first[1])}"
        pointer = f"/guardrails/{second[0]}/threshold"
        yield remark("policy.contradicting_rules", pointer, message, rule=f"guardrail:{metric}")


def _with_constraint(policy: Policy, index: int, guardrail: Guardrail, constraint: Constraint) -> Iterator[Problem]:
    pointer, about, metric = f"/guardrails/{index}", f"guardrail:{guardrail.metric}", guardrail.metric
    if constraint.kind is ConstraintKind.MUST_BE_FALSE:
        message = f"{metric} must be false, and this guardrail takes it for a number"
        yield remark("policy.number_and_truth_value", pointer, message, rule=about)
        return
    if guardrail.enforcement is not Enforcement.ENFORCE:
        return
    asked, forbidden = stages_of(policy, guardrail), stages_of(policy, constraint)
    if guardrail.threshold is not None and not is_healthy(guardrail.op, 0, guardrail.threshold):
        if asked & forbidden:
            message = f"{metric} must be zero, and this guardrail asks for {_limit(guardrail)}"
            yield remark("policy.contradicting_rules", f"{pointer}/threshold", message, rule=about)
    elif guardrail.op.lower_is_better and asked <= forbidden:
        message = f"{metric} must be zero: what this guardrail allows is forbidden already"
        yield remark("policy.constraint_covers_guardrail", pointer, message, rule=about)


def _constraints(policy: Policy) -> Iterator[Problem]:
    kinds: dict[str, ConstraintKind] = {}
    for index, constraint in enumerate(policy.constraints):
        if kinds.setdefault(constraint.metric, constraint.kind) is not constraint.kind:
            message = f"{constraint.metric} must be zero in one constraint and false in another"
            about = f"constraint:{constraint.metric}"
            yield remark("policy.number_and_truth_value", f"/constraints/{index}", message, rule=about)


def _primaries(policy: Policy) -> Iterator[Problem]:
    for index, primary in enumerate(policy.primary):
        guarding = [one for one in policy.guardrails if one.metric == primary.metric]
        if not guarding:
            continue
        about = f"primary:{primary.metric}"
        against = [one for one in guarding if one.op.lower_is_better is (primary.direction is Direction.UP)]
        if against:
            wanted, allowed = primary.direction.value, against[0].op.value
            message = f"{primary.metric} shall go {wanted}, and its guardrail wants it {allowed} a limit"
            yield remark("policy.primary_against_guardrail", f"/primary/{index}/direction", message, rule=about)
        else:
            message = f"{primary.metric} is a goal and a guardrail: promotion asks for its gain, safety for its level"
            yield remark("policy.primary_is_guardrail", f"/primary/{index}/metric", message, rule=about)


def _limit(guardrail: Guardrail) -> str:
    assert guardrail.threshold is not None
    return f"{guardrail.op.value} {number_text(guardrail.threshold)}"
