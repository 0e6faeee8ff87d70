"""The one place where findings become a verdict: strength, both precedences, the deadline.

`violations_first` (SPEC 5.2): confirmed harm over lack of knowledge over health, all reasons of the
deciding strength. `evidence_first` (SPEC 5.4): phases one after the other, the first with a trouble
decides alone.
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Phase, Trouble, finding_of
from gatekeeper.evaluator.rules import Rule
from gatekeeper.model.decision import Outcome
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.times import require_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.check import Check
    from gatekeeper.evaluator.plan import StagePlan

    Judgement = tuple[Verdict, tuple[str, ...], tuple[str, ...]]

_DEADLINE = Rule("deadline", None, Phase.REFERENCES, "change_refused:deadline_passed", op="<")
_HEALTHY: Judgement = (Verdict.ACCEPT, (), ())


def judge(check: Check) -> Judgement:
    """Verdict, reason codes and `missing` of a check whose rules have all been asked.

    A passed deadline adds its finding or its note to *check*.
    """
    if not check.troubles:
        return _HEALTHY
    verdict, codes, missing = weigh(check.plan, check.troubles)
    context = check.context
    if verdict is Verdict.DEGRADE and context.deadline_at is not None:
        deadline = require_time(context.deadline_at)
        if check.evaluated_at >= deadline:
            if context.on_deadline == "REJECT":
                check.findings.append(
                    finding_of(_DEADLINE.violated, observed=context.evaluated_at, limit=context.deadline_at)
                )
                return Verdict.REJECT, (_DEADLINE.code,), missing
            check.notes.append(f"deadline {context.deadline_at} passed: escalate")
    return verdict, codes, missing


def weigh(plan: StagePlan, troubles: list[Trouble]) -> Judgement:
    """What *troubles* (at least one) mean together under the policy's precedence."""
    deciding = first_phase(troubles) if plan.evidence_first else troubles
    codes = {trouble.code: plan.effect(trouble.code) for trouble in deciding}  # once each, in order
    missing = tuple(sorted({entry for trouble in deciding for entry in trouble.missing}))
    for strength in (Verdict.REJECT, Verdict.DEGRADE):
        of_strength = tuple(code for code, effect in codes.items() if effect is strength)
        if of_strength:
            return strength, of_strength, missing
    raise AssertionError("a trouble means REJECT or DEGRADE")


def first_phase(troubles: list[Trouble]) -> list[Trouble]:
    """Those of *troubles* that decide in the founding order."""
    phase = min(trouble.phase for trouble in troubles)
    inside = [trouble for trouble in troubles if trouble.phase is phase]
    if phase is Phase.GUARDRAILS:
        return inside[:1]
    if phase is Phase.CONSTRAINTS:
        unknown = [trouble for trouble in inside if trouble.finding.outcome is not Outcome.VIOLATED]
        return unknown[:1] or inside
    return inside
