"""The port: `PostgresLedger` over one database; what it does in which order, and what a lost connection means."""

from __future__ import annotations

import time

from gatekeeper.errors import LedgerUnreachableError, LogError
from gatekeeper.ledger.codec import events_in
from gatekeeper.ledger.markers import to_be_recorded
from gatekeeper.ledger.notes import Notes
from gatekeeper.ledger.postgres import rows
from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.durability import IS_WAITED_FOR, wait_for
from gatekeeper.ledger.postgres.failures import failure, in_doubt
from gatekeeper.ledger.postgres.known import Known
from gatekeeper.ledger.postgres.preparing import Prepared
from gatekeeper.ledger.postgres.session import Session
from gatekeeper.ledger.postgres.view import PostgresView
from gatekeeper.ledger.postgres.writing import HeadMovedError, Stored, Wanted, Writer
from gatekeeper.model.canonical import encoder
from gatekeeper.model.event import policy_draft
from gatekeeper.model.exchange import ConflictError, Expectation, Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.address import Address
    from gatekeeper.ledger.postgres.event_index import PostgresIndex
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import Clock

BULK_APPENDS = 8
"""From so many appends in a row on, a faster encoder repays its import."""

_RECONNECT_SECONDS = (0.0, 0.1, 0.5, 2.0)
"""How long to wait before each try to ask whether a commit was done; a server needs a moment to start again."""

_TRIES = 4
_CONTENDED_APPENDS = 64
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_HEAD = f"SELECT {rows.HEAD_COLUMNS}, {IS_WAITED_FOR} FROM gatekeeper.head"  # noqa: S608
_FATAL = frozenset({"FATAL", "PANIC"})


