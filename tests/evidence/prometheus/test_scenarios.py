from __future__ import annotations

from math import isnan

import pytest

from gatekeeper.model.times import require_time
from tests.evidence.prometheus.collecting import ERROR_RATIO, P95, REQUESTS, code, codes, collected, file, observation
from tests.lab.fixtures import Labs
from tests.lab.series import T0, Scenario
from tests.lab.servers import Lab, VictoriaLab

pytestmark = pytest.mark.server

METRICS = {
    "error_ratio": {"query": ERROR_RATIO, "range": [0, 1]},
    "p95": P95,
    "requests": {"query": REQUESTS, "kind": "count"},
    "instances": 'count(up{job="checkout"})',
    "mismatches": {"query": "sum(ledger_mismatches_total)", "bind": False, "kind": "count"},
    "killswitch": {"query": "max(killswitch_engaged)", "bind": False, "kind": "boolean"},
}


def bound(variant: str) -> dict[str, str]:
    """The queries with the variant's label written into them by hand."""
    rate = 'rate(http_requests_total{variant="%s"%s}[5m])'
    every, bad = rate % (variant, ""), rate % (variant, ',code=~"5.."')
    buckets = f'http_request_duration_seconds_bucket{{variant="{variant}"}}'
    return {
        "error_ratio": f"(sum({bad}) or 0 * sum({every})) / sum({every})",
        "p95": f"histogram_quantile(0.95, sum by (le) (rate({buckets}[5m])))",
        "requests": f'floor(sum(increase(http_requests_total{{variant="{variant}"}}[5m])))',
        "instances": f'count(up{{job="checkout",variant="{variant}"}})',
    }


def oldest_target(scenario: Scenario, variant: str) -> float:
    """The newest sample of `up` of the instance that is the farthest behind."""
    instances = [one for one in scenario.series if one.name == "up" and one.labels.get("variant") == variant]
    return min(max(at for at, value in one.samples if value == 1) for one in instances)


STALE = "observation_stale:over_freshness_budget"
COVERAGE = "observation_stale:window_coverage"
EMPTY = "observation_missing:empty_result"
RATES = ("error_ratio", "p95", "requests")
EXPECTED: dict[str, dict[str, str]] = {
    "healthy": {},
    "canary_errors": {},
    "canary_slow": {},
    "canary_stale": dict.fromkeys((*RATES, "instances"), STALE),
    "canary_slightly_stale": dict.fromkeys(RATES, COVERAGE),
    "canary_marked_stale": dict.fromkeys((*RATES, "instances"), STALE),
    "zero_traffic": dict.fromkeys(("error_ratio", "p95"), "observation_invalid:guardrail_value"),
    "several_series": {},
    "counter_reset": {},
    "missing_metric": dict.fromkeys(("mismatches", "killswitch"), EMPTY),
    "lagging_source": {},
    "lagging_instance": dict.fromkeys(RATES, COVERAGE),
    "late_start": dict.fromkeys(RATES, COVERAGE),
    "first_increment": {},
    "partial_response": dict.fromkeys(
        (*METRICS, *(f"baseline.{name}" for name in bound("baseline"))), "evidence_missing:partial_response"
    ),
    "empty": {
        **dict.fromkeys(METRICS, EMPTY),
        **{f"baseline.{name}": "observation_missing:baseline_metric" for name in bound("baseline")},
    },
}


@pytest.mark.parametrize("scenario", EXPECTED)
def test_every_scenario_states_its_values_ages_and_exactly_its_troubles(lab: Labs[Lab], scenario: str) -> None:
    """Values are those of queries bound by hand, watermarks those of the data, and no trouble is missing or added."""
    server = lab(scenario)
    snapshot = collected(file(server.url, METRICS))
    assert codes(snapshot) == EXPECTED[scenario]
    for variant, is_baseline in (("canary", False), ("baseline", True)):
        watermark = server.scenario.facts[f"watermark_{variant}"]
        for name, query in bound(variant).items():
            seen = observation(snapshot, name, baseline=is_baseline)
            value = server.value(query, T0)
            if value is not None and not isnan(value):
                assert seen["value"] == value
            else:
                assert seen["value"] is None
            if watermark is not None:
                expected = oldest_target(server.scenario, variant) if name == "instances" else watermark
                assert abs(require_time(seen["watermark_event_time"]) / 1e6 - expected) <= 0.002
    ledger = server.scenario.facts["watermark_ledger"]
    if ledger is not None:
        for name, expected in (("mismatches", 0), ("killswitch", False)):
            seen = observation(snapshot, name)
            assert seen["value"] is expected or seen["value"] == expected
            assert abs(require_time(seen["watermark_event_time"]) / 1e6 - ledger) <= 0.002


@pytest.mark.parametrize(
    ("scenario", "ratio"), [("canary_slightly_stale", 0.2), ("lagging_instance", 0.2), ("late_start", 0.25)]
)
def test_a_ratio_that_looks_fine_over_a_window_with_few_samples_is_not_sound(
    lab: Labs[Lab], scenario: str, ratio: float
) -> None:
    """4 or 5 of 20 samples are there; the ratio itself is near the true 1 %."""
    seen = observation(collected(file(lab(scenario).url, {"error_ratio": ERROR_RATIO})), "error_ratio")
    assert 0.005 < seen["value"] < 0.015
    assert seen["coverage_ratio"] == ratio
    assert seen["problem"]["code"] == COVERAGE


