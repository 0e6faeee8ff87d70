"""What must hold besides metrics: change class, policy, history, stage wait; references and approval."""

from __future__ import annotations

from gatekeeper.evaluator.findings import Phase, finding_of, measured
from gatekeeper.evaluator.numbers import difference
from gatekeeper.evaluator.rules import Rule
from gatekeeper.evaluator.times import time_text
from gatekeeper.model.context import CHANGE_CLASSES
from gatekeeper.model.decision import Action, Outcome
from gatekeeper.model.stages import is_exposed
from gatekeeper.model.times import MICROSECONDS, seconds_to_microseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.check import Check

UNSAFE = "unsafe_for_experiment"
IRREVERSIBLE = "stateful_or_irreversible"
LATEST_MOMENT = 253_402_300_799_999_999
"""Microseconds of the last moment that RFC 3339 can state."""

_CHANGE_CLASS = Rule("change_class", None, Phase.CHANGE_CLASS, f"change_refused:{UNSAFE}")
_POLICY = Rule(
    "policy", None, Phase.REFERENCES, "precondition_unknown:policy_changed", failed=Outcome.NOT_READY, op="=="
)
_HISTORY = Rule("history", None, Phase.REFERENCES, "precondition_unknown:history_incomplete", failed=Outcome.NOT_READY)
_APPROVAL = Rule("evidence:approval", None, Phase.REFERENCES, "evidence_missing:approval", failed=Outcome.MISSING)

_CLASS_PASSED = {name: finding_of(_CHANGE_CLASS.passed, observed=name) for name in CHANGE_CLASSES}
_POLICY_PASSED = finding_of(_POLICY.passed)
_HISTORY_PASSED = finding_of(_HISTORY.passed)
_APPROVAL_PASSED = finding_of(_APPROVAL.passed)


def ask_preconditions(check: Check) -> None:
    """Ask what the run itself must fulfil before any metric is read."""
    context = check.context
    if context.change_class == UNSAFE:
        check.add_trouble(_CHANGE_CLASS, finding_of(_CHANGE_CLASS.violated, observed=UNSAFE))
    else:
        check.findings.append(_CLASS_PASSED[context.change_class])
    digests = context.policy
    if digests is not None and digests.run != digests.given:
        check.add_trouble(
            _POLICY,
            finding_of(_POLICY.violated, observed=digests.given, limit=digests.run),
            actions=(Action("adopt_policy", {"digest": digests.given}),),
        )
    else:
        check.findings.append(_POLICY_PASSED)
    if context.history == "complete":
        check.findings.append(_HISTORY_PASSED)
    else:
        check.add_trouble(_HISTORY, finding_of(_HISTORY.violated, observed=context.history))
    if check.plan.has_stage_policy:
        _ask_stage_wait(check)


def _ask_stage_wait(check: Check) -> None:
    rule, wanted, entered_at = check.plan.stage_wait, check.plan.min_stage_seconds, check.entered_at
    if wanted is None or not check.is_moving_on or entered_at is None:
        check.findings.append(rule.not_asked)
        return
    elapsed = (check.evaluated_at - entered_at) / MICROSECONDS
    margin = difference(elapsed, wanted)
    if elapsed >= wanted:
        check.findings.append(measured(rule.passed, elapsed, margin))
    else:
        finding = measured(rule.violated, elapsed, margin)
        check.add_trouble(rule, finding, actions=(wait_until(entered_at, wanted),))


def wait_until(moment: int, seconds: float = 0, *, not_before: int | None = None) -> Action:
    """The action to wait until *seconds* after *moment* (microseconds), and not before *not_before*."""
    target = moment + seconds_to_microseconds(seconds)
    if not_before is not None and target < not_before:
        target = not_before
    return Action("wait_until", {"time": time_text(min(target, LATEST_MOMENT))})


def needs_approval(check: Check) -> bool:
    """Whether a person must have said yes to this run at this stage."""
    return check.plan.needs_approval or (check.context.change_class == IRREVERSIBLE and is_exposed(check.context.stage))


def ask_references(check: Check) -> None:
    """Ask for the references that the policy requires, and for the approval where one is needed."""
    given = check.context.evidence
    for name, rule in zip(check.plan.reference_names, check.plan.references, strict=True):
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            check.findings.append(measured(rule.passed, value))
        else:
            check.add_trouble(
                rule,
                finding_of(rule.violated),
                missing=(name,),
                actions=(Action("attach_evidence", {"name": name}),),
            )
    if not needs_approval(check):
        return
    stage = check.context.stage
    if any(isinstance(approval, dict) and approval.get("stage") == stage for approval in check.context.approvals):
        check.findings.append(_APPROVAL_PASSED)
    else:
        check.add_trouble(
            _APPROVAL,
            finding_of(_APPROVAL.violated),
            missing=("approval",),
            actions=(Action("collect_approval", {"stage": stage}),),
        )
