"""A run: its states, the one table of legal transitions, and the fold of the log that gives its state.

Nothing stores a run's state but the log; whatever is kept beside it can be rebuilt by `apply`.
"""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.model.reasons import Verdict
from gatekeeper.model.stages import ROLLOUT_100
from gatekeeper.model.values import dataclass, field, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class RunState(StrEnum):
    """Where a run stands. STOPPED is one-way."""

    ACTIVE = "ACTIVE"
    HELD = "HELD"
    STOPPED = "STOPPED"
    COMPLETED = "COMPLETED"


LIVE_STATES = (RunState.ACTIVE, RunState.HELD)
"""At most one run of an experiment and variant is in one of these."""


class Trigger(StrEnum):
    """What an event means for a run."""

    ENTER = "enter"
    """An ACCEPT that lets it into a stage before the last."""
    ENTER_LAST = "enter_last"
    """An ACCEPT that lets it into 100 percent."""
    REMAIN = "remain"
    """An ACCEPT of the stage it is in, no hold on another stage being open."""
    ASIDE = "aside"
    """ACCEPT or DEGRADE of the current stage while a hold on entering the next one is open."""
    DEGRADE = "degrade"
    REJECT = "reject"
    STOP = "stop"
    """`stop` and `supersede`."""
    ADOPT = "adopt"
    """`adopt-policy`: ends a hold, moves nothing."""


# (state before, trigger) -> state after. What is not listed is illegal and changes nothing.
TRANSITIONS: dict[tuple[RunState | None, Trigger], RunState] = {
    (None, Trigger.ENTER): RunState.ACTIVE,
    (None, Trigger.ENTER_LAST): RunState.COMPLETED,
    (None, Trigger.DEGRADE): RunState.HELD,
    (None, Trigger.REJECT): RunState.STOPPED,
    (RunState.ACTIVE, Trigger.ENTER): RunState.ACTIVE,
    (RunState.ACTIVE, Trigger.ENTER_LAST): RunState.COMPLETED,
    (RunState.ACTIVE, Trigger.REMAIN): RunState.ACTIVE,
    (RunState.ACTIVE, Trigger.DEGRADE): RunState.HELD,
    (RunState.ACTIVE, Trigger.REJECT): RunState.STOPPED,
    (RunState.ACTIVE, Trigger.STOP): RunState.STOPPED,
    (RunState.ACTIVE, Trigger.ADOPT): RunState.ACTIVE,
    (RunState.HELD, Trigger.ENTER): RunState.ACTIVE,
    (RunState.HELD, Trigger.ENTER_LAST): RunState.COMPLETED,
    (RunState.HELD, Trigger.REMAIN): RunState.ACTIVE,  # COMPLETED at the last stage, see _resting
    (RunState.HELD, Trigger.ASIDE): RunState.HELD,
    (RunState.HELD, Trigger.DEGRADE): RunState.HELD,
    (RunState.HELD, Trigger.REJECT): RunState.STOPPED,
    (RunState.HELD, Trigger.STOP): RunState.STOPPED,
    (RunState.HELD, Trigger.ADOPT): RunState.ACTIVE,  # COMPLETED at the last stage, see _resting
    (RunState.COMPLETED, Trigger.REMAIN): RunState.COMPLETED,
    (RunState.COMPLETED, Trigger.DEGRADE): RunState.HELD,
    (RunState.COMPLETED, Trigger.REJECT): RunState.STOPPED,
    (RunState.COMPLETED, Trigger.STOP): RunState.STOPPED,
    (RunState.COMPLETED, Trigger.ADOPT): RunState.COMPLETED,
}


@dataclass(frozen=True)
class Hold:
    """An open hold. Times are RFC 3339 text; `document` is the event's `resume` as logged."""

    token: str
    stage: str
    attempt: int
    first_held_at: str
    not_before: str
    deadline_at: str | None
    on_deadline: str | None
    event_id: str
    snapshot_digest: str | None
    reason_codes: tuple[str, ...]
    missing: tuple[str, ...]
    document: Mapping[str, Any]


@dataclass(frozen=True)
class LastAccept:
    """The content of the last ACCEPT: the same again is the same question and not the next stage."""

    event_id: str
    stage: str
    policy_digest: str
    snapshot_digest: str
    evidence: Mapping[str, str]


@dataclass(frozen=True)
class Run:
    """One rollout of one revision of one variant, as the log tells it.

    Attributes:
        version: `seq` of the run's last event; what a writer has seen.
        decisions_at: number of decisions by stage, for `event_id`.
        events_of: number of other events by kind, for `event_id`.
        stopped_by: `event_id` of the event that stopped it.
        ended_holds: tokens of ended holds -> `event_id` that ended them.
        history: `incomplete` when its events cross a damaged line or a gap that nobody accepted.
    """

    run_id: str
    experiment_id: str | None = None
    variant_id: str | None = None
    revision: str | None = None
    change_class: str = "reversible"
    policy_id: str | None = None
    policy_version: str | None = None
    policy_digest: str | None = None
    state: RunState = RunState.ACTIVE
    stage: str | None = None
    stage_entered_at: str | None = None
    hold: Hold | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    looks: int = 0
    version: int = 0
    first_seq: int = 0
    last_event_id: str = ""
    updated_at: str = ""
    decisions_at: Mapping[str, int] = field(default_factory=dict)
    events_of: Mapping[str, int] = field(default_factory=dict)
    stopped_by: str | None = None
    ended_holds: Mapping[str, str] = field(default_factory=dict)
    last_accept: LastAccept | None = None
    previous_run: str | None = None
    simulated: bool = False
    history: str = "complete"

    @property
    def is_live(self) -> bool:
        """Whether it counts for "one live run"."""
        return self.state in LIVE_STATES

    @property
    def is_begun(self) -> bool:
        """Whether it has a decision, be it a founding-style one; an action may stand before the first."""
        return bool(self.decisions_at) or self.stage is not None or self.history != "complete" or self.is_stopped

    @property
    def is_stopped(self) -> bool:
        """Whether it never goes on."""
        return self.state is RunState.STOPPED

    def next_decision_id(self, stage: str) -> str:
        """`event_id` of the next decision at *stage*: `run:stage`, then `run:stage#2` and so on."""
        return decision_id(self.run_id, stage, self.decisions_at.get(stage, 0) + 1)

    def next_event_id(self, kind: str) -> str:
        """`event_id` of the next event of another *kind*: `run:kind#n`."""
        return f"{self.run_id}:{kind}#{self.events_of.get(kind, 0) + 1}"

    def to_dict(self) -> dict[str, Any]:
        """JSON form for the projection; `from_dict` reads it back."""
        document = dict(self.__dict__)
        document["state"] = self.state.value
        document["hold"] = None if self.hold is None else dict(self.hold.__dict__)
        document["last_accept"] = None if self.last_accept is None else dict(self.last_accept.__dict__)
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Run:
        """Read what `to_dict` wrote."""
        fields = dict(document)
        fields["state"] = RunState(fields["state"])
        if fields["hold"] is not None:
            hold = dict(fields["hold"])
            hold["reason_codes"], hold["missing"] = tuple(hold["reason_codes"]), tuple(hold["missing"])
            fields["hold"] = Hold(**hold)
        if fields["last_accept"] is not None:
            fields["last_accept"] = LastAccept(**fields["last_accept"])
        return cls(**fields)


def decision_id(run_id: str, stage: str, number: int) -> str:
    """`event_id` of the *number*-th decision (from 1) of a run at a stage."""
    return f"{run_id}:{stage}" if number == 1 else f"{run_id}:{stage}#{number}"


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