def test_a_coverage_that_is_asked_for_is_what_counts(lab: Labs[Lab]) -> None:
    """A quarter is covered: 0.25 asked for is met, 0.26 is not."""
    metrics = {
        "met": {"query": REQUESTS, "min_coverage": 0.25},
        "missed": {"query": REQUESTS, "min_coverage": 0.26},
    }
    assert codes(collected(file(lab("late_start").url, metrics))) == {"missed": COVERAGE}


def test_a_counter_born_at_one_is_read_as_one(lab: Labs[Lab]) -> None:
    """The counter itself has no window, so its late birth is harm and no lack of coverage."""
    snapshot = collected(file(lab("first_increment").url, {"charges": "sum(double_charges_total)"}))
    assert observation(snapshot, "charges")["value"] == 1
    assert code(snapshot, "charges") is None


def test_an_error_series_that_was_born_late_is_no_late_start(lab: Labs[Lab]) -> None:
    """The target was scraped all the time, only its first error is new: the window is covered by its other series."""
    query = 'sum(rate(double_charges_total[5m])) + sum(rate(http_requests_total{code="500"}[5m]))'
    born_late = collected(file(lab("first_increment").url, {"sum": query}))
    assert code(born_late, "sum") == COVERAGE  # nothing else of that name tells of the target
    with_all = 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))'
    assert code(collected(file(lab("first_increment").url, {"sum": with_all})), "sum") is None


@pytest.mark.parametrize("case", ["nan", "pinf", "ninf"])
def test_a_value_that_is_no_number_never_becomes_null_without_a_problem(lab: Labs[Lab], case: str) -> None:
    """NaN and infinities are invalid evidence; the server's text stays."""
    text = {"nan": "NaN", "pinf": "+Inf", "ninf": "-Inf"}[case]
    query = f'max(odd_gauge{{case="{case}"}})'
    metrics = {
        "number": {"query": query, "bind": False},
        "switch": {"query": query, "bind": False, "kind": "boolean"},
    }
    snapshot = collected(file(lab("odd_values").url, metrics))
    seen = observation(snapshot, "number")
    assert (seen["value"], seen["value_text"]) == (None, text)
    assert codes(snapshot) == {
        "number": "observation_invalid:guardrail_value",
        "switch": "observation_invalid:constraint_value",
    }


def test_a_nan_of_the_baseline_is_charged_to_the_baseline(lab: Labs[Lab]) -> None:
    """No traffic on the baseline side is no fault of the variant."""
    swapped = {"variant": {"variant": "baseline", "baseline": "canary"}}
    snapshot = collected(file(lab("zero_traffic").url, {"error_ratio": ERROR_RATIO}) | {"labels": swapped})
    assert codes(snapshot) == {"baseline.error_ratio": "observation_invalid:baseline_value"}


def test_odd_numbers_keep_their_value_and_text(lab: Labs[Lab]) -> None:
    """The smallest, the largest, a third and minus zero, as doubles."""
    cases = {"tiny": 5e-324, "huge": 1.7976931348623157e308, "third": 1 / 3, "negzero": 0}
    metrics = {case: {"query": f'max(odd_gauge{{case="{case}"}})', "bind": False} for case in cases}
    snapshot = collected(file(lab("odd_values").url, metrics))
    assert codes(snapshot) == {}
    assert {case: observation(snapshot, case)["value"] for case in cases} == cases


def test_several_series_are_told_with_their_labels(lab: Labs[Lab]) -> None:
    """A person sees which label to aggregate away."""
    snapshot = collected(file(lab("several_series").url, {"up": 'up{job="checkout"}'}))
    problem = observation(snapshot, "up")["problem"]
    assert problem["code"] == "observation_invalid:multiple_series"
    assert problem["detail"].startswith('3 series: {__name__="up", instance="c-0"')


def test_real_warnings_of_a_server_are_partial_evidence_and_are_recorded(lab: Labs[Lab]) -> None:
    """A storage that cannot be reached: the values that came are kept, and confirm nothing."""
    seen = observation(collected(file(lab("partial_response").url, {"requests": REQUESTS})), "requests")
    assert seen["value"] == 1200
    assert seen["problem"]["code"] == "evidence_missing:partial_response"
    assert seen["warnings"][0].startswith("remote_read: error sending request")


VICTORIA = {
    **{name: EXPECTED[name] for name in ("healthy", "canary_stale", "canary_slightly_stale", "missing_metric")},
    **{name: EXPECTED[name] for name in ("lagging_source", "lagging_instance", "late_start", "empty")},
    "zero_traffic": dict.fromkeys(("error_ratio", "p95"), EMPTY),  # it drops NaN
}


@pytest.mark.parametrize("dialect", ["victoriametrics", "prometheus"])
@pytest.mark.parametrize("scenario", VICTORIA)
def test_victoriametrics_has_the_same_troubles(victoria: Labs[VictoriaLab], scenario: str, dialect: str) -> None:
    """Only what it answers to 0/0 differs; both forms of the deep query find the age."""
    server = victoria(scenario)
    snapshot = collected(file(server.url, METRICS, source={"dialect": dialect}))
    assert codes(snapshot) == VICTORIA[scenario]
    watermark = server.scenario.facts["watermark_canary"]
    if watermark is not None:
        seen = require_time(observation(snapshot, "error_ratio")["watermark_event_time"]) / 1e6
        assert abs(seen - watermark) <= 0.002
