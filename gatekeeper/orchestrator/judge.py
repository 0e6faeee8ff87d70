"""Evaluate a question against a run as read, and draft the events that its answer would be."""

from __future__ import annotations

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context, PolicyDigests
from gatekeeper.model.event import action_draft, decision_draft, ending_decision
from gatekeeper.model.hold import plan_hold
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.times import format_time
from gatekeeper.model.values import dataclass
from gatekeeper.orchestrator.question import question_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.decision import Decision
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.run import Run
    from gatekeeper.orchestrator.question import Question


@dataclass(frozen=True)
class Case:
    """Everything that one evaluation of one question needs, as read at one moment.

    `collector_change`: digests of the collection file when the run was held (`from`) and now (`to`), where they differ.
    """

    question: Question
    run_id: str
    run: Run | None
    loaded: LoadedPolicy
    stage: str
    evidence: Mapping[str, str]
    now: int
    is_history_complete: bool
    previous_run: str | None = None
    collector_change: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Proposal:
    """What would be appended, and what must still hold when it is.

    `is_reject_only`: the run has passed the stage asked meanwhile, so only a REJECT may be recorded.
    """

    decision: Decision
    stage: str
    drafts: tuple[Mapping[str, Any], ...]
    policies: tuple[LoadedPolicy, ...]
    expect: Expectation
    run: Run | None
    is_reject_only: bool = False


def context_of(case: Case) -> Context:
    """What the evaluator is told besides policy and snapshot."""
    run, question, stage = case.run, case.question, case.stage
    open_hold = run.hold if run is not None else None
    hold = open_hold if open_hold is not None and open_hold.stage == stage else None
    is_aside = open_hold is not None and hold is None
    given = case.loaded.digest if question.policy is None else question.policy.digest
    from_stage = run.stage if run is not None else None
    gate = case.loaded.policy.promotion_gate
    is_look = gate is not None and stage in gate.required_for_stages and stage != from_stage
    return Context(
        stage=stage,
        from_stage=from_stage,
        evaluated_at=question.as_of or format_time(case.now),
        stage_entered_at=run.stage_entered_at if run is not None else None,
        evidence=case.evidence,
        approvals=(),
        change_class=_change_class(case),
        policy=PolicyDigests(run=case.loaded.digest, given=given),
        attempt=hold.attempt + 1 if hold is not None else int(not is_aside),
        looks=(run.looks if run is not None else 0) + (1 if is_look else 0),
        first_held_at=hold.first_held_at if hold is not None else None,
        deadline_at=hold.deadline_at if hold is not None else None,
        on_deadline=hold.on_deadline if hold is not None else None,
        history="complete" if case.is_history_complete else "incomplete",
    )


def collector_change(question: Question, run: Run) -> Mapping[str, str] | None:
    """Both digests where the evidence comes from another collection file than the one recorded with the open hold."""
    if question.evidence_source is None or run.hold is None:
        return None
    before = (run.hold.document.get("source") or {}).get("collector_digest")
    now = question.evidence_source.digest
    return None if before is None or before == now else {"from": before, "to": now}


def judge(case: Case) -> tuple[Context, Decision]:
    """The pure judgement of the case."""
    context = context_of(case)
    return context, evaluate(case.loaded.policy, case.question.judged, context)


def draft_decision(case: Case, context: Context, decision: Decision) -> Mapping[str, Any]:
    """The `decision` event of the case, with the hold that a DEGRADE begins or continues."""
    question, run, stage = case.question, case.run, case.stage
    event_id = run.next_decision_id(stage) if run is not None else f"{case.run_id}:{stage}"
    return decision_draft(
        identity=_identity(case),
        loaded=case.loaded,
        context=context,
        snapshot_document=question.judged.document,
        snapshot_digest=question.judged.digest,
        decision=decision,
        event_id=event_id,
        resume=_resume(case, decision, event_id, context.evaluated_at),
        extra=_extra(case),
    )


