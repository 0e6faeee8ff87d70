"""Whole logs: lines of another one taken over as they are, and all lines folded anew."""

from __future__ import annotations

from itertools import islice

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.head import Head
from gatekeeper.ledger.postgres import rows
from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.fold import Fold
from gatekeeper.ledger.postgres.layout import DERIVED
from gatekeeper.ledger.postgres.streaming import streamed
from gatekeeper.ledger.postgres.writing import Locking
from gatekeeper.model.line import bulk_decoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gatekeeper.ledger.postgres.known import Known
    from gatekeeper.ledger.postgres.session import Session
    from gatekeeper.model.run import Run

LINES = 1000
"""Lines of one transaction; of a segment's head all parts go into one."""

_BYTES = 1 << 24
"""No more than about so many bytes, either."""

_SELECT_RUN = f"SELECT {rows.RUN_COLUMNS} FROM gatekeeper.runs WHERE run_id = %s"  # noqa: S608
_SELECT_FACETS = "SELECT id, body FROM gatekeeper.facets WHERE id = ANY(%s::bigint[])"
_NO_LIMIT = "SET LOCAL statement_timeout = 0"


def take_in(session: Session, known: Known, lines: Iterator[bytes]) -> int:
    """Append *lines* as they are; how many.

    Raises:
        LogDamagedError: they do not continue the log as it is by now; what was committed before stays.
        psycopg.Error: they could not be stored.
    """
    connection, taken = session.connection, 0
    waiting = iter(lines)
    while (first := next(waiting, None)) is not None:
        try:
            count = _take_part(connection, known, first, waiting)
            connection.execute("COMMIT")
        finally:
            session.end_transaction()
        taken += count
    return taken


def rebuild(session: Session, known: Known) -> None:
    """Empty what is derived and fold all lines anew, in one transaction and with the lock.

    Raises:
        LogDamagedError: a line does not continue the one before.
        psycopg.Error: it could not be done.
    """
    connection = session.connection
    try:
        refold(session, known)
        connection.execute("COMMIT")
    finally:
        session.end_transaction()


def refold(session: Session, known: Known) -> None:
    """The same without the commit; in the transaction that is open, if one is."""
    connection = session.connection
    before = _lock(connection)
    for table in DERIVED:
        connection.execute(f"DELETE FROM gatekeeper.{table}")  # noqa: S608 - our own names
    known.facets.clear()
    fold = _fold(connection, Head())
    decode, lines = bulk_decoder(), streamed(session)
    while part := list(islice(lines, LINES)):
        for _, line in part:
            fold.take(decode(line), line)
        _copy(connection, known, fold, [])
        fold.clear()
    fold.require_whole_head()
    rows.store(connection, before, fold, {})


def _take_part(connection: rows.Connection, known: Known, first: bytes, rest: Iterator[bytes]) -> int:
    before = _lock(connection)
    fold, decode = _fold(connection, rows.same_head(before)), bulk_decoder()
    taken: list[tuple[int, bytes, bytes]] = []
    size, line = 0, first
    while True:
        fold.take(decode(line), line)
        taken.append(rows.event_row(fold.head.seq, line, fold.head.digest))
        size += len(line)
        if not fold.parts_left and (len(taken) >= LINES or size >= _BYTES):
            break
        following = next(rest, None)
        if following is None:
            fold.require_whole_head()
            break
        line = following
    _copy(connection, known, fold, taken)
    fold.clear()
    rows.store(connection, before, fold, {})
    return len(taken)


def _lock(connection: rows.Connection) -> Head:
    """Lock the log for as long as it takes."""
    locking = Locking()
    locking.ask(_NO_LIMIT)
    return locking.carry_out(connection)[0]


def _copy(connection: rows.Connection, known: Known, fold: Fold, events: list[tuple[int, bytes, bytes]]) -> None:
    new = [number for number in fold.facets if number not in known.facets]
    found: list[tuple[Any, ...]] = connection.execute(_SELECT_FACETS, (new,)).fetchall()
    known.doubled_facets |= {number for number, body in found if body != fold.facets[number]}
    changes = rows.change_rows(fold, known_facets=known.facets, doubled_facets=known.doubled_facets)
    try:
        rows.copy_rows(connection, {rows.EVENTS: events, **changes}, accepts_gap=fold.accepts_gap)
    except psycopg.errors.UniqueViolation as error:
        raise LogDamagedError(
            f"an event is there twice: {error.diag.message_detail}", remedy="see what is wrong with: gatekeeper verify"
        ) from error
    known.facets |= fold.facets.keys() - known.doubled_facets


def _fold(connection: rows.Connection, head: Head) -> Fold:
    def run_of(run_id: str) -> Run | None:
        found: list[tuple[Any, ...]] = connection.execute(_SELECT_RUN, (run_id,)).fetchall()
        return rows.runs_of_rows(found).get(run_id)

    return Fold(head, run_of)
