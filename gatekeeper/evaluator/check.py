"""One check while it is being judged: its evidence, and the findings and troubles found so far."""

from __future__ import annotations

from gatekeeper.evaluator.baseline import Baseline
from gatekeeper.evaluator.findings import Trouble, finding_of
from gatekeeper.evaluator.numbers import shown
from gatekeeper.evaluator.observations import read_metrics
from gatekeeper.evaluator.times import Times
from gatekeeper.model.decision import Action, Outcome
from gatekeeper.model.times import require_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.findings import Hindrance, Phase
    from gatekeeper.evaluator.observations import Reading
    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.evaluator.rules import Rule
    from gatekeeper.model.context import Context
    from gatekeeper.model.decision import Finding


class Check:
    """What the steps of one evaluation share.

    Attributes:
        context, plan: the question, and the policy made ready for it.
        document: the wrapped snapshot.
        evaluated_at, entered_at: microseconds; `entered_at` None before the run's first ACCEPT.
        is_moving_on: whether the run asks to leave a stage that it has entered: waits and windows are asked.
        findings: in order, one for each rule.
        troubles: those of the findings that count, in the same order.
        notes: sentences for people.
        is_safe: whether nothing that counts was found in the steps of safety.
        marks: how many findings, troubles and notes there were before each step, and after the last.
    """

    def __init__(
        self, context: Context, plan: StagePlan, document: Mapping[str, Any], like: Check | None = None
    ) -> None:
        """Read the evidence.

        Args:
            context: the question.
            plan: the policy made ready for it.
            document: the wrapped snapshot.
            like: another check of the same snapshot, whose reading is taken over where it is what this one would read.
        """
        self.context = context
        self.plan = plan
        self.document = document
        self.evaluated_at = require_time(context.evaluated_at)
        entered = context.stage_entered_at
        self.entered_at = None if entered is None else require_time(entered)
        self.is_moving_on = (
            plan.has_stage_policy
            and context.from_stage is not None
            and context.from_stage != context.stage
            and self.entered_at is not None
        )
        self.times: Times
        self.readings: dict[str, Reading]
        self.baseline: Baseline
        if like is not None and self._reads_as(like):
            self.times, self.readings, self.baseline = like.times, like.readings, like.baseline
        else:
            self.times = Times(document, plan, self.evaluated_at, self.entered_at if self.is_moving_on else None)
            self.readings = read_metrics(document, plan, self.times)
            self.baseline = Baseline(document.get("baseline"), self.times, plan.max_baseline_age_seconds)
        self.findings: list[Finding] = []
        self.troubles: list[Trouble] = []
        self.notes: list[str] = []
        self.is_safe = True
        self.marks = [(0, 0, 0)]

    def _reads_as(self, other: Check) -> bool:
        """Whether all that evidence is read by is the same: snapshot, moments, and what the policy says of reading."""
        return (
            self.document is other.document
            and self.evaluated_at == other.evaluated_at
            and self.entered_at == other.entered_at
            and self.is_moving_on == other.is_moving_on
            and self.plan.read_by == other.plan.read_by
        )

    def add_trouble(
        self, rule: Rule, finding: Finding, *, missing: tuple[str, ...] = (), actions: tuple[Action, ...] = ()
    ) -> None:
        """Add a finding that counts: its code decides about the verdict."""
        self.findings.append(finding)
        self.troubles.append(Trouble(finding, finding.code or rule.code, rule.phase, missing, actions))

    def hinder(self, rule: Rule, hindrance: Hindrance, *, would_be: str | None = None, **known: object) -> None:
        """Add the finding of a rule whose evidence cannot be judged.

        Args:
            rule: the rule, which may watch only.
            hindrance: why.
            would_be: the violation that the value would be, for a STALE finding.
            known: `observed`, `baseline` and `source`, as far as there are any.
        """
        if rule.is_observed:
            self.findings.append(finding_of(rule.passed, would_be=hindrance.code, **known))
            return
        finding = finding_of(
            rule.passed,
            outcome=hindrance.outcome,
            code=hindrance.code,
            would_be=would_be if hindrance.outcome is Outcome.STALE else None,
            **known,
        )
        actions: tuple[Action, ...] = ()
        if hindrance.remedy is not None:
            actions = (Action(hindrance.remedy, {"metric": rule.metric}),)
        self.findings.append(finding)
        phase: Phase = rule.phase if hindrance.phase is None else hindrance.phase
        self.troubles.append(Trouble(finding, hindrance.code, phase, hindrance.missing, actions))


def observed_of(value: object, observation: Mapping[str, Any]) -> float | str | bool | None:
    """What a hindered finding shows as `observed`: the value, or the text that a `problem` says was no number."""
    if value is None and observation.get("problem") is not None:
        value = observation.get("value_text")
    return shown(value)
