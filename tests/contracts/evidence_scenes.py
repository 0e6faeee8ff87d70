"""One source of evidence in each condition that it can be in: what `test_evidence_source` carries out.

A new source type adds a function here and a line to SCENES; where its texts can be refused, one to MISTAKES.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from gatekeeper.evidence.collection import SourceType
from gatekeeper.model.times import MICROSECONDS, format_time
from tests.lab.faults import ASKED, Fault, FaultProxy
from tests.lab.sockets import HangingServer, refused_port

DEADLINE_SECONDS = 0.3
"""Of a collection whose source hangs; the source's own limits are far longer."""

ENVIRON = {"SOURCE_KEY": "key-EXAMPLE", "SOURCE_PASSWORD": "pw-EXAMPLE"}
"""What the files below take from the environment."""

SECRETS = ("EXAMPLE", base64.b64encode(b"gate:pw-EXAMPLE").decode())
"""Parts of it, and how HTTP sends a login."""

VALUES = {"rate": 0.25, "baseline.rate": 0.2, "open": 3}
"""What every source states where all is well."""


class Condition(StrEnum):
    """What state the source is in."""

    WELL = "all-well"
    DOWN = "down"
    HANGING = "hanging"
    NONSENSE = "answers-nonsense"
    INFINITE = "answers-infinities"
    MISTAKEN = "refuses-the-text"


TROUBLES = (Condition.DOWN, Condition.HANGING, Condition.NONSENSE, Condition.INFINITE)
"""Conditions that are evidence."""


@dataclass(frozen=True)
class Setting:
    """A collection of one source, set up.

    Attributes:
        document: the collection file; `collection.json` in the folder.
        asked: metrics that are asked for, of the baseline as `baseline.<metric>`.
        watermark: time of the newest event behind every value, microseconds since 1970.
    """

    document: dict[str, Any]
    watermark: int
    asked: Sequence[str] = tuple(VALUES)
    read_standard_input: Callable[[], bytes] = field(default=lambda: b"")


Scenes = Callable[[Condition, Path], AbstractContextManager[Setting]]


@contextmanager
def prometheus(condition: Condition, folder: Path) -> Iterator[Setting]:  # noqa: ARG001 - as `Scenes`
    """A server with the query API."""
    watermark = _newest_event()
    answers = [
        Fault("timestamp(", status=200, body=_vector(f"{watermark / MICROSECONDS:.6f}")),
        Fault("count_over_time", status=200, body=_vector("4")),
        Fault('track="stable"', status=200, body=_vector("0.2")),
        Fault("requests_total", status=200, body=_vector("0.25")),
        Fault("open_orders", status=200, body=_vector("3")),
    ]
    if condition is Condition.INFINITE:
        answers[2:] = [
            Fault('track="stable"', status=200, body=_vector("-Inf")),
            Fault(status=200, body=_vector("+Inf")),
        ]
    if condition is Condition.MISTAKEN:
        said = {"status": "error", "errorType": "bad_data", "error": "parse error near key-EXAMPLE"}
        answers = [Fault(status=400, body=json.dumps(said).encode())]
    with _server(condition, answers) as port:
        metrics = {
            "rate": {"source": "it", "query": "sum(rate(requests_total[1m]))"},
            "open": {"source": "it", "query": "sum(open_orders)", "bind": False, "kind": "count"},
        }
        source = {"type": "prometheus", **_address(port)}
        labels = {"track": {"variant": "canary", "baseline": "stable"}}
        yield Setting(_document(condition, source, metrics, labels=labels), watermark)


@contextmanager
def http(condition: Condition, folder: Path) -> Iterator[Setting]:  # noqa: ARG001 - as `Scenes`
    """An endpoint with one JSON document."""
    watermark = _newest_event()
    said: dict[str, Any] = {"rate": 0.25, "was": 0.2, "open": 3, "as_of": format_time(watermark)}
    if condition is Condition.INFINITE:
        said = {**said, "rate": float("inf"), "was": float("-inf"), "open": float("nan")}
    answer = Fault(status=200, body=json.dumps(said).encode())
    if condition is Condition.MISTAKEN:
        answer = Fault(status=400, body=b"what is key-EXAMPLE?")
    with _server(condition, [answer]) as port:
        metrics = {
            "rate": {"source": "it", "pointer": "/rate", "baseline_pointer": "/was", "watermark_pointer": "/as_of"},
            "open": {"source": "it", "pointer": "/open", "watermark_pointer": "/as_of", "kind": "count"},
        }
        yield Setting(_document(condition, {"type": "http", **_address(port)}, metrics), watermark)


