"""The head of a segment: what a new log file says of all that stands in the files before it.

One `checkpoint` event or several, each with a part of the runs, then a `policy` event for each policy of a run
that can go on. From it the log goes on where the earlier files are not there any more.
"""

from __future__ import annotations

from gatekeeper.model.run import Run, RunState
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

KIND = "checkpoint"

RUNS_IN_PART = 500
"""Runs that one event of a head holds at most, so that no line grows with the age of the log."""

_OF_ENDED = frozenset({"last_accept", "evidence", "looks", "stage_entered_at", "hold", "policy_digest"})
"""What nobody asks of a run that never goes on."""

_OF_STOP = ("kind", "seq", "ts", "stage", "actor", "action", "rml")
_OF_RUN = ("run_id", "experiment_id", "variant_id", "revision", "policy_id", "policy_version")

_TEXT, _COUNT, _OBJECT = (str, type(None)), (int,), (dict,)
_TYPES: dict[str, tuple[type, ...]] = {
    "run_id": (str,), "experiment_id": _TEXT, "variant_id": _TEXT, "revision": _TEXT, "change_class": (str,),
    "policy_id": _TEXT, "policy_version": _TEXT, "policy_digest": _TEXT, "state": (str,), "stage": _TEXT,
    "stage_entered_at": _TEXT, "hold": (dict, type(None)), "evidence": _OBJECT, "looks": _COUNT, "version": _COUNT,
    "first_seq": _COUNT, "last_event_id": (str,), "updated_at": (str,), "decisions_at": _OBJECT,
    "events_of": _OBJECT, "stopped_by": _TEXT, "ended_holds": _OBJECT, "last_accept": (dict, type(None)),
    "previous_run": _TEXT, "simulated": (bool,), "history": (str,), "last_digest": (str,),
}  # fmt: skip


@dataclass(frozen=True)
class Sealed:
    """The segment before.

    Attributes:
        name: of its file, without directory and without what a compression adds.
        first_seq, last_seq: of its events.
        events: how many it has.
        digest: of its last line.
    """

    name: str
    first_seq: int
    last_seq: int
    events: int
    digest: str


@dataclass(frozen=True)
class Head:
    """One event of a segment's head, read.

    Attributes:
        before: the segment that the one with this head follows.
        part, parts: which of the head's events it is, from 1, and how many there are.
        policies: how many `policy` events follow the last part.
        is_complete: whether nothing of the history up to here was missing, or a person accepted it.
        runs: states of runs at the end of the segment before, each with `last_digest`.
        events: what runs stand on, by `event_id`: stopping events, as far as they answer a check, and holds.
    """

    before: Sealed
    part: int
    parts: int
    policies: int
    is_complete: bool
    runs: tuple[Run, ...]
    events: Mapping[str, Mapping[str, Any]]


def head_drafts(
    before: Sealed,
    runs: Sequence[Run],
    events: Mapping[str, Mapping[str, Any]],
    *,
    policies: int,
    is_complete: bool,
    actor: str,
) -> list[dict[str, Any]]:
    """The `checkpoint` events of a head.

    Args:
        runs: all there are, each with `last_digest`.
        events: by `event_id`, those that stopped runs or hold them, as far as they can be had.
        policies: how many `policy` events follow.
    """
    ended = ended_runs(runs)
    parts = [runs[at : at + RUNS_IN_PART] for at in range(0, len(runs), RUNS_IN_PART)] or [()]
    return [
        {
            "kind": KIND,
            "segment": {
                "previous": before.name,
                "first_seq": before.first_seq,
                "last_seq": before.last_seq,
                "events": before.events,
                "digest": before.digest,
                "complete": is_complete,
                "part": number,
                "parts": len(parts),
                "policies": policies,
            },
            "runs": [_document(run, events, is_ended=run.run_id in ended) for run in part],
            "actor": actor,
        }
        for number, part in enumerate(parts, 1)
    ]


def stood_on(run: Run) -> str | None:
    """`event_id` of the event that stopped or holds the run, which it is asked for again and again."""
    return run.stopped_by if run.is_stopped else run.hold.event_id if run.hold is not None else None


