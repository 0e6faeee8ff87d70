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
        changes = _decided(before, event)
        changes["decisions_at"] = _counted(before.decisions_at, str(event.get("stage")), event)
    else:
        changes = _acted(before, event) if kind == "action" else {}
        changes["events_of"] = _counted(before.events_of, kind, event)
    if before.last_digest:
        changes["last_digest"] = ""
    return replace(
        before,
        **changes,
        version=max(before.version, event.get("seq", 0)),
        last_event_id=event.get("event_id", before.last_event_id),
        updated_at=event.get("ts", before.updated_at),
        previous_run=before.previous_run or event.get("previous_run"),
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


def _decided(before: Run, event: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that a decision changes."""
    context = event.get("context") or {}
    decision = event["decision"]
    verdict = Verdict(decision["verdict"])
    stage, now_at = event["stage"], before.stage
    trigger = decision_trigger(before, stage, verdict)
    after = TRANSITIONS.get((before.state if before.is_begun else None, trigger))
    changes: dict[str, Any] = {} if before.decisions_at else _first(before, event)
    changes["evidence"] = dict(event.get("evidence_refs") or {})
    if context.get("looks", 0) > before.looks and _has_looked(decision):
        changes["looks"] = context["looks"]
    if after is None:
        return changes
    event_id = event["event_id"]
    if trigger in {Trigger.ENTER, Trigger.ENTER_LAST}:
        now_at = changes["stage"] = stage
        changes["stage_entered_at"] = context.get("evaluated_at")
    if verdict is Verdict.ACCEPT:
        changes["last_accept"] = _last_accept(event)
    if trigger is Trigger.DEGRADE:
        changes["hold"] = _hold(event)
    elif trigger is not Trigger.ASIDE:
        changes |= _ended_hold(before, event_id)
    if trigger is Trigger.REJECT:
        changes["stopped_by"] = event_id
    changes["state"] = _resting(after, now_at)
    return changes


def _acted(before: Run, event: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that an action changes."""
    name = (event.get("action") or {}).get("name")
    if name in {"stop", "supersede"}:
        after = TRANSITIONS.get((before.state, Trigger.STOP))
        if after is not None:
            return {**_ended_hold(before, event["event_id"]), "state": after, "stopped_by": event["event_id"]}
    if name == "adopt-policy":
        after = TRANSITIONS.get((before.state, Trigger.ADOPT))
        if after is not None:
            return {
                **_ended_hold(before, event["event_id"]),
                "policy_id": event.get("policy_id"),
                "policy_version": event.get("policy_version"),
                "policy_digest": event.get("policy_digest"),
                "state": _resting(after, before.stage),
            }
    return {}


def _has_looked(decision: Mapping[str, Any]) -> bool:
    """Whether the promotion gate was asked; after failed safety nobody has looked at the statistics."""
    return any(
        finding["rule"].startswith("promotion:") and finding["outcome"] not in {"NOT_EVALUATED", "OBSERVED"}
        for finding in decision.get("findings") or ()
    )


def _first(before: Run, event: Mapping[str, Any]) -> dict[str, Any]:
    """What the first decision fixes; a founding-style line may have stated some of it before."""
    context = event.get("context") or {}
    return {
        "experiment_id": before.experiment_id or event.get("experiment_id"),
        "variant_id": before.variant_id or event.get("variant_id"),
        "revision": before.revision or event.get("revision"),
        "change_class": event.get("change_class") or "reversible",
        "policy_id": event.get("policy_id"),
        "policy_version": event.get("policy_version"),
        "policy_digest": event.get("policy_digest"),
        "simulated": event.get("as_of") is not None,
        "history": "incomplete" if context.get("history") == "incomplete" else before.history,
    }


def _ended_hold(run: Run, event_id: str) -> dict[str, Any]:
    if run.hold is None:
        return {}
    return {"hold": None, "ended_holds": {**run.ended_holds, run.hold.token: event_id}}


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
