"""A provider for the hand-out's cases: a stand-in socket that answers each query as a case says, else as in S0."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tests.e2e.desk import FIXED, RUN, Desk, Done
from tests.e2e.documents import Document
from tests.lab.faults import ASKED, Fault, FaultProxy

S0: Mapping[str, str] = {
    "error_rate": "0.004",
    "latency_p99_ms": "310",
    "data_loss_events": "0",
    "kill_switch": "0",
}
L0: Mapping[str, str] = {"error_rate": "0.003", "latency_p99_ms": "300"}


def vector(*values: str, **beside: Any) -> bytes:
    """An answer with these values, each of a series of its own; *beside* stands next to `data`."""
    result = [
        {"metric": {"pod": "ab"[i]} if len(values) > 1 else {}, "value": [ASKED, v]} for i, v in enumerate(values)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}, **beside}).encode()


def answers(*special: Fault, age_seconds: float = 30) -> list[Fault]:
    """What the provider answers: *special* first, then watermarks of that age, then S0 and L0."""
    usual = [Fault("timestamp(", status=200, body=vector(f"{time.time() - age_seconds:.3f}"))]
    for side, values in (("stable", L0), ("canary", S0)):
        usual += [Fault(f'app_{name}{{track="{side}"', status=200, body=vector(text)) for name, text in values.items()]
    usual += [Fault(f"app_{name}", status=200, body=vector(text)) for name, text in S0.items()]
    return [*special, *usual]


def provider(*special: Fault, age_seconds: float = 30) -> FaultProxy:
    """The stand-in; a context manager."""
    return FaultProxy(faults=answers(*special, age_seconds=age_seconds))


def collection(**changes: Any) -> Document:
    """The collection file that feeds P0, from the server that PROM names."""
    return {
        "sources": {"prometheus": {"type": "prometheus", "url": "${PROM}"}},
        "window": "5m",
        "labels": {"track": {"variant": "canary", "baseline": "stable"}},
        "limits": {"deadline_seconds": 10},
        "metrics": {
            "error_rate": {"source": "prometheus", "query": "sum(app_error_rate)"},
            "latency_p99_ms": {"source": "prometheus", "query": "max(app_latency_p99_ms)"},
            "data_loss_events": {"source": "prometheus", "query": "sum(app_data_loss_events)", "bind": False},
            "kill_switch": {
                "source": "prometheus",
                "query": "max(app_kill_switch)",
                "bind": False,
                "kind": "boolean",
            },
        },
        **changes,
    }


def collecting(desk: Desk, url: str, *more: str, document: Document | None = None, **env: str | None) -> Done:
    """`check --collect` of the run's next stage, CANARY_25 once it is at CANARY_10."""
    desk.write("collection.json", collection() if document is None else document)
    argv = ["check", "--policy", "policy.json", *FIXED, "--run-id", RUN, "--collect", "collection.json", "-o", "json"]
    return desk.gate(*argv, *more, **{"PROM": url, **env})


def observation(done: Done, metric: str) -> Document:
    """What the log holds of how a metric was collected."""
    found: Document = done.document["metrics_snapshot"]["observations"][metric]
    return found


def texts_of(done: Done, desk: Desk) -> Iterable[tuple[str, bytes]]:
    """Everything that a call left behind: its output, and every file of the working directory."""
    yield "stdout", done.out
    yield "stderr", done.err.encode()
    for path in desk.place.rglob("*"):
        if path.is_file():
            yield path.name, path.read_bytes()
