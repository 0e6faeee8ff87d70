"""What is fixed about each rule of a policy at one stage: names, codes, limits, templates of findings."""

from __future__ import annotations

import operator

from gatekeeper.evaluator import baseline
from gatekeeper.evaluator.findings import Hindrance, Phase, finding_of, template
from gatekeeper.evaluator.observations import bad_response
from gatekeeper.model.decision import Outcome
from gatekeeper.model.policy import ConstraintKind, Direction, Enforcement, Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.policy import Constraint, Guardrail, Policy, Primary, PromotionGate


_HEALTHY = {Operator.LE: operator.le, Operator.LT: operator.lt, Operator.GE: operator.ge, Operator.GT: operator.gt}


class Rule:
    """What is fixed about one rule: its findings but for what was observed.

    Attributes:
        name, metric, phase: as in findings and in `evidence_first`.
        code: of its violation.
        is_observed: it watches only: its findings are OBSERVED and say in `would_be` what they would be.
        passed, violated: fields of these findings, `observed` and `margin` open.
        not_asked: the whole finding where the rule is not asked.
    """

    __slots__ = ("code", "is_observed", "metric", "name", "not_asked", "passed", "phase", "violated")

    def __init__(
        self,
        name: str,
        metric: str | None,
        phase: Phase,
        code: str,
        *,
        failed: Outcome = Outcome.VIOLATED,
        is_observed: bool = False,
        op: str | None = None,
        limit: float | bool | None = None,
    ) -> None:
        self.name = name
        self.metric = metric
        self.phase = phase
        self.code = code
        self.is_observed = is_observed
        shared = {"metric": metric, "op": op, "limit": limit}
        self.passed = template(name, Outcome.OBSERVED if is_observed else Outcome.PASS, **shared)
        self.violated = (
            template(name, Outcome.OBSERVED, would_be=code, **shared)
            if is_observed
            else template(name, failed, code=code, **shared)
        )
        self.not_asked = finding_of(template(name, Outcome.NOT_EVALUATED, **shared))


class MetricPlan:
    """A metric that some rule reads, with what its absence means."""

    __slots__ = ("absent", "bad_response", "name")

    def __init__(self, name: str, absent_code: str) -> None:
        self.name = name
        self.absent = Hindrance(Outcome.MISSING, absent_code, (name,))
        self.bad_response = bad_response(name)


class RequiredPlan:
    """A required metric; `kind` tells what values its rules take: `boolean`, `number` or `either`."""

    __slots__ = ("invalid", "kind", "metric", "passed", "rule")

    def __init__(self, metric: str, policy: Policy) -> None:
        kinds = {constraint.kind for constraint in policy.constraints if constraint.metric == metric}
        code = "observation_invalid:constraint_value" if kinds else "observation_invalid:guardrail_value"
        self.metric = metric
        if ConstraintKind.MUST_BE_FALSE in kinds:
            self.kind = "boolean"
        elif kinds or any(guardrail.metric == metric for guardrail in policy.guardrails):
            self.kind = "number"
        else:
            self.kind = "either"
        self.rule = Rule(f"required:{metric}", metric, Phase.REQUIRED, "observation_missing:required_metric")
        self.passed = finding_of(self.rule.passed)
        self.invalid = Hindrance(Outcome.INVALID, code, (metric,))


class ConstraintPlan:
    """One constraint at one stage."""

    __slots__ = ("invalid", "is_asked", "is_boolean", "metric", "passed", "rule")

    def __init__(self, constraint: Constraint, stage: str) -> None:
        metric = constraint.metric
        self.metric = metric
        self.is_boolean = constraint.kind is ConstraintKind.MUST_BE_FALSE
        self.is_asked = constraint.stages is None or stage in constraint.stages
        self.rule = Rule(
            f"constraint:{metric}",
            metric,
            Phase.CONSTRAINTS,
            f"constraint_violation:{metric}",
            op="==",
            limit=False if self.is_boolean else 0,
        )
        self.passed = self.rule.passed
        self.invalid = Hindrance(Outcome.INVALID, "observation_invalid:constraint_value", (metric,))


