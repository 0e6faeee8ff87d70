"""The promotion gate: has the variant won. Asked on entering its stages, after safety has passed.

Effects and bounds are variant minus baseline. For a metric that should go down, the estimate and the
upper bound change sign, so that more is better in every comparison here. SPEC 5.5. `p_value` and
`sequential_test_state` are recorded and never judged.
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance, finding_of, measured
from gatekeeper.evaluator.numbers import difference, shown
from gatekeeper.model.canonical import is_number
from gatekeeper.model.decision import Action, Outcome
from gatekeeper.model.snapshot import STATISTICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.rules import PromotionPlan, Rule


def ask_promotion(check: Check) -> None:
    """Ask the statistics of every primary, or watch them where the gate is not asked."""
    plan, is_safe = check.plan, check.is_safe
    if not plan.promotion:
        return
    if plan.is_promotion_asked and is_safe:
        check.notes.append(f"statistics looked at {check.context.looks} times")
    for primary in plan.promotion:
        part = promotion_part(check, primary.metric)
        if is_safe if plan.is_promotion_asked else part is not None:
            _Primary(check, primary, part or {}).ask()
        else:
            check.findings.extend([rule.not_asked for rule in primary.rules])


def promotion_part(check: Check, metric: str) -> Mapping[str, Any] | None:
    """The statistics of *metric*: its own part, or the flat one where the policy has one primary."""
    promotion = check.document.get("promotion")
    if not isinstance(promotion, dict):
        return None
    part = promotion.get(metric)
    if isinstance(part, dict):
        return part
    if len(check.plan.promotion) == 1 and any(name in promotion for name in STATISTICS):
        return promotion
    return None


class _Primary:
    """One primary while its parts are asked."""

    def __init__(self, check: Check, plan: PromotionPlan, part: Mapping[str, Any]) -> None:
        self.check = check
        self.plan = plan
        self.part = part
        self.reading = check.readings[plan.metric]

    def ask(self) -> None:
        plan = self.plan
        if plan.sample_size_limit is not None:
            self._ask_sample_size(plan.sample_size_limit)
        self._ask_stable()
        if plan.bound_limit is not None:
            self._ask_bound(plan.bound_limit)
        if plan.lift_limit is not None:
            self._ask_lift(plan.lift_limit)

    def _ask_sample_size(self, need: float) -> None:
        rule, have = self.plan.sample_size, self.part.get("sample_size")
        if self._is_hindered(rule, "sample_size", have):
            return
        if have is not None and have >= need:
            self.check.findings.append(measured(rule.passed, have, difference(have, need)))
            return
        collect = Action("collect_sample", {"metric": self.plan.metric, "have": have, "need": need})
        if have is None:
            self._not_ready(rule, "sample_size", collect)
        else:
            self._conclude(rule, observed=have, is_met=False, margin=difference(have, need), action=collect)

    def _ask_stable(self) -> None:
        rule, stable = self.plan.stable, self.part.get("assignment_stable")
        if self.reading.problem is None and stable is None:
            self.check.findings.append(rule.not_asked)
        elif not self._is_hindered(rule, "assignment_stable", stable):
            self._conclude(rule, observed=stable is True, is_met=stable is True)

    def _ask_bound(self, limit: float) -> None:
        rule, field = self.plan.bound, self._bound_field
        stated = self.part.get(field)
        if self._is_hindered(rule, field, stated):
            return
        if stated is None:
            self._not_ready(rule, field, self._collect)
        else:
            bound = self._oriented(stated)
            self._conclude(rule, observed=bound, is_met=bound > limit, margin=difference(bound, limit))

    def _ask_lift(self, limit: float) -> None:
        rule, field = self.plan.lift, "effect_estimate"
        stated = self.part.get(field)
        if stated is None and self.part.get(self._bound_field) is not None:
            field = self._bound_field  # without an estimate, a bound that reaches the lift shows it too
            stated = self.part[field]
        if self._is_hindered(rule, field, stated):
            return
        if stated is None:
            self._not_ready(rule, field, self._collect)
        else:
            lift = self._oriented(stated)
            self._conclude(rule, observed=lift, is_met=lift >= limit, margin=difference(lift, limit))

    @property
    def _bound_field(self) -> str:
        return "ci_low" if self.plan.is_up else "ci_high"

    @property
    def _collect(self) -> Action:
        return Action("collect_metric", {"metric": self.plan.metric})

    def _oriented(self, stated: float) -> float:
        return stated if self.plan.is_up else -stated

    def _is_hindered(self, rule: Rule, field: str, stated: object) -> bool:
        """Whether the part cannot be judged, in which case its finding has been added."""
        reading = self.reading
        hindrance = reading.problem
        if hindrance is None and stated is not None:
            is_valid = isinstance(stated, bool) if rule is self.plan.stable else is_number(stated)
            if not is_valid:
                entry = f"promotion.{self.plan.metric}.{field}"
                hindrance = Hindrance(Outcome.INVALID, "observation_invalid:promotion_value", (entry,))
            else:
                hindrance = reading.times.hindrance
        if hindrance is None:
            return False
        self.check.hinder(rule, hindrance, observed=shown(stated), source=hindrance.source)
        return True

    def _not_ready(self, rule: Rule, field: str, action: Action) -> None:
        finding = finding_of(rule.violated)
        if rule.is_observed:
            self.check.findings.append(finding)
        else:
            entry = f"promotion.{self.plan.metric}.{field}"
            self.check.add_trouble(rule, finding, missing=(entry,), actions=(action,))

    def _conclude(
        self,
        rule: Rule,
        *,
        observed: float | bool,
        is_met: bool,
        margin: float | None = None,
        action: Action | None = None,
    ) -> None:
        finding = measured(rule.passed if is_met else rule.violated, observed, margin)
        if is_met or rule.is_observed:
            self.check.findings.append(finding)
        else:
            self.check.add_trouble(rule, finding, actions=() if action is None else (action,))
