"""The steps of one evaluation, and which of them two policies ask alike.

A changed policy differs from the one before in a rule or two. Where both are asked the same question, what the other
steps have found is the same, too: it is taken over, not found again.
"""

from __future__ import annotations

from enum import IntEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.plan import StagePlan


class Step(IntEnum):
    """In the order in which they are taken."""

    RUN = 0
    REQUIRED = 1
    TIMES = 2
    CONSTRAINTS = 3
    GUARDRAILS = 4
    REFERENCES = 5
    PROMOTION = 6


class Steps:
    """Takes the steps of a check.

    Args:
        check: the one that is judged; nothing was asked yet.
        like: another policy's check, complete; taken over from where it was asked the same question.
    """

    def __init__(self, check: Check, like: Check | None) -> None:
        self._check = check
        self._like: Check | None = None
        self._alike = _NONE
        if like is not None and check.context is like.context and check.readings is like.readings:
            self._like, self._alike = like, alike(check.plan, like.plan)

    def take(self, step: Step, ask: Callable[[Check], None]) -> None:
        """Ask the rules of a step, or take over what they have found."""
        check, like = self._check, self._like
        if like is not None and step in self._alike:
            begin, end = like.marks[step], like.marks[step + 1]
            check.findings += like.findings[begin[0] : end[0]]
            check.troubles += like.troubles[begin[1] : end[1]]
            check.notes += like.notes[begin[2] : end[2]]
        else:
            ask(check)
        check.marks.append((len(check.findings), len(check.troubles), len(check.notes)))

    def take_promotion(self, ask: Callable[[Check], None]) -> None:
        """The last step: it depends on what came out of the others."""
        if self._like is not None and self._like.is_safe is not self._check.is_safe:
            self._alike -= {Step.PROMOTION}
        self.take(Step.PROMOTION, ask)


_NONE: frozenset[Step] = frozenset()


def alike(plan: StagePlan, other: StagePlan) -> frozenset[Step]:
    """The steps of which two policies, asked at one stage, say the same; compared once."""
    known = plan.compared.get(other)
    if known is None:
        known = frozenset(step for step in Step if _asked(plan, step) == _asked(other, step))
        plan.compared[other] = known
    return known


def _asked(plan: StagePlan, step: Step) -> object:
    """All that a step's findings, codes and notes depend on, besides evidence and context."""
    policy = plan.policy
    if step is Step.RUN:
        return plan.has_stage_policy, plan.min_stage_seconds
    if step is Step.REQUIRED:
        return [(required.metric, required.kind, required.invalid) for required in plan.required]
    if step is Step.TIMES:
        return plan.asked_metrics, plan.window_metrics, plan.max_freshness_seconds, plan.max_skew_seconds
    if step is Step.CONSTRAINTS:
        return policy.constraints
    if step is Step.GUARDRAILS:
        return policy.guardrails, plan.holds_without_baseline
    if step is Step.REFERENCES:
        return plan.reference_names, plan.needs_approval
    return policy.primary, policy.promotion_gate
