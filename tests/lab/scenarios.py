"""The scenarios: what a metrics server can hold when a gate asks it, each with its facts.

Times in the facts are unix seconds. A scenario's docstring is its description; `build(name)` makes one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.lab.series import STALE, Scenario, Series
from tests.lab.targets import BASELINE, CANARY, STEP, Target, ledger_series, one_series, target_series, watermark

SCENARIOS: dict[str, Callable[[float], Scenario]] = {}


def build(name: str, end: float | None = None) -> Scenario:
    """The named scenario, its data ending at `end` (default: now)."""
    if name not in SCENARIOS:
        raise KeyError(f"unknown scenario {name!r}; known: {', '.join(SCENARIOS)}")
    return SCENARIOS[name](time.time() if end is None else float(end))


def scenario(make: Callable[[float], Scenario]) -> Callable[[float], Scenario]:
    """Enter a function among the scenarios, by its name."""
    SCENARIOS[make.__name__] = make
    return make


def _make(
    name: str,
    end: float,
    targets: Sequence[Target],
    more: Sequence[Series] = (),
    *,
    error_series: bool = True,
    ledger: bool = True,
    load: str = "blocks",
    **facts: Any,
) -> Scenario:
    series = [
        one
        for target in targets
        for one in target_series(target, end, error_series=error_series or target.variant != "canary")
    ]
    series += [*(ledger_series(end) if ledger else []), *more]
    found = {
        "watermark_canary": watermark(series, variant="canary"),
        "watermark_baseline": watermark(series, variant="baseline"),
        "watermark_ledger": watermark(series, job="ledger"),
        **facts,
    }
    return Scenario(name, (SCENARIOS[name].__doc__ or "").strip(), end, series, found, load)


@scenario
def healthy(end: float) -> Scenario:
    """Canary and baseline alike: 1 % errors, p95 near 0.3 s, all sources fresh."""
    return _make("healthy", end, [*BASELINE, CANARY], canary_error_ratio=0.01, baseline_error_ratio=0.01)


@scenario
def canary_errors(end: float) -> Scenario:
    """Canary answers 8 % of its requests with code 500; baseline 1 %."""
    canary = replace(CANARY, error_ratio=0.08)
    return _make("canary_errors", end, [*BASELINE, canary], canary_error_ratio=0.08, baseline_error_ratio=0.01)


@scenario
def canary_slow(end: float) -> Scenario:
    """Canary's p95 (histogram) is near 1.5 s; baseline's near 0.3 s."""
    canary = replace(CANARY, shape=(0.20, 0.40, 0.60, 0.80, 0.93, 0.99, 1.0))
    return _make("canary_slow", end, [*BASELINE, canary], canary_p95_min=1.0)


@scenario
def canary_stale(end: float) -> Scenario:
    """Canary's series stop 10 minutes before the end without a staleness marker (agent or network died)."""
    return _make("canary_stale", end, [*BASELINE, replace(CANARY, last=-600)])


@scenario
def canary_slightly_stale(end: float) -> Scenario:
    """Canary's series stop 4 minutes before the end: the 5 m lookback still answers, with old data."""
    return _make("canary_slightly_stale", end, [*BASELINE, replace(CANARY, last=-240)])


@scenario
def canary_marked_stale(end: float) -> Scenario:
    """Canary's series end 2 minutes before the end with staleness markers (target left service discovery)."""
    made = _make("canary_marked_stale", end, [*BASELINE, replace(CANARY, last=-120)], load="remote_write")
    for one in made.series:
        if one.labels.get("variant") == "canary":
            one.samples.append((one.samples[-1][0] + STEP, STALE))
    return made


@scenario
def zero_traffic(end: float) -> Scenario:
    """Canary is up and scraped, but its counters have stood still for 20 minutes: error ratio is 0/0 = NaN."""
    return _make("zero_traffic", end, [*BASELINE, replace(CANARY, idle_from=-1200)])


@scenario
def several_series(end: float) -> Scenario:
    """Three canary instances: a query without an aggregation returns several series."""
    more = [replace(CANARY, instance=f"c-{i}", phase=11.125 + i) for i in (1, 2)]
    return _make("several_series", end, [*BASELINE, CANARY, *more], canary_instances=3)


@scenario
def counter_reset(end: float) -> Scenario:
    """Canary's process restarted 2 minutes before the end: its counters fall to 0, rate() stays right."""
    return _make("counter_reset", end, [*BASELINE, replace(CANARY, restart=-125.0)], canary_rps=4.0)


@scenario
def missing_metric(end: float) -> Scenario:
    """No ledger source at all, and canary has never had an error, so its code="500" series does not exist."""
    canary = replace(CANARY, error_ratio=0.0)
    return _make("missing_metric", end, [*BASELINE, canary], error_series=False, ledger=False)


@scenario
def lagging_source(end: float) -> Scenario:
    """The ledger source lags by 3 minutes; checkout is fresh: 180 s of skew between sources."""
    made = _make("lagging_source", end, [*BASELINE, CANARY])
    for one in made.series:
        if one.labels["job"] == "ledger":
            one.samples = [(at, value) for at, value in one.samples if at <= end - 180]
    made.facts["watermark_ledger"] = watermark(made.series, job="ledger")
    return made


@scenario
def lagging_instance(end: float) -> Scenario:
    """One of two canary instances stopped 4 minutes ago: max(timestamp) hides it, min(timestamp) shows it."""
    lag = replace(CANARY, instance="c-1", phase=2.0, last=-240)
    made = _make("lagging_instance", end, [*BASELINE, CANARY, lag])
    made.facts["watermark_canary_min"] = watermark(made.series, instance="c-1")
    return made


@scenario
def late_start(end: float) -> Scenario:
    """Canary was first scraped 70 s before the end: a 5 m window is barely a fifth covered."""
    return _make("late_start", end, [*BASELINE, replace(CANARY, first=-70, restart=-70.0)])


@scenario
def first_increment(end: float) -> Scenario:
    """A canary counter series is born at 1, 100 s before the end: increase() says 0, the counter itself says 1."""
    born = [(at, 1.0) for at in replace(CANARY, first=-100).stamps(end)]
    own = {"job": "checkout", "variant": "canary", "instance": "c-0"}
    charges = Series("double_charges_total", own, born, "counter")
    return _make("first_increment", end, [*BASELINE, CANARY], [charges], double_charges=1.0)


@scenario
def odd_values(end: float) -> Scenario:
    """Gauges that hold NaN, +Inf, -Inf, tiny and huge values, and a label with quotes and non-ASCII text."""
    rows = {
        "nan": math.nan,
        "pinf": math.inf,
        "ninf": -math.inf,
        "tiny": 5e-324,
        "huge": 1.7976931348623157e308,
        "negzero": -0.0,
        "third": 1 / 3,
        "bigint": float(2**53),
    }
    more = [one_series("odd_gauge", {"job": "odd", "case": case}, end, value) for case, value in rows.items()]
    more.append(one_series("odd_label", {"job": "odd", "text": 'a"b\\c\né'}, end, 1.0))
    return _make("odd_values", end, [*BASELINE, CANARY], more)


@scenario
def partial_response(end: float) -> Scenario:
    """Healthy data, but a second storage is unreachable: HTTP 200, status success, real `warnings`."""
    return replace(healthy(end), name="partial_response", doc=partial_response.__doc__ or "", partial=True)


@scenario
def empty(end: float) -> Scenario:
    """A server that is ready and holds no data at all."""
    return _make("empty", end, [], ledger=False, load="remote_write")
