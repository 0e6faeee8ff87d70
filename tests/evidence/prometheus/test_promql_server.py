"""What is said of PromQL here is compared with what real servers answer."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evidence.collection import TARGET_LABELS, Dialect
from gatekeeper.evidence.prometheus.promql import Selector, bind, parse, selectors
from gatekeeper.evidence.prometheus.promql_facts import histogram_quantiles
from gatekeeper.evidence.prometheus.promql_queries import (
    bucket_bounds_query,
    coverage_groups,
    coverage_query,
    coverage_ratio,
    deep_watermark_query,
    watermark_query,
)
from tests.evidence.prometheus.promql_corpus import QUERIES
from tests.evidence.prometheus.test_promql_facts import ANSWERS_NOTHING, ANSWERS_TO_NOTHING
from tests.lab.fixtures import Labs
from tests.lab.process import Server
from tests.lab.scenarios import build
from tests.lab.series import T0, Scenario, Series
from tests.lab.servers import Lab, VictoriaLab
from tests.lab.targets import Target, one_series

pytestmark = pytest.mark.server

CANARY = {"variant": "canary"}
FIVE_MINUTES, INTERVAL = 300, 15


def answer(server: Server, query: str) -> Any:
    """Status and data at T0, series in a fixed order."""
    status, body = server.get("/api/v1/query", query=query, time=T0)
    data = body.get("data", body.get("error"))
    if isinstance(data, dict) and data["resultType"] in {"vector", "matrix"} and "sort" not in query:
        data["result"].sort(key=lambda one: sorted(one["metric"].items()))
    return status, data


def test_the_server_reads_the_sent_text_as_the_reviewed_one(lab: Labs[Lab]) -> None:
    """A text that only our parser takes for the same would measure something else."""
    server = lab("odd_values")
    for query in QUERIES:
        sent = bind(query, {})
        status, reviewed = server.get("/api/v1/format_query", query=query)
        assert (status, server.get("/api/v1/format_query", query=sent)) == (200, (200, reviewed)), query
        assert answer(server, query) == answer(server, sent), query


@pytest.mark.parametrize(
    ("query", "by_hand"),
    [
        ("sum(http_requests_total)", 'sum(http_requests_total{variant="?"})'),
        (
            'sum(http_requests_total{code=~"5.."}) / sum(http_requests_total{variant="canary"} offset 1m)',
            'sum(http_requests_total{code=~"5..",variant="?"}) / sum(http_requests_total{variant="?"} offset 1m)',
        ),
        (
            r"max_over_time(sum(rate(http_requests_total{instance=~`\w-\d`}[1m]))[5m:30s] offset 30s)",
            r"max_over_time(sum(rate(http_requests_total{instance=~`\w-\d`,variant='?'}[1m]))[5m:30s] offset 30s)",
        ),
        (
            "sum(http_requests_total * on (instance) group_left () up{variant='baseline'} @ end())",
            "sum(http_requests_total{variant='?'} * on (instance) group_left () up{variant='?'} @ end())",
        ),
    ],
)
def test_a_bound_query_answers_as_the_one_written_by_hand(lab: Labs[Lab], query: str, by_hand: str) -> None:
    """Of canary and baseline each, and never the same."""
    server = lab("canary_errors")
    canary = server.value(bind(query, {"variant": "canary"}), at=T0)
    baseline = server.value(bind(query, {"variant": "baseline"}), at=T0)
    assert canary == server.value(by_hand.replace("?", "canary"), at=T0)
    assert baseline == server.value(by_hand.replace("?", "baseline"), at=T0)
    assert None not in {canary, baseline}
    assert canary != baseline


def test_a_label_value_full_of_odd_characters_finds_its_series(lab: Labs[Lab]) -> None:
    """The server reads our escapes."""
    server = lab("odd_values")
    assert server.value(bind("sum(odd_label)", {"text": 'a"b\\c\né'}), at=T0) == 1
    assert server.value(bind("sum(odd_label)", {"text": 'a"b\\c\ne'}), at=T0) is None


def test_what_answers_without_series_is_what_an_empty_server_answers(lab: Labs[Lab]) -> None:
    """The fact is about servers, so one decides."""
    server = lab("empty")
    for query in ANSWERS_TO_NOTHING:
        assert server.value(query, at=T0) is not None, query
    for query in ANSWERS_NOTHING:
        assert server.value(query, at=T0) is None, query


def newest(scenario: Scenario, before: float) -> float:
    """Time of the canary's last sample up to a time."""
    (up,) = [one for one in scenario.series if one.name == "up" and one.labels.get("variant") == "canary"]
    return max(at for at, value in up.samples if at <= before and value == 1)


