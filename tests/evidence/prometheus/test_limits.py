from __future__ import annotations

import gzip
import time

import pytest

from tests.evidence.prometheus.collecting import ERROR_RATIO, P95, REQUESTS, code, codes, collected, file, observation
from tests.lab.faults import Fault, FaultProxy
from tests.lab.fixtures import Labs
from tests.lab.servers import Lab
from tests.lab.sockets import HangingServer

pytestmark = [pytest.mark.server, pytest.mark.slow]

METRICS = {"error_ratio": ERROR_RATIO, "p95": P95, "requests": REQUESTS}


@pytest.mark.parametrize("fault", [Fault(delay=30), Fault(drip_seconds=0.1)], ids=["delay", "drip"])
def test_a_server_that_does_not_finish_is_left_at_the_deadline(lab: Labs[Lab], fault: Fault) -> None:
    """A dripping server resets every read time-out, so the wall clock alone ends it."""
    with FaultProxy(lab("healthy").url, [fault]) as proxy:
        begun = time.monotonic()
        snapshot = collected(file(proxy.url, METRICS, limits={"deadline_seconds": 1}))
        assert time.monotonic() - begun < 1.5
    for metric in METRICS:
        assert observation(snapshot, metric)["problem"]["kind"] == "timeout"
        assert observation(snapshot, metric)["value"] is None


def test_a_server_that_accepts_and_is_silent_is_left_after_its_own_time_limit() -> None:
    """`timeout_seconds` counts for each request, long before the deadline."""
    with HangingServer() as server:
        begun = time.monotonic()
        source = {"timeout_seconds": 0.3}
        snapshot = collected(file(server.url, {"up": "sum(up)"}, labels=False, source=source))
        assert time.monotonic() - begun < 2
    assert observation(snapshot, "up")["problem"]["kind"] == "timeout"


@pytest.mark.parametrize("late", ["max(timestamp", "count_over_time"])
def test_a_value_that_came_is_kept_when_what_dates_it_is_late(lab: Labs[Lab], late: str) -> None:
    """HO-08 d: the number is on record, and confirms nothing."""
    with FaultProxy(lab("healthy").url, [Fault(late, delay=30)]) as proxy:
        snapshot = collected(file(proxy.url, {"requests": REQUESTS}, limits={"deadline_seconds": 1}))
    seen = observation(snapshot, "requests")
    assert (seen["value"], seen["value_text"]) == (1200, "1200")
    assert (seen["problem"]["code"], seen["problem"]["kind"]) == ("observation_missing:source_unavailable", "timeout")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_server_that_drips_ends_at_the_limit_of_the_answer(lab: Labs[Lab], *, compressed: bool) -> None:
    """A byte every 50 ms keeps each read within its time; the deadline of the collection is far away."""
    fault = Fault("floor", drip_seconds=0.05)
    if compressed:
        fault = Fault("floor", status=200, body=gzip.compress(bytes(range(256))), drip_seconds=0.05)
        fault.headers["Content-Encoding"] = "gzip"
    started = time.monotonic()
    with FaultProxy(lab("healthy").url, [fault]) as proxy:
        snapshot = collected(file(proxy.url, {"requests": REQUESTS}, labels=False, source={"timeout_seconds": 0.5}))
    assert time.monotonic() - started < 2
    assert observation(snapshot, "requests")["problem"]["kind"] == "timeout"


def test_values_are_asked_before_what_is_known_about_them(lab: Labs[Lab]) -> None:
    """With one request at a time and little time, the numbers of all metrics come first."""
    with FaultProxy(lab("healthy").url) as proxy:
        collected(file(proxy.url, METRICS, limits={"parallelism": 1}))
    queries = [request["params"]["query"] for request in proxy.requests]
    about = [number for number, query in enumerate(queries) if query.startswith(("max(timestamp", "min(max by"))]
    assert about[0] == 2 * len(METRICS)


def test_one_slow_query_spoils_only_its_own_metric(lab: Labs[Lab]) -> None:
    """The others have all that they need."""
    with FaultProxy(lab("healthy").url, [Fault("histogram_quantile", delay=30)]) as proxy:
        snapshot = collected(file(proxy.url, METRICS, source={"timeout_seconds": 0.5}))
    assert set(codes(snapshot)) == {"p95", "baseline.p95"}
    assert code(snapshot, "p95") == "observation_missing:source_unavailable"
