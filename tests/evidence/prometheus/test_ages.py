from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gatekeeper.model.times import require_time
from tests.evidence.prometheus.collecting import ERROR_RATIO, REQUESTS, code, codes, collected, file, observation
from tests.lab.faults import Fault, FaultProxy
from tests.lab.fixtures import Labs
from tests.lab.scenarios import build
from tests.lab.series import T0, Scenario, Series
from tests.lab.servers import Lab, VictoriaLab
from tests.lab.targets import CANARY, one_series

pytestmark = pytest.mark.server

STALE = "observation_stale:over_freshness_budget"
NO_AGE = "observation_missing:watermark_event_time"
BAD_AGE = "observation_invalid:watermark_event_time"
EMPTY = "observation_missing:empty_result"


def age(snapshot: Any, metric: str) -> float:
    """Seconds from a metric's watermark to T0."""
    return T0 - require_time(observation(snapshot, metric)["watermark_event_time"]) / 1e6


def with_series(name: str, *more: Series) -> Scenario:
    """A scenario with further series."""
    made = build(name, T0)
    return replace(made, series=[*made.series, *more])


def test_a_recording_rule_over_data_that_stopped_is_as_old_as_the_data() -> None:
    """The rule's own sample is new; `watermark.selector` names the raw series behind it, bound like the query."""
    rule = one_series("variant:errors:ratio", {"variant": "canary"}, T0, 0.01)
    metric = {"query": "max(variant:errors:ratio)", "watermark": {"selector": "http_requests_total"}}
    with Lab(with_series("canary_stale", rule)) as server:
        snapshot = collected(file(server.url, {"errors": metric}))
    assert observation(snapshot, "errors")["value"] == 0.01
    assert code(snapshot, "errors") == STALE
    assert age(snapshot, "errors") == 603.875
    assert "603.875 s" in observation(snapshot, "errors")["problem"]["detail"]


def test_a_stated_selector_is_not_bound_where_the_query_is_not(lab: Labs[Lab]) -> None:
    """`bind: false` is of the whole metric: the oldest instance of all variants counts, which is the baseline's b-0."""
    metric = {"query": "max(up)", "bind": False, "watermark": {"selector": "http_requests_total"}}
    # b-0 is scraped 1.25 s after each quarter of a minute
    assert age(collected(file(lab("healthy").url, {"up": metric})), "up") == 13.75


EVENT_TIMES = {
    "past": (str(T0 - 90), None, 90.0),
    "just ahead": (str(T0 + 5), None, -5.0),
    "ahead": (str(T0 + 6), BAD_AGE, None),
    "milliseconds": (f"{T0 - 90}000", BAD_AGE, None),
    "nan": ("0 / 0", BAD_AGE, None),
    "infinite": ("1 / 0", BAD_AGE, None),
    "negative": ("-5", BAD_AGE, None),
}


@pytest.mark.parametrize(("expr", "expected", "seconds"), EVENT_TIMES.values(), ids=EVENT_TIMES)
def test_an_event_time_query_states_the_age(
    lab: Labs[Lab], expr: str, expected: str | None, seconds: float | None
) -> None:
    """Its value is a time in unix seconds: one, finite, and at most five seconds ahead."""
    metric = {"query": "count(up)", "watermark": {"event_time_query": f"({expr}) + 0 * count(up)"}}
    snapshot = collected(file(lab("healthy").url, {"lag": metric}, labels=False))
    assert code(snapshot, "lag") == expected
    assert observation(snapshot, "lag")["value"] == 4
    if seconds is None:
        assert "watermark_event_time" not in observation(snapshot, "lag")
    else:
        assert age(snapshot, "lag") == seconds


@pytest.mark.parametrize(("expr", "expected"), [("up * 0 + 1", BAD_AGE), ("nothing_at_all", NO_AGE)])
def test_an_event_time_of_several_series_or_of_none_is_no_age(lab: Labs[Lab], expr: str, expected: str) -> None:
    """Which of them would count is not for the gate to choose."""
    metric = {"query": "count(up)", "watermark": {"event_time_query": expr}}
    assert code(collected(file(lab("healthy").url, {"lag": metric}, labels=False)), "lag") == expected


def test_an_event_time_is_asked_of_the_same_variant(lab: Labs[Lab]) -> None:
    """The labels are bound into it as into the query."""
    metric = {"query": "count(up)", "watermark": {"event_time_query": "max(timestamp(up))"}}
    with FaultProxy(lab("healthy").url) as proxy:
        snapshot = collected(file(proxy.url, {"count": metric}))
    assert age(snapshot, "count") == 3.875
    assert 'max(timestamp(up{variant="baseline"}))' in {request["params"]["query"] for request in proxy.requests}