@contextmanager
def sqlite(condition: Condition, folder: Path) -> Iterator[Setting]:
    """A SQLite file; the path is the secret."""
    watermark = _newest_event()
    row: tuple[Any, ...] = (0.25, 0.2, 3)
    if condition is Condition.NONSENSE:
        row = ("no key-EXAMPLE", "no key-EXAMPLE", "no key-EXAMPLE")
    if condition is Condition.INFINITE:
        row = (float("inf"), float("-inf"), float("inf"))
    path = folder / "key-EXAMPLE.db"
    with ExitStack() as stack:
        if condition is not Condition.DOWN:
            owner = sqlite3.connect(path, isolation_level=None)
            stack.callback(owner.close)
            owner.execute("CREATE TABLE facts (rate, was, open, until REAL)")
            owner.execute("INSERT INTO facts VALUES (?, ?, ?, ?)", (*row, watermark / MICROSECONDS))
            if condition is Condition.HANGING:
                owner.execute("BEGIN EXCLUSIVE")
        wrong = ', "key-EXAMPLE".none' if condition is Condition.MISTAKEN else ""
        query = f"SELECT rate, was, open, until{wrong} FROM facts"
        metrics = {
            "rate": {
                "source": "it",
                "query": query,
                "columns": {"value": "rate", "baseline": "was", "watermark": "until"},
            },
            "open": {"source": "it", "query": query, "columns": {"value": "open", "watermark": "until"}},
        }
        source = {"type": "sql", "url": f"sqlite:///{folder}/${{SOURCE_KEY}}.db", "timeout_seconds": 60}
        yield Setting(_document(condition, source, metrics), watermark)


@contextmanager
def file(condition: Condition, folder: Path) -> Iterator[Setting]:
    """A part; what hangs is a named pipe that nobody writes to."""
    watermark, path = _newest_event(), folder / "part.json"
    if condition is Condition.HANGING:
        os.mkfifo(path)
    elif condition is not Condition.DOWN:
        path.write_bytes(_part(condition, watermark))
    yield Setting(_document(condition, {"type": "file", "path": "part.json"}, _of_part()), watermark, _told(condition))
    if condition is Condition.HANGING:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))  # whoever still waits reads the end


@contextmanager
def standard_input(condition: Condition, folder: Path) -> Iterator[Setting]:  # noqa: ARG001 - as `Scenes`
    """A part in a pipe; what hangs is one whose other end stays open."""
    watermark = _newest_event()
    ours, theirs = os.pipe()
    with ExitStack() as stack:
        if condition is Condition.HANGING:
            stack.callback(os.close, theirs)
        else:
            os.write(theirs, _part(condition, watermark))
            os.close(theirs)
        if condition is Condition.DOWN:
            os.close(ours)

        def read() -> bytes:
            with open(ours, "rb") as pipe:
                return pipe.read()

        document = _document(condition, {"type": "file", "path": "-"}, _of_part())
        yield Setting(document, watermark, _told(condition), read)


SCENES: dict[SourceType, tuple[Scenes, ...]] = {
    SourceType.PROMETHEUS: (prometheus,),
    SourceType.HTTP: (http,),
    SourceType.SQL: (sqlite,),
    SourceType.FILE: (file, standard_input),
}

MISTAKES: tuple[Scenes, ...] = (prometheus, http, sqlite)
"""Sources that can refuse what the file says."""


def _newest_event() -> int:
    """A few seconds ago, in whole milliseconds: what every source can state."""
    return (time.time_ns() // 1_000_000 - 5_000) * 1000


@contextmanager
def _server(condition: Condition, answers: Sequence[Fault]) -> Iterator[int]:
    """The port of a server that is in this condition."""
    if condition is Condition.DOWN:
        yield refused_port()
    elif condition is Condition.HANGING:
        with HangingServer() as silent:
            yield silent.port
    else:
        login = base64.b64encode(b"gate:pw-EXAMPLE").decode()
        page = f"<html>Who is key-EXAMPLE, or {login}?</html>".encode()
        nonsense = [Fault(status=200, body=page)]
        with FaultProxy(faults=nonsense if condition is Condition.NONSENSE else answers) as server:
            yield server.port


def _address(port: int) -> dict[str, Any]:
    return {
        "url": f"http://gate:${{SOURCE_PASSWORD}}@127.0.0.1:{port}",
        "headers": {"X-Api-Key": "${SOURCE_KEY}"},
        "connect_timeout_seconds": 60,
        "timeout_seconds": 60,
    }


def _document(condition: Condition, source: dict[str, Any], metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    seconds = DEADLINE_SECONDS if condition is Condition.HANGING else 30
    return {"sources": {"it": source}, "metrics": metrics, "limits": {"deadline_seconds": seconds}, **more}


def _vector(value: str) -> bytes:
    result = [{"metric": {}, "value": [ASKED, value]}]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def _of_part() -> dict[str, Any]:
    return {"rate": {"source": "it"}, "open": {"source": "it"}}


def _part(condition: Condition, watermark: int) -> bytes:
    if condition is Condition.NONSENSE:
        return b"<html>"
    meta = {"collected_at": format_time(watermark), "watermark_event_time": format_time(watermark)}
    document: dict[str, Any] = {
        "metrics": {"rate": 0.25, "open": 3},
        "baseline": {"metrics": {"rate": 0.2}, "_meta": meta},
        "_meta": meta,
    }
    if condition is Condition.INFINITE:
        document["metrics"] = {"rate": float("inf"), "open": float("nan")}
        document["baseline"]["metrics"] = {"rate": float("-inf")}
    return json.dumps(document).encode()


def _told(condition: Condition) -> Sequence[str]:
    """A part alone says whether it has a baseline; one that cannot be read has none."""
    return tuple(VALUES) if condition in {Condition.WELL, Condition.INFINITE} else ("rate", "open")
