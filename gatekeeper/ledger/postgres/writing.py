"""An append: in one round trip where nobody else has appended since the state was read, else in two.

One: seal against the head that is known, send all of it with its commit; the head is compared and set in the same
transaction, so that nothing is done where it has moved. Two: lock the head and ask what is needed, in one go; seal;
send the rest. A lost connection is resolved by `doubt`.
"""

from __future__ import annotations

from gatekeeper.ledger.head import Head
from gatekeeper.ledger.postgres import rows
from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.durability import WAIT
from gatekeeper.ledger.postgres.fold import Fold
from gatekeeper.ledger.postgres.plain import APPEND, APPEND_LAZILY, plain_parameters
from gatekeeper.ledger.postgres.rows import digest_text
from gatekeeper.ledger.postgres.session import HOLDER_SECONDS
from gatekeeper.ledger.projection_fold import ACCEPT_GAP
from gatekeeper.ledger.sealing import compare, time_of
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import ConflictError
from gatekeeper.model.line import decode
from gatekeeper.model.policy import SCHEMA_VERSION
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.postgres.known import Known
    from gatekeeper.ledger.postgres.preparing import Prepared
    from gatekeeper.ledger.postgres.session import Session
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.run import Run
    from gatekeeper.ports import Clock

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
_LOCK = "SELECT * FROM gatekeeper.lock_log(%s::text[], %s)"
_SILENT_FOR = f"{HOLDER_SECONDS}s"
_SELECT_LINES = (
    "SELECT line FROM gatekeeper.events JOIN gatekeeper.facts USING (seq) WHERE event_id = ANY(%s::text[]) ORDER BY seq"
)


class HeadMovedError(Exception):
    """Somebody has appended since the state was read; nothing was done."""


class Wanted:
    """One append.

    Attributes:
        prepared: the drafts, in order.
        policies: `policy` events by digest, prepared, of which those are put before that the log lacks.
        expect: what the caller has seen.
        run_ids: of all runs that it is about.
        event_ids: of the drafts.
        needs_lock: it changes rows that it does not name, which no comparison of the head could undo.
    """

    __slots__ = ("event_ids", "expect", "needs_lock", "policies", "prepared", "run_ids")

    def __init__(
        self, prepared: Sequence[Prepared], *, policies: Mapping[str, Prepared], expect: Expectation | None
    ) -> None:
        self.prepared = prepared
        self.policies = policies
        self.expect = expect
        named = {one.draft.get("run_id") for one in prepared} | ({expect.run_id} if expect is not None else set())
        self.run_ids = sorted(name for name in named if name is not None)
        self.event_ids = [str(one.draft.get("event_id")) for one in prepared]
        self.needs_lock = any((one.draft.get("action") or {}).get("name") == ACCEPT_GAP for one in prepared)


class Stored:
    """Events with their lines and digests, sealed behind a head; `fold` has what they change.

    Attributes:
        is_there: they are in the log already.
    """

    __slots__ = ("before", "digests", "events", "fold", "is_there", "lines", "warnings")

    def __init__(self, before: Head, fold: Fold, *, is_there: bool = False) -> None:
        self.before = before
        self.fold = fold
        self.is_there = is_there
        self.events: list[dict[str, Any]] = []
        self.lines: list[bytes] = []
        self.digests: list[str] = []
        self.warnings: list[str] = []

    def take(self, event: dict[str, Any], line: bytes, digest: str) -> None:
        """One more."""
        self.events.append(event)
        self.lines.append(line)
        self.digests.append(digest)


class Locking:
    """One round trip that begins a transaction, waits for the log's lock, and asks questions behind it.

    Who is silent with the lock loses it: the server ends the transaction. It would not if the statements were sent in a
    pipeline, whose closing message stops that clock again; so they go as one text.
    """

    def __init__(self, run_ids: Sequence[str] = ()) -> None:
        self._statements = [BEGIN]
        self.ask(_LOCK, [*run_ids], _SILENT_FOR)

    def ask(self, sql: str, *parameters: object) -> int:
        """One more statement; the number of its answer."""
        self._statements.append(sql % tuple(map(_literal, parameters)))
        return len(self._statements) - 1

    def carry_out(self, connection: rows.Connection) -> tuple[Head, dict[str, Run], list[list[tuple[Any, ...]]]]:
        """The log's end as of the lock, the runs that were asked for as far as it knows them, and all answers."""
        with connection.execute("; ".join(self._statements).encode()) as cursor:
            answers: list[list[tuple[Any, ...]]] = []
            while True:
                answers.append(cursor.fetchall() if cursor.description is not None else [])
                if not cursor.nextset():
                    break
        found = answers[1]
        runs = rows.runs_of_rows((0, *row[4:]) for row in found if row[4] is not None)
        return rows.head_of_row(found[0][:4]), runs, answers


