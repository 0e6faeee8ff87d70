"""How runs, digests and questions stand in the tables."""

from __future__ import annotations

import json

from gatekeeper.model.event import content_question_of
from gatekeeper.model.run import Run
from gatekeeper.model.times import format_time, parse_time
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from typing import Any

_COLUMN_TYPES = frozenset({str, int, bytes, type(None)})
_INSERT_RUN = "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?)"
_UPDATE_RUN = "UPDATE runs SET state = ?, incomplete = ?, version = ?, body = ? WHERE run_id = ?"
_UPDATE_SLOT = "UPDATE runs SET experiment_id = ?, variant_id = ?, simulated = ?, live = ? WHERE run_id = ?"


def digest_blob(digest: str) -> bytes:
    """A digest as the 32 bytes that the tables hold."""
    return bytes.fromhex(digest[7:])


def accept_question(question: str) -> str:
    """How the tables name the content question of an ACCEPT."""
    return "A" + question


def refusal_question(run_id: str, question: str) -> str:
    """How the tables name the question of a refusal."""
    return f"R{run_id}\n{question}"


def event_row(
    event: Mapping[str, Any], *, seq: int, place: tuple[int, int, int], digest: str
) -> tuple[str | int | bytes | None, ...]:
    """The row of a chained event, in the order of the table's columns.

    Args:
        place: segment, offset and length of its line.

    Raises:
        TypeError: a field that is text holds something else.
    """
    kind = event["kind"]
    decision = event.get("decision")
    verdict = decision.get("verdict") if isinstance(decision, dict) else None
    key = question = None
    if kind == "decision":
        key = event.get("idempotency_key")
        if verdict == "ACCEPT":
            question = accept_question(content_question_of(event))
    elif kind == "refusal":
        question = refusal_question(str(event.get("run_id")), str(event.get("question_digest")))
    row = (
        seq,
        *place,
        digest_blob(digest),
        event.get("ts"),
        kind,
        event.get("run_id"),
        event.get("event_id"),
        verdict,
        event.get("stage"),
        event.get("policy_id"),
        key,
        question,
    )
    if not _COLUMN_TYPES.issuperset(map(type, row)):
        raise TypeError("a field that is text holds something else")
    return row


def run_of_row(body: str, incomplete: int) -> Run:
    """A run as its row states it; the column rules over the body, since a gap marks many runs at once."""
    run = Run.from_dict(json.loads(body))
    history = "incomplete" if incomplete else "complete"
    return run if run.history == history else replace(run, history=history)


def slot_of(run: Run) -> tuple[Any, ...]:
    """What the indexes over runs are made of."""
    return run.experiment_id, run.variant_id, int(run.simulated), int(run.is_live)


def ts_text(ts: object) -> str:
    """A time in the one form in which text sorts as time does; empty for what is no time."""
    moment = parse_time(ts)
    return "" if moment is None else format_time(moment)


def kept_ids(run: Run | None) -> set[str]:
    """Events of a run that must be answered even when their file has been rotated away."""
    if run is None:
        return set()
    ids = {run.stopped_by, run.hold.event_id if run.hold is not None else None}
    ids.add(run.last_accept.event_id if run.last_accept is not None else None)
    return {event_id for event_id in ids if event_id is not None}


def begins(event: Mapping[str, Any]) -> bool:
    """Whether an event that is the first known of its run can be its first at all."""
    if event["kind"] != "decision":
        return str(event["event_id"]).endswith("#1")
    if (event.get("context") or {}).get("history") == "incomplete":
        return False
    is_first = event["event_id"] == f"{event['run_id']}:{event['stage']}"
    return is_first and event["state_transition"]["from"] is None


def founding_run(decision: Mapping[str, Any], *, first_seq: int) -> Run:
    """A run of which only founding-style lines are known: what they state, and nothing else."""

    def text(name: str) -> str | None:
        value = decision.get(name)
        return value if isinstance(value, str) else None

    return Run(
        run_id=decision["run_id"],
        experiment_id=text("experiment_id"),
        variant_id=text("variant_id"),
        revision=text("revision"),
        policy_id=text("policy_id"),
        policy_version=text("policy_version"),
        first_seq=first_seq,
        last_event_id=str(decision["event_id"]),
        updated_at=text("ts") or "",
    )


def write_run(connection: sqlite3.Connection, run: Run, stored: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Write a run's row; the slot that the row then has.

    Args:
        stored: the slot that the row has now, None when there is no row.
    """
    incomplete, slot = int(run.history != "complete"), slot_of(run)
    state, body = run.state.value, json.dumps(run.to_dict())
    if stored is None:
        experiment_id, variant_id, simulated, live = slot
        row = (run.run_id, experiment_id, variant_id, simulated, state, live, incomplete, run.first_seq)
        connection.execute(_INSERT_RUN, (*row, run.version, body))
        return slot
    connection.execute(_UPDATE_RUN, (state, incomplete, run.version, body, run.run_id))
    if stored != slot:  # the indexes are touched only then
        connection.execute(_UPDATE_SLOT, (*slot, run.run_id))
    return slot
