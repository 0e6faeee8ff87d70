"""Budgets of allowed worsening: whether each one of a policy is still asked, at least as strictly.

A budget is implied by another one of the same kind and direction that allows no more and takes no baseline that
the first refuses. That a budget in the metric's unit may imply one relative to the baseline is not looked for:
such a change is told as one that goes further than it does.
"""

from __future__ import annotations

from gatekeeper.model.canonical import number_text
from gatekeeper.model.values import dataclass
from gatekeeper.review.diff.effects import Effect, Level

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.review.diff.effects import Consequences
    from gatekeeper.review.diff.sides import Sides

_NO_BASELINE = "observation_missing:baseline_metric"


@dataclass(frozen=True)
class Budget:
    """One budget that is asked and decides; `range` bounds the baseline, too."""

    rule: str
    lower_is_better: bool
    allowed: float
    range: tuple[float, float] | None

    def asks_of(self, other: Budget) -> bool:
        """Whether it is the same question, whatever the allowance."""
        return (self.rule, self.lower_is_better) == (other.rule, other.lower_is_better)


def budgets(plan: StagePlan) -> list[Budget]:
    """The budgets that decide at this stage."""
    return [
        Budget(budget.rule.name, guardrail.lower_is_better, budget.allowed, guardrail.range)
        for guardrail in plan.guardrails
        if guardrail.is_asked and guardrail.is_enforced
        for budget in guardrail.budgets
    ]


def ask_budgets(sides: Sides, found: Consequences) -> None:
    """Hold the budgets of both policies against each other."""
    old, new = (budgets(plan) for plan in sides.plans())
    if old != new:
        for budget in old:
            other = _nearest(budget, new)
            if not any(_lets_no_more(one, budget) for one in new):
                _tell(sides, found, Effect.LETS_MORE, budget, other)
            elif not any(_stops_no_less(one, budget) for one in new):
                _tell(sides, found, Effect.STOPS_LESS, budget, other)
        for budget in new:
            other = _nearest(budget, old)
            if not any(_lets_no_more(one, budget) for one in old):
                _tell(sides, found, Effect.LETS_LESS, budget, other)
            elif not any(_stops_no_less(one, budget) for one in old):
                _tell(sides, found, Effect.STOPS_MORE, budget, other)
        _ask_hiding(sides, old, new, found)
    if old and new:
        _ask_no_baseline(sides, found)
    if all(plan.asked_metrics for plan in sides.plans()):
        before, after = sides.levels(_NO_BASELINE)
        found.moved("on_missing_baseline", None, "a baseline that lacks the metric", before, after)


def _lets_no_more(one: Budget, other: Budget) -> bool:
    """Whether what *one* lets through, *other* would have let through, too."""
    return one.asks_of(other) and one.allowed <= other.allowed and _within(one.range, other.range)


def _stops_no_less(one: Budget, other: Budget) -> bool:
    return one.asks_of(other) and one.allowed <= other.allowed and _within(other.range, one.range)


def _within(inner: tuple[float, float] | None, outer: tuple[float, float] | None) -> bool:
    return outer is None or (inner is not None and outer[0] <= inner[0] and inner[1] <= outer[1])


def _ask_hiding(sides: Sides, old: list[Budget], new: list[Budget], found: Consequences) -> None:
    """A baseline that one of them cannot use holds, and under `evidence_first` hides what other rules find."""
    if not sides.are_phased:
        return
    before, after = ({(one.rule, one.range) for one in side} for side in (old, new))
    for effect, changed in ((Effect.STOPS_LESS, after - before), (Effect.STOPS_MORE, before - after)):
        for rule, _ in sorted(changed, key=lambda one: one[0]):
            found.add(effect, rule, sides.stage, "a baseline that cannot be used holds first")
    if max(_repeats(old), _repeats(new)) > 1:  # which of them is first decides alone
        for effect in (Effect.STOPS_LESS, Effect.STOPS_MORE):
            found.add(effect, (old + new)[0].rule, sides.stage, "another budget of the metric decides first")


def _repeats(side: list[Budget]) -> int:
    names = [one.rule for one in side]
    return max((names.count(name) for name in names), default=0)


def _ask_no_baseline(sides: Sides, found: Consequences) -> None:
    """A snapshot without any baseline: not evaluated where `on_missing_baseline` is absent."""
    held = sides.levels(_NO_BASELINE)
    before, after = (
        level if plan.holds_without_baseline else Level.PASS for plan, level in zip(sides.plans(), held, strict=True)
    )
    found.moved("on_missing_baseline", None, "a snapshot without any baseline", before, after)
    if sides.are_phased and (before is Level.HOLD) != (after is Level.HOLD):
        effect = Effect.STOPS_LESS if after is Level.HOLD else Effect.STOPS_MORE
        found.add(effect, "on_missing_baseline", sides.stage, "a snapshot without any baseline holds first")


def _nearest(budget: Budget, others: list[Budget]) -> Budget | None:
    return next((other for other in others if other.asks_of(budget)), None)


def _tell(sides: Sides, found: Consequences, effect: Effect, budget: Budget, other: Budget | None) -> None:
    """`p95 worse by 30 stopped, now passes`; of two ranges, what only one of them takes as a baseline."""
    metric = budget.rule.partition(":")[2]
    unit = " of the baseline" if budget.rule.startswith("budget_ratio:") else ""
    if other is not None and other.allowed == budget.allowed:
        what = f"{metric} against a baseline that only one of the two ranges holds {_OF_RANGES[effect]}"
    elif other is not None:
        what = f"{metric} worse by {number_text(max(budget.allowed, other.allowed))}{unit} {_OF_AMOUNTS[effect]}"
    else:
        what = f"{metric} worse by more than {number_text(budget.allowed)}{unit} {_OF_AMOUNTS[effect]}"
    found.add(effect, budget.rule, sides.stage, what)


_OF_AMOUNTS = {
    Effect.LETS_MORE: "stopped, now passes",
    Effect.STOPS_LESS: "stopped, now holds",
    Effect.LETS_LESS: "passed, now stops",
    Effect.STOPS_MORE: "held, now stops",
}
_OF_RANGES = {**_OF_AMOUNTS, Effect.LETS_MORE: "held, now passes", Effect.LETS_LESS: "passed, now holds"}
