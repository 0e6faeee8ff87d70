"""Databases that are set up for a log, each test its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gatekeeper.ledger.address import Address, address_of
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.migrating import migrate
from gatekeeper.ports import Clock
from tests.doubles import StepClock
from tests.lab.postgres import Postgres


def plain(url: str) -> str:
    """SQLAlchemy's URL as libpq takes it."""
    return url.replace("postgresql+psycopg://", "postgresql://")


@dataclass
class Database:
    """One database with the tables of a log.

    Attributes:
        url: what `--log` takes; whoever logs in owns everything.
        state: where notes of a REJECT are kept.
    """

    url: str
    state: Path
    clock: StepClock = field(default_factory=StepClock)
    opened: list[PostgresLedger] = field(default_factory=list)

    @property
    def address(self) -> Address:
        """Its address."""
        return address_of(self.url)

    def ledger(self, clock: Clock | None = None, *, url: str | None = None) -> PostgresLedger:
        """A ledger over a connection of its own, closed after the test."""
        address = address_of(url or self.url)
        ledger = PostgresLedger(
            address, clock=clock or self.clock, state_directory=str(self.state), pause=lambda _seconds: None
        )
        self.opened.append(ledger)
        return ledger

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Result of one statement, by a session of its own."""
        with psycopg.connect(self.url, autocommit=True) as session:
            return session.execute(sql.encode(), parameters).fetchall()

    def execute(self, sql: str, *parameters: object) -> None:
        """One statement without a result."""
        with psycopg.connect(self.url, autocommit=True) as session:
            session.execute(sql.encode(), parameters)

    def lines(self) -> list[bytes]:
        """All lines as the table has them."""
        return [bytes(line) for (line,) in self.rows("SELECT line FROM gatekeeper.events ORDER BY seq")]


class Databases:
    """Makes databases; the tables are copied from one that was migrated once."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self._template = ""

    def fresh(self, state: Path) -> Database:
        """A database with an empty log."""
        if not self._template:
            url = plain(self.server.fresh())
            migrate(address_of(url))
            self._template = url.partition("?")[0].rpartition("/")[2]
        return Database(plain(self.server.fresh(template=self._template)), state)


@pytest.fixture(scope="session")
def databases(postgres: Postgres) -> Databases:
    """Databases of the session's server."""
    return Databases(postgres)


@pytest.fixture
def pg_log(databases: Databases, tmp_path: Path) -> Iterator[Database]:
    """A database with an empty log, of this test's own."""
    database = databases.fresh(tmp_path / "state")
    yield database
    for ledger in database.opened:
        ledger.close()
