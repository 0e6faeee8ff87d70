"""One http source, read as a collection reads it, from a server that answers as told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gatekeeper.evidence.collection import (
    Collection,
    EvaluateAt,
    HttpMetric,
    HttpSource,
    Kind,
    Limits,
    LoadedCollection,
    SourceType,
)
from gatekeeper.evidence.http.reader import HttpReader, open_reader
from gatekeeper.evidence.reading import Reading, Side
from gatekeeper.evidence.round import Round
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.workers import Deadline, Workers
from tests.lab.faults import Fault, FaultProxy

FILE = "evidence/collection.json"


def metric(pointer: str = "/rate", *, kind: Kind = Kind.NUMBER, **more: Any) -> HttpMetric:
    """A metric of the source `svc`; keywords are further fields."""
    return HttpMetric("svc", pointer, kind=kind, **more)


def round_of(
    sources: Mapping[str, Any],
    metrics: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    *,
    path: str = FILE,
    deadline: Deadline | None = None,
    **more: Any,
) -> Round:
    """What all sources of one collection share; keywords are further fields of `Round`."""
    collection = Collection(sources, metrics, None, {}, EvaluateAt(), Limits())
    loaded = LoadedCollection(collection, {}, "sha256:0", path)
    stated = {"read_standard_input": lambda: b"", **more}
    return Round(loaded, 0, deadline or Deadline(20), Workers(1), Secrets(environ or {}), **stated)


def reader(
    url: str,
    metrics: Mapping[str, HttpMetric] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    path: str = FILE,
    deadline: Deadline | None = None,
    **source: Any,
) -> HttpReader:
    """The source's reader, not yet asked; keywords are further fields of the source."""
    asked = {"rate": metric()} if metrics is None else metrics
    spec = HttpSource(SourceType.HTTP, url, **source)
    return open_reader("svc", spec, asked, round_of({"svc": spec}, asked, environ, path=path, deadline=deadline))


def read(
    url: str, metrics: Mapping[str, HttpMetric] | None = None, environ: Mapping[str, str] | None = None, **more: Any
) -> list[Reading]:
    """All that the source says."""
    one = reader(url, metrics, environ, **more)
    one.read()
    return one.readings()


def read_one(url: str, spec: HttpMetric | None = None, **more: Any) -> Reading:
    """What the source says of one metric, `rate`."""
    (reading,) = read(url, {"rate": spec or metric()}, **more)
    return reading


def answering(document: Any, **fault: Any) -> FaultProxy:
    """A server that answers every request with *document*: bytes, or what is written as JSON."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return FaultProxy(faults=[Fault(**{"status": 200, "body": body, **fault})])


def answered(document: Any, spec: HttpMetric | None = None, **more: Any) -> Reading:
    """The reading of one metric from an answer."""
    with answering(document) as server:
        return read_one(server.url, spec, **more)


def code(reading: Reading) -> str | None:
    """The problem, with its kind where there is one: `timeout` alone for the source's unavailability."""
    if reading.problem is None:
        return None
    return reading.problem.code if reading.problem.kind is None else reading.problem.kind.value


def detail(reading: Reading) -> str:
    """What the problem says to people."""
    assert reading.problem is not None
    return reading.problem.detail


def by_side(readings: list[Reading]) -> dict[Side, Reading]:
    """The readings of one metric."""
    assert len({reading.metric for reading in readings}) == 1
    return {reading.side: reading for reading in readings}
