"""The URL of a database: what is wrong with it is told without it, and what is missing by the name of its package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gatekeeper.errors import CollectionError, GatekeeperError, UsageError
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.sql.url import _url
from tests.evidence.sql_support import code, metric, read, reader, sqlite_file

METRICS = {"a": metric("SELECT 1 AS rate")}


def refused(url: str, environ: dict[str, str] | None = None) -> GatekeeperError:
    """What opening a reader raises."""
    with pytest.raises(GatekeeperError) as caught:
        reader(url, METRICS, environ)
    return caught.value


@pytest.mark.parametrize(
    "url",
    [
        "Hush5555",
        "postgresql://ci:Hush5555@host:port/dwh",
        "postgresql://ci:Hush@5555@host/dwh",
        "postgresql://ci:Hush@55/55@host/dwh",
        "sqlite://ci:Hush5555@host/dwh",
        "postgresql+psycopg_async://ci:Hush5555@host/dwh",
    ],
)
def test_a_url_that_is_none_is_not_quoted(url: str) -> None:
    """A mistake of the file where it stands there, of the environment where it comes from there."""
    literal, expanded = refused(url), refused("${DWH}", {"DWH": url})
    assert (type(literal), literal.exit_code) == (CollectionError, 65)
    assert (type(expanded), expanded.exit_code) == (UsageError, 64)
    for error in (literal, expanded):
        assert error.message.startswith("/sources/dwh/url: ")
        assert error.remedy.startswith("write DIALECT+DRIVER://")
        for part in ("Hush", "5555", "host"):
            assert part not in error.message + error.remedy + repr(error)
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__


def test_an_unset_variable_is_named() -> None:
    """As for every other source."""
    error = refused("postgresql://ci:${DWH_PASSWORD}@host/dwh")
    assert error.exit_code == 64
    assert error.message == "/sources/dwh/url: the environment variable DWH_PASSWORD is not set"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain installation has no SQLAlchemy; an old one will not do either."""
    monkeypatch.delitem(sys.modules, "gatekeeper.evidence.sql.url")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    error = refused("sqlite:///w.db")
    assert (type(error), error.exit_code) == (UsageError, 64)
    assert error.message == "/sources/dwh: a source of type sql needs SQLAlchemy 2.0 or later"
    assert error.remedy == "python -m pip install 'sqlalchemy>=2.0.20'"


@pytest.mark.parametrize(
    ("url", "module", "driver", "package"),
    [
        ("postgresql+psycopg", "psycopg", "psycopg", "psycopg[binary]"),
        ("postgresql+psycopg2", "psycopg2", "psycopg2", "psycopg2-binary"),
        ("mysql+pymysql", "pymysql", "pymysql", "PyMySQL"),
        ("mysql", "MySQLdb", "mysqldb", "mysqlclient"),
        ("postgresql+pg8000", "pg8000", "pg8000", "pg8000"),
    ],
)
def test_a_missing_driver_is_named(
    monkeypatch: pytest.MonkeyPatch, url: str, module: str, driver: str, package: str
) -> None:
    """By the package that brings it, which is not always called like it."""
    monkeypatch.setitem(sys.modules, module, None)
    error = refused(f"{url}://ci:Hush5555@host/dwh")
    assert (type(error), error.exit_code) == (UsageError, 64)
    assert error.message == f"/sources/dwh/url: {url} needs the driver {driver}, which is not installed"
    assert error.remedy.startswith(f"python -m pip install '{package}', or ")


@pytest.mark.parametrize(
    ("beginning", "remedy"),
    [
        ("postgres", "write postgresql://…"),
        ("snowfall", "install the package that brings this dialect, or correct the beginning of the URL"),
        ("postgresql+psycopg9", "install the package that brings this dialect, or correct the beginning of the URL"),
    ],
)
def test_a_dialect_that_nobody_knows_is_named(beginning: str, remedy: str) -> None:
    """`postgres://` is what many services hand out."""
    error = refused(f"{beginning}://ci:Hush5555@host/dwh")
    assert (type(error), error.message, error.remedy) == (
        UsageError,
        f"/sources/dwh/url: SQLAlchemy knows no {beginning}",
        remedy,
    )


def test_secrets_of_a_url_are_masked_wherever_they_turn_up() -> None:
    """The password in all forms in which it travels, and the values of parameters; not what messages are about."""
    secrets = Secrets({"PW": "p%40ss%2Fword"})
    _url("postgresql://ci:${PW}@host/dwh?sslpassword=Hush5555&sslmode=require&host=/run/db", "/u", secrets)
    said = secrets.mask("p@ss/word p%40ss%2Fword Hush5555 sslmode require /run/db")
    assert said == "*** *** *** sslmode require /run/db"


def test_what_the_database_says_is_masked(tmp_path: Path) -> None:
    """A cell may hold anything, and an error quotes the data that it is about."""
    url = sqlite_file(tmp_path / "w.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES ('the Hush5555 key')")
    metrics = {
        "a": metric("SELECT x AS rate, x AS s FROM t", sequential_test_state="s", ci_low="rate"),
        "b": metric("SELECT json(x) AS rate FROM t"),
    }
    readings = read(url + "?token=Hush5555&uri=true", metrics)
    assert "Hush5555" not in repr(readings)
    assert readings[0].value_text == "the *** key"
    assert readings[0].statistics == {"ci_low": "the *** key", "sequential_test_state": "the *** key"}


def test_the_endpoint_is_the_url_without_login_and_parameters(tmp_path: Path) -> None:
    """It tells who was asked, to everybody who reads the log."""
    one = reader("postgresql+psycopg://${U}:${P}@db.internal:5433/dwh?sslpassword=x", METRICS, {"U": "ci", "P": "Hush"})
    assert [reading.record["endpoint"] for reading in one.readings()] == ["postgresql+psycopg://db.internal:5433/dwh"]
    file = sqlite_file(tmp_path / "w.db")
    (read_there,) = read(file + "?mode=rwc", METRICS)
    assert (read_there.record["endpoint"], code(read_there)) == (file, None)


def test_nothing_is_loaded_before_a_database_is_named() -> None:
    """Nor is anything printed by the loggers of the libraries where the program has no handler."""
    program = """
import json, logging, sys
import gatekeeper.evidence.sql.reader
before = "sqlalchemy" in sys.modules
import gatekeeper.evidence.sql.url
for name in ("sqlalchemy", "sqlalchemy.pool.impl.NullPool", "psycopg", "psycopg.pool"):
    logging.getLogger(name).error("Hush5555")
print(json.dumps([before, "sqlalchemy" in sys.modules, "psycopg" in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, True, False]
    assert done.stderr == ""