def _conflict(error: psycopg.errors.UniqueViolation) -> Exception:
    """What it means that a row is there already."""
    if error.diag.constraint_name == "facts_event_id":
        return ConflictError(f"an event is in the log already: {error.diag.message_detail}")
    return HeadMovedError()  # its seq is taken, though the head was not moved


def _literal(value: object) -> str:
    """As SQL has it; by the library, whose quotes hold for our sessions (UTF-8, standard strings)."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(_literal, value))}]"
    return psycopg.sql.quote(value)


class Writer:
    """Appends over one session. Database errors pass through; `ledger` says what they mean."""

    def __init__(self, session: Session, known: Known, clock: Clock) -> None:
        self._session = session
        self._known = known
        self._clock = clock

    def seal_known(self, wanted: Wanted) -> Stored:
        """Seal behind the head that is known. Raises ConflictError."""
        return self._seal(wanted, self._known.head)

    def lock_and_seal(self, wanted: Wanted, doubtful: Sequence[str] = ()) -> Stored:
        """Lock the log, ask what is needed, and seal. Raises ConflictError; the lock is then given back.

        Args:
            doubtful: ids of just these events, where their commit was lost sight of. A transaction that had the lock
                has ended by the time that we have it, and one that comes later finds the head or the run moved: so
                they are there now or never.

        Returns:
            What is to be stored; where the events are there, what was: `is_there` says so.
        """
        connection, known, expect = self._session.connection, self._known, wanted.expect
        self._session.end_transaction()
        locking = Locking(wanted.run_ids)
        policies = slot = key = lines = 0
        if not known.policies.issuperset(wanted.policies):
            policies = locking.ask(rows.SELECT_POLICIES, SCHEMA_VERSION, [*wanted.policies])
        if expect is not None and expect.slot is not None:
            slot = locking.ask(rows.SELECT_LIVE, *expect.slot)
        if expect is not None and expect.key is not None:
            key = locking.ask(rows.SELECT_KEY, expect.key)
        if doubtful:
            lines = locking.ask(_SELECT_LINES, [*doubtful])
        head, runs, answers = locking.carry_out(connection)
        found = self._found(wanted, answers[lines]) if doubtful else None
        if found is not None:
            self._session.end_transaction()
            connection.execute(WAIT)  # for the device, where it was lazy
            return found
        known.move_to(head)
        known.see({**dict.fromkeys(wanted.run_ids), **runs})
        if policies:
            known.policies |= {row[0] for row in answers[policies]}
            known.lacks |= wanted.policies.keys() - known.policies
        if expect is not None and expect.slot is not None:
            known.slots[expect.slot] = next((row[0] for row in answers[slot]), None)
        if expect is not None and expect.key is not None:
            known.keys[expect.key] = next((row[0] for row in answers[key]), 0)
        try:
            return self._seal(wanted, known.head)
        except ConflictError:
            self._session.end_transaction()
            raise

    def append_plain(self, wanted: Wanted, *, is_lazy: bool) -> dict[str, Any] | None:
        """The event, sealed and stored by the database; None where that is not to be, and nothing was done.

        Raises:
            ConflictError: its `event_id` is in the log already.
            psycopg.Error: as `store`.
        """
        known, connection = self._known, self._session.connection
        made = plain_parameters(wanted, known, now=self._clock.now())
        if made is None:
            return None
        self._session.end_transaction()
        parameters, after = made
        try:
            found = connection.execute(APPEND_LAZILY if is_lazy else APPEND, parameters)
        except psycopg.errors.UniqueViolation as error:
            known.move_to(None)
            raise _conflict(error) from error
        row = found.fetchone()
        known.move_to(None)
        if row is None or row[0] is None:
            return None
        seq, prev, ts, clock = row
        event = wanted.prepared[0].event(seq=seq, prev=digest_text(prev), ts=ts, clock=clock)
        known.see({after.run_id: replace(after, version=seq, updated_at=ts)})
        return event

    def store(self, stored: Stored, *, has_lock: bool, is_lazy: bool = False) -> None:
        """Send all of it and commit; it is on the device when this returns.

        Args:
            is_lazy: others wait for the lock, so it is given back before the device is waited for.

        Raises:
            HeadMovedError: only without the lock.
            ConflictError: an `event_id` is in the log already.
            psycopg.Error: while the connection lives, nothing of it was done, unless it is lazy.
        """
        connection, known, fold = self._session.connection, self._known, stored.fold
        changes = rows.change_rows(fold, known_facets=known.facets, doubled_facets=known.doubled_facets)
        numbered = zip(stored.events, stored.lines, stored.digests, strict=True)
        changes[rows.EVENTS] = [rows.event_row(event["seq"], line, digest) for event, line, digest in numbered]
        is_idle = connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        try:
            if is_idle:  # a transaction by itself
                moved = rows.store(connection, stored.before, fold, changes)
            else:
                with connection.pipeline():
                    if not has_lock:
                        if not is_idle:
                            connection.execute("ROLLBACK")  # the view's snapshot
                        connection.execute(BEGIN)
                    moved = rows.store(connection, stored.before, fold, changes, is_lazy=is_lazy)
                    connection.execute("COMMIT")
                    if is_lazy:
                        connection.execute(WAIT)
            if moved.fetchall()[0][0] != 1:
                known.move_to(None)
                raise HeadMovedError
        except psycopg.errors.NotNullViolation as error:
            self._session.end_transaction()
            if error.diag.table_name != "facets":
                raise
            known.doubled_facets |= fold.facets.keys() - known.facets
            known.move_to(None)
            raise HeadMovedError from error
        except psycopg.errors.UniqueViolation as error:
            self._session.end_transaction()
            known.move_to(None)
            raise _conflict(error) from error
        known.facets |= fold.facets.keys() - known.doubled_facets
        self._remember(stored)

    def _seal(self, wanted: Wanted, head: Head | None) -> Stored:
        known, expect = self._known, wanted.expect
        assert head is not None
        if expect is not None:
            run = known.runs[expect.run_id]
            compare(
                expect,
                version=run.version if run is not None else 0,
                live_run_id=known.slots[expect.slot] if expect.slot is not None else None,
                key_seq=known.keys[expect.key] if expect.key is not None else 0,
            )
        stored = Stored(head, Fold(rows.same_head(head), self._run_known))
        unknown = [one for digest, one in wanted.policies.items() if digest not in known.policies]
        ts, clock = time_of(head.ts, self._clock.now(), stored.warnings)
        prev = head.digest
        for seq, one in enumerate([*unknown, *wanted.prepared], head.seq + 1):
            event, line = one.sealed(seq=seq, prev=prev, ts=ts, clock=clock)
            prev = line_digest(line)
            stored.fold.take(event, line, digest=prev, said=(one.facet, one.body, one.question))
            stored.take(event, line, prev)
        return stored

    def _found(self, wanted: Wanted, answers: list[tuple[Any, ...]]) -> Stored | None:
        """The events as they are in the log, if these are just the ones that were to be appended."""
        if len(answers) != len(wanted.prepared):
            return None
        stored = Stored(Head(), Fold(Head(), self._run_known), is_there=True)
        for prepared, (line,) in zip(wanted.prepared, answers, strict=True):
            event: dict[str, Any] = decode(bytes(line)) or {}
            place = {"seq": event["seq"], "prev": event["prev"], "ts": event["ts"], "clock": event.get("clock")}
            if prepared.sealed(**place)[1] != line:
                return None  # somebody else's of the same name
            stored.take(event, bytes(line), line_digest(bytes(line)))
        return stored

    def _run_known(self, run_id: str) -> Run | None:
        return self._known.runs[run_id]

    def _remember(self, stored: Stored) -> None:
        """The state as of the new head, as far as these events tell."""
        known, fold = self._known, stored.fold
        runs = {**known.runs, **fold.changed} if not fold.accepts_gap else {}
        known.move_to(fold.head)
        known.see(runs)
        known.policies |= {digest for digest, version in fold.policies if version == SCHEMA_VERSION}
