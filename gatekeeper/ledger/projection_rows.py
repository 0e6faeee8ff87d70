"""How runs, digests and questions stand in the tables."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256

from gatekeeper.model.run import Run
from gatekeeper.model.times import format_time, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from typing import Any

RUN_COLUMNS = "number, run_id, experiment_id, variant_id, simulated, state, incomplete, first_seq, version, body"
"""What `run_of_row` takes."""

_IN_COLUMNS = frozenset(
    {"run_id", "experiment_id", "variant_id", "simulated", "state", "history", "first_seq", "version"}
)
_INSERT_RUN = (
    "INSERT INTO runs (run_id, experiment_id, variant_id, simulated, state, live, incomplete, first_seq, version, "
    "body) VALUES (?,?,?,?,?,?,?,?,?,?)"
)
_UPDATE_RUN = "UPDATE runs SET state = ?, incomplete = ?, version = ?, body = ? WHERE number = ?"
_UPDATE_SLOT = "UPDATE runs SET experiment_id = ?, variant_id = ?, simulated = ?, live = ? WHERE number = ?"
_QUESTION_DIGITS = 15  # of 4 bits each: SQLite has integers of 64
_SHARED = ("policy_digest", "evidence")  # of the last ACCEPT, as a rule those of the run


def digest_blob(digest: str) -> bytes:
    """A digest as the 32 bytes that the tables hold."""
    return bytes.fromhex(digest[7:])


def question_number(kind: str, question: str) -> int:
    """How the tables name the question of an ACCEPT or a refusal among those of its run: by 60 bits of a digest.

    Whoever lets something in for an answer found by it compares the question itself.
    """
    number = int(sha256(question.encode()).hexdigest()[:_QUESTION_DIGITS], 16)
    return number if kind == "decision" else -number


def run_of_row(row: tuple[Any, ...]) -> Run:
    """A run as its row states it; the columns rule over the body, since a gap marks many runs at once."""
    _, run_id, experiment_id, variant_id, simulated, state, incomplete, first_seq, version, body = row
    document = {
        **_defaults(),
        "run_id": run_id,
        "experiment_id": experiment_id,
        "variant_id": variant_id,
        "simulated": bool(simulated),
        "state": state,
        "history": "incomplete" if incomplete else "complete",
        "first_seq": first_seq,
        "version": version,
        **json.loads(body),
    }
    if document["last_accept"] is not None:
        document["last_accept"] = {**{name: document[name] for name in _SHARED}, **document["last_accept"]}
    return Run.from_dict(document)


def slot_of(run: Run) -> tuple[Any, ...]:
    """What the indexes over runs are made of."""
    return run.experiment_id, run.variant_id, int(run.simulated), int(run.is_live)


def tokens_changed(before: Run | None, after: Run) -> dict[str, tuple[str, str | None]]:
    """Tokens whose rows a change of a run makes: the hold that began, the one that ended and by which event."""
    changed: dict[str, tuple[str, str | None]] = {}
    held_before = before.hold if before is not None else None
    if after.hold is not None and (held_before is None or held_before.token != after.hold.token):
        changed[after.hold.token] = (after.run_id, None)
    if held_before is not None and held_before.token in after.ended_holds:
        changed[held_before.token] = (after.run_id, after.ended_holds[held_before.token])
    return changed


def ts_text(ts: object) -> str:
    """A time in the one form in which text sorts as time does; empty for what is no time."""
    moment = parse_time(ts)
    return "" if moment is None else format_time(moment)


def begins(event: Mapping[str, Any]) -> bool:
    """Whether an event that is the first known of its run can be its first at all."""
    if event["kind"] != "decision":
        return str(event["event_id"]).endswith("#1")
    if (event.get("context") or {}).get("history") == "incomplete":
        return False
    is_first = event["event_id"] == f"{event['run_id']}:{event['stage']}"
    return is_first and event["state_transition"]["from"] is None


def write_run(connection: sqlite3.Connection, run: Run, stored: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Write a run's row; its number, and the slot that the row then has.

    Args:
        stored: the number and slot of the row as it is, None when there is no row.
    """
    incomplete, slot = int(run.history != "complete"), slot_of(run)
    state, body = run.state.value, body_of(run)
    if stored is None:
        experiment_id, variant_id, simulated, live = slot
        row = (run.run_id, experiment_id, variant_id, simulated, state, live, incomplete, run.first_seq)
        return connection.execute(_INSERT_RUN, (*row, run.version, body)).lastrowid, slot
    number, slot_before = stored
    connection.execute(_UPDATE_RUN, (state, incomplete, run.version, body, number))
    if slot_before != slot:  # the indexes are touched only then
        connection.execute(_UPDATE_SLOT, (*slot, number))
    return number, slot


def body_of(run: Run) -> str:
    """What no column holds, less what a run that has only begun says, too."""
    defaults = _defaults()
    document = {
        name: value for name, value in run.to_dict().items() if name not in _IN_COLUMNS and value != defaults[name]
    }
    accept = document.get("last_accept")
    if accept is not None:
        for name in _SHARED:
            if accept[name] == getattr(run, name):
                del accept[name]
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


@cache
def _defaults() -> dict[str, Any]:
    return Run(run_id="").to_dict()
