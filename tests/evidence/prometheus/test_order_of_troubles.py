"""Which trouble is stated: one of a source never passes for evidence of a metric, so no policy rolls back on it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.evidence.prometheus.collecting import REQUESTS, code, collected, file, observation
from tests.lab.faults import ASKED, Fault, FaultProxy, with_warnings
from tests.lab.fixtures import Labs
from tests.lab.series import T0
from tests.lab.servers import Lab

pytestmark = pytest.mark.server

DOWN = "observation_missing:source_unavailable"
PARTIAL = "evidence_missing:partial_response"
BAD = "observation_invalid:bad_response"
STALE = "observation_stale:over_freshness_budget"
EMPTY = "observation_missing:empty_result"
NEWEST, DEEP, COVERAGE = "(timestamp(", "[30m:1m]", "count_over_time"


def spoilt(url: str, metric: Any, *faults: Fault, labels: bool = False) -> dict[str, Any]:
    """The observation of one metric when answers are spoilt."""
    with FaultProxy(url, faults) as proxy:
        return observation(collected(file(proxy.url, {"m": metric}, labels=labels)), "m")


def vector(text: str) -> bytes:
    """One series with this value, at the time that was asked for."""
    data = {"resultType": "vector", "result": [{"metric": {}, "value": [ASKED, text]}]}
    return json.dumps({"status": "success", "data": data}).encode()


@pytest.mark.parametrize("query", ["sum(ledger_mismatches_total)", "sum(rate(ledger_mismatches_total[5m]))"])
@pytest.mark.parametrize("asked", [NEWEST, DEEP, COVERAGE])
def test_an_empty_answer_of_a_source_that_fails_is_no_missing_metric(lab: Labs[Lab], query: str, asked: str) -> None:
    """`on_missing: REJECT` would roll back because one of four questions met a restart."""
    metric = {"query": query, "bind": False}
    assert spoilt(lab("missing_metric").url, metric)["problem"]["code"] == EMPTY
    if asked == COVERAGE and "rate" not in query:
        return
    seen = spoilt(lab("missing_metric").url, metric, Fault(asked, status=503, body=b"busy"))
    assert seen["problem"]["code"] == DOWN


@pytest.mark.parametrize("asked", [DEEP, COVERAGE])
def test_a_series_that_stopped_is_told_of_sound_answers_only(lab: Labs[Lab], asked: str) -> None:
    """`on_stale: REJECT` would roll back because a store behind the server is down."""
    url = lab("canary_stale").url
    assert spoilt(url, REQUESTS, labels=True)["problem"]["code"] == STALE
    partial = Fault(asked, edit=with_warnings("store 3 is down"))
    assert spoilt(url, REQUESTS, partial, labels=True)["problem"]["code"] == PARTIAL


def test_an_event_time_that_cannot_be_asked_comes_before_an_empty_value(lab: Labs[Lab]) -> None:
    """Nobody knows whether the source is there at all."""
    metric = {"query": "sum(nothing_at_all)", "watermark": {"event_time_query": "max(timestamp(up))"}}
    assert spoilt(lab().url, metric)["problem"]["code"] == EMPTY
    assert spoilt(lab().url, metric, Fault("max(timestamp(up))", status=502))["problem"]["code"] == DOWN


GUARD = {"zero_if": 'up{job="checkout"}'}


@pytest.mark.parametrize("asked", ["timestamp(double_charges_total{", DEEP, COVERAGE])
@pytest.mark.parametrize("query", ["sum(double_charges_total)", "sum(increase(double_charges_total[5m]))"])
def test_no_zero_is_made_while_a_question_about_the_metric_is_open(lab: Labs[Lab], query: str, asked: str) -> None:
    """The guard lives, and whether the counter has ever stood at 3 nobody has answered."""
    metric = {"query": query, "on_empty": GUARD}
    sound = spoilt(lab().url, metric)
    assert (sound["value"], sound["imputed"], sound["problem"]) == (0, True, None)
    asked = asked.replace("timestamp(double_charges_total{", "timestamp(double_charges_total")
    if asked == COVERAGE and "[5m]" not in query:
        return
    for fault in (Fault(asked, status=503), Fault(asked, edit=with_warnings("store 3 is down"))):
        seen = spoilt(lab().url, metric, fault)
        assert (seen["value"], "imputed" in seen) == (None, False)
        assert seen["problem"]["code"] == (DOWN if fault.status else PARTIAL)


@pytest.mark.parametrize("asked", ["timestamp(double_charges_total", "timestamp(double_charges_total)[30m:1m]"])
@pytest.mark.parametrize("watermark", [{"selector": "up"}, {"event_time_query": "max(timestamp(up))"}])
def test_a_stated_age_closes_no_open_question_about_the_metrics_own_series(
    lab: Labs[Lab], watermark: dict[str, str], asked: str
) -> None:
    """Whether there are any is asked of the query's own series, whatever dates them."""
    metric = {"query": "sum(double_charges_total)", "on_empty": GUARD, "watermark": watermark}
    seen = spoilt(lab().url, metric, Fault(asked, status=503))
    assert (seen["value"], seen["problem"]["code"]) == (None, DOWN)


