"""The state of all runs as the projection holds it: every question is one look-up in an index."""

from __future__ import annotations

import json
import sqlite3

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.codec import founding_decision
from gatekeeper.ledger.lines import fetch_line
from gatekeeper.ledger.projection_rows import accept_question, refusal_question, run_of_row
from gatekeeper.model.canonical import digest_bytes
from gatekeeper.model.line import decode, is_chained
from gatekeeper.model.policy import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.model.run import Run

_RUN = "SELECT body, incomplete FROM runs"
_SLOT = "experiment_id = ? AND variant_id = ? AND simulated = ?"
_EVENT = "SELECT event_id, segment, offset, length, digest FROM events"


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
        return [run_of_row(*row) for row in self._rows(f"{_RUN} ORDER BY first_seq, rowid")]

    def holds(self) -> Sequence[Run]:
        """Runs in state HELD, longest held first."""
        held = [run_of_row(*row) for row in self._rows(f"{_RUN} WHERE live = 1 AND state = 'HELD'")]
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
        return self._newest("question = ? AND run_id = ?", accept_question(question), run_id)

    def key(self, key: str) -> Mapping[str, Any] | None:
        """The newest decision event with this idempotency key."""
        return self._newest("key = ?", key)

    def refused(self, run_id: str, question_digest: str) -> bool:
        """Whether a `refusal` event of the run has this question already."""
        question = refusal_question(run_id, question_digest)
        return bool(self._rows("SELECT 1 FROM events WHERE question = ? LIMIT 1", question))

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
        found = self._newest("event_id = ?", event_id)
        return found if found is not None else self._kept(event_id)

    def _one_run(self, sql: str, *parameters: object) -> Run | None:
        rows = self._rows(sql, *parameters)
        return run_of_row(*rows[0]) if rows else None

    def _newest(self, condition: str, *parameters: object) -> Mapping[str, Any] | None:
        rows = self._rows(f"{_EVENT} WHERE {condition} ORDER BY seq DESC LIMIT 1", *parameters)
        if not rows:
            return None
        event_id, segment, offset, length, digest = rows[0]
        line = fetch_line(
            self._ops, self._path, offset=offset, length=length, digest=digest, is_here=segment == self._segment
        )
        return decode(line) if line is not None else self._kept(event_id)

    def _kept(self, event_id: str) -> Mapping[str, Any] | None:
        rows = self._rows("SELECT line FROM kept WHERE event_id = ?", event_id)
        event = decode(rows[0][0]) if rows else None
        return event if event is None or is_chained(event) else founding_decision(event)

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