def only(query: str) -> Selector:
    """The one selector of a query, asked of the canary."""
    (selector,) = selectors(parse(bind(query, CANARY)))
    return selector


OFFSETS = {"": 0.0, "offset 2m": 120.0, "offset 90s500ms": 90.5, "offset 10m": 600.0, "offset -2m": -120.0}


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        *((Dialect.PROMETHEUS, name) for name in ("healthy", "canary_stale", "canary_slightly_stale")),
        *((Dialect.VICTORIAMETRICS, name) for name in ("healthy", "canary_stale", "canary_slightly_stale")),
        (Dialect.PROMETHEUS, "canary_marked_stale"),  # markers are no text, so they cannot be imported elsewhere
    ],
)
def test_watermarks_are_times_of_samples(
    lab: Labs[Lab], victoria: Labs[VictoriaLab], dialect: Dialect, name: str, offset: str
) -> None:
    """The time of the sample that the query reads, offset or not; the deep one finds what the near one lost."""
    server: Lab | VictoriaLab = lab(name) if dialect is Dialect.PROMETHEUS else victoria(name)
    selector = only(f"rate(up[5m] {offset})")
    expected = newest(server.scenario, T0 - OFFSETS[offset])
    near = server.value(watermark_query(selector, TARGET_LABELS), at=T0)
    deep = server.value(deep_watermark_query(selector, "30m", dialect), at=T0)
    late = T0 - OFFSETS[offset] - expected
    marked = name == "canary_marked_stale" and late > INTERVAL
    assert near == (None if late > FIVE_MINUTES or marked else pytest.approx(expected, abs=0.002))
    assert deep is not None
    assert expected - (60 if marked else 0) - 0.002 <= deep <= expected + 0.002


def covered(server: Server, query: str, labels: dict[str, str] | None = None) -> list[float | None]:
    """The part of the window that is covered, of each group of the query; None without a sample."""
    found = []
    for group in coverage_groups(selectors(parse(bind(query, CANARY if labels is None else labels)))):
        samples = server.value(coverage_query(group, TARGET_LABELS), at=T0)
        found.append(None if samples is None else coverage_ratio(samples, group[0].window_seconds, INTERVAL))
    return found


RATIO = 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))'
ERRORS = 'sum(rate(http_requests_total{code=~"5.."}[5m]))'
BORN_LATE = Target("canary", "c-0", 11.125, first=-100)
"""Seven samples: 88.875 s ago, then every 15 s."""


def born_with_a_label() -> Scenario:
    """The canary's first error is 100 s old, its other counters are as old as the data."""
    made = build("missing_metric", T0)
    own = {"job": "checkout", "variant": "canary", "instance": "c-0"}
    samples = [(at, 1.0) for at in BORN_LATE.stamps(T0)]
    made.series.append(Series("http_requests_total", {**own, "code": "500"}, samples, "counter"))
    return made


def without_instance() -> Scenario:
    """Two pods that are told by `pod` alone; one of them is 100 s old."""
    made = build("healthy", T0)
    own = {"job": "pods", "variant": "canary"}
    made.series.append(one_series("pods_total", {**own, "pod": "a"}, T0, 1.0, kind="counter"))
    samples = [(at, 1.0) for at in BORN_LATE.stamps(T0)]
    made.series.append(Series("pods_total", {**own, "pod": "b"}, samples, "counter"))
    return made


