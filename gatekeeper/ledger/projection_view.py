"""The state of all runs as the projection holds it: every question is one look-up in an index."""

from __future__ import annotations

import json
import sqlite3

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.codec import founding_decision
from gatekeeper.ledger.lines import fetch_line
from gatekeeper.ledger.projection_index import newest_named
from gatekeeper.ledger.projection_rows import RUN_COLUMNS, question_number, run_of_row
from gatekeeper.model.canonical import digest_bytes
from gatekeeper.model.event import content_question_of
from gatekeeper.model.line import decode
from gatekeeper.model.policy import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.model.run import Run

_RUN = f"SELECT {RUN_COLUMNS} FROM runs"  # noqa: S608
_SLOT = "experiment_id = ? AND variant_id = ? AND simulated = ?"
_PLACE = "segment, offset, length, digest"
_RUN_EVENTS = "run = (SELECT number FROM runs WHERE run_id = ?)"


class ProjectionView:
    """Implements `ports.LedgerView`; holds until the next call of the ledger that it came from.

    Args:
        connection: the tables, at a snapshot.
        path: of the log, for the lines themselves.
        ops: the disk calls.
        repair: makes the tables anew after they turned out damaged, and gives a view on them.
        is_complete, segment: of the head.
        warnings: what was noticed on the way.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        path: str,
        ops: FileOps,
        repair: Callable[[sqlite3.Error], ProjectionView],
        is_complete: bool,
        segment: int,
        warnings: Sequence[str],
    ) -> None:
        self._connection = connection
        self._path = path
        self._ops = ops
        self._repair = repair
        self._segment = segment
        self.is_complete = is_complete
        self.warnings: Sequence[str] = tuple(warnings)

    def run(self, run_id: str) -> Run | None:
        """The run, None when the readable log does not know it."""
        return self._one_run(f"{_RUN} WHERE run_id = ?", run_id)

    def runs(self) -> Sequence[Run]:
        """All runs, in the order of their first events."""
        return [run_of_row(row) for row in self._rows(f"{_RUN} ORDER BY first_seq, number")]

    def holds(self) -> Sequence[Run]:
        """Runs in state HELD, longest held first."""
        held = [run_of_row(row) for row in self._rows(f"{_RUN} WHERE live = 1 AND state = 'HELD'")]
        return sorted(held, key=lambda run: (run.hold.first_held_at if run.hold is not None else "", run.run_id))

    def live_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant that is ACTIVE or HELD."""
        return self._one_run(
            f"{_RUN} WHERE {_SLOT} AND live = 1 ORDER BY first_seq DESC LIMIT 1",
            experiment_id,
            variant_id,
            int(simulated),
        )

    def latest_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant whose first event is the newest."""
        return self._one_run(
            f"{_RUN} WHERE {_SLOT} ORDER BY first_seq DESC LIMIT 1", experiment_id, variant_id, int(simulated)
        )

    def token(self, token: str) -> tuple[str, str | None] | None:
        """`run_id` of the hold, and the `event_id` that ended it (None: open); None: unknown token."""
        rows = self._rows("SELECT run_id, ended_by FROM tokens WHERE token = ?", token)
        return (rows[0][0], rows[0][1]) if rows else None

    def accepted(self, run_id: str, question: str) -> Mapping[str, Any] | None:
        """The newest recorded ACCEPT of the run with this content digest."""
        named = question_number("decision", question)
        sql = f"SELECT seq FROM events WHERE {_RUN_EVENTS} AND question = ? ORDER BY seq DESC"  # noqa: S608
        for (seq,) in self._rows(sql, run_id, named):
            event = self._recorded(seq)
            if event is None:
                from gatekeeper.ledger.remembered import is_last_accept

                run = self.run(run_id)
                if run is not None and run.last_accept is not None and is_last_accept(run, question):
                    return self.event(run.last_accept.event_id)
            elif event.get("run_id") == run_id and content_question_of(event) == question:
                return event
        return None

    def key(self, key: str) -> Mapping[str, Any] | None:
        """The newest decision event with this idempotency key."""
        rows = self._rows("SELECT seq FROM keys WHERE key = ?", key)
        return self._recorded(rows[0][0]) if rows else None

    def refused(self, run_id: str, question_digest: str) -> bool:
        """Whether a `refusal` event of the run has this question already."""
        sql = f"SELECT 1 FROM events WHERE {_RUN_EVENTS} AND question = ? LIMIT 1"  # noqa: S608
        return bool(self._rows(sql, run_id, question_number("refusal", question_digest)))

    def policy(self, digest: str) -> Mapping[str, Any] | None:
        """Document of a recorded policy validated by this schema version; None when there is none."""
        rows = self._rows(
            "SELECT document FROM policies WHERE digest = ? AND schema_version = ?", digest, SCHEMA_VERSION
        )
        if not rows or digest_bytes(rows[0][0]) != digest:
            return None
        document: dict[str, Any] = json.loads(rows[0][0])
        return document

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """The event with this id, as logged; the ones that a run stands on also after a rotation."""
        seq = newest_named(self._rows, event_id)
        event = self._recorded(seq) if seq is not None else None
        if event is None:
            event = self._kept(event_id) or self._founding(event_id)
        return event if event is not None else self._remembered(event_id, seq)

    def known(self, event_id: str) -> Mapping[str, Any] | None:
        """What the state itself has of an event that a run stands on; no line is read for it."""
        return self._kept(event_id) or self._remembered(event_id, newest_named(self._rows, event_id))

    def _one_run(self, sql: str, *parameters: object) -> Run | None:
        rows = self._rows(sql, *parameters)
        return run_of_row(rows[0]) if rows else None

    def _recorded(self, seq: int) -> Mapping[str, Any] | None:
        """The event as logged; None when no file has its line any more."""
        rows = self._rows(f"SELECT {_PLACE} FROM events WHERE seq = ?", seq)  # noqa: S608
        line = self._line(*rows[0]) if rows else None
        return decode(line) if line is not None else None

    def _line(self, segment: int, offset: int, length: int, digest: bytes) -> bytes | None:
        is_here = segment == self._segment
        names = [] if is_here else self._rows("SELECT name FROM segments WHERE number = ?", segment)
        name = names[0][0] if names else None
        return fetch_line(
            self._ops, self._path, offset=offset, length=length, digest=digest, is_here=is_here, name=name
        )

    def _kept(self, event_id: str) -> Mapping[str, Any] | None:
        rows = self._rows("SELECT line FROM kept WHERE event_id = ?", event_id)
        return decode(rows[0][0]) if rows else None

    def _founding(self, event_id: str) -> Mapping[str, Any] | None:
        """The founding-style line of this id that stopped its run."""
        for row in self._rows(f"SELECT {_PLACE} FROM odd WHERE event_id = ?", event_id):  # noqa: S608
            line = self._line(*row)
            event = decode(line) if line is not None else None
            if event is not None:
                return founding_decision(event)
        return None

    def _remembered(self, event_id: str, seq: int | None) -> Mapping[str, Any] | None:
        """What is known of an event that a run stands on, though its line is gone."""
        from gatekeeper.ledger.remembered import remembered_event

        facts = None
        if seq is None:
            ts, rows = None, self._rows("SELECT run_id FROM odd WHERE event_id = ?", event_id)
        else:
            rows = self._rows(
                "SELECT run_id, ts, facets.body FROM events JOIN runs ON runs.number = run "
                "LEFT JOIN facets ON facets.id = facet WHERE seq = ?",
                seq,
            )
            ts = rows[0][1] if rows else None
            facts = json.loads(rows[0][2]) if rows and rows[0][2] is not None else None
        run = self.run(rows[0][0]) if rows else None
        return None if run is None else remembered_event(run, event_id, facts, seq=seq, ts=ts)

    def _rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            mended = self._repair(error)
            self._connection, self._segment = mended._connection, mended._segment  # noqa: SLF001
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise StateUnreadableError(
                f"{self._path}.db cannot be read: {error}", remedy="rebuild it with `gatekeeper log rebuild`"
            ) from error
