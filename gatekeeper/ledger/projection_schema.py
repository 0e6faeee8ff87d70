"""The SQLite file beside the log: how it is opened, refused and made anew.

It holds nothing that the log does not say, with one exception on purpose: what was in a file that
has been rotated away or cut. A commit does not wait for the device: in WAL mode with `synchronous=NORMAL`
it is whole after a crash, or it is absent, and then the log is read again. Only where the WAL has grown
long, once in a hundred checks, it is folded into the file, which waits.
"""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.ledger.head import Head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps

LAYOUT_VERSION = 2
"""`user_version` of the file; another one is made anew from the log."""

SIDE_FILES = ("", "-wal", "-shm")
"""What SQLite keeps for one database."""

WAL_BYTES = 1 << 21
"""How long the WAL may be. Every check has to read through it: 0.7 ms a MB."""

_PAGE_BYTES = 1024  # a check changes parts of twenty pages
_BUSY_SECONDS = 5.0

_HEAD_COLUMNS = (
    'seq, digest, ts, lines, "end", anchor_offset, anchor_length, anchor_digest, segment, listed, is_complete'
)
_SELECT_HEAD = f"SELECT {_HEAD_COLUMNS} FROM head"  # noqa: S608
_STORE_HEAD = f"INSERT OR REPLACE INTO head (id, {_HEAD_COLUMNS}) VALUES (1,?,?,?,?,?,?,?,?,?,?,?)"  # noqa: S608


class UnusableProjectionError(Exception):
    """The file is damaged, of another layout, or not a database: it is to be made anew."""


def open_file(path: str) -> sqlite3.Connection:
    """Open, or create, the database at *path*.

    Raises:
        UnusableProjectionError: what stands there cannot be used and can be thrown away.
        sqlite3.OperationalError: it cannot be opened or written here at all.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # see keep_wal_short
        _make_ready(connection)
    except sqlite3.OperationalError:
        connection.close()
        raise
    except (sqlite3.DatabaseError, UnusableProjectionError) as error:
        connection.close()
        raise UnusableProjectionError(str(error)) from None
    return connection


def keep_wal_short(connection: sqlite3.Connection) -> None:
    """Fold a long WAL into the file and begin it anew, if nobody is reading just now; else the next one does.

    SQLite's own checkpoints do not do for processes that end without closing: each would fold the whole WAL
    again, with three flushes, and none would ever begin it anew, so that it grew with the log.
    """
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    try:
        if not path or os.stat(f"{path}-wal").st_size <= WAL_BYTES:
            return
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")
    except (OSError, sqlite3.OperationalError):  # nothing is lost, and what was committed stays
        return


def _make_ready(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            create_tables(connection)
        except sqlite3.OperationalError:  # another process makes it at this moment
            _wait_for_tables(connection)
    elif version != LAYOUT_VERSION:
        raise UnusableProjectionError(f"layout {version}, expected {LAYOUT_VERSION}")


def open_memory() -> sqlite3.Connection:
    """The same tables in memory, for a place where nothing can be written."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create_tables(connection)
    return connection


def create_tables(connection: sqlite3.Connection) -> None:
    """All tables with an empty head, in one transaction: nobody finds a part of it."""
    from gatekeeper.ledger.projection_tables import TABLES  # once in a log's life

    head = ",".join(f"'{value}'" if isinstance(value, str) else str(int(value)) for value in Head().row())
    connection.executescript(
        f"BEGIN IMMEDIATE;{TABLES}INSERT INTO head (id, {_HEAD_COLUMNS}) VALUES (1,{head});"  # noqa: S608
        f"PRAGMA user_version = {LAYOUT_VERSION};COMMIT;"
    )


def _wait_for_tables(connection: sqlite3.Connection) -> None:
    """Several processes begin a log at once: one of them makes the tables, the others take them.

    Raises:
        sqlite3.OperationalError: there are none, so it was something else.
    """
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")  # waits for the one that makes them
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute("ROLLBACK")
    if version != LAYOUT_VERSION:
        raise sqlite3.OperationalError("the tables cannot be made")


def discard(ops: FileOps, path: str) -> None:
    """Remove the database; a stale WAL beside a new one would be read into it."""
    for suffix in reversed(SIDE_FILES):
        if ops.exists(path + suffix):
            ops.remove(path + suffix)


def load_head(connection: sqlite3.Connection) -> Head:
    """The head as last committed.

    Raises:
        UnusableProjectionError: there is none.
    """
    row = connection.execute(_SELECT_HEAD).fetchone()
    if row is None:
        raise UnusableProjectionError("no head")
    head = Head(*row)
    head.is_complete = bool(head.is_complete)
    return head


def store_head(connection: sqlite3.Connection, head: Head) -> None:
    """Write the head; part of the transaction that is open."""
    connection.execute(_STORE_HEAD, head.row())