class PostgresLedger:
    """Implements `ports.SharedLedger`; one object serves one thread.

    Args:
        address: of the database.
        clock: gives each event its `ts`.
        state_directory: where this machine keeps notes of a REJECT that could not be recorded.
        pause: waits so many seconds before a server is asked again.
    """

    def __init__(
        self,
        address: Address,
        *,
        clock: Clock,
        state_directory: str | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self._session = Session(address)
        self._reading: Session | None = None
        self._known = Known()
        self._writer = Writer(self._session, self._known, clock)
        self._notes = Notes(address, state_directory)
        self._pause = pause
        self._contended = 0
        self._appends_in_a_row = 0
        self._warnings: list[str] = []

    def view(self) -> PostgresView:
        """Read the state up to the log's last line.

        Raises:
            LedgerUnreachableError: the server is not reached, refuses us, or has no tables.
            StateUnreadableError: it cannot read them.
        """
        self._appends_in_a_row = 0
        if self._notes.exist():
            self._record_notes()
        return self._view()

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Seal and store *drafts* in one transaction, after `policy` events for the *policies* it lacks.

        Raises:
            ConflictError: the run, its slot or the key is not as expected; nothing was written.
            LedgerUnreachableError: the server is not reached; nothing was written, or the message says that this is
                in doubt.
            LogError: it could not be written; nothing of it is left.
        """
        self._appends_in_a_row += 1
        if self._notes.exist():
            self._record_notes()
        encode = encoder(is_bulk=self._appends_in_a_row > BULK_APPENDS)
        given = {one.digest: one for one in policies if one.digest not in self._known.policies}
        wanted = Wanted(
            [Prepared(draft, encode) for draft in drafts],
            policies={digest: Prepared(policy_draft(one, actor=actor), encode) for digest, one in given.items()},
            expect=expect,
        )
        return self._stored(wanted)

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Best effort: keep an unrecorded REJECT on this machine; its place, None when that failed too."""
        return self._notes.leave(drafts)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Events from `seq` *start* on with their line bytes, in order."""
        return events_in(self.lines(after=start - 1))

    def lines(self, *, after: int = 0) -> Iterator[bytes]:
        """Line bytes without newline behind seq *after*, in order, a part of the table at a time.

        Raises:
            LedgerUnreachableError, StateUnreadableError: as `view`.
        """
        from gatekeeper.ledger.postgres.streaming import streamed

        if self._reading is None:  # the other connection may have a view's snapshot, and is not to be disturbed
            self._reading = Session(self.address)
        for _, line in streamed(self._reading, after=after):
            yield line

    def head(self) -> Mapping[str, Any]:
        """The log's end: `seq` (0: no event), `digest` (the next `prev`), `ts`, `is_complete`."""
        self.view()
        head = self._known.head
        assert head is not None
        return {"seq": head.seq, "digest": head.digest, "ts": head.ts or None, "is_complete": head.is_complete}

    def index(self) -> PostgresIndex | None:
        """The index over the events, at a snapshot of its own connection."""
        from gatekeeper.ledger.postgres.event_index import open_index

        return open_index(self.address)

    def take_in(self, lines: Iterator[bytes]) -> int:
        """Append lines of another log as they are, a thousand or so in a transaction; how many.

        Raises:
            LogDamagedError: they do not continue the log as it is by now.
            LogError: they could not be stored.
        """
        from gatekeeper.ledger.postgres.taking_in import take_in

        self._known.move_to(None)
        self._session.end_transaction()
        try:
            return take_in(self._session, self._known, lines)
        except psycopg.Error as error:
            self._session.close()
            raise failure(error, self.address, appending=True) from error

    def rebuild(self) -> PostgresView:
        """Fold all lines anew, in one transaction; nobody can append meanwhile.

        Raises:
            LogDamagedError: a line does not continue the one before; nothing was changed.
            LogError: it could not be done.
        """
        from gatekeeper.ledger.postgres.taking_in import rebuild

        self._known.move_to(None)
        self._session.end_transaction()
        try:
            rebuild(self._session, self._known)
        except psycopg.Error as error:
            self._session.close()
            raise failure(error, self.address, appending=True) from error
        return self.view()

    def close(self) -> None:
        """Close the connections."""
        self._known.move_to(None)
        self._session.close()
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    def _view(self) -> PostgresView:
        self._known.move_to(self._begin_snapshot())
        assert self._known.head is not None
        warnings = [*self._warnings, *self._session.take_warnings()]
        self._warnings.clear()
        return PostgresView(self._session, self._known, is_complete=self._known.head.is_complete, warnings=warnings)

    def _begin_snapshot(self) -> Any:
        """Begin to read from a snapshot; its head. A connection that was lost while it idled is opened again."""
        is_fresh = not self._session.is_open
        while True:
            try:
                self._session.end_transaction()
                connection = self._session.connection
                with connection.pipeline():
                    connection.execute(_SNAPSHOT)
                    found = connection.execute(_HEAD)
                row = found.fetchone()
                assert row is not None
                if row[4] is not None:
                    wait_for(self._session, row[4], self._pause)
                return rows.head_of_row(row[:4])
            except psycopg.Error as error:
                is_lost = _is_lost(error, self._session)
                self._session.close()
                if is_fresh or not is_lost:
                    raise failure(error, self.address) from error
                is_fresh = True

    def _stored(self, wanted: Wanted) -> Receipt:
        """The events, stored for sure."""
        doubtful: Sequence[str] = ()
        tries = 0
        while True:
            sent: Sequence[str] = ()  # ids of events that may have been committed
            knows = not doubtful and not self._contended and self._can_use_known(wanted)
            is_lazy = False
            try:
                if self._contended and not doubtful and self._session.is_open:
                    is_lazy, sent = self._session.waits_here_only, wanted.event_ids
                    plain = self._writer.append_plain(wanted, is_lazy=is_lazy)
                    self._contended -= 1
                    if plain is not None:
                        return Receipt((plain,), tuple(self._session.take_warnings()))
                    sent = ()
                stored = self._writer.seal_known(wanted) if knows else self._lock_and_seal(wanted, doubtful)
                if stored.is_there:
                    self._known.move_to(None)
                    return self._receipt(stored)
                is_lazy = not knows and self._contended > 0 and self._session.waits_here_only
                sent = [str(event["event_id"]) for event in stored.events[-len(wanted.prepared) :]]
                self._writer.store(stored, has_lock=not knows, is_lazy=is_lazy)
            except HeadMovedError:
                self._contended = _CONTENDED_APPENDS
            except psycopg.Error as error:
                is_lost, tries = _is_lost(error, self._session), tries + 1
                self._known.move_to(None)
                may_be_done = bool(sent) and (is_lost or is_lazy)
                if may_be_done:
                    doubtful = sent
                elif not is_lost:
                    self._session.end_transaction()
                self._session.close()
                if not may_be_done and (not is_lost or tries >= _TRIES):
                    raise failure(error, self.address, appending=True) from error
                if tries >= _TRIES:
                    raise in_doubt(self.address, doubtful[-1]) from error
            else:
                return self._receipt(stored)

    def _receipt(self, stored: Stored) -> Receipt:
        return Receipt(tuple(stored.events), (*stored.warnings, *self._session.take_warnings()))

    def _lock_and_seal(self, wanted: Wanted, doubtful: Sequence[str]) -> Stored:
        if not doubtful:
            return self._writer.lock_and_seal(wanted)
        for seconds in _RECONNECT_SECONDS:
            self._pause(seconds)
            try:
                return self._writer.lock_and_seal(wanted, doubtful)
            except (psycopg.Error, LedgerUnreachableError) as error:
                self._session.close()
                lost = error
        raise in_doubt(self.address, doubtful[-1]) from lost

    def _can_use_known(self, wanted: Wanted) -> bool:
        if wanted.needs_lock or not self._session.is_open:
            return False
        return self._known.suffices(wanted.run_ids, wanted.expect, wanted.policies)

    def _record_notes(self) -> None:
        """Before anything is decided, REJECTs that could not be recorded become events; failing is told only."""
        try:
            with self._notes.taken() as notes:
                data = notes.read()
                while True:
                    drafts, bad = to_be_recorded(data, view := self._view())
                    if not drafts:
                        break
                    run_id = drafts[-1].get("run_id")
                    run = view.run(run_id) if run_id is not None else None
                    expect = None if run_id is None else Expectation(run_id, run.version if run is not None else 0)
                    try:
                        receipt = self._stored(Wanted([Prepared(one) for one in drafts], policies={}, expect=expect))
                    except ConflictError:  # others have gone on: the ids are made anew
                        continue
                    self._warnings += [*receipt.warnings, self._notes.recorded_words(receipt.events)]
                    break
                self._warnings += notes.remove(data, bad)
        except (OSError, LogError) as error:
            self._warnings.append(f"{self._notes.place} holds a REJECT that is still not recorded: {error}")


def _is_lost(error: psycopg.Error, session: Session) -> bool:
    """Whether the connection is gone, by whichever end."""
    return not session.is_open or error.diag.severity_nonlocalized in _FATAL