@pytest.mark.parametrize(
    "metric",
    [
        {"query": "sum(http_requests_total) < 0"},
        {"query": "sum(rate(http_requests_total[5m])) > 1e9"},
        {"query": "sum(http_requests_total) < 0", "watermark": {"selector": "nothing_at_all"}},
        {"query": "sum(http_requests_total) < 0", "watermark": {"event_time_query": "max(nothing_at_all)"}},
        {"query": "sum(http_requests_total) < 0", "watermark": {"event_time_query": "max(timestamp(up))"}},
    ],
)
def test_a_filter_that_lets_nothing_pass_is_no_zero_while_its_series_live(lab: Labs[Lab], metric: Any) -> None:
    """The counter stands at thousands; empty says only that the comparison is false."""
    seen = spoilt(lab().url, {**metric, "on_empty": GUARD})
    assert (seen["value"], seen["problem"]["code"]) == (None, EMPTY)
    assert "imputed" not in seen


def test_a_stated_age_does_not_keep_an_empty_answer_from_being_zero(lab: Labs[Lab]) -> None:
    """What was pushed has a time, and a counter that was never pushed is 0 where the guard says so."""
    metric = {"query": "sum(double_charges_total)", "on_empty": GUARD}
    for watermark in ({"event_time_query": "max(timestamp(up))"}, {"selector": "up"}):
        seen = spoilt(lab().url, {**metric, "watermark": watermark})
        assert (seen["value"], seen["imputed"], seen["problem"]) == (0, True, None)


@pytest.mark.parametrize("text", ["NaN", "+Inf", "-Inf", "-1"])
@pytest.mark.parametrize("asked", [NEWEST, COVERAGE])
def test_a_number_that_no_server_answers_is_named_with_its_query(lab: Labs[Lab], asked: str, text: str) -> None:
    """NaN covered every window, and infinity was written into the snapshot."""
    seen = spoilt(lab().url, REQUESTS, Fault(asked, status=200, body=vector(text)))
    assert seen["problem"]["code"] == BAD
    assert seen["problem"]["detail"].endswith(f" is {text}")
    assert asked in seen["problem"]["detail"]
    assert "coverage_ratio" not in seen or seen["coverage_ratio"] == 1.0
    json.dumps(seen, allow_nan=False)


def test_a_time_beyond_the_calendar_is_no_answer(lab: Labs[Lab]) -> None:
    """Milliseconds in the place of seconds would be data that never grow old."""
    seen = spoilt(lab().url, REQUESTS, Fault(NEWEST, status=200, body=vector(f"{T0}000")))
    assert seen["problem"]["code"] == BAD


@pytest.mark.parametrize("asked", [NEWEST, COVERAGE])
def test_several_series_about_an_age_are_no_answer(lab: Labs[Lab], asked: str) -> None:
    """Which of them counts is not for the gate to choose, nor is it 0."""

    def twice(body: dict[str, Any]) -> Any:
        body["data"]["result"] *= 2
        return body

    assert spoilt(lab().url, REQUESTS, Fault(asked, edit=twice))["problem"]["code"] == BAD


def test_an_empty_baseline_is_a_baseline_that_is_missing(lab: Labs[Lab]) -> None:
    """Its meaning is `on_missing_baseline`, not `on_missing`: no canary is rolled back for what its sibling lacks."""
    labels = {"variant": {"variant": "canary", "baseline": "nobody"}}
    snapshot = collected(file(lab().url, {"m": REQUESTS}) | {"labels": labels})
    assert code(snapshot, "m") is None
    assert code(snapshot, "m", baseline=True) == "observation_missing:baseline_metric"
