"""A guardrail at or above the highest bucket can never trip: only the server knows, and who cannot ask says so."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.evidence.lint.lint import lint
from gatekeeper.evidence.prometheus.buckets import bucket_asker
from gatekeeper.review.load import load_policy
from tests.doubles import StepClock
from tests.evidence.lint_files import written
from tests.evidence.prometheus.collecting import MICROSECONDS, P95, file
from tests.lab.faults import Fault, FaultProxy
from tests.lab.fixtures import Labs
from tests.lab.scenarios import build
from tests.lab.series import T0, Scenario
from tests.lab.servers import Lab, VictoriaLab
from tests.lab.sockets import HangingServer, refused_port

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.server

Remark = tuple[str, str]
ABOVE: list[Remark] = [("threshold_above_buckets", "/metrics/p95")]
UNKNOWN: list[Remark] = [("buckets_unknown", "/metrics/p95")]
SOURCE = {"scrape_interval_seconds": 15}


def policy(threshold: float | None, *, op: str = "<=", metric: str = "p95") -> dict[str, Any]:
    """A policy with one guardrail."""
    limit = {"budget_ratio": 0.1} if threshold is None else {"threshold": threshold}
    guardrail = {"metric": metric, "op": op, **limit}
    return {"policy_id": "slo", "policy_version": "1", "guardrails": [guardrail]}


def told(
    url: str,
    threshold: float | None,
    query: str = P95,
    *,
    op: str = "<=",
    variant: str = "canary",
    environ: Mapping[str, str] | None = None,
    **rest: Any,
) -> list[tuple[str, str, str]]:
    """Code, pointer and message of what only the server can know."""
    document = file(url, {"p95": query}, source=dict(SOURCE), **rest)
    document["labels"]["variant"]["variant"] = variant
    policies = [load_policy(written(policy(threshold, op=op)))]
    ask = bucket_asker(environ or {}, StepClock(T0 * MICROSECONDS))
    loaded, found = lint(written(document), "c.json", policies=policies, ask_buckets=ask)
    assert loaded is not None
    return [(one.code.removeprefix("collection."), one.pointer, one.message) for one in found if "bucket" in one.code]


def remarks(*args: Any, **rest: Any) -> list[Remark]:
    """The same without messages."""
    return [(code, pointer) for code, pointer, _ in told(*args, **rest)]


@pytest.mark.parametrize(
    ("query", "threshold", "op", "expected"),
    [
        (P95, 2.5, "<=", ABOVE),
        (P95, 3, "<=", ABOVE),
        (P95, 2.4, "<=", []),
        (P95, 2.6, "<", ABOVE),
        (P95, 2.5, "<", []),  # a quantile in the last bucket reads as 2.5, which violates it
        (P95, 3, ">=", []),
        (P95, None, "<=", []),
        (f"{P95} * 1000", 2500, "<=", ABOVE),
        (f"{P95} * 1000", 2499, "<=", []),
        (f"(1000 * ({P95}))", 2500, "<=", ABOVE),
        (f"{P95} / 60", 0.0417, "<=", ABOVE),  # 2.5 s are 0.041667 min
        (f"{P95} / 60", 0.0416, "<=", []),
        (f"max({P95}) * 60 / 1000 ", 0.15, "<=", ABOVE),
        (f"{P95} + 1", 3, "<=", []),  # reckoned with otherwise: passed over
        (f"-1 * {P95}", 3, "<=", []),
        (f"60 / {P95}", 1000, "<=", []),
        (f"sum({P95})", 3, "<=", []),
        ("sum(up)", 3, "<=", []),
    ],
)
def test_a_threshold_that_no_quantile_reaches_is_told(
    lab: Labs[Lab], query: str, threshold: float | None, op: str, expected: list[Remark]
) -> None:
    """The lab's highest finite bucket ends at 2.5 s; the quantile never answers more, however slow requests are."""
    assert remarks(lab("canary_slow").url, threshold, query, op=op) == expected


def test_the_server_confirms_that_a_quantile_stops_at_the_highest_bucket(lab: Labs[Lab]) -> None:
    """What the rule rests on, asked of the real server."""
    assert lab("canary_slow").value(P95.replace("0.95", "0.9999"), T0) == 2.5


def test_the_message_says_where_the_buckets_end_and_whose_guardrail_it_is(lab: Labs[Lab]) -> None:
    """A reviewer must see both numbers."""
    ((_, _, message),) = told(lab("healthy").url, 3000, f"{P95} * 1000")
    assert "p95 <= 3000 of policy slo can never trip" in message
    assert "ends at 2500" in message


def test_victoriametrics_is_asked_the_same_way(victoria: Labs[VictoriaLab]) -> None:
    """Its dialect differs only in how dead series are dated."""
    url = victoria("healthy").url
    assert (remarks(url, 2.5), remarks(url, 2.4)) == (ABOVE, [])


def test_a_variant_that_has_no_series_yet_is_looked_up_at_its_baseline(lab: Labs[Lab]) -> None:
    """A file is reviewed before anything is rolled out."""
    assert remarks(lab("healthy").url, 2.5, variant="next") == ABOVE
    assert remarks(lab("healthy").url, 2.4, variant="next") == []


