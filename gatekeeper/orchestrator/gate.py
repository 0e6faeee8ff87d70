"""The one atomic step. Nothing else in the program appends a decision.

Here the run is read, the question judged, and its events are appended against what was read. Whoever was first
makes us read and decide again: two callers cannot both move a run. Evidence comes in from outside; where a source
is to be asked for it, that happens once, between two readings of the run and outside any lock.
"""

from __future__ import annotations

from gatekeeper.errors import LedgerUnreachableError, LogError, LogInDoubtError, RunRefusedError, StateUnreadableError
from gatekeeper.model.event import action_draft, policy_draft
from gatekeeper.model.exchange import ConflictError, Expectation
from gatekeeper.model.fold import apply
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.values import replace
from gatekeeper.orchestrator.judge import Proposal, draft_ending
from gatekeeper.orchestrator.propose import NeedsEvidence, propose
from gatekeeper.orchestrator.question import Answer, asked_once, question_digest, with_evidence
from gatekeeper.orchestrator.recorded import stopping_answer
from gatekeeper.orchestrator.unreadable import answer_without_state, unrecorded_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.orchestrator.question import Question
    from gatekeeper.ports import Clock, Ledger

MAX_CONFLICTS = 1000
"""How often a call reads again before it gives up (74): each time somebody else's event was recorded."""


def ask(question: Question, *, ledger: Ledger, clock: Clock, fixed_stage: str | None = None) -> Answer:
    """Answer *question*: from the record, or by one evaluation appended durably.

    Args:
        fixed_stage: the stage that an earlier ask of the same call meant (`--wait`).

    Raises:
        InputRefusedError: the question cannot be asked (65); a known run keeps a `refusal` event.
        CollectionError, UsageError: its evidence cannot be collected as the file says; nothing was appended.
        LogError: ACCEPT or DEGRADE could not be recorded (74, 69 where the ledger was not reached); the run is as
            it was.
    """
    question = asked_once(question)
    try:
        return _ask(question, ledger, clock, fixed_stage)
    except RunRefusedError as refusal:
        if not question.dry_run:
            _record_refusal(question, refusal, ledger)
        raise


def _ask(question: Question, ledger: Ledger, clock: Clock, fixed_stage: str | None) -> Answer:
    conflicts = 0
    while True:
        try:
            view = ledger.view()
            step = propose(question, view, now=clock.now(), fixed_stage=fixed_stage)
        except StateUnreadableError as error:
            return answer_without_state(question, error, clock=clock, leave_marker=ledger.leave_marker)
        if isinstance(step, Answer):
            return replace(step, is_dry_run=question.dry_run, warnings=tuple(view.warnings))
        if isinstance(step, NeedsEvidence):
            question = with_evidence(question)
            fixed_stage = step.stage_for(question.judged)
            continue  # the run may have moved, and is judged at a moment after that of its evidence
        if question.dry_run:
            return _answer(step, step.drafts, step.run, view.warnings, is_dry_run=True)
        if step.is_reject_only and step.decision.verdict is not Verdict.REJECT:
            raise _passed(step)
        try:
            receipt = ledger.append(step.drafts, expect=step.expect, policies=step.policies, actor=question.actor)
        except ConflictError:
            fixed_stage, conflicts = step.stage, conflicts + 1
            if conflicts < MAX_CONFLICTS:
                continue
            return _not_recorded(step, _busy(question.run_id or str(question.token)), ledger, actor=question.actor)
        except LogError as error:
            return _not_recorded(step, error, ledger, actor=question.actor)
        return _answer(step, receipt.events, step.run, (*view.warnings, *receipt.warnings))


def stop(run_id: str, *, reason: str, actor: str, ledger: Ledger) -> Answer:
    """End an ACTIVE, HELD or COMPLETED run; a STOPPED one answers with what stopped it.

    Raises:
        RunRefusedError: no such run. LogError: it could not be recorded.
    """
    for _ in range(MAX_CONFLICTS):
        view = ledger.view()
        run = view.run(run_id)
        if run is None:
            raise RunRefusedError(
                f"run {run_id} is not in this log", remedy="see: gatekeeper status", reason="unknown_run"
            )
        if run.state is RunState.STOPPED:
            return replace(stopping_answer(run, view), warnings=tuple(view.warnings))
        draft = draft_ending(
            run,
            name="stop",
            code="change_refused:stopped",
            actor=actor,
            reason=reason,
            params={},
            extra={"as_of": run.updated_at} if run.simulated else {},
        )
        try:
            receipt = ledger.append([draft], expect=Expectation(run_id, run.version), actor=actor)
        except ConflictError:
            continue
        event = receipt.events[-1]
        return Answer(event, Verdict.REJECT, apply(run, event), warnings=(*view.warnings, *receipt.warnings))
    raise _busy(run_id)


