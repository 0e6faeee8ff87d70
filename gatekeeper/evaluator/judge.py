"""The evaluation, step by step."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError
from gatekeeper.evaluator.actions import next_actions, requested_actions
from gatekeeper.evaluator.admissibility import ask_required, ask_times
from gatekeeper.evaluator.check import Check
from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.evaluator.preconditions import ask_preconditions, ask_references
from gatekeeper.evaluator.promotion import ask_promotion
from gatekeeper.evaluator.safety import ask_constraints, ask_guardrails
from gatekeeper.evaluator.steps import Step, Steps
from gatekeeper.evaluator.verdict import judge
from gatekeeper.model.decision import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.verdict import Judgement
    from gatekeeper.model.context import Context
    from gatekeeper.model.policy import Policy
    from gatekeeper.model.snapshot import Snapshot

_NO_GATE = "at 100 percent without a promotion gate: no statistics were asked"


def evaluate(policy: Policy, snapshot: Snapshot, context: Context) -> Decision:
    """Judge one check: a pure function, the same answer for the same input on every machine.

    Args:
        policy: a policy that loaded, hence is valid.
        snapshot: the evidence; bad evidence of any shape is a finding, never an error.
        context: the stage asked, the moment of evaluation, and what the run knows.

    Returns:
        The decision with one finding for every rule of the policy.

    Raises:
        InputRefusedError: `context.stage` is no stage of *policy*.
    """
    check, (verdict, reason_codes, missing) = assess(policy, snapshot, context)
    # (7) what follows from it
    decision = object.__new__(Decision)  # a frozen dataclass's constructor takes three times as long
    object.__setattr__(
        decision,
        "__dict__",
        {
            "verdict": verdict,
            "reason_codes": reason_codes,
            "missing": missing,
            "findings": tuple(check.findings),
            "notes": tuple(check.notes),
            "requested_actions": requested_actions(check, verdict),
            "next_actions": next_actions(check, verdict, reason_codes),
        },
    )
    return decision


def assess(policy: Policy, snapshot: Snapshot, context: Context, like: Check | None = None) -> tuple[Check, Judgement]:
    """All of `evaluate` but the actions: what decides, and all that `verify` compares. Raises as `evaluate` does.

    Args:
        policy, snapshot, context: as for `evaluate`.
        like: another policy's check of the same snapshot; what both read and ask alike is not read and asked twice.

    Returns:
        The check with its findings, troubles and notes; verdict, reason codes and `missing`.
    """
    if context.stage not in policy.stages:
        raise InputRefusedError(
            f"the policy names no stage {context.stage!r}", remedy=f"ask one of: {', '.join(policy.stages)}"
        )
    plan = stage_plan(policy, context.stage, is_entering=context.is_entering)
    # (1) evidence: values, problems and times of every metric that a rule reads
    check = Check(context, plan, snapshot.document, like)
    steps = Steps(check, like)
    # (2) the run itself
    steps.take(Step.RUN, ask_preconditions)
    # (3) safety: required metrics, times, constraints, guardrails with their budgets
    before = len(check.troubles)
    steps.take(Step.REQUIRED, ask_required)
    steps.take(Step.TIMES, ask_times)
    steps.take(Step.CONSTRAINTS, ask_constraints)
    steps.take(Step.GUARDRAILS, ask_guardrails)
    check.is_safe = len(check.troubles) == before
    # (4) references and approval
    steps.take(Step.REFERENCES, ask_references)
    # (5) promotion, only on top of safety
    steps.take_promotion(ask_promotion)
    if plan.percent == 100 and policy.promotion_gate is None:
        check.notes.append(_NO_GATE)
    # (6) the verdict
    return check, judge(check)