def test_a_query_of_the_past_is_as_old_as_the_past(lab: Labs[Lab]) -> None:
    """Ten minutes ago is no measurement of a canary that was changed since; what all share is not added back."""
    metrics = {
        "before": "sum(up offset 10m)",
        "rates": "sum(rate(http_requests_total[5m] offset 10m))",
        "change": "sum(up) - sum(up offset 10m)",
        "two": "sum(up offset 20m) - sum(up offset 10m)",
        "inside": "max_over_time(sum(up)[5m:1m] offset 10m)",
    }
    snapshot = collected(file(lab("healthy").url, metrics))
    assert codes(snapshot) == {}
    ages = {metric: age(snapshot, metric) for metric in metrics}
    assert ages == {"before": 603.875, "rates": 603.875, "change": 3.875, "two": 603.875, "inside": 603.875}


def test_an_instance_that_stopped_is_seen_behind_an_average(lab: Labs[Lab]) -> None:
    """`avg(up)` is 1 all the same, and as old as the instance that nobody has heard of for four minutes."""
    metrics = {"up": 'avg(up{job="checkout"})'}
    assert age(collected(file(lab("healthy").url, metrics)), "up") == 3.875
    lagging = collected(file(lab("lagging_instance").url, metrics))
    assert (code(lagging, "up"), observation(lagging, "up")["value"]) == (None, 1)
    assert age(lagging, "up") > 240
    (source,) = lagging.document["_meta"]["sources"]
    assert source["freshness_seconds"] > 240
    # unless instances are told to be no targets
    spared = collected(file(lab("lagging_instance").url, metrics, source={"target_labels": ["job"]}))
    assert age(spared, "up") < 15


def test_the_oldest_of_a_querys_series_dates_it(lab: Labs[Lab]) -> None:
    """The ledger lags by 3 minutes, and so does what is computed from it."""
    metric = {"query": "sum(ledger_mismatches_total) + 0 * count(up{job='checkout'})", "bind": False}
    snapshot = collected(file(lab("lagging_source").url, {"mixed": metric}))
    # the ledger is scraped 3 s after each quarter of a minute, last before 23:57:00
    assert age(snapshot, "mixed") == 192.0


def test_errors_that_never_happened_have_no_series_and_that_is_no_trouble(lab: Labs[Lab]) -> None:
    """Another selector of the same name is alive, and nothing deep is asked."""
    with FaultProxy(lab("missing_metric").url) as proxy:
        snapshot = collected(file(proxy.url, {"errors": ERROR_RATIO}))
    assert (code(snapshot, "errors"), observation(snapshot, "errors")["value"]) == (None, 0)
    assert age(snapshot, "errors") == 3.875
    assert not any("[30m:1m]" in request["params"]["query"] for request in proxy.requests)


def test_a_series_that_no_other_of_its_name_speaks_for_is_missed(lab: Labs[Lab]) -> None:
    """`or vector(0)` turns a dead source into a healthy 0; without a sample nothing says how old that is."""
    snapshot = collected(file(lab("missing_metric").url, {"sum": "sum(ledger_mismatches_total) or vector(0)"}))
    assert (code(snapshot, "sum"), observation(snapshot, "sum")["value"]) == (NO_AGE, 0)


def test_how_far_back_a_dead_series_is_looked_for_is_the_files(lab: Labs[Lab]) -> None:
    """603 s old: found within 15 minutes, and not within 4 and the 5 that each step looks back."""
    for depth, expected in (("15m", STALE), ("4m", EMPTY)):
        document = file(lab("canary_stale").url, {"requests": REQUESTS}, limits={"watermark_depth": depth})
        assert code(collected(document), "requests") == expected


def charges(**changes: Any) -> dict[str, Any]:
    """A counter that does not exist before the first double charge."""
    return {
        "query": "sum(double_charges_total)",
        "kind": "count",
        "on_empty": {"zero_if": 'up{job="checkout"}'},
        **changes,
    }


def test_empty_means_zero_only_where_the_guard_says_so(lab: Labs[Lab]) -> None:
    """The target is up: 0, marked as imputed, as old as the guard's sample; the guard is bound like the query."""
    snapshot = collected(file(lab("healthy").url, {"charges": charges()}))
    seen = observation(snapshot, "charges")
    assert (seen["value"], seen["value_text"], seen["imputed"], seen["problem"]) == (0, None, True, None)
    assert age(snapshot, "charges") == 3.875


