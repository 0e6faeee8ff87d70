"""A run: its states and the one table of legal transitions. `model.fold` makes it from the log.

Nothing stores a run's state but the log; whatever is kept beside it can be rebuilt from there at any time.
"""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.model.values import dataclass, field

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
        last_digest: of the line of its last event, where a segment head told of it and no event since.
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
    last_digest: str = ""

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
