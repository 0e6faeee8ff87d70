"""One database and one connection to it: each statement in a guarded transaction. Nothing is ever committed.

What holds a statement back, by dialect:

- postgresql: a read-only transaction, later ones of the session too, and `statement_timeout`, all undone by the
  rollback, so that a pooler between us and the server hands nothing of it on to others.
- sqlite: the file is opened with `mode=ro` (see `sql_url`), `query_only`, no `ATTACH`; interrupted at the limit.
- mysql, mariadb: read-only transactions, `max_execution_time` or `max_statement_time`. Written by their manuals: no
  test of this project asks a real one.
- others: the rollback, and the deadline of the collection, after which nobody waits for the answer any more.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

from gatekeeper.evidence.sql.failures import Mistake, connect_problem, statement_problem
from gatekeeper.evidence.sql.rows import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Dialect, Engine

    from gatekeeper.evidence.reading import ReadingProblem
    from gatekeeper.evidence.secrets import Secrets


class Database:
    """A database that can be connected to.

    Attributes:
        endpoint: its URL without userinfo and parameters, for the record.
    """

    def __init__(self, engine: Engine, endpoint: str, secrets: Secrets) -> None:
        self._engine = engine
        self._secrets = secrets
        self.endpoint = endpoint

    def connect(self) -> Session | ReadingProblem:
        """One connection, or why there is none."""
        try:
            return Session(self._engine.connect(), self._secrets)
        except Exception as error:  # noqa: BLE001 - drivers raise what they like, and nothing of ours runs in there
            return connect_problem(error, self._secrets)


class Session:
    """One connection. A context manager that closes it.

    Attributes:
        is_lost: the connection broke, and must not be used again: SQLAlchemy would open another one.
    """

    def __init__(self, connection: Connection, secrets: Secrets) -> None:
        self._connection = connection
        self._secrets = secrets
        self.is_lost = False
        driver = connection.connection.driver_connection
        self._file = driver if isinstance(driver, sqlite3.Connection) else None
        if self._file is not None:
            self._file.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # ATTACH and VACUUM INTO make files

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, text: str, limit_seconds: float) -> Answer | ReadingProblem:
        """The columns and the first two rows that *text* yields, sent as it is written, or why there are none.

        Raises:
            Mistake: the text itself is wrong.
        """
        try:
            return self._guard(limit_seconds) or self._answer(text, limit_seconds)
        finally:
            self._roll_back()

    def _guard(self, limit_seconds: float) -> ReadingProblem | None:
        """Begin a transaction in which a statement cannot do harm, or say why that cannot be had."""
        milliseconds = max(1, int(limit_seconds * 1000))  # 0 would mean: no limit
        try:
            for statement in guards(self._connection.dialect, milliseconds):
                self._connection.exec_driver_sql(statement)
        except Exception as error:  # noqa: BLE001 - as in Database.connect
            return connect_problem(error, self._secrets)
        return None

    def _answer(self, text: str, limit_seconds: float) -> Answer | ReadingProblem:
        try:
            with self._interrupted_after(limit_seconds):
                return self._fetch(text)
        except Mistake:
            raise
        except Exception as error:  # noqa: BLE001 - as in Database.connect
            return statement_problem(error, self._secrets, limit_seconds=limit_seconds)

    def _fetch(self, text: str) -> Answer:
        result = self._connection.exec_driver_sql(text, execution_options={"no_parameters": True})
        if not result.returns_rows:
            raise Mistake("the statement yields no rows")
        rows = tuple([tuple([self._masked(cell) for cell in row]) for row in result.fetchmany(2)])
        cursor: Any = result.cursor  # none where all rows have been fetched
        if cursor is not None and self._connection.dialect.driver == "psycopg" and cursor.nextset():
            raise Mistake("the query is more than one statement")  # SQLite refuses that, psycopg2 cannot tell
        return Answer(tuple(result.keys()), rows)

    def _masked(self, cell: Any) -> Any:
        return self._secrets.mask(cell) if isinstance(cell, str) else cell

    def _interrupted_after(self, seconds: float) -> AbstractContextManager[object]:
        return nullcontext() if self._file is None else _Interrupt(self._file, seconds)

    def _roll_back(self) -> None:
        try:
            self._connection.rollback()
        except Exception:  # noqa: BLE001 - the server ends a transaction whose connection is gone
            self.is_lost = True
        self.is_lost = self.is_lost or self._connection.invalidated


class _Interrupt:
    """Stops what SQLite is doing when the time is up: the one call that another thread may make."""

    def __init__(self, connection: sqlite3.Connection, seconds: float) -> None:
        self._timer = threading.Timer(seconds, connection.interrupt)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def guards(dialect: Dialect, milliseconds: int) -> Iterator[str]:
    """Statements that make the transaction read-only and limit the time of the one that follows."""
    if dialect.name == "postgresql":
        # for the session too, so that a COMMIT inside the text frees nothing; and as the transaction's first query,
        # after which the server lets nobody make it writable
        yield (
            "SELECT set_config('transaction_read_only', 'on', true),"
            " set_config('default_transaction_read_only', 'on', false),"
            f" set_config('statement_timeout', '{milliseconds}', false)"
        )
    elif dialect.name == "sqlite":
        yield "PRAGMA query_only = ON"
        yield f"PRAGMA busy_timeout = {milliseconds}"
    elif dialect.name in {"mysql", "mariadb"}:
        yield "SET SESSION TRANSACTION READ ONLY"
        if getattr(dialect, "is_mariadb", False):
            yield f"SET SESSION max_statement_time = {milliseconds / 1000}"
        else:
            yield f"SET SESSION max_execution_time = {milliseconds}"
