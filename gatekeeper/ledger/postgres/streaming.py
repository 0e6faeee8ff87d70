"""The lines themselves, read a part of the table at a time; memory does not grow with the log."""

from __future__ import annotations

from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.failures import failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.ledger.postgres.session import Session

LINES = 256
"""Lines in memory at once."""

_SELECT = "SELECT seq, line FROM gatekeeper.events WHERE seq > %s ORDER BY seq LIMIT %s"


def streamed(session: Session, *, after: int = 0) -> Iterator[tuple[int, bytes]]:
    """`seq` and bytes of each line behind seq *after*, up to the last one there is by then.

    Raises:
        LedgerUnreachableError, StateUnreadableError: they cannot be read.
    """
    while True:
        try:
            with session.connection.cursor(binary=True) as cursor:
                found = cursor.execute(_SELECT, (after, LINES)).fetchall()
        except psycopg.Error as error:
            raise failure(error, session.address) from error
        yield from found
        if len(found) < LINES:
            return
        after = found[-1][0]
