"""A real PostgreSQL that refuses, is locked, or goes away: a hold, in time, and nothing goes on running."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from tests.evidence.sql_support import code, collected, metric, read, read_one, reader
from tests.lab.postgres import Postgres

pytestmark = pytest.mark.server

PASSWORD = "pw/S3cr@t ü"
RUNNING = "FROM pg_stat_activity WHERE state = 'active' AND strpos(query, %s) > 0 AND pid <> pg_backend_pid()"
"""Sessions that carry out a statement with a certain text in it, but for the one that asks."""


def admin(database: str) -> psycopg.Connection[tuple[object, ...]]:
    """A session of the superuser, beside ours."""
    return psycopg.connect(database.replace("+psycopg", ""), autocommit=True)


def wait_until(is_so: Callable[[], bool], seconds: float) -> None:
    """Ask until it is so."""
    limit = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < limit


@pytest.fixture
def sales(database: str) -> str:
    """URL of a database with a table of one row."""
    with admin(database) as session:
        session.execute("CREATE TABLE sales AS SELECT 0.132::float8 AS rate")
    return database


@pytest.fixture
def role(sales: str) -> Iterator[str]:
    """URL of the same database for a role that may see nothing in it."""
    name = "reader_of_" + str(make_url(sales).database)
    with admin(sales) as session:
        session.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
        yield sales.replace("postgres@", f"{name}@")
        session.execute(f"DROP ROLE {name}")


def test_a_locked_table_holds_at_the_limit(sales: str) -> None:
    """The server ends the statement; after our answer nothing of it runs there, and the next one is asked."""
    metrics = {"a": metric("SELECT rate FROM sales"), "b": metric("SELECT 2 AS rate")}
    with admin(sales) as writer, admin(sales) as watcher:
        with writer.transaction():
            writer.execute("LOCK TABLE sales IN ACCESS EXCLUSIVE MODE")
            started = time.monotonic()
            a, b = read(sales, metrics, timeout_seconds=0.3)
            assert 0.3 <= time.monotonic() - started < 2
            waiting = watcher.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
        assert waiting == (0,)
        assert (code(a), a.value) == ("timeout", None)
        assert a.problem is not None
        assert a.problem.detail == "no answer within 0.3 s: canceling statement due to statement timeout"
        assert (b.value, b.problem) == (2, None)
        assert read_one(sales, "SELECT rate FROM sales").value == 0.132


def test_a_source_has_one_connection_and_leaves_none_open(sales: str) -> None:
    """Warehouses count them; what is asked for each metric goes over the same one."""
    seen = "SELECT count(*) AS rate FROM pg_stat_activity WHERE datname = current_database()"
    metrics = {str(number): metric(f"{seen} AND {number} = {number}") for number in range(3)}
    with admin(sales) as watcher:
        assert [one.value for one in read(sales, metrics)] == [2, 2, 2]
        wait_until(lambda: watcher.execute(seen).fetchone() == (1,), 5)


def test_no_statement_runs_on_after_the_deadline(sales: str) -> None:
    """Its limit is what is left of the deadline, though the source would allow it a minute."""
    mark = "SELECT 1 AS rate, pg_sleep(30) AS never_ending"
    started = time.monotonic()
    with admin(sales) as watcher:
        snapshot = collected(sales, {"a": metric(mark)}, timeout_seconds=60, deadline=0.5)
        assert 0.4 <= time.monotonic() - started < 1.5
        assert snapshot.document["observations"]["a"]["problem"]["kind"] == "timeout"
        running = f"SELECT count(*) {RUNNING}"
        wait_until(lambda: watcher.execute(running, ["never_ending"]).fetchone() == (0,), 1)


def test_a_limit_below_a_millisecond_is_not_none_at_all(database: str) -> None:
    """`statement_timeout = 0` would switch it off."""
    assert code(read_one(database, "SELECT 1 AS rate, pg_sleep(5)", timeout_seconds=0.0001)) == "timeout"


def test_a_connection_that_is_cut_holds_all_that_is_left(sales: str) -> None:
    """It is not opened again: a new one would be without the guards of the old one."""
    metrics = {
        "a": metric("SELECT rate FROM sales"),
        "b": metric("SELECT 1 AS rate, pg_sleep(30) AS to_be_cut"),
        "c": metric("SELECT 3 AS rate"),
    }
    one = reader(sales, metrics)
    asking = threading.Thread(target=one.read)
    asking.start()
    cut = f"SELECT count(pg_terminate_backend(pid)) {RUNNING}"
    with admin(sales) as killer:
        wait_until(lambda: killer.execute(cut, ["to_be_cut"]).fetchone() == (1,), 10)
    asking.join(10)
    assert not asking.is_alive()
    a, b, c = one.readings()
    assert (a.value, a.problem) == (0.132, None)
    assert code(b) == "unreachable"
    assert c.problem == b.problem


def test_a_table_that_the_role_may_not_read_is_unauthorized(role: str) -> None:
    """A hold until somebody grants it, though PostgreSQL counts it among the mistakes (class 42)."""
    reading = read_one(role, "SELECT rate FROM sales")
    assert code(reading) == "unauthorized"
    assert reading.problem is not None
    assert reading.problem.detail == "permission denied for table sales"


def test_a_role_that_does_not_exist_is_unauthorized(sales: str) -> None:
    """So is one that may not log in."""
    assert code(read_one(sales.replace("postgres@", "stranger@"), "SELECT 1 AS rate")) == "unauthorized"


def test_a_database_that_does_not_exist_is_a_bad_endpoint(postgres: Postgres) -> None:
    """The server is there, and not what we take it for."""
    url = make_url(postgres.url).set(database="nosuch").render_as_string(hide_password=False)
    assert code(read_one(url, "SELECT 1 AS rate")) == "bad_endpoint"


def test_a_server_without_room_is_overloaded(role: str) -> None:
    """Its connections are all taken."""
    with admin(role.replace(str(make_url(role).username), "postgres")) as session:
        session.execute(f"ALTER ROLE {make_url(role).username} CONNECTION LIMIT 0")
    assert code(read_one(role, "SELECT 1 AS rate")) == "overloaded"


@pytest.fixture
def asks_for_passwords(postgres: Postgres, role: str) -> Iterator[str]:
    """URL of the role whose password the server wants to have."""
    rules = Path(postgres.home / "data" / "pg_hba.conf")
    before = rules.read_text(encoding="utf-8")
    with admin(postgres.url) as session:
        rules.write_text(f"local all {make_url(role).username} scram-sha-256\n{before}", encoding="utf-8")
        session.execute("SELECT pg_reload_conf()")
        yield role
        rules.write_text(before, encoding="utf-8")
        session.execute("SELECT pg_reload_conf()")


def test_a_password_opens_and_is_told_nobody(asks_for_passwords: str) -> None:
    """Right, wrong and absent; taken from the environment, with characters that a URL must encode."""
    url = make_url(asks_for_passwords)
    encoded = url.set(password=PASSWORD).render_as_string(hide_password=False)
    metrics = {"a": metric("SELECT 1 AS rate")}
    (right,) = read("${DWH}", metrics, {"DWH": encoded})
    assert (right.value, right.problem) == (1, None)
    wrong_url = url.set(password=PASSWORD + "x").render_as_string(hide_password=False)
    (wrong,) = read("${DWH}", metrics, {"DWH": wrong_url})
    (absent,) = read(asks_for_passwords, metrics)
    assert [code(wrong), code(absent)] == ["unauthorized", "unauthorized"]
    for reading in (right, wrong, absent):
        assert "S3cr" not in repr(reading)
        assert reading.record["endpoint"] == f"postgresql+psycopg:///{url.database}"
