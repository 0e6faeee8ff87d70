"""Scraped instances: regular series of which one scenario changes one thing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.lab.series import Series, is_stale_marker

ORIGIN = 1735689600
"""2025-01-01: counters count from here, so that data of two ends fit together."""
STEP = 15
"""Scrape interval, seconds."""
SPAN = 45 * 60
"""How far back the data goes, seconds."""
LE = ("0.05", "0.1", "0.25", "0.5", "1", "2.5", "+Inf")
"""Upper bounds of the latency buckets, seconds."""


@dataclass(frozen=True)
class Target:
    """One scraped instance; times are seconds relative to the end of the data."""

    variant: str
    instance: str
    phase: float
    """Seconds after each STEP at which it is scraped."""
    rps: float = 10.0
    error_ratio: float = 0.01
    shape: tuple[float, ...] = (0.50, 0.80, 0.94, 0.98, 0.995, 0.999, 1.0)
    """Share of requests that took at most LE[i] seconds, cumulative."""
    first: float = -SPAN
    """First sample."""
    last: float = 0.0
    """Last sample."""
    restart: float | None = None
    """Counters start again from 0 here."""
    idle_from: float | None = None
    """Counters stand still from here."""

    def stamps(self, end: float) -> list[float]:
        """When it was scraped."""
        base = math.floor((end - SPAN) / STEP) * STEP
        stamps = [base + i * STEP + self.phase for i in range(SPAN // STEP + 2)]
        return [at for at in stamps if end + self.first <= at <= end + self.last]

    def requests(self, at: float, end: float) -> float:
        """Requests counted so far by the process that runs at this time."""
        born: float = ORIGIN
        if self.restart is not None and at >= end + self.restart:
            born = end + self.restart
        if self.idle_from is not None:
            at = min(at, end + self.idle_from)
        return max(0.0, math.floor((at - born) * self.rps))


BASELINE = (Target("baseline", "b-0", 1.250), Target("baseline", "b-1", 6.500))
CANARY = Target("canary", "c-0", 11.125, rps=4.0)


def target_series(target: Target, end: float, *, error_series: bool = True) -> list[Series]:
    """`up`, requests by code, and the latency histogram of one target."""
    stamps = target.stamps(end)
    own = {"job": "checkout", "variant": target.variant, "instance": target.instance}
    total = [target.requests(at, end) for at in stamps]
    bad = [float(math.floor(count * target.error_ratio)) for count in total]
    good = [count - errors for count, errors in zip(total, bad, strict=True)]
    out = [
        Series("up", own, [(at, 1.0) for at in stamps]),
        Series("http_requests_total", {**own, "code": "200"}, _pairs(stamps, good), "counter"),
    ]
    if error_series:
        out.append(Series("http_requests_total", {**own, "code": "500"}, _pairs(stamps, bad), "counter"))
    base = "http_request_duration_seconds"
    for le, share in zip(LE, target.shape, strict=True):
        counts = [float(math.floor(count * share)) for count in total]
        out.append(Series(f"{base}_bucket", {**own, "le": le}, _pairs(stamps, counts), "histogram", base))
    out.append(Series(f"{base}_sum", own, _pairs(stamps, [count * 0.12 for count in total]), "histogram", base))
    out.append(Series(f"{base}_count", own, _pairs(stamps, total), "histogram", base))
    return out


def ledger_series(end: float) -> list[Series]:
    """A second source: a counter that must stay zero and a switch that must stay off."""
    own = {"job": "ledger", "instance": "l-0"}
    return [
        one_series("up", own, end, 1.0, phase=3.0),
        one_series("ledger_mismatches_total", own, end, 0.0, kind="counter", phase=3.0),
        one_series("killswitch_engaged", own, end, 0.0, phase=3.0),
    ]


def one_series(
    name: str,
    labels: dict[str, str],
    end: float,
    value: float | Callable[[float], float],
    *,
    kind: str = "gauge",
    phase: float = 0.0,
    last: float = 0.0,
) -> Series:
    """A series of this value at every scrape, or of what a function of the time says."""
    stamps = Target("", "", phase, last=last).stamps(end)
    return Series(name, labels, [(at, float(value(at) if callable(value) else value)) for at in stamps], kind)


def watermark(series: Iterable[Series], **labels: str) -> float | None:
    """Time of the newest true sample with these labels: what a watermark query must find."""
    times = [
        at
        for one in series
        if all(one.labels.get(name) == value for name, value in labels.items())
        for at, value in one.samples[-2:]
        if not is_stale_marker(value)
    ]
    return max(times, default=None)


def _pairs(stamps: list[float], values: list[float]) -> list[tuple[float, float]]:
    return list(zip(stamps, values, strict=True))
