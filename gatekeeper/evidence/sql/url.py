"""From the URL of a SQL source to a database that can be connected to: expanded, masked, its driver found."""

from __future__ import annotations

import logging
import os
from math import ceil
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy import create_engine, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError
from sqlalchemy.pool import NullPool

from gatekeeper.errors import CollectionError, UsageError
from gatekeeper.evidence.secrets import names_variable
from gatekeeper.evidence.sql.session import Database
from gatekeeper.model.document import escape_pointer

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from gatekeeper.evidence.collection import SqlSource
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.secrets import Secrets

for _name in ("sqlalchemy", "psycopg"):  # without any handler, Python prints their warnings as they are
    logging.getLogger(_name).addHandler(logging.NullHandler())

_PACKAGES = {
    "psycopg": "psycopg[binary]",
    "psycopg2": "psycopg2-binary",
    "mysqldb": "mysqlclient",
    "pymysql": "PyMySQL",
    "mysqlconnector": "mysql-connector-python",
    "mariadbconnector": "mariadb",
}
"""SQLAlchemy's name of a driver -> the package that brings it, where the two differ."""

_CONNECT_TIMEOUT = {
    "psycopg": "connect_timeout",
    "psycopg2": "connect_timeout",
    "mysqldb": "connect_timeout",
    "pymysql": "connect_timeout",
    "mariadbconnector": "connect_timeout",
    "mysqlconnector": "connection_timeout",
}
"""Driver -> its argument for how long connecting may take: whole seconds, and PostgreSQL's take 1 for 2."""

_NO_SECRETS = frozenset({"application_name", "charset", "driver", "host", "mode", "port", "sslmode", "uri"})
"""Parameters of a URL whose values messages are about."""

_FORM = "write DIALECT+DRIVER://USER:PASSWORD@HOST/DATABASE, special characters in user and password %-encoded"


def open_database(name: str, source: SqlSource, shared: Round) -> Database:
    """The database of source *name*, not connected yet; raises what `sql.open_reader` raises."""
    where = f"/sources/{escape_pointer(name)}/url"
    url = _url(source.url, where, shared.secrets)
    seconds = min(source.connect_timeout_seconds, shared.deadline.left_seconds)
    engine = _engine(url, source.url, where, max(1, ceil(seconds)))
    endpoint = URL.create(url.drivername, host=url.host, port=url.port, database=url.database)
    return Database(engine, shared.secrets.mask(endpoint.render_as_string()), shared.secrets)


def _url(written: str, where: str, secrets: Secrets) -> URL:
    """The expanded URL, its secrets hidden. No message quotes it: a parser's own would, or half a password."""
    expanded = secrets.expand(written, where=where, is_address=True)
    try:
        url = make_url(expanded)
    except Exception:  # noqa: BLE001 - ArgumentError, ValueError for a port, and whatever else a text provokes
        raise _no_url(written, where, "not a URL as SQLAlchemy reads them") from None
    secrets.hide_login(url.username or "", url.password or "")
    for key, value in url.query.items():
        if key.lower() not in _NO_SECRETS:
            secrets.hide(*([value] if isinstance(value, str) else value))
    if url.get_backend_name() != "sqlite" and "@" in f"{url.host}{url.database}":
        raise _no_url(written, where, "a URL with more than one @")  # half a password would be taken for the host
    return url


def _engine(url: URL, written: str, where: str, connect_seconds: int) -> Engine:
    backend, driver = url.get_backend_name(), url.drivername.partition("+")[2]
    try:
        driver = url.get_driver_name()
        arguments = {_CONNECT_TIMEOUT[driver]: connect_seconds} if driver in _CONNECT_TIMEOUT else {}
        # no reset on return: a session has rolled back by itself, and the pool would log where that fails
        engine = create_engine(
            _read_only(url, driver), poolclass=NullPool, pool_reset_on_return=None, connect_args=arguments
        )
    except NoSuchModuleError:
        raise UsageError(
            f"{where}: SQLAlchemy knows no {url.drivername}",
            remedy="write postgresql://…"
            if backend == "postgres"
            else "install the package that brings this dialect, or correct the beginning of the URL",
        ) from None
    except ImportError:
        raise UsageError(
            f"{where}: {url.drivername} needs the driver {driver}, which is not installed",
            remedy=f"python -m pip install '{_PACKAGES.get(driver, driver)}', or name another one: {backend}+DRIVER://…",
        ) from None
    except Exception:  # noqa: BLE001 - as in _url
        raise _no_url(written, where, f"not a URL of {backend}") from None
    if engine.dialect.is_async:
        raise _no_url(written, where, f"a URL with the driver {driver}, which is asynchronous")
    return engine


def _read_only(url: URL, driver: str) -> URL:
    """A SQLite file by its URI with `mode=ro`: else SQLite makes a file that does not exist, and says nothing."""
    if driver != "pysqlite" or url.database in {None, "", ":memory:"}:
        return url
    database = str(url.database)
    if not (database.startswith("file:") and "uri" in url.query):
        database = "file:" + quote(os.path.abspath(database))
    return url.set(database=database, query={**url.query, "mode": "ro", "uri": "true"})


def _no_url(written: str, where: str, what: str) -> UsageError | CollectionError:
    """The mistake stands in the environment where the file names a variable, else in the file."""
    if names_variable(written):
        return UsageError(f"{where}: with the environment variables filled in, this is {what}", remedy=_FORM)
    return CollectionError(f"{where}: {what}", remedy=_FORM)
