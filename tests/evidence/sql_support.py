"""Collections of one database, read as a collection reads them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg  # noqa: F401 - loaded here, so that no test's deadline passes while it is
import sqlalchemy.dialects.postgresql.psycopg
import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401 - the same

from gatekeeper.evidence.collect import Collector
from gatekeeper.evidence.collection import (
    Collection,
    Columns,
    EvaluateAt,
    Kind,
    Limits,
    LoadedCollection,
    SourceType,
    SqlMetric,
    SqlSource,
)
from gatekeeper.evidence.reading import Reading, Side
from gatekeeper.evidence.round import Round
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.sql.reader import SqlReader, open_reader
from gatekeeper.evidence.workers import Deadline, Workers
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.model.times import require_time
from tests.doubles import StepClock

FILE = "evidence/collection.json"
NOW = "2026-02-18T01:00:10.000000Z"
"""What the clock says in `collected`."""


def metric(query: str, value: str = "rate", *, kind: Kind = Kind.NUMBER, **columns: str) -> SqlMetric:
    """A metric of the source `dwh`; keywords name further columns."""
    return SqlMetric("dwh", query, Columns(value, **columns), kind)


def loaded(url: str, metrics: dict[str, SqlMetric], *, deadline: float = 20, **source: Any) -> LoadedCollection:
    """A collection file with one database, `dwh`."""
    collection = Collection(
        sources={"dwh": SqlSource(SourceType.SQL, url, **source)},
        metrics=metrics,
        window=None,
        labels={},
        evaluate_at=EvaluateAt(),
        limits=Limits(deadline_seconds=deadline, parallelism=1),
    )
    return LoadedCollection(collection, {}, "sha256:0", FILE)


def reader(
    url: str,
    metrics: dict[str, SqlMetric],
    environ: dict[str, str] | None = None,
    *,
    deadline: float = 20,
    **source: Any,
) -> SqlReader:
    """The source's reader, not yet asked."""
    file = loaded(url, metrics, deadline=deadline, **source)
    shared = Round(file, 0, Deadline(deadline), Workers(1), Secrets(environ or {}), lambda: b"")
    return open_reader("dwh", file.collection.sources["dwh"], file.collection.metrics, shared)


def read(
    url: str, metrics: dict[str, SqlMetric], environ: dict[str, str] | None = None, **limits: Any
) -> list[Reading]:
    """All that the source says."""
    one = reader(url, metrics, environ, **limits)
    one.read()
    return one.readings()


def read_one(url: str, query: str, value: str = "rate", **limits: Any) -> Reading:
    """What the source says of one metric, `rate`, without a baseline."""
    (reading,) = read(url, {"rate": metric(query, value)}, **limits)
    return reading


def collected(
    url: str, metrics: dict[str, SqlMetric], environ: dict[str, str] | None = None, **limits: Any
) -> Snapshot:
    """The snapshot of a whole collection, in threads and with its deadline."""
    return Collector(
        loaded(url, metrics, **limits),
        clock=StepClock(require_time(NOW)),
        environ=environ or {},
        read_standard_input=lambda: b"",
    ).collect()


def code(reading: Reading) -> str | None:
    """The problem, with its kind where there is one: `timeout` alone for the source's unavailability."""
    if reading.problem is None:
        return None
    return reading.problem.code if reading.problem.kind is None else reading.problem.kind.value


def by_side(readings: list[Reading]) -> dict[str, Reading]:
    """The readings of one metric."""
    assert len({reading.metric for reading in readings}) == 1
    return {"baseline" if reading.side is Side.BASELINE else "variant": reading for reading in readings}


def sqlite_file(path: Path, *statements: str) -> str:
    """URL of a SQLite file in which *statements* were carried out."""
    made = sqlite3.connect(path)
    for statement in statements:
        made.execute(statement)
    made.commit()
    made.close()
    return f"sqlite:///{path}"


def rows_of(path: Path, table: str) -> list[tuple[Any, ...]]:
    """What a table of a SQLite file holds, read by SQLite itself."""
    seen = sqlite3.connect(path)
    rows = seen.execute(f"SELECT * FROM {table}").fetchall()
    seen.close()
    return rows