def test_each_server_is_asked_once_for_each_histogram_and_for_nothing_else(lab: Labs[Lab]) -> None:
    """No value is asked for, and no metric without a guardrail to check."""
    metrics = {"p95": P95, "p50": P95.replace("0.95", "0.5"), "mean": "sum(up)", "p99": P95.replace("0.95", "0.99")}
    rules = [
        policy(2.5)["guardrails"][0],
        policy(1, metric="p50")["guardrails"][0],
        policy(9, metric="mean")["guardrails"][0],
    ]
    with FaultProxy(lab("healthy").url) as proxy:
        document = file(proxy.url, metrics, source=dict(SOURCE))
        policies = [load_policy(written({**policy(1), "guardrails": rules}))]
        ask = bucket_asker({}, StepClock(T0 * MICROSECONDS))
        lint(written(document), "c.json", policies=policies, ask_buckets=ask)
        queries = sorted(request["params"]["query"] for request in proxy.requests)
    assert queries == [
        f'count by (le) (http_request_duration_seconds_bucket{{variant="{side}"}})' for side in ("baseline", "canary")
    ]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(status=503, body=b"overloaded"), "503"),
        (Fault(status=400, body=b'{"status":"error","errorType":"bad_data","error":"no such thing"}'), "no such thing"),
        (Fault(drop=True), "closed the connection"),
        (Fault(edit=lambda body: {**body, "warnings": ["a store is away"]}), "a store is away"),
        (Fault(delay=30), "answer"),  # which of the two limits of 1 s comes first is chance
    ],
    ids=["overloaded", "mistake", "dropped", "partial", "late"],
)
def test_a_server_that_does_not_answer_well_is_a_warning(lab: Labs[Lab], fault: Fault, words: str) -> None:
    """Part of the buckets may be all but the highest: nothing is concluded, and nothing passes in silence."""
    begun = time.monotonic()
    with FaultProxy(lab("healthy").url, [fault]) as proxy:
        ((code, pointer, message),) = told(proxy.url, 2.5, limits={"deadline_seconds": 1})
    assert time.monotonic() - begun < 2
    assert [(code, pointer)] == UNKNOWN
    assert words in message


def test_a_refused_port_and_a_silent_server_are_warnings() -> None:
    """The review goes on: it is about the file."""
    ((code, pointer, message),) = told(f"http://127.0.0.1:{refused_port()}", 2.5)
    assert ([(code, pointer)], "connection refused" in message) == (UNKNOWN, True)
    with HangingServer() as server:
        assert remarks(server.url, 2.5, limits={"deadline_seconds": 0.3}) == UNKNOWN


def test_an_address_that_is_not_known_here_is_a_warning() -> None:
    """A review in CI may have no access: the variable is named, and nobody is asked."""
    ((code, pointer, message),) = told("${PROMETHEUS_URL}", 2.5)
    assert [(code, pointer)] == UNKNOWN
    assert "PROMETHEUS_URL is not set" in message
    ((code, pointer, message),) = told("${PROMETHEUS_URL}", 2.5, variant="${TRACK}")
    assert [(code, pointer)] == UNKNOWN
    assert "TRACK is not set" in message


def test_a_secret_is_in_no_message(lab: Labs[Lab]) -> None:
    """What a server echoes is masked as in a collection."""
    echo = Fault(status=503, body=b"token hunter2-hunter2 is over its quota")
    with FaultProxy(lab("healthy").url, [echo]) as proxy:
        document = file(proxy.url, {"p95": P95}, source={**SOURCE, "headers": {"Authorization": "Bearer ${TOKEN}"}})
        ask = bucket_asker({"TOKEN": "hunter2-hunter2"}, StepClock(T0 * MICROSECONDS))
        _, found = lint(written(document), "c.json", policies=[load_policy(written(policy(2.5)))], ask_buckets=ask)
        (request, *_) = proxy.requests
    (one,) = [one for one in found if one.code == "collection.buckets_unknown"]
    assert request["headers"]["Authorization"] == "Bearer hunter2-hunter2"
    assert "is over its quota" in one.message
    assert "hunter2" not in one.text("c.json")


def test_a_histogram_that_is_not_there_is_a_warning(lab: Labs[Lab]) -> None:
    """A misspelt name would otherwise look like a guardrail that was checked."""
    ((code, _, message),) = told(lab("healthy").url, 2.5, "histogram_quantile(0.9, sum by (le) (rate(no_bucket[5m])))")
    assert code == "buckets_unknown"
    assert "no buckets for count by (le) (no_bucket" in message


def test_a_native_histogram_has_no_buckets_to_compare_with(lab: Labs[Lab]) -> None:
    """Its series have no `le`: as the counters of the lab, which stand in for it here."""
    query = "histogram_quantile(0.9, sum(rate(http_requests_total[5m])))"
    ((code, _, message),) = told(lab("healthy").url, 2.5, query)
    assert code == "buckets_unknown"
    assert "native histogram" in message


def test_a_histogram_with_no_finite_bucket_is_a_warning() -> None:
    """Only `+Inf`: there is no quantile at all."""
    whole = build("healthy", T0)
    series = [one for one in whole.series if one.labels.get("le", "+Inf") == "+Inf"]
    assert len(series) < len(whole.series)
    scenario: Scenario = replace(whole, series=series)
    with Lab(scenario) as server:
        assert remarks(server.url, 2.5) == UNKNOWN