def accept_gap(*, reason: str, actor: str, ledger: Ledger) -> Mapping[str, Any]:
    """Append the `action` event by which a person accepts that a part of the log is missing."""
    draft = action_draft("accept-gap", identity={}, event_id="", actor=actor, reason=reason, params={}, extra={})
    del draft["event_id"]  # no run is meant: the ledger names it by its seq
    return ledger.append([draft], expect=None, actor=actor).events[-1]


def _answer(
    step: Proposal,
    events: Sequence[Mapping[str, Any]],
    run: Run | None,
    warnings: Sequence[str],
    *,
    is_dry_run: bool = False,
) -> Answer:
    event = next(event for event in reversed(events) if event["kind"] == "decision")
    after = None if is_dry_run else _after(events, run, event["run_id"])
    return Answer(
        event,
        step.decision.verdict,
        after or run,
        step.policies[-1],
        is_dry_run=is_dry_run,
        warnings=(*warnings, *_changed_collection(event)),
    )


def _changed_collection(event: Mapping[str, Any]) -> tuple[str, ...]:
    change = event.get("collector_change")
    if change is None:
        return ()
    return (f"the collection file has changed since the hold: it was {change['from']} and is {change['to']}",)


def _after(events: Sequence[Mapping[str, Any]], run: Run | None, run_id: str) -> Run | None:
    for event in events:
        if event.get("run_id") == run_id:
            run = apply(run, event)
    return run


def _not_recorded(step: Proposal, error: LogError, ledger: Ledger, *, actor: str) -> Answer:
    """Nothing goes forward unrecorded; going back is always possible (SPEC 7)."""
    verdict = step.decision.verdict
    if verdict is not Verdict.REJECT:
        kind = error.__class__ if isinstance(error, (LogInDoubtError, LedgerUnreachableError)) else LogError
        raise kind(f"{verdict.value} was reached and is not given: {error.message}", remedy=error.remedy) from error
    draft = step.drafts[-1]
    # with its policies and with what goes before it (a supersede), so that the log will explain itself
    notes = [*(policy_draft(loaded, actor=actor) for loaded in step.policies), *step.drafts]
    return Answer(
        draft,
        verdict,
        step.run,
        step.policies[-1],
        is_unrecorded=True,
        warnings=unrecorded_warnings(str(draft["run_id"]), error, ledger.leave_marker(notes)),
    )


def _record_refusal(question: Question, refusal: RunRefusedError, ledger: Ledger) -> None:
    """Note that a known run was turned away, once per question; failing changes no exit code."""
    if refusal.run_id is None:
        return
    asked = question_digest(question, refusal.run_id)
    try:
        for _ in range(MAX_CONFLICTS):
            view = ledger.view()
            run = view.run(refusal.run_id)
            if run is None or view.refused(run.run_id, asked):
                return
            try:
                ledger.append(
                    [_refusal_draft(question, refusal, run, asked)],
                    expect=Expectation(run.run_id, run.version),
                    actor=question.actor,
                )
            except ConflictError:
                continue
            return
    except LogError:
        return


def _refusal_draft(question: Question, refusal: RunRefusedError, run: Run, asked: str) -> dict[str, Any]:
    return {
        "kind": "refusal",
        "run_id": run.run_id,
        "experiment_id": run.experiment_id,
        "variant_id": run.variant_id,
        "event_id": run.next_event_id("refusal"),
        "question_digest": asked,
        "refusal": {
            "reason": refusal.reason,
            "message": refusal.message,
            "command": question.command,
            "stage": question.stage or question.start_stage,
            "revision": question.revision,
            "token": question.token,
            "idempotency_key": question.idempotency_key,
        },
        "actor": question.actor,
        **({"as_of": question.as_of} if question.is_simulated else {}),
    }


def _passed(step: Proposal) -> RunRefusedError:
    run = step.run
    return RunRefusedError(
        f"the run has passed {step.stage} meanwhile and is at {run.stage if run is not None else None}; "
        f"evidence for remaining there gave {step.decision.verdict.value}, which is not recorded",
        remedy="ask again without --stage",
        reason="stage_passed",
        run_id=run.run_id if run is not None else None,
    )


def _busy(name: str) -> LogError:
    return LogError(f"{name} moved {MAX_CONFLICTS} times while it was read", remedy="ask again")
