"""A policy made ready for one stage: which rules are asked, and all of them that never varies.

A plan is compiled once per policy, stage and way of asking (to enter or to remain) and kept on the
policy object, where equality, hash and repr do not see it.
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Phase
from gatekeeper.evaluator.rules import ConstraintPlan, GuardrailPlan, MetricPlan, PromotionPlan, RequiredPlan, Rule
from gatekeeper.model.decision import Action, Outcome
from gatekeeper.model.policy import Precedence, resolve_effect
from gatekeeper.model.reasons import fixed_verdict
from gatekeeper.model.stages import stage_percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.steps import Step
    from gatekeeper.model.policy import Policy
    from gatekeeper.model.reasons import Verdict

_KEPT_AS = "_evaluation_plans"
APPROVAL = "approval"
"""The reference that only an approval event meets."""


class StagePlan:
    """All rules of one policy as they are asked at one stage."""

    def __init__(self, policy: Policy, stage: str, *, is_entering: bool) -> None:
        missing, gate = policy.missing_data_policy, policy.promotion_gate
        self.policy = policy
        self.stage = stage
        self.compared: dict[StagePlan, frozenset[Step]] = {}
        """What `steps.alike` has found of other plans."""
        self.percent = stage_percent(stage)
        self.set_percent = Action("set_percent", {"percent": self.percent})
        self.max_freshness_seconds = missing.max_freshness_seconds
        self.max_skew_seconds = missing.max_watermark_skew_seconds
        self.freshness = Rule(
            "freshness",
            None,
            Phase.FRESHNESS,
            "observation_stale:over_freshness_budget",
            op="<=",
            limit=self.max_freshness_seconds,
        )
        self.skew = Rule(
            "skew", None, Phase.SKEW, "observation_stale:watermark_skew", op="<=", limit=self.max_skew_seconds
        )
        self.window = Rule("window", None, Phase.REFERENCES, "observation_stale:window_before_stage", op=">=")
        self.max_baseline_age_seconds = missing.max_baseline_age_seconds
        self.holds_without_baseline = missing.on_missing_baseline is not None
        self.evidence_first = missing.precedence is Precedence.EVIDENCE_FIRST
        self.required = tuple(RequiredPlan(metric, policy) for metric in missing.required_metrics)
        self.constraints = tuple(ConstraintPlan(constraint, stage) for constraint in policy.constraints)
        self.guardrails = tuple(GuardrailPlan(guardrail, stage) for guardrail in policy.guardrails)
        self.is_promotion_asked = gate is not None and is_entering and stage in gate.required_for_stages
        self.promotion = tuple(
            PromotionPlan(primary, gate, is_asked=self.is_promotion_asked)
            for primary in policy.primary
            if gate is not None
        )
        self.has_stage_policy = policy.stage_policy is not None
        self.min_stage_seconds = policy.stage_policy.min_stage_seconds if policy.stage_policy else None
        self.stage_wait = Rule(
            "stage_wait",
            None,
            Phase.REFERENCES,
            "precondition_unknown:stage_wait_not_elapsed",
            failed=Outcome.NOT_READY,
            op=">=",
            limit=self.min_stage_seconds,
        )
        self.references = tuple(
            Rule(f"evidence:{name}", None, Phase.REFERENCES, f"evidence_missing:{name}", failed=Outcome.MISSING)
            for name in policy.evidence.required
            if name != APPROVAL
        )
        self.reference_names = tuple(name for name in policy.evidence.required if name != APPROVAL)
        self.needs_approval = APPROVAL in policy.evidence.required
        self.has_next_stage = stage != policy.stages[-1]
        windowed = [required.metric for required in self.required]
        windowed += [constraint.metric for constraint in self.constraints if constraint.is_asked]
        windowed += [guardrail.metric for guardrail in self.guardrails if guardrail.is_asked and guardrail.is_enforced]
        asked = windowed + [part.metric for part in self.promotion if self.is_promotion_asked]
        watched = [
            guardrail.metric for guardrail in self.guardrails if guardrail.is_asked and not guardrail.is_enforced
        ]
        self.window_metrics = tuple(dict.fromkeys(windowed))
        self.asked_metrics = tuple(dict.fromkeys(asked))
        named = dict.fromkeys([*asked, *watched, *(part.metric for part in self.promotion)])
        absent = {name: _absent_code(name, policy) for name in named}
        self.metrics = tuple(MetricPlan(name, code) for name, code in absent.items())
        self.read_by = (
            tuple(absent.items()),
            self.max_freshness_seconds,
            self.max_skew_seconds,
            self.max_baseline_age_seconds,
        )
        """All of the policy that evidence is read by: two plans that share it read the same."""

    def effect(self, code: str) -> Verdict:
        """What *code* means under the policy."""
        return resolve_effect(fixed_verdict(code), self.policy)


def _absent_code(metric: str, policy: Policy) -> str:
    """The one code of a metric's absence (SPEC 5.1)."""
    if metric in policy.missing_data_policy.required_metrics:
        return "observation_missing:required_metric"
    if any(constraint.metric == metric for constraint in policy.constraints):
        return "observation_missing:constraint_metric"
    return "observation_missing:guardrail_metric"


def stage_plan(policy: Policy, stage: str, *, is_entering: bool) -> StagePlan:
    """The plan of *policy* for *stage*, compiled when first asked. *stage* must be one of the policy's."""
    plans: dict[tuple[str, bool], StagePlan] | None = policy.__dict__.get(_KEPT_AS)
    if plans is None:
        plans = {}
        object.__setattr__(policy, _KEPT_AS, plans)
    plan = plans.get((stage, is_entering))
    if plan is None:
        plan = plans[stage, is_entering] = StagePlan(policy, stage, is_entering=is_entering)
    return plan
