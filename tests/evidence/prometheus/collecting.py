"""One server asked as a collection file says, at a fixed time: what the tests here look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.evidence.collect import Collector
from gatekeeper.model.snapshot import Snapshot
from tests.doubles import StepClock
from tests.evidence.collections import collection
from tests.lab.series import T0

MICROSECONDS = 1_000_000
COLLECTED_AT = (T0 + 3) * MICROSECONDS
"""What the clock says at the end of each collection."""

ERROR_RATIO = (
    '(sum(rate(http_requests_total{code=~"5.."}[5m])) or 0 * sum(rate(http_requests_total[5m])))'
    " / sum(rate(http_requests_total[5m]))"
)
P95 = "histogram_quantile(0.95, sum by (le) (rate(http_request_duration_seconds_bucket[5m])))"
REQUESTS = "floor(sum(increase(http_requests_total[5m])))"


def file(url: str, metrics: Mapping[str, Any], *, labels: bool = True, **rest: Any) -> dict[str, Any]:
    """A collection file with one server, `prom`; a metric may be its query alone.

    Args:
        labels: whether canary and baseline are bound.
        rest: `source` holds more keys of the source, all else is of the file itself.
    """
    source = {"type": "prometheus", "url": url, **rest.pop("source", {})}
    stated = {name: {"query": spec} if isinstance(spec, str) else spec for name, spec in metrics.items()}
    document: dict[str, Any] = {
        "sources": {"prom": source},
        "window": "5m",
        "metrics": {name: {"source": "prom", **spec} for name, spec in stated.items()},
        **rest,
    }
    if labels:
        document["labels"] = {"variant": {"variant": "canary", "baseline": "baseline"}}
    return document


def collector(document: dict[str, Any], environ: Mapping[str, str] | None = None) -> Collector:
    """A collector of this file."""
    return Collector(
        collection(document), clock=StepClock(COLLECTED_AT), environ=environ or {}, read_standard_input=lambda: b""
    )


def collected(document: dict[str, Any], environ: Mapping[str, str] | None = None, *, at: float = T0) -> Snapshot:
    """The snapshot that this file brings at *at*, unix seconds."""
    return collector(document, environ).collect(at=round(at * MICROSECONDS))


def observation(snapshot: Snapshot, metric: str, *, baseline: bool = False) -> dict[str, Any]:
    """What is recorded of one metric, with its value as `value`."""
    part = snapshot.document["baseline"] if baseline else snapshot.document
    return {**part["observations"][metric], "value": part["metrics"][metric]}


def code(snapshot: Snapshot, metric: str, *, baseline: bool = False) -> str | None:
    """The code of a metric's problem; None when it has none."""
    problem = observation(snapshot, metric, baseline=baseline)["problem"]
    return None if problem is None else str(problem["code"])


def codes(snapshot: Snapshot) -> dict[str, str]:
    """The codes of all problems; metrics of the baseline with `baseline.` before them."""
    return {
        prefix + metric: stated["problem"]["code"]
        for prefix, part in (("", snapshot.document), ("baseline.", snapshot.document.get("baseline", {})))
        for metric, stated in part.get("observations", {}).items()
        if stated["problem"] is not None
    }
