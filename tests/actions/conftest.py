"""What the tests of actions and examples begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.migrating import migrate
from tests.actions.site import Site
from tests.lab.git_http import GitHttp
from tests.lab.postgres import Postgres

TOKEN = "token-of-this-job"
CI_PASSWORD = "open sesame & go/on"  # with what would be read wrongly in an address


@pytest.fixture
def host(tmp_path: Path) -> Iterator[GitHttp]:
    """The server of the repository; it lets in whoever has a job's token."""
    with GitHttp(tmp_path / "origin.git", TOKEN) as host:
        yield host


@pytest.fixture
def site(tmp_path: Path, host: GitHttp) -> Site:
    """A repository with our actions in it."""
    site = Site(tmp_path, host.url, TOKEN)
    site.found()
    return site


@pytest.fixture
def gate_database(guarded_postgres: Postgres) -> Iterator[str]:
    """A log in a database, as its owner reaches it. Jobs are the user `gate_ci`, who has to log in and owns nothing."""
    owner = guarded_postgres.url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(owner, autocommit=True) as session:
        session.execute("CREATE DATABASE gate")
        database = owner.replace("/postgres?", "/gate?")
        migrate(address_of(database))
        create = psycopg.sql.SQL("CREATE ROLE gate_ci LOGIN PASSWORD {} IN ROLE gatekeeper_writer")
        session.execute(create.format(CI_PASSWORD))
    yield database
    with psycopg.connect(owner, autocommit=True) as session:  # a test may have stopped the server meanwhile
        session.execute("DROP DATABASE gate WITH (FORCE)")
        session.execute("DROP ROLE gate_ci")


@pytest.fixture
def with_database(site: Site, guarded_postgres: Postgres, gate_database: str) -> Callable[[], None]:
    """Lets the site's workflows keep the log in a database, at the address that they propose."""

    def give() -> None:
        site.database = gate_database
        site.variables["GATEKEEPER_LOG"] = "postgresql://gate_ci@db.example.com/gate"
        site.secrets["GATE_DB_PASSWORD"] = CI_PASSWORD
        site.machine |= guarded_postgres.as_any_host()

    return give
