"""What each value of a metric leads to under two policies.

The values that a metric's rules let through, hold and stop are unions of intervals whose ends are numbers of the
policies. So it is enough to try the ends, a number between each two of them and one beyond them all: where those
are answered alike, all numbers are.
"""

from __future__ import annotations

from itertools import pairwise

from gatekeeper.model.canonical import number_text
from gatekeeper.review.diff.effects import Effect, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.evaluator.rules import ConstraintPlan, GuardrailPlan
    from gatekeeper.review.diff.effects import Consequences
    from gatekeeper.review.diff.sides import Sides

    Troubles = dict[tuple[str, object], Level]

_LARGEST = 1.7976931348623157e308
_HIDDEN = "a hold found first hides a REJECT that another rule would state"


class ValueRules:
    """The rules of one plan that a value of *metric* can trouble: only those that are asked and decide."""

    def __init__(self, metric: str) -> None:
        self.kind: str | None = None
        self.required = f"required:{metric}"
        self.constraints: list[ConstraintPlan] = []
        self.guardrails: list[GuardrailPlan] = []

    def key(self) -> object:
        """Equal for rules that answer every value alike."""
        return (
            self.kind,
            tuple(one.is_boolean for one in self.constraints),
            tuple(_guardrail_key(one) for one in self.guardrails),
        )

    def numbers(self) -> Iterator[float]:
        """Where the answer can change."""
        for guardrail in self.guardrails:
            if guardrail.threshold is not None:
                yield guardrail.threshold
            if guardrail.range is not None:
                yield from guardrail.range

    def troubles(self, value: Any) -> Troubles:
        """What *value* leads to: rule (with what tells two of one name apart) and level.

        None is a metric that is not there; what that means is the policy's `on_missing`, here it is a hold.
        """
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        is_flag = isinstance(value, bool) or (is_number and value in {0, 1})
        fits = {None: True, "number": is_number, "boolean": is_flag, "either": is_number or isinstance(value, bool)}
        found: Troubles = {}
        if not fits[self.kind]:
            found[self.required, None] = Level.HOLD
        for constraint in self.constraints:
            if not (is_flag if constraint.is_boolean else is_number):
                found[constraint.rule.name, constraint.is_boolean] = Level.HOLD
            elif value != 0:
                found[constraint.rule.name, constraint.is_boolean] = Level.STOP
        for place, guardrail in enumerate(self.guardrails):
            name = (guardrail.rules()[0].name, place)
            if not is_number or not guardrail.in_range(value):
                found[name] = Level.HOLD
            elif guardrail.threshold is not None and not guardrail.is_healthy(value, guardrail.threshold):
                found[name] = Level.STOP
        return found


def _rules_of(plan: StagePlan) -> dict[str, ValueRules]:
    """The rules of a plan by the metric that they are about."""
    rules: dict[str, ValueRules] = {}

    def of(metric: str) -> ValueRules:
        if metric not in rules:
            rules[metric] = ValueRules(metric)
        return rules[metric]

    for required in plan.required:
        of(required.metric).kind = of(required.metric).kind or required.kind
    for constraint in plan.constraints:
        if constraint.is_asked:
            of(constraint.metric).constraints.append(constraint)
    for guardrail in plan.guardrails:
        if guardrail.is_asked and guardrail.is_enforced:
            of(guardrail.metric).guardrails.append(guardrail)
    return rules


def ask_values(sides: Sides, found: Consequences) -> None:
    """Hold every value of every metric against both policies."""
    metrics = dict.fromkeys(metric for plan in sides.plans() for metric in plan.window_metrics)
    both = [_rules_of(plan) for plan in sides.plans()]
    for metric in metrics:
        old, new = (rules.get(metric) or ValueRules(metric) for rules in both)
        if old.key() != new.key():
            for value in _probes(old, new):
                _ask_value(sides, metric, value, (old.troubles(value), new.troubles(value)), found)
            if sides.are_phased and max(len(old.guardrails), len(new.guardrails)) > 1:
                # the first trouble decides alone: which one that is depends on all of them together
                for effect in (Effect.STOPS_LESS, Effect.STOPS_MORE):
                    found.add(effect, f"guardrail:{metric}", sides.stage, f"another rule of {metric} decides first")


def _ask_value(sides: Sides, metric: str, value: Any, both: tuple[Troubles, Troubles], found: Consequences) -> None:
    old, new = both
    what = f"{metric} {_shown(value)}"
    before, after = (max(troubles.values(), default=Level.PASS) for troubles in both)
    if before is not after:
        found.moved(_rule(old, new), sides.stage, what, before, after)
    if sides.are_phased:
        held_before, held_now = ({rule for rule, level in one.items() if level is Level.HOLD} for one in both)
        if held_now - held_before:
            found.add(Effect.STOPS_LESS, _name(held_now - held_before), sides.stage, _HIDDEN)
        if held_before - held_now:
            found.add(Effect.STOPS_MORE, _name(held_before - held_now), sides.stage, _HIDDEN)


def _rule(old: Troubles, new: Troubles) -> str:
    """The rule whose answer changed, where it did to the level that decides."""
    changed = [rule for rule in {**old, **new} if old.get(rule) != new.get(rule)]
    return max(changed, key=lambda rule: max(old.get(rule, Level.PASS), new.get(rule, Level.PASS)))[0]


def _name(rules: set[tuple[str, object]]) -> str:
    return min(name for name, _ in rules)


def _probes(old: ValueRules, new: ValueRules) -> Iterator[Any]:
    """Values that tell the two apart if any value does; those that people wrote come first."""
    ends = sorted({*old.numbers(), *new.numbers(), 0, 1})
    yield from ends
    yield from (low / 2 + high / 2 for low, high in pairwise(ends))
    yield max(ends[0] - max(1, abs(ends[0])), -_LARGEST)
    yield min(ends[-1] + max(1, abs(ends[-1])), _LARGEST)
    yield from (True, False, None)


def _shown(value: Any) -> str:
    if value is None:
        return "not there"
    return str(value).lower() if isinstance(value, bool) else number_text(value)


def _guardrail_key(guardrail: Any) -> object:
    return guardrail.rules()[0].name, guardrail.is_healthy, guardrail.threshold, guardrail.range
