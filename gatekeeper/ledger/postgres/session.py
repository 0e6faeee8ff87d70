"""The connection: opened when it is first needed, with limits to every wait, opened again when it was lost."""

from __future__ import annotations

import os

from gatekeeper.errors import LedgerUnreachableError, UsageError
from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.failures import failure, migrate_command, not_set_up, reason_of, unreachable
from gatekeeper.ledger.postgres.migrations import NEWEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from gatekeeper.ledger.address import Address

    Row = tuple[Any, ...]

CONNECT_SECONDS = 5
"""How long one server may take to accept us, where neither address nor environment says."""

HOLDER_SECONDS = 10
"""How long a writer may hold the log and be silent: then the server gives the log to the others."""

LOCK_SECONDS = 30
"""How long we wait for a lock, longer than a silent holder may live."""

STATEMENT_SECONDS = 60
"""How long any one statement may take."""

_DEFAULTS = {
    "fallback_application_name": "gatekeeper",
    "keepalives_idle": "10",  # a server that vanished is noticed in half a minute, not in two hours
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_LAYOUT = """
SELECT max(number),
  current_setting('synchronous_commit') = 'on' AND current_setting('synchronous_standby_names') = ''
FROM gatekeeper.migrations
"""
# what server, user or address have limited already stays; so does a promise that is stronger than `on`
_SETTINGS = f"""
SELECT set_config(name, value, false)
FROM (VALUES ('statement_timeout', '{STATEMENT_SECONDS}s'), ('lock_timeout', '{LOCK_SECONDS}s')) AS wanted (name, value)
WHERE current_setting(name) = '0'
UNION ALL
SELECT set_config('default_transaction_isolation', 'read committed', false)
UNION ALL
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_write', 'remote_apply')
"""  # noqa: S608 - our own numbers


class Session:
    """One connection to the database of *address*.

    Attributes:
        warnings: what the server has reported, for people.
        waits_here_only: a commit waits for the server's own device and for no other server's.
    """

    def __init__(self, address: Address) -> None:
        self.waits_here_only = False
        self.address = address
        self.warnings: list[str] = []
        self._connection: psycopg.Connection[Row] | None = None

    @classmethod
    def over(cls, address: Address, connection: psycopg.Connection[Row]) -> Self:
        """A session over a connection that is open; whoever opened it closes it."""
        session = cls(address)
        session._connection = connection
        return session

    @property
    def connection(self) -> psycopg.Connection[Row]:
        """The connection, opened if there is none that can be used.

        Raises:
            LedgerUnreachableError: the server is not reached, refuses us, or has not the tables that we need.
        """
        if self._connection is None or self._connection.closed:
            self._connection = self._opened()
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether there is a connection that is not known to be lost."""
        return self._connection is not None and not self._connection.closed

    def rows(self, sql: str, *parameters: object) -> list[Row]:
        """All rows of one statement. Raises LogError, as `failure` has it."""
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except psycopg.Error as error:
            raise failure(error, self.address) from error

    def end_transaction(self) -> None:
        """Give up what was not committed, and the snapshot that was read from."""
        connection = self._connection
        if connection is None or connection.closed:
            return
        try:
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            self.close()

    def close(self) -> None:
        """Close the connection; what was not committed is undone by the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def take_warnings(self) -> list[str]:
        """All that was noticed since the last call."""
        taken, self.warnings = self.warnings, []
        return taken

    def _opened(self) -> psycopg.Connection[Row]:
        connection = connect(self.address)
        connection.add_notice_handler(self._note)
        try:
            with connection.pipeline():
                connection.execute(_SETTINGS)
                found = connection.execute(_LAYOUT)
            row = found.fetchone()
            _check_layout(self.address, row[0] if row is not None else None)
            self.waits_here_only = bool(row is not None and row[1])
        except psycopg.Error as error:
            connection.close()
            raise failure(error, self.address) from error
        except LedgerUnreachableError:
            connection.close()
            raise
        return connection

    def _note(self, diagnosis: psycopg.errors.Diagnostic) -> None:
        if diagnosis.severity_nonlocalized == "WARNING" and diagnosis.message_primary:
            self.warnings.append(f"{self.address.shown}: {diagnosis.message_primary}")


def connect(address: Address) -> psycopg.Connection[Row]:
    """A new connection in which each statement is its own transaction, unless one is begun.

    libpq completes the address from its environment, service file and password file.

    Raises:
        LedgerUnreachableError: the server is not reached or refuses us.
        UsageError: libpq cannot read the address.
    """
    try:
        given = psycopg.conninfo.conninfo_to_dict(address.target)
    except psycopg.ProgrammingError as error:
        raise UsageError(
            f"{address.shown} is no address of a PostgreSQL database: {reason_of(error)}",
            remedy="write it like postgresql://user@host:5432/database",
        ) from None
    wanted: dict[str, Any] = {**_DEFAULTS, **given}
    if "connect_timeout" not in given and not os.environ.get("PGCONNECT_TIMEOUT"):
        wanted["connect_timeout"] = CONNECT_SECONDS
    try:
        return psycopg.connect(**{**wanted, "client_encoding": "utf8"}, autocommit=True)
    except psycopg.OperationalError as error:
        if error.sqlstate:
            raise failure(error, address) from error
        raise unreachable(address, reason_of(error)) from error
    except psycopg.Error as error:
        raise failure(error, address) from error


def parameters(rows: Sequence[Sequence[object]]) -> list[object]:
    """The values of several rows, one after the other."""
    return [value for row in rows for value in row]


def _check_layout(address: Address, found: int | None) -> None:
    if found is None:
        raise not_set_up(address)
    if found < NEWEST:
        raise LedgerUnreachableError(
            f"{address.shown} holds tables of an older gatekeeper (step {found}, this version needs {NEWEST})",
            remedy=f"bring them up to date: {migrate_command(address)}",
        )
    if found > NEWEST:
        raise LedgerUnreachableError(
            f"{address.shown} holds tables of a newer gatekeeper (step {found}, this version knows {NEWEST})",
            remedy="update gatekeeper",
        )