def draft_adoption(case: Case, adopted: LoadedPolicy, reason: str) -> Mapping[str, Any]:
    """The `action` event that takes *adopted* over for the run."""
    run = _known(case)
    return action_draft(
        "adopt-policy",
        identity=_identity(case),
        event_id=run.next_event_id("action"),
        actor=case.question.actor,
        reason=reason,
        params={
            "from_policy_digest": run.policy_digest,
            "from_policy_version": run.policy_version,
            "to_policy_digest": adopted.digest,
            "to_policy_version": adopted.policy.policy_version,
        },
        extra={
            "stage": case.stage,
            "policy_id": adopted.policy.policy_id,
            "policy_version": adopted.policy.policy_version,
            "policy_digest": adopted.digest,
            **_simulated(case),
        },
    )


def draft_supersede(case: Case, superseded: Run) -> Mapping[str, Any]:
    """The `action` event that stops the live run in favour of the new one."""
    return draft_ending(
        superseded,
        name="supersede",
        code="change_refused:superseded",
        actor=case.question.actor,
        reason=case.question.reason,
        params={"by": case.run_id},
        extra=_simulated(case),
    )


def draft_start_stage(case: Case, stage: str) -> Mapping[str, Any]:
    """The `action` event of a rollout that is adopted under way."""
    return action_draft(
        "start-stage",
        identity=_identity(case),
        event_id=f"{case.run_id}:action#1" if case.run is None else case.run.next_event_id("action"),
        actor=case.question.actor,
        reason=case.question.reason,
        params={"stage": stage},
        extra={"stage": stage, "previous_run": case.previous_run, **_simulated(case)},
    )


def draft_ending(
    run: Run,
    *,
    name: str,
    code: str,
    actor: str,
    reason: str | None,
    params: Mapping[str, Any],
    extra: Mapping[str, Any],
) -> Mapping[str, Any]:
    """A stop or supersede event: it carries the decision that is the run's answer from then on."""
    return action_draft(
        name,
        identity={
            "run_id": run.run_id,
            "experiment_id": run.experiment_id,
            "variant_id": run.variant_id,
            "revision": run.revision,
        },
        event_id=run.next_event_id("action"),
        actor=actor,
        reason=reason,
        params=params,
        extra={
            "stage": run.stage,
            "policy_id": run.policy_id,
            "policy_version": run.policy_version,
            "policy_digest": run.policy_digest,
            "decision": ending_decision(code),
            **extra,
        },
    )


def _known(case: Case) -> Run:
    if case.run is None:
        raise AssertionError("an unknown run adopts nothing")
    return case.run


def _change_class(case: Case) -> str:
    if case.run is not None and case.run.decisions_at:
        return case.run.change_class
    return case.question.change_class or "reversible"


def _identity(case: Case) -> dict[str, Any]:
    run, question = case.run, case.question
    given = (question.experiment_id, question.variant_id, question.revision)
    stated = (run.experiment_id, run.variant_id, run.revision) if run is not None else given
    fixed = stated
    if run is None or not run.decisions_at:  # a founding-style line may have stated a part of it
        fixed = (stated[0] or given[0], stated[1] or given[1], stated[2] or given[2])
    return {"run_id": case.run_id, "experiment_id": fixed[0], "variant_id": fixed[1], "revision": fixed[2]}


def _simulated(case: Case) -> dict[str, Any]:
    return {"as_of": case.question.as_of} if case.question.is_simulated else {}


def _extra(case: Case) -> dict[str, Any]:
    question = case.question
    extra: dict[str, Any] = {"actor": question.actor, "question_digest": question_digest(question, case.run_id)}
    if question.idempotency_key is not None:
        extra["idempotency_key"] = question.idempotency_key
    if (case.run is None or not case.run.is_begun) and question.start_stage is None:
        extra["previous_run"] = case.previous_run
    if case.collector_change is not None:
        extra["collector_change"] = dict(case.collector_change)
    return {**extra, **_simulated(case)}


def _resume(case: Case, decision: Decision, event_id: str, evaluated_at: str) -> Mapping[str, Any] | None:
    hold = case.run.hold if case.run is not None else None
    is_aside = hold is not None and hold.stage != case.stage
    if hold is not None and is_aside:
        return None if decision.verdict is Verdict.REJECT else hold.document
    if decision.verdict is not Verdict.DEGRADE:
        return None
    return plan_hold(
        case.loaded.policy,
        decision,
        run_id=case.run_id,
        stage=case.stage,
        event_id=event_id,
        evaluated_at=evaluated_at,
        snapshot_digest=case.question.judged.digest,
        hold=hold,
        source=case.question.source,
    )
