"""The fold of the log: what each event makes of its run. Nothing else gives a run its state."""

from __future__ import annotations

from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import TRANSITIONS, Hold, LastAccept, Run, RunState, Trigger
from gatekeeper.model.stages import ROLLOUT_100
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def apply(run: Run | None, event: Mapping[str, Any]) -> Run:
    """The run after *event*, which names it. Total over events that `ledger.codec` could decode.

    An event whose trigger is illegal in the run's state (a line that somebody forged or doubled)
    moves nothing; it is still counted, so that no later event takes its id.
    """
    kind = event.get("kind", "decision")
    before = run if run is not None else Run(run_id=event["run_id"], first_seq=event.get("seq", 0))
    if kind == "decision":
        moved = _apply_decision(before, event)
        stage = str(event.get("stage"))
        moved = replace(moved, decisions_at=_counted(moved.decisions_at, stage, event))
    else:
        moved = _apply_action(before, event) if kind == "action" else before
        moved = replace(moved, events_of=_counted(moved.events_of, kind, event))
    return replace(
        moved,
        version=max(moved.version, event.get("seq", 0)),
        last_event_id=event.get("event_id", moved.last_event_id),
        updated_at=event.get("ts", moved.updated_at),
        previous_run=moved.previous_run or event.get("previous_run"),
    )


def _counted(numbers: Mapping[str, int], name: str, event: Mapping[str, Any]) -> dict[str, int]:
    """*numbers* with the event's own counted; at least the number in its id, where earlier lines are missing."""
    _, _, suffix = str(event.get("event_id")).rpartition("#")
    stated = int(suffix) if suffix.isascii() and suffix.isdigit() and len(suffix) < 16 else 0
    return {**numbers, name: max(numbers.get(name, 0) + 1, stated)}


def decision_trigger(run: Run, stage: str, verdict: Verdict) -> Trigger:
    """What a decision of *verdict* on *stage* means for the run."""
    if verdict is Verdict.REJECT:
        return Trigger.REJECT
    if run.hold is not None and run.hold.stage != stage:
        return Trigger.ASIDE
    if verdict is Verdict.DEGRADE:
        return Trigger.DEGRADE
    if stage == run.stage:
        return Trigger.REMAIN
    return Trigger.ENTER_LAST if stage == ROLLOUT_100 else Trigger.ENTER


def _resting(state: RunState, stage: str | None) -> RunState:
    """ACTIVE at the last stage is COMPLETED."""
    return RunState.COMPLETED if state is RunState.ACTIVE and stage == ROLLOUT_100 else state


def _apply_decision(before: Run, event: Mapping[str, Any]) -> Run:
    context = event.get("context") or {}
    decision = event["decision"]
    verdict = Verdict(decision["verdict"])
    stage = event["stage"]
    trigger = decision_trigger(before, stage, verdict)
    after = TRANSITIONS.get((before.state if before.is_begun else None, trigger))
    started = before if before.decisions_at else _first(before, event)
    started = replace(started, evidence=dict(event.get("evidence_refs") or {}))
    if _has_looked(decision):
        started = replace(started, looks=max(started.looks, context.get("looks", 0)))
    if after is None:
        return started
    event_id = event["event_id"]
    moved = started
    if trigger in {Trigger.ENTER, Trigger.ENTER_LAST}:
        moved = replace(moved, stage=stage, stage_entered_at=context.get("evaluated_at"))
    if verdict is Verdict.ACCEPT:
        moved = replace(moved, last_accept=_last_accept(event))
    if trigger is Trigger.DEGRADE:
        moved = replace(moved, hold=_hold(event))
    elif trigger is not Trigger.ASIDE:
        moved = _end_hold(moved, event_id)
    if trigger is Trigger.REJECT:
        moved = replace(moved, stopped_by=event_id)
    return replace(moved, state=_resting(after, moved.stage))


def _apply_action(before: Run, event: Mapping[str, Any]) -> Run:
    action = event.get("action") or {}
    name = action.get("name")
    if name in {"stop", "supersede"}:
        after = TRANSITIONS.get((before.state, Trigger.STOP))
        if after is None:
            return before
        return replace(_end_hold(before, event["event_id"]), state=after, stopped_by=event["event_id"])
    if name == "adopt-policy":
        after = TRANSITIONS.get((before.state, Trigger.ADOPT))
        if after is None:
            return before
        moved = replace(
            _end_hold(before, event["event_id"]),
            policy_id=event.get("policy_id"),
            policy_version=event.get("policy_version"),
            policy_digest=event.get("policy_digest"),
        )
        return replace(moved, state=_resting(after, moved.stage))
    return before


def _has_looked(decision: Mapping[str, Any]) -> bool:
    """Whether the promotion gate was asked; after failed safety nobody has looked at the statistics."""
    return any(
        finding["rule"].startswith("promotion:") and finding["outcome"] not in {"NOT_EVALUATED", "OBSERVED"}
        for finding in decision.get("findings") or ()
    )


def _first(before: Run, event: Mapping[str, Any]) -> Run:
    """What the first decision fixes; a founding-style line may have stated some of it before."""
    context = event.get("context") or {}
    return replace(
        before,
        experiment_id=before.experiment_id or event.get("experiment_id"),
        variant_id=before.variant_id or event.get("variant_id"),
        revision=before.revision or event.get("revision"),
        change_class=event.get("change_class") or "reversible",
        policy_id=event.get("policy_id"),
        policy_version=event.get("policy_version"),
        policy_digest=event.get("policy_digest"),
        simulated=event.get("as_of") is not None,
        history="incomplete" if context.get("history") == "incomplete" else before.history,
    )


def _end_hold(run: Run, event_id: str) -> Run:
    if run.hold is None:
        return run
    return replace(run, hold=None, ended_holds={**run.ended_holds, run.hold.token: event_id})


def _last_accept(event: Mapping[str, Any]) -> LastAccept:
    return LastAccept(
        event_id=event["event_id"],
        stage=event["stage"],
        policy_digest=event.get("policy_digest", ""),
        snapshot_digest=event.get("snapshot_digest", ""),
        evidence=dict(event.get("evidence_refs") or {}),
    )


def _hold(event: Mapping[str, Any]) -> Hold:
    resume = event.get("resume") or {}
    decision = event["decision"]
    return Hold(
        token=resume["resume_token"],
        stage=event["stage"],
        attempt=resume["attempt"],
        first_held_at=resume["first_held_at"],
        not_before=resume["next_evaluation"]["not_before"],
        deadline_at=resume.get("deadline_at"),
        on_deadline=resume.get("on_deadline"),
        event_id=event["event_id"],
        snapshot_digest=event.get("snapshot_digest"),
        reason_codes=tuple(decision["reason_codes"]),
        missing=tuple(decision["missing"]),
        document=dict(resume),
    )
