"""Questions that were answered before: a stopped run, a known key, the same content (SPEC 6)."""

from __future__ import annotations

from gatekeeper.errors import RunRefusedError, StateUnreadableError
from gatekeeper.model.event import content_question
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import RunState
from gatekeeper.orchestrator.question import Answer, question_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.run import Run
    from gatekeeper.orchestrator.question import Question
    from gatekeeper.ports import LedgerView


def stopping_answer(run: Run, view: LedgerView) -> Answer:
    """What a STOPPED run answers to every check: the event that stopped it."""
    event = view.event(run.stopped_by) if run.stopped_by is not None else None
    if event is None:
        raise StateUnreadableError(
            f"run {run.run_id} is STOPPED, but event {run.stopped_by} is not in the readable log",
            remedy="bring the log's earlier part back; the run does not go on",
        )
    return Answer(event, Verdict.REJECT, run, is_recorded=True)


def keyed_event(question: Question, run_id: str, view: LedgerView) -> Mapping[str, Any] | None:
    """The decision recorded with the question's idempotency key.

    Raises:
        RunRefusedError: the key belongs to another question.
    """
    if question.idempotency_key is None:
        return None
    event = view.key(question.idempotency_key)
    if event is not None and event.get("question_digest") != question_digest(question, run_id):
        raise RunRefusedError(
            f"idempotency key {question.idempotency_key!r} belongs to another question: event {event['event_id']}",
            remedy="use one key per question (run, stage, policy, revision, evidence, and snapshot or collection file)",
            reason="key_reused",
            run_id=run_id,
        )
    return event


def still_holds(event: Mapping[str, Any], run: Run) -> bool:
    """Whether a recorded ACCEPT may be repeated: the run rests where that decision let it, as far as all is known."""
    return (
        event["decision"]["verdict"] == Verdict.ACCEPT
        and run.history == "complete"
        and run.state in {RunState.ACTIVE, RunState.COMPLETED}
        and run.stage == event["stage"]
    )


def same_question(
    question: Question, run: Run, stage: str, view: LedgerView, *, evidence: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """A recorded ACCEPT of the same run, stage, policy, revision, snapshot and effective evidence."""
    policy_digest = run.policy_digest if question.policy is None else question.policy.digest
    if question.snapshot is None or policy_digest is None or policy_digest != run.policy_digest:
        return None  # whatever was accepted under another policy, the run's own judges now
    content = content_question(
        run_id=run.run_id,
        stage=stage,
        policy_digest=policy_digest,
        revision=run.revision,
        snapshot_digest=question.snapshot.digest,
        evidence=evidence,
    )
    event = view.accepted(run.run_id, content)
    return event if event is not None and still_holds(event, run) else None
