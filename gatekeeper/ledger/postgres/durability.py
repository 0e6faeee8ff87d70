"""What is read or told is on the server's device, though a busy log's commits do not wait for it one by one.

A row lock is held until its transaction has committed, the flush included, so writers that wait for each other would
flush one after the other. Where they do, the transaction commits without waiting (`synchronous_commit` off, and the
head says so) and the lock is free; its writer then commits an empty message that waits. The server's log is written
in order, so that the lines are on the device before it, and many writers share one flush. Nobody is told before.

Such lines can be read a moment before they are on the device. A view of a head like that waits for them first.
"""

from __future__ import annotations

from gatekeeper.ledger.postgres.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.ledger.postgres.rows import Connection

WAIT = "SELECT pg_logical_emit_message(true, 'gatekeeper', '')"
"""A transaction of its own, which waits until it is on the device, and with it all that was committed before."""

IS_WAITED_FOR = """
CASE WHEN NOT is_lazy OR pg_is_in_recovery() THEN NULL
  WHEN current_setting('synchronous_standby_names') <> '' THEN ''
  WHEN pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn() THEN pg_current_wal_insert_lsn()::text
END
"""
"""How far the server's log must be on the device before the head may be told; NULL: it is; empty: nobody can say."""

_LOOKS, _SECONDS = 50, 0.001
_IS_REACHED = "SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn"


def wait_for(session: Session, place: str, pause: Callable[[float], None]) -> None:
    """Wait until the server's log is on the device up to *place*, as `IS_WAITED_FOR` gave it.

    The writer whose lines they are is waiting for the same, so it takes no more than a look or two. Where it was
    killed, a connection of our own waits: the one of *session* has a snapshot, which its commit would give up.

    Raises:
        psycopg.Error, LedgerUnreachableError: it cannot be found out.
    """
    connection: Connection = session.connection
    for _ in range(_LOOKS if place else 0):
        row = connection.execute(_IS_REACHED, (place,)).fetchone()
        if row is not None and row[0]:
            return
        pause(_SECONDS)
    other = Session(session.address)  # with its settings: the database's own may be not to wait
    try:
        other.rows(WAIT)
    finally:
        other.close()
