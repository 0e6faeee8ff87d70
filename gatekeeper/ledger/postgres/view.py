"""The state of all runs as one snapshot of the database has it: every question is one look-up in an index."""

from __future__ import annotations

from gatekeeper.ledger.postgres import rows
from gatekeeper.ledger.projection_rows import question_number, run_of_row
from gatekeeper.model.canonical import digest
from gatekeeper.model.event import content_question_of
from gatekeeper.model.line import decode
from gatekeeper.model.policy import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.postgres.known import Known
    from gatekeeper.ledger.postgres.session import Session
    from gatekeeper.model.run import Run

_RUN = f"SELECT {rows.RUN_COLUMNS} FROM gatekeeper.runs"  # noqa: S608
_SLOT = "experiment_id = %s AND variant_id = %s AND simulated = %s"
_LINE = "SELECT line FROM gatekeeper.events"


class PostgresView:
    """Implements `ports.LedgerView`; holds until the next call of the ledger that it came from.

    Args:
        session: in a transaction whose snapshot the view reads.
        known: takes note of what is found out.
        is_complete: of the head.
        warnings: what was noticed on the way.
    """

    def __init__(self, session: Session, known: Known, *, is_complete: bool, warnings: Sequence[str]) -> None:
        self._rows = session.rows
        self._known = known
        self.is_complete = is_complete
        self.warnings: Sequence[str] = tuple(warnings)

    def run(self, run_id: str) -> Run | None:
        """The run, None when the log does not know it."""
        run = self._one_run(f"{_RUN} WHERE run_id = %s", run_id)
        self._known.see({run_id: run})
        return run

    def runs(self) -> Sequence[Run]:
        """All runs, in the order of their first events."""
        return [run_of_row(row) for row in self._rows(f"{_RUN} ORDER BY first_seq, run_id")]

    def holds(self) -> Sequence[Run]:
        """Runs in state HELD, longest held first."""
        held = [run_of_row(row) for row in self._rows(f"{_RUN} WHERE live AND state = 'HELD'")]
        return sorted(held, key=lambda run: (run.hold.first_held_at if run.hold is not None else "", run.run_id))

    def live_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant that is ACTIVE or HELD."""
        slot = (experiment_id, variant_id, simulated)
        run = self._one_run(f"{_RUN} WHERE {_SLOT} AND live ORDER BY first_seq DESC LIMIT 1", *slot)
        self._known.slots[slot] = run.run_id if run is not None else None
        if run is not None:
            self._known.see({run.run_id: run})
        return run

    def latest_run(self, experiment_id: str, variant_id: str, *, simulated: bool) -> Run | None:
        """The run of this experiment and variant whose first event is the newest."""
        sql = f"{_RUN} WHERE {_SLOT} ORDER BY first_seq DESC LIMIT 1"
        return self._one_run(sql, experiment_id, variant_id, simulated)

    def token(self, token: str) -> tuple[str, str | None] | None:
        """`run_id` of the hold, and the `event_id` that ended it (None: open); None: unknown token."""
        found = self._rows("SELECT run_id, ended_by FROM gatekeeper.tokens WHERE token = %s", token)
        return (found[0][0], found[0][1]) if found else None

    def accepted(self, run_id: str, question: str) -> Mapping[str, Any] | None:
        """The newest recorded ACCEPT of the run with this content digest."""
        sql = f"{_LINE} JOIN gatekeeper.facts USING (seq) WHERE run_id = %s AND question = %s ORDER BY seq DESC"
        for (line,) in self._rows(sql, run_id, question_number("decision", question)):
            event = decode(bytes(line))
            if event is not None and event.get("run_id") == run_id and content_question_of(event) == question:
                return event
        return None

    def key(self, key: str) -> Mapping[str, Any] | None:
        """The newest decision event with this idempotency key."""
        event = self._event(f"{_LINE} WHERE seq = ({rows.SELECT_KEY})", key)
        self._known.keys[key] = int(event["seq"]) if event is not None else 0
        return event

    def refused(self, run_id: str, question_digest: str) -> bool:
        """Whether a `refusal` event of the run has this question already."""
        sql = "SELECT 1 FROM gatekeeper.facts WHERE run_id = %s AND question = %s LIMIT 1"
        return bool(self._rows(sql, run_id, question_number("refusal", question_digest)))

    def policy(self, digest: str) -> Mapping[str, Any] | None:
        """Document of a recorded policy validated by this schema version; None when there is none."""
        sql = f"{_LINE} JOIN gatekeeper.policies USING (seq) WHERE policies.digest = %s AND schema_version = %s"
        event = self._event(sql, digest, SCHEMA_VERSION)
        (self._known.policies if event is not None else self._known.lacks).add(digest)
        document = event["policy"] if event is not None else None
        return document if isinstance(document, dict) and _is(document, digest) else None

    def has_policy(self, digest: str, schema_version: int) -> bool:
        """Whether a `policy` event holds this document, validated by these rules."""
        sql = "SELECT 1 FROM gatekeeper.policies WHERE digest = %s AND schema_version = %s"
        return bool(self._rows(sql, digest, schema_version))

    def event(self, event_id: str) -> Mapping[str, Any] | None:
        """The event with this id, as logged; of what a segment's head brought along, what that says of it."""
        return self._event(f"{_LINE} JOIN gatekeeper.facts USING (seq) WHERE event_id = %s", event_id) or self._event(
            "SELECT line FROM gatekeeper.kept WHERE event_id = %s", event_id
        )

    def _one_run(self, sql: str, *parameters: object) -> Run | None:
        found = self._rows(sql, *parameters)
        return run_of_row(found[0]) if found else None

    def _event(self, sql: str, *parameters: object) -> Mapping[str, Any] | None:
        found = self._rows(sql, *parameters)
        return decode(bytes(found[0][0])) if found else None


def _is(document: Mapping[str, Any], wanted: str) -> bool:
    return digest(document) == wanted