class BudgetPlan:
    """One budget of a guardrail; `allowed` is the delta, or the ratio of the baseline's absolute value."""

    __slots__ = ("allowed", "is_ratio", "rule")

    def __init__(self, guardrail: Guardrail, allowed: float, *, is_ratio: bool) -> None:
        self.is_ratio = is_ratio
        self.allowed = allowed
        self.rule = Rule(
            f"{'budget_ratio' if is_ratio else 'budget'}:{guardrail.metric}",
            guardrail.metric,
            Phase.GUARDRAILS,
            f"budget_violation:{guardrail.metric}",
            is_observed=guardrail.enforcement is Enforcement.OBSERVE,
            op=guardrail.op.value,
            limit=allowed,
        )


class GuardrailPlan:
    """One guardrail at one stage: its threshold's rule, if it has one, and its budgets."""

    __slots__ = (
        "bad_baseline",
        "budgets",
        "invalid",
        "is_asked",
        "is_enforced",
        "is_healthy",
        "lower_is_better",
        "metric",
        "no_baseline",
        "out_of_range",
        "range",
        "rule",
        "threshold",
    )

    def __init__(self, guardrail: Guardrail, stage: str) -> None:
        metric = guardrail.metric
        self.metric = metric
        self.is_enforced = guardrail.enforcement is Enforcement.ENFORCE
        self.is_asked = guardrail.stages is None or stage in guardrail.stages
        self.is_healthy = _HEALTHY[guardrail.op]
        self.lower_is_better = guardrail.op.lower_is_better
        self.range = guardrail.range
        self.threshold = guardrail.threshold
        self.rule = Rule(
            f"guardrail:{metric}",
            metric,
            Phase.GUARDRAILS,
            f"guardrail_violation:{metric}",
            is_observed=not self.is_enforced,
            op=guardrail.op.value,
            limit=guardrail.threshold,
        )
        self.budgets = tuple(
            BudgetPlan(guardrail, allowed, is_ratio=is_ratio)
            for allowed, is_ratio in ((guardrail.budget_delta, False), (guardrail.budget_ratio, True))
            if allowed is not None
        )
        self.invalid = Hindrance(Outcome.INVALID, "observation_invalid:guardrail_value", (metric,))
        self.out_of_range = Hindrance(Outcome.INVALID, "observation_invalid:out_of_range", (metric,))
        self.bad_baseline = baseline.bad_value(metric)
        self.no_baseline = baseline.no_value(metric)

    def in_range(self, value: float) -> bool:
        """Whether *value* is one that the metric can have, bounds included."""
        return self.range is None or self.range[0] <= value <= self.range[1]

    def rules(self) -> tuple[Rule, ...]:
        """Its rules in the order of their findings."""
        own = () if self.threshold is None else (self.rule,)
        return own + tuple(budget.rule for budget in self.budgets)


class PromotionPlan:
    """The parts of the promotion gate that are asked of one primary."""

    __slots__ = (
        "bound",
        "bound_limit",
        "is_up",
        "lift",
        "lift_limit",
        "metric",
        "rules",
        "sample_size",
        "sample_size_limit",
        "stable",
    )

    def __init__(self, primary: Primary, gate: PromotionGate, *, is_asked: bool) -> None:
        metric = primary.metric
        self.metric = metric
        self.is_up = primary.direction is Direction.UP
        self.sample_size_limit = gate.min_sample_size
        self.bound_limit = gate.require_ci_low_gt
        self.lift_limit = primary.min_lift

        def rule(part: str, code: str, op: str, *, limit: float | bool | None) -> Rule:
            return Rule(
                f"promotion:{metric}:{part}",
                metric,
                Phase.PROMOTION,
                f"precondition_unknown:{code}",
                failed=Outcome.NOT_READY,
                is_observed=not is_asked,
                op=op,
                limit=limit,
            )

        self.sample_size = rule("sample_size", "sample_size_not_reached", ">=", limit=gate.min_sample_size)
        self.stable = rule("assignment_stable", "assignment_not_stable", "==", limit=True)
        self.bound = rule("ci_bound", "significance_not_ready", ">", limit=gate.require_ci_low_gt)
        self.lift = rule("min_lift", "significance_not_ready", ">=", limit=primary.min_lift)
        wanted = (
            (self.sample_size, gate.min_sample_size is not None),
            (self.stable, True),
            (self.bound, gate.require_ci_low_gt is not None),
            (self.lift, primary.min_lift is not None),
        )
        self.rules = tuple(part for part, is_wanted in wanted if is_wanted)
