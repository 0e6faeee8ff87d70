"""The safety gate: constraints, guardrails and their budgets of allowed worsening.

SPEC 5: when several troubles hit one metric, the first that applies is the finding. For guardrails and
budgets: problem, missing, invalid, out of range, window, times, (baseline), violated. For constraints
a violation comes before window and times: it is harm at any age.
"""

from __future__ import annotations

from gatekeeper.evaluator.check import observed_of
from gatekeeper.evaluator.findings import measured
from gatekeeper.evaluator.numbers import difference, left_of_budget
from gatekeeper.model.decision import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.findings import Hindrance
    from gatekeeper.evaluator.observations import Reading
    from gatekeeper.evaluator.rules import BudgetPlan, ConstraintPlan, GuardrailPlan, Rule

NO_BASELINE = "no baseline in the snapshot: budgets were not checked"
"""The note that says why budgets are NOT_EVALUATED, although their guardrails are asked."""


def ask_constraints(check: Check) -> None:
    """Ask every constraint of the stage."""
    for constraint in check.plan.constraints:
        if constraint.is_asked:
            _ask_constraint(check, constraint, check.readings[constraint.metric])
        else:
            check.findings.append(constraint.rule.not_asked)


def _ask_constraint(check: Check, constraint: ConstraintPlan, reading: Reading) -> None:
    rule, value = constraint.rule, reading.value
    is_valid = reading.is_number
    if constraint.is_boolean:
        is_valid = value is True or value is False or (is_valid and value in {0, 1})
    is_violated = is_valid and value != 0
    hindrance = reading.hindrance
    if hindrance is None:
        if not is_valid:
            hindrance = constraint.invalid
        elif is_violated:
            check.add_trouble(rule, measured(rule.violated, value, None, reading.source))
            return
        elif reading.admission is None:
            check.findings.append(measured(rule.passed, value, None, reading.source))
            return
        else:
            hindrance = reading.admission
    _hinder(check, rule, hindrance, reading, would_be=rule.code if is_violated else None)


def _hinder(
    check: Check,
    rule: Rule,
    hindrance: Hindrance,
    reading: Reading,
    *,
    would_be: str | None,
    baseline: float | None = None,
) -> None:
    check.hinder(
        rule,
        hindrance,
        would_be=would_be,
        observed=observed_of(reading.value, reading.observation),
        baseline=baseline,
        source=hindrance.source or reading.source,
    )


def ask_guardrails(check: Check) -> None:
    """Ask every guardrail of the stage, each followed by its budgets."""
    noted = False
    for guardrail in check.plan.guardrails:
        if not guardrail.is_asked:
            check.findings.extend([rule.not_asked for rule in guardrail.rules()])
            continue
        reading = check.readings[guardrail.metric]
        hindrance = reading.hindrance
        if hindrance is None:
            if not reading.is_number:
                hindrance = guardrail.invalid
            elif guardrail.range is not None and not guardrail.in_range(reading.value):
                hindrance = guardrail.out_of_range
            else:
                hindrance = reading.admission
        if guardrail.threshold is not None:
            _ask_threshold(check, guardrail, guardrail.threshold, reading, hindrance)
        if guardrail.budgets:
            _ask_budgets(check, guardrail, reading, hindrance)
            noted = noted or (check.baseline.is_absent and not check.plan.holds_without_baseline)
    if noted:
        check.notes.append(NO_BASELINE)


def _ask_threshold(
    check: Check, guardrail: GuardrailPlan, threshold: float, reading: Reading, hindrance: Hindrance | None
) -> None:
    rule, value = guardrail.rule, reading.value
    is_violated = reading.is_number and not guardrail.is_healthy(value, threshold)
    if hindrance is not None:
        _hinder(check, rule, hindrance, reading, would_be=rule.code if is_violated else None)
        return
    margin = difference(threshold, value) if guardrail.lower_is_better else difference(value, threshold)
    _conclude(check, rule, reading, margin, is_violated=is_violated)


def _ask_budgets(check: Check, guardrail: GuardrailPlan, reading: Reading, hindrance: Hindrance | None) -> None:
    baseline = check.baseline
    if not baseline.is_absent:
        of_baseline = baseline.hindrance(guardrail)
    else:
        of_baseline = guardrail.no_baseline if check.plan.holds_without_baseline else None
    reference = baseline.value(guardrail.metric)
    # an old baseline still shows what its budget would say; one that is wrong shows nothing
    is_usable = reading.is_number and (of_baseline is None or of_baseline.outcome is Outcome.STALE)
    for budget in guardrail.budgets:
        rule, first, left = budget.rule, hindrance or of_baseline, None
        if reference is not None and is_usable:
            if budget.is_ratio and reference == 0:
                first = first or guardrail.bad_baseline
            else:
                left = _left(guardrail, budget, reading.value, reference)
        is_violated = left is not None and left < 0
        if first is not None:
            _hinder(check, rule, first, reading, would_be=rule.code if is_violated else None, baseline=reference)
        elif left is None:  # no baseline at all, and the policy does not say what that means
            check.findings.append(rule.not_asked)
        else:
            _conclude(check, rule, reading, left, reference, is_violated=is_violated)


def _left(guardrail: GuardrailPlan, budget: BudgetPlan, value: float, reference: float) -> float:
    worse, better = (value, reference) if guardrail.lower_is_better else (reference, value)
    return left_of_budget(worse, better, budget.allowed, reference if budget.is_ratio else 1)


def _conclude(
    check: Check, rule: Rule, reading: Reading, margin: float, baseline: float | None = None, *, is_violated: bool
) -> None:
    fields = rule.violated if is_violated else rule.passed
    finding = measured(fields, reading.value, margin, reading.source, baseline)
    if is_violated and not rule.is_observed:
        check.add_trouble(rule, finding)
    else:
        check.findings.append(finding)
