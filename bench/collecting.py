"""Collections from a real Prometheus, with and without delay, and from a server that drips a byte at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import questions
from environments import GATE, HERE, ROOT, program
from evidence import write_json, zulu
from timing import FailedError, timed

sys.path.append(ROOT)  # the tests' servers
from tests.lab.faults import Fault, FaultProxy
from tests.lab.series import T0
from tests.lab.servers import Lab

DELAY_SECONDS = 0.05
DEADLINE_SECONDS = 2
_DRIP = Fault(
    status=200,
    body=b'{"status":"success","data":{"resultType":"scalar","result":[1767225600,"1.5"]}}' + b" " * 400,
    drip_seconds=0.02,  # ten seconds in all
)


def measure(directory: str, *, late: int, loopback: int) -> dict[str, Any]:
    """Seconds of so many rounds: "late" and "loopback" -> "ours" and "peer" -> one value a round; "texts" asked."""
    os.makedirs(directory, exist_ok=True)
    with Lab("healthy", end=T0) as lab:
        with FaultProxy(lab.url) as proxy:
            texts = texts_asked(directory, proxy, count=questions.MANY)
        with FaultProxy(lab.url, [Fault(delay=DELAY_SECONDS)]) as proxy:
            slow = _rounds(directory, proxy.url, texts, late)
        return {"texts": texts, "late": slow, "loopback": _rounds(directory, lab.url, texts, loopback)}


def texts_asked(directory: str, proxy: FaultProxy, *, count: int, at: datetime | None = None) -> list[str]:
    """The queries by which a whole `gatekeeper collect` takes so many metrics, in the order in which they were sent."""
    path = collection_file(directory, proxy.url, count=count)
    observations(collected(path, datetime.fromtimestamp(T0, UTC) if at is None else at))
    texts = [request["params"]["query"] for request in proxy.requests]
    if len(set(texts)) != len(texts):
        raise FailedError("a text was asked twice")
    return texts


def drip(directory: str, *, count: int) -> list[float]:
    """Seconds from spawn to exit of `gatekeeper collect` with a deadline of `DEADLINE_SECONDS`, each time."""
    os.makedirs(directory, exist_ok=True)
    with FaultProxy(faults=[_DRIP]) as proxy:
        path = collection_file(directory, proxy.url, count=questions.MANY, deadline_seconds=DEADLINE_SECONDS)
        kinds = {json.dumps(one["problem"].get("kind")) for one in observations(collected(path), sound=False)}
        if kinds != {'"timeout"'}:
            raise FailedError(f"the dripping server was recorded as {', '.join(sorted(kinds))}")
        command = [program(GATE, "gatekeeper"), "collect", path]
        output = os.path.join(directory, "output.txt")
        return [timed(command, directory=directory, output=output) for _ in range(count)]


def collection_file(directory: str, url: str, *, count: int, **limits: float) -> str:
    """Path of a collection file that asks the server at *url* for so many metrics."""
    path = os.path.join(directory, "collection.json")
    write_json(path, questions.collection(url, count=count, **limits))
    return path


def collected(path: str, at: datetime | None = None) -> Any:
    """The snapshot that a whole `gatekeeper collect` prints."""
    command = [program(GATE, "gatekeeper"), "collect", path]
    done = subprocess.run(
        [*command, "--at", zulu(at)] if at else command, capture_output=True, text=True, env=_environment(), check=False
    )
    if done.returncode:
        raise FailedError(done.stderr)
    return json.loads(done.stdout)


def observations(snapshot: Any, *, sound: bool = True) -> list[dict[str, Any]]:
    """All observations of both sides, which must be *sound* or all have a problem."""
    found = [one for part in (snapshot, snapshot["baseline"]) for one in part["observations"].values()]
    for one in found:
        if (one["problem"] is None) is not sound:
            raise FailedError(f"unexpected: {json.dumps(one)}")
    return found


@contextmanager
def present_lab() -> Iterator[Lab]:
    """A server that seems to be scraped: its data reach half an hour ahead, a query sees what is before its time."""
    with Lab("healthy", end=datetime.now(UTC).timestamp() + 1800) as lab:
        yield lab


def _rounds(directory: str, url: str, texts: list[str], rounds: int) -> dict[str, list[float]]:
    path, texts_path = collection_file(directory, url, count=questions.MANY), os.path.join(directory, "texts.json")
    write_json(texts_path, texts)
    worker = [program(GATE, "python"), os.path.join(HERE, "collect_worker.py"), path, texts_path, url]
    done = subprocess.run(
        [*worker, str(int(T0)), str(rounds)], stdout=subprocess.PIPE, text=True, env=_environment(), check=False
    )
    if done.returncode:
        raise FailedError(f"collect_worker.py ended with {done.returncode}")
    seconds: dict[str, list[float]] = json.loads(done.stdout)
    return seconds


def _environment() -> dict[str, str]:
    """Without proxies: the peer would ask them."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