def ended_runs(runs: Iterable[Run]) -> frozenset[str]:
    """Ids of the runs that never go on: stopped ones, and completed ones that have a successor."""
    newest: dict[tuple[Any, ...], int] = {}
    known = [*runs]
    for run in known:
        slot = (run.experiment_id, run.variant_id, run.simulated)
        newest[slot] = max(newest.get(slot, 0), run.first_seq)
    return frozenset(
        run.run_id
        for run in known
        if run.is_stopped
        or (
            run.state is RunState.COMPLETED and run.first_seq < newest[run.experiment_id, run.variant_id, run.simulated]
        )
    )


def is_head(event: Mapping[str, Any]) -> bool:
    """Whether the event is one of a segment's head."""
    return event.get("kind") == KIND and isinstance(event.get("segment"), dict) and isinstance(event.get("runs"), list)


def head_of(event: Mapping[str, Any]) -> Head:
    """Read an event of a head.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: somebody has written something else there.
    """
    segment = event["segment"]
    numbers = [segment[name] for name in ("first_seq", "last_seq", "events", "part", "parts", "policies")]
    if not all(type(number) is int for number in numbers) or type(segment["complete"]) is not bool:
        raise TypeError("segment does not hold what it should")
    first_seq, last_seq, events, part, parts, policies = numbers
    runs = tuple(_run(document) for document in event["runs"])
    return Head(
        before=Sealed(str(segment["previous"]), first_seq, last_seq, events, str(segment["digest"])),
        part=part,
        parts=parts,
        policies=policies,
        is_complete=segment["complete"],
        runs=runs,
        events=dict(_stated(run, document) for run, document in zip(runs, event["runs"], strict=True) if stood_on(run)),
    )


def _document(run: Run, events: Mapping[str, Mapping[str, Any]], *, is_ended: bool) -> dict[str, Any]:
    kept = stated(run, is_ended=is_ended)
    event = events.get(stood_on(run) or "")
    if event is not None:
        kept["stands_on"] = _stopping_words(event) if run.is_stopped else dict(event)
    return kept


def stated(run: Run, *, is_ended: bool) -> dict[str, Any]:
    """The run as a head states it: without what it has by default, and what nobody asks of an ended one."""
    document, plain = run.to_dict(), Run(run.run_id).to_dict()
    kept = {
        name: value
        for name, value in document.items()
        if name in {"run_id", "state", "last_digest"} or (value != plain[name] and not (is_ended and name in _OF_ENDED))
    }
    if run.last_event_id == run.stopped_by:
        del kept["last_event_id"]
    return kept


def _stopping_words(event: Mapping[str, Any]) -> dict[str, Any]:
    """What a stopped run answers with: who stopped it, when and why."""
    decision = event.get("decision")
    codes = decision.get("reason_codes") if isinstance(decision, dict) else None
    return {**{name: event[name] for name in _OF_STOP if name in event}, "reason_codes": list(codes or ())}


def _stated(run: Run, document: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The id of the event that a run stands on, and the event as far as the head has it."""
    event_id, event = str(stood_on(run)), dict(document.get("stands_on", {}))
    event.setdefault("kind", "decision")
    if event.setdefault("event_id", event_id) != event_id:
        raise ValueError("a run stands on another event than its head has")
    if not run.is_stopped:
        return event_id, event
    codes = event.pop("reason_codes", [])
    event["decision"] = {
        "verdict": "REJECT",
        "reason_codes": [code for code in codes if isinstance(code, str)],
        "missing": [],
        "findings": [],
        "notes": [f"the line of {event_id} is not in the readable log: a segment's head keeps this much of it"],
        "requested_actions": [],
        "next_actions": [],
    }
    return event_id, {**{name: getattr(run, name) for name in _OF_RUN}, **event}


def _run(document: Any) -> Run:
    known = {name: value for name, value in document.items() if name in _TYPES}
    for name, value in known.items():
        if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and bool not in _TYPES[name]):
            raise TypeError(f"{name} of a run is no {' or '.join(one.__name__ for one in _TYPES[name])}")
    stopped_by = {"last_event_id": known["stopped_by"]} if known.get("stopped_by") else {}
    return Run.from_dict({"hold": None, "last_accept": None, **stopped_by, **known})