@pytest.mark.parametrize("start", [Lab, VictoriaLab])
def test_a_series_born_with_a_label_is_no_late_start(start: type[Lab | VictoriaLab]) -> None:
    """The first error would else hold the stage for a whole window, when it should be judged."""
    with start(born_with_a_label()) as server:
        assert covered(server, RATIO) == [1.0]
        assert covered(server, "sum(rate(http_requests_total[5m]))") == [1.0]
        assert covered(server, ERRORS) == [pytest.approx(7 / 20)]  # nothing else of its name vouches for it


@pytest.mark.parametrize("start", [Lab, VictoriaLab])
def test_a_late_series_without_instance_is_not_hidden_by_another(start: type[Lab | VictoriaLab]) -> None:
    """All of them would be one target of their job."""
    with start(without_instance()) as server:
        assert covered(server, "sum(rate(pods_total[5m]))") == [pytest.approx(7 / 20)]
        assert covered(server, "sum(rate(pods_total{pod='a'}[5m]))") == [1.0]


ONE_INSTANCE = "sum(rate(http_requests_total{instance='c-0'}[5m]))"
EARLIER = "sum(rate(http_requests_total[5m] offset 5m))"
AHEAD = "sum(rate(http_requests_total[5m] offset -1m))"
SUBQUERY = "max_over_time(sum(rate(http_requests_total[1m]))[4m:15s])"
FIRST = "sum(increase(double_charges_total[5m])) / sum(increase(http_requests_total[5m]))"


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("healthy", {RATIO: [1.0], ONE_INSTANCE: [1.0], EARLIER: [1.0], AHEAD: [0.8], SUBQUERY: [1.0], "up": []}),
        ("late_start", {RATIO: [0.25], ERRORS: [0.25], ONE_INSTANCE: [0.25], EARLIER: [None], SUBQUERY: [0.25]}),
        ("lagging_instance", {RATIO: [0.2], ONE_INSTANCE: [1.0], EARLIER: [1.0], SUBQUERY: [0.2]}),
        ("canary_slightly_stale", {RATIO: [0.2], ONE_INSTANCE: [0.2], EARLIER: [1.0], AHEAD: [None]}),
        ("canary_stale", {RATIO: [None], EARLIER: [None]}),
        ("zero_traffic", {RATIO: [1.0]}),
        ("counter_reset", {RATIO: [1.0]}),
        ("missing_metric", {RATIO: [1.0], ERRORS: [None]}),
        ("first_increment", {FIRST: [0.35, 1.0], "sum(double_charges_total)": []}),
    ],
)
def test_a_window_is_covered_as_far_as_its_worst_target(
    lab: Labs[Lab], victoria: Labs[VictoriaLab], dialect: Dialect, name: str, expected: dict[str, list[float | None]]
) -> None:
    """Ratios look fine on rotten data; twenty samples fill a window of five minutes."""
    server: Server = lab(name) if dialect is Dialect.PROMETHEUS else victoria(name)
    for query, parts in expected.items():
        assert covered(server, query) == [None if part is None else pytest.approx(part) for part in parts], query


def test_a_target_that_left_is_not_covered(lab: Labs[Lab]) -> None:
    """Its series ended two minutes ago with a marker: 12 of 20 samples."""
    assert covered(lab("canary_marked_stale"), RATIO) == [pytest.approx(0.6)]


def test_the_bounds_of_a_histogram_are_found(lab: Labs[Lab]) -> None:
    """A limit at or above the highest finite one cannot be passed."""
    call = "histogram_quantile(0.95, sum by (le) (rate(http_request_duration_seconds_bucket[5m])))"
    (found,) = histogram_quantiles(parse(bind(call, CANARY)))
    result = lab("healthy").query(bucket_bounds_query(found.buckets[0]), at=T0)["result"]
    assert sorted(one["metric"]["le"] for one in result) == ["+Inf", "0.05", "0.1", "0.25", "0.5", "1", "2.5"]
