"""What a reviewer should know of the sources of a collection file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import HttpSource, PrometheusSource, SqlSource
from gatekeeper.evidence.lint.remarks import source_pointer
from gatekeeper.evidence.secrets import is_credential_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.evidence.collection import Collection

READ_ONLY_DIALECTS = ("postgresql", "sqlite", "mysql", "mariadb")
"""Databases on which a read-only transaction is enforced by the server."""

_CLEAR = re.compile(r"http://(?P<user>[^/?#]*@)?(?P<host>[^/?#:@\[]+|\[[^\]]*\])", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|\[::1\]", re.IGNORECASE)


def source_remarks(collection: Collection) -> Iterator[Problem]:
    """Every remark about a source that needs neither policy nor query."""
    for name, source in collection.sources.items():
        if not collection.metrics_of(name):
            message = f"no metric names the source {name}: nobody asks it"
            yield Problem("collection.source_unused", source_pointer(name), message, "leave it out, or add its metrics")
        if isinstance(source, SqlSource):
            yield from _database(name, source)
        elif isinstance(source, (PrometheusSource, HttpSource)):
            yield from _in_clear(name, source)


def _database(name: str, source: SqlSource) -> Iterator[Problem]:
    if source.url.startswith("${"):
        return
    dialect = source.url.partition(":")[0].partition("+")[0].lower()
    if dialect not in READ_ONLY_DIALECTS:
        message = f"gatekeeper cannot make {dialect} refuse writes or stop a statement in time"
        remedy = "use a database user that may only read, with a statement time limit of its own"
        yield Problem("collection.sql_not_read_only", source_pointer(name, "url"), message, remedy)


def _in_clear(name: str, source: PrometheusSource | HttpSource) -> Iterator[Problem]:
    address = _CLEAR.match(source.url)
    if address is None or _LOOPBACK.fullmatch(address["host"]):
        return
    header = next((header for header in source.headers if is_credential_header(header)), None)
    if header is not None or address["user"]:
        what = "user and password" if header is None else f"the header {header}"
        message = f"{what} goes to {name} over http:// where everybody on the way can read it"
        remedy = "use https://, with ca_file where the certificate is your own"
        yield Problem("collection.credentials_in_clear", source_pointer(name, "url"), message, remedy)