def test_a_guard_of_zero_or_without_series_leaves_it_empty() -> None:
    """One target is down, and it is the one that would know."""
    down = one_series("up", {"job": "checkout", "variant": "canary", "instance": "c-9"}, T0, 0.0)
    with Lab(with_series("healthy", down)) as server:
        metrics = {
            "down": charges(),
            "absent": charges(on_empty={"zero_if": 'up{job="nobody"}'}),
            "nan": charges(on_empty={"zero_if": "0 * up / 0"}),
        }
        snapshot = collected(file(server.url, metrics))
    for metric in metrics:
        assert (code(snapshot, metric), observation(snapshot, metric)["value"]) == (EMPTY, None)
        assert "imputed" not in observation(snapshot, metric)


def test_a_counter_that_has_stopped_is_not_zero() -> None:
    """It stood at 3 ten minutes ago: its target is up, and what it would say now nobody knows."""
    own = {"job": "checkout", "variant": "canary", "instance": "c-0"}
    stamps = replace(CANARY, last=-600).stamps(T0)
    counter = Series("double_charges_total", own, [(at, 3.0) for at in stamps], "counter")
    with Lab(with_series("healthy", counter)) as server:
        snapshot = collected(file(server.url, {"charges": charges()}))
    assert (code(snapshot, "charges"), observation(snapshot, "charges")["value"]) == (STALE, None)
    assert age(snapshot, "charges") == 603.875


def test_a_guard_that_cannot_be_asked_is_the_trouble(lab: Labs[Lab]) -> None:
    """Partial targets say nothing of the others."""
    faults = [Fault('up{job="checkout",variant="canary"}', edit=lambda body: {**body, "warnings": ["store down"]})]
    with FaultProxy(lab("healthy").url, faults) as proxy:
        snapshot = collected(file(proxy.url, {"charges": charges()}))
    assert code(snapshot, "charges") == "evidence_missing:partial_response"
    assert observation(snapshot, "charges")["value"] is None


def test_queries_stated_for_each_side_are_sent_as_they_are(lab: Labs[Lab]) -> None:
    """Nothing is bound into them, and each has the age of its own series."""
    metric = {"variant_query": 'sum(up{variant="canary"})', "baseline_query": 'sum(up{variant="baseline"})'}
    snapshot = collected(file(lab("healthy").url, {"up": metric}))
    assert [observation(snapshot, "up", baseline=side)["value"] for side in (False, True)] == [1, 2]
    assert observation(snapshot, "up", baseline=True)["query"] == 'sum(up{variant="baseline"})'
    # b-0 is scraped 1.25 s after each quarter of a minute, b-1 later
    assert observation(snapshot, "up", baseline=True)["watermark_event_time"] == "2025-12-31T23:59:46.250000Z"


def test_without_labels_and_without_binding_only_the_variant_is_asked(lab: Labs[Lab]) -> None:
    """A comparison with itself would be none."""
    assert "baseline" not in collected(file(lab("healthy").url, {"up": "sum(up)"}, labels=False)).document
    unbound = collected(file(lab("healthy").url, {"up": {"query": "sum(up)", "bind": False}}))
    assert "baseline" not in unbound.document
    assert observation(unbound, "up")["value"] == 4


def test_the_longest_range_with_its_offset_is_the_window(lab: Labs[Lab]) -> None:
    """The comparison looks back over 5 minutes that ended 10 minutes ago."""
    query = "sum(rate(http_requests_total[5m])) - sum(rate(http_requests_total[5m] offset 10m))"
    snapshot = collected(file(lab("healthy").url, {"change": query}))
    assert snapshot.document["_meta"]["window"] == "15m"


def test_what_all_selectors_are_shifted_by_is_age_and_no_window(lab: Labs[Lab]) -> None:
    """The window begins its length before the watermark, which lies 10 minutes back already."""
    snapshot = collected(file(lab("healthy").url, {"past": "sum(rate(http_requests_total[7m] offset 10m))"}))
    assert snapshot.document["_meta"]["window"] == "7m"


def test_metricsql_is_asked_where_its_age_is_stated(victoria: Labs[VictoriaLab]) -> None:
    """The parser does not know it; the server does."""
    metric = {
        "variant_query": 'sum(keep_last_value(up{variant="canary"}))',
        "watermark": {"event_time_query": 'max(timestamp(up{variant="canary"}))'},
    }
    snapshot = collected(file(victoria("healthy").url, {"up": metric}, source={"dialect": "victoriametrics"}))
    assert (codes(snapshot), observation(snapshot, "up")["value"]) == ({}, 1)
    assert age(snapshot, "up") == 3.875
