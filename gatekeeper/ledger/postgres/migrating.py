"""`gatekeeper log migrate`: the tables brought to a step, under a lock, all in one transaction."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError, LogError, UsageError
from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.failures import failure
from gatekeeper.ledger.postgres.known import Known
from gatekeeper.ledger.postgres.layout import GRANTS, READER, WRITER
from gatekeeper.ledger.postgres.migrations import MIGRATIONS, NEWEST, Migration
from gatekeeper.ledger.postgres.session import LOCK_SECONDS, Session, connect
from gatekeeper.ledger.postgres.taking_in import refold
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.ledger.address import Address

    Connection = psycopg.Connection[tuple[Any, ...]]

OLDEST_SERVER = 130000
"""Of PostgreSQL's versions, as `server_version_num` has them."""

_LOCK = 7_326_018_218
_LIMIT = f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
_HAS_TABLE = "SELECT to_regclass('gatekeeper.migrations') IS NOT NULL"
_BEGIN_HISTORY = """
CREATE SCHEMA IF NOT EXISTS gatekeeper;
CREATE TABLE gatekeeper.migrations (
  number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(),
  applied_by text NOT NULL DEFAULT current_user);
"""
_END_HISTORY = "DROP TABLE gatekeeper.migrations; DROP SCHEMA gatekeeper;"
_HAS_EVENTS = "SELECT EXISTS (SELECT FROM gatekeeper.events)"
_MAY_MAKE_ROLES = "SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"


@dataclass(frozen=True)
class Migrated:
    """What was done, or would be.

    Attributes:
        found, reached: the steps at which the tables stood and stand; 0 without any.
        steps: words for each step, in the order taken.
        statements: the SQL of all of them.
        notes: what people should know.
    """

    found: int
    reached: int
    steps: tuple[str, ...]
    statements: tuple[str, ...]
    notes: tuple[str, ...]


def migrate(address: Address, *, to: int | None = None, dry_run: bool = False, drop_events: bool = False) -> Migrated:
    """Bring the tables to step *to*, the newest unless stated.

    Args:
        to: from 0 (no tables) on.
        dry_run: change nothing, only tell.
        drop_events: a way back that removes a log which has events is meant.

    Raises:
        UsageError: there is no such step.
        InputRefusedError: it would remove a log with events, or the database cannot hold a log.
        LogError: the database is not reached, or refuses it.
    """
    if to is not None and not 0 <= to <= NEWEST:
        raise UsageError(f"there is no step {to}", remedy=f"give --to a number from 0 (no tables) to {NEWEST}")
    connection = connect(address)
    try:
        return _migrate(connection, address, NEWEST if to is None else to, dry_run=dry_run, drop_events=drop_events)
    except psycopg.Error as error:
        raise failure(error, address, appending=True) from error
    finally:
        connection.close()


def _migrate(connection: Connection, address: Address, to: int, *, dry_run: bool, drop_events: bool) -> Migrated:
    _check_server(connection, address)
    connection.execute("BEGIN")
    connection.execute(_LIMIT)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    found = _found(connection)
    if found > NEWEST:
        raise InputRefusedError(
            f"{address.shown} stands at step {found}, this version of gatekeeper knows {NEWEST}",
            remedy="update gatekeeper",
        )
    steps = _steps(found, to)
    if to < found and not drop_events and any(one.drops_events for one, _ in steps) and _truth(connection, _HAS_EVENTS):
        raise InputRefusedError(
            f"{address.shown} holds a log with events, which step {to} would remove",
            remedy="keep a copy (gatekeeper log export), then say it: --drop-events",
        )
    statements = [] if found or not steps else [_BEGIN_HISTORY]
    statements += [_noted(one, is_up=is_up) for one, is_up in steps]
    if found and to == 0:
        statements.append(_END_HISTORY)
    notes = list[str]()
    is_refolded = (
        0 < found < to == NEWEST
    )  # tables of the state that are new are empty: the log has what stands in them
    if to == NEWEST:
        statements += _roles(connection, notes)
    if not dry_run:
        for statement in statements:
            connection.execute(statement.encode())
        if is_refolded:
            refold(Session.over(address, connection), Known())
        connection.execute("COMMIT")
    elif is_refolded:
        notes.append("behind that SQL the state of the runs is empty: gatekeeper log rebuild, before any job asks")
    told = tuple(f"{'up to' if is_up else 'down from'} {one.number}: {one.name}" for one, is_up in steps)
    return Migrated(found, to, told, tuple(statement.strip() for statement in statements), tuple(notes))


def _noted(one: Migration, *, is_up: bool) -> str:
    """The SQL of a step, with what the history of steps says of it."""
    if is_up:
        return (
            f"{one.up.strip()}\nINSERT INTO gatekeeper.migrations (number, name) VALUES ({one.number}, '{one.name}');"
        )
    return f"{one.down.strip()}\nDELETE FROM gatekeeper.migrations WHERE number = {one.number};"


def _steps(found: int, to: int) -> list[tuple[Migration, bool]]:
    """The steps to take, and whether upwards."""
    if to >= found:
        return [(one, True) for one in MIGRATIONS if found < one.number <= to]
    return [(one, False) for one in reversed(MIGRATIONS) if to < one.number <= found]


def _found(connection: Connection) -> int:
    if not _truth(connection, _HAS_TABLE):
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) FROM gatekeeper.migrations").fetchone()
    assert row is not None
    return int(row[0])


def _roles(connection: Connection, notes: list[str]) -> list[str]:
    """Statements that make the two roles, where they are missing and may be made, and grant them what they need."""
    known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles WHERE rolname LIKE 'gatekeeper%'")}
    missing = [role for role in (WRITER, READER) if role not in known]
    if missing and not _truth(connection, _MAY_MAKE_ROLES):
        notes.append(
            f"the roles {' and '.join(missing)} are not there, and this user may not make them: have them made "
            "(CREATE ROLE … NOLOGIN), then migrate again to grant them what they need"
        )
        return []
    return [*(f"CREATE ROLE {role} NOLOGIN;" for role in missing), GRANTS]


def _check_server(connection: Connection, address: Address) -> None:
    if connection.info.server_version < OLDEST_SERVER:
        raise LogError(
            f"{address.shown} is PostgreSQL {connection.info.server_version // 10000}",
            remedy=f"use version {OLDEST_SERVER // 10000} or newer",
        )
    row = connection.execute("SHOW server_encoding").fetchone()
    if row is None or row[0] != "UTF8":
        raise LogError(
            f"{address.shown} is encoded as {row[0] if row is not None else 'nothing'}, which cannot hold every text",
            remedy="create a database for the log: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
        )


def _truth(connection: Connection, sql: str) -> bool:
    row = connection.execute(sql.encode()).fetchone()
    return bool(row and row[0])
