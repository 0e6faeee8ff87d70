from __future__ import annotations

import math
from typing import Any

import pytest

from tests.lab.fixtures import Labs
from tests.lab.scenarios import SCENARIOS
from tests.lab.series import T0
from tests.lab.servers import Lab, VictoriaLab

pytestmark = pytest.mark.server

FRESH = {"canary": -3.875, "baseline": -8.5, "ledger": -12.0}
"""Last scrapes before T0, a multiple of 15 s: -15 plus the phases 11.125, 6.5 (the later of two) and 3."""
WATERMARKS: dict[str, dict[str, float | None]] = {
    "canary_stale": {**FRESH, "canary": -603.875},
    "canary_slightly_stale": {**FRESH, "canary": -243.875},
    "canary_marked_stale": {**FRESH, "canary": -123.875},
    "several_series": {**FRESH, "canary": -1.875},
    "missing_metric": {**FRESH, "ledger": None},
    "lagging_source": {**FRESH, "ledger": -192.0},
    "empty": dict.fromkeys(FRESH),
}
"""Where a scenario's newest samples are not FRESH, by hand, seconds from T0."""
OWN_FACTS: dict[str, dict[str, float]] = {
    "healthy": {"canary_error_ratio": 0.01, "baseline_error_ratio": 0.01},
    "canary_errors": {"canary_error_ratio": 0.08, "baseline_error_ratio": 0.01},
    "canary_slow": {"canary_p95_min": 1.0},
    "several_series": {"canary_instances": 3},
    "counter_reset": {"canary_rps": 4.0},
    "lagging_instance": {"watermark_canary_min": T0 - 253.0},
    "first_increment": {"double_charges": 1.0},
    "partial_response": {"canary_error_ratio": 0.01, "baseline_error_ratio": 0.01},
}
"""What a scenario promises besides watermarks."""
MATCHERS = {"canary": 'variant="canary"', "baseline": 'variant="baseline"', "ledger": 'job="ledger"'}


def newest(matcher: str) -> str:
    """Query of the newest sample's time, also beyond the lookback of 5 minutes."""
    return f"max(timestamp(up{{{matcher}}})) or max(max_over_time(timestamp(up{{{matcher}}})[30m:1m]))"


def ratio(variant: str) -> str:
    """Query of a variant's share of errors."""
    total = f'rate(http_requests_total{{variant="{variant}"%s}}[5m])'
    return f"""sum({total % ',code=~"5.."'}) / sum({total % ""})"""


def watermarks(server: Lab | VictoriaLab) -> dict[str, float | None]:
    """Newest samples in the server, seconds from T0."""
    found = {who: server.value(newest(matcher), server.end) for who, matcher in MATCHERS.items()}
    return {who: None if at is None else round(at - T0, 3) for who, at in found.items()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_holds_what_it_promises(lab: Labs[Lab], name: str) -> None:
    """The server's newest samples are those counted by hand and those that the facts state."""
    server = lab(name)
    wanted = WATERMARKS.get(name, FRESH)
    facts: dict[str, Any] = {
        f"watermark_{who}": None if offset is None else T0 + offset for who, offset in wanted.items()
    }
    assert watermarks(server) == wanted
    assert server.scenario.facts == {**facts, **OWN_FACTS.get(name, {})}
    warned = bool(server.get("/api/v1/query", query="up", time=T0)[1].get("warnings"))
    assert warned == (name == "partial_response")


@pytest.mark.parametrize(("name", "canary"), [("healthy", 0.01), ("canary_errors", 0.08), ("partial_response", 0.01)])
def test_error_ratios_are_the_stated_ones(lab: Labs[Lab], name: str, canary: float) -> None:
    """Of the canary as the scenario says, of the baseline 1 %."""
    server = lab(name)
    assert server.value(ratio("canary"), T0) == pytest.approx(canary, abs=0.002)
    assert server.value(ratio("baseline"), T0) == pytest.approx(0.01, abs=0.002)


def test_rotten_data_looks_fine(lab: Labs[Lab]) -> None:
    """Four minutes old, the canary's error ratio is near 1 %, and its rate is far from the true 4 per second."""
    server = lab("canary_slightly_stale")
    assert server.value(ratio("canary"), T0) == pytest.approx(0.011, abs=0.002)
    assert server.value('sum(rate(http_requests_total{variant="canary"}[5m]))', T0) == pytest.approx(0.85, abs=0.02)


@pytest.mark.parametrize(
    ("name", "covered"),
    [("healthy", 20), ("canary_slightly_stale", 4), ("lagging_instance", 4), ("late_start", 5), ("canary_stale", None)],
)
def test_windows_are_covered_as_stated(lab: Labs[Lab], name: str, covered: int | None) -> None:
    """Samples of the canary's worst series in five minutes, of 20 possible."""
    query = 'min(count_over_time(http_requests_total{variant="canary",code="200"}[5m]))'
    assert lab(name).value(query, T0) == covered


def test_no_traffic_is_no_number(lab: Labs[Lab], victoria: Labs[VictoriaLab]) -> None:
    """0/0 is NaN in Prometheus, and no series at all in VictoriaMetrics."""
    found = lab("zero_traffic").value(ratio("canary"), T0)
    assert found is not None
    assert math.isnan(found)
    assert victoria("zero_traffic").value(ratio("canary"), T0, nocache=1) is None


def test_a_slow_canary_is_slow(lab: Labs[Lab]) -> None:
    """p95 by hand: 0.93 take up to 1 s and 0.99 up to 2.5 s, so 1 + 1.5 * 0.02 / 0.06 = 1.5 s, in whole requests."""
    p95 = "histogram_quantile(0.95, sum by (le) (rate(http_request_duration_seconds_bucket%s[5m])))"
    assert lab("canary_slow").value(p95 % '{variant="canary"}', T0) == pytest.approx(1.5, abs=0.03)
    assert lab("canary_slow").value(p95 % '{variant="baseline"}', T0) == pytest.approx(0.3125, abs=0.03)


def test_a_restart_does_not_break_the_rate(lab: Labs[Lab]) -> None:
    """Four requests a second; one interval of twenty is lost."""
    rate = lab("counter_reset").value('sum(rate(http_requests_total{variant="canary"}[5m]))', T0)
    assert rate == pytest.approx(3.8, abs=0.05)


def test_instances_come_as_several_series(lab: Labs[Lab]) -> None:
    """Without an aggregation there is one series per instance."""
    query = 'rate(http_requests_total{variant="canary",code="200"}[5m])'
    assert len(lab("several_series").query(query, T0)["result"]) == 3


def test_increase_misses_the_first_increment(lab: Labs[Lab]) -> None:
    """A counter born at 1: it says 1, its increase 0."""
    assert lab("first_increment").value("sum(double_charges_total)", T0) == 1
    assert lab("first_increment").value("sum(increase(double_charges_total[5m]))", T0) == 0


def test_odd_values_arrive_as_they_are(lab: Labs[Lab]) -> None:
    """As the server writes them, before anybody parses."""
    rows = lab("odd_values").query("odd_gauge", T0)["result"]
    assert {row["metric"]["case"]: row["value"][1] for row in rows} == {
        "nan": "NaN",
        "pinf": "+Inf",
        "ninf": "-Inf",
        "tiny": "5e-324",
        "huge": "1.7976931348623157e+308",
        "negzero": "-0",
        "third": "0.3333333333333333",
        "bigint": "9007199254740992",
    }
    assert lab("odd_values").query("odd_label", T0)["result"][0]["metric"]["text"] == 'a"b\\c\né'


def test_staleness_markers_end_a_series_at_once(lab: Labs[Lab]) -> None:
    """Two minutes after the last sample nothing is left, where the lookback would still find it."""
    assert lab("canary_marked_stale").value('up{variant="canary"}', T0) is None
    assert lab("canary_slightly_stale").value('up{variant="canary"}', T0) == 1


def test_time_passes(lab: Labs[Lab]) -> None:
    """After `extend` the stale canary is fresh again, and the seam has neither gap nor double."""
    server = lab("canary_stale", own=True)
    server.extend("healthy", 900)
    assert server.end == T0 + 900
    assert watermarks(server) == {who: 900 + offset for who, offset in FRESH.items()}
    assert server.value(ratio("canary"), server.end) == pytest.approx(0.01, abs=0.002)
    samples = "max(count_over_time(up{variant='%s'}[5m]))"
    assert server.value(samples % "canary", T0 + 300) == 20
    assert server.value(samples % "baseline", T0 + 150) == 20


def test_a_shared_server_stays_as_it_is(lab: Labs[Lab]) -> None:
    """What one test adds would be found by the next."""
    with pytest.raises(RuntimeError, match="own=True"):
        lab("canary_stale").extend("healthy", 900)
    assert lab("canary_stale") is lab("canary_stale")
    assert lab("canary_stale", flags=["--query.timeout=2s"]) is not lab("canary_stale")


@pytest.mark.parametrize(("end", "load"), [(T0 + 600, "blocks"), (T0, "remote_write")])
def test_the_way_in_makes_no_difference(lab: Labs[Lab], end: float, load: str) -> None:
    """Over the border of a two-hour block, and through the remote-write receiver."""
    server = lab("healthy", end=end, load=load)
    assert watermarks(server) == {who: end - T0 + offset for who, offset in FRESH.items()}
    assert server.value(ratio("canary"), end) == pytest.approx(0.01, abs=0.002)


def test_rules_are_evaluated(lab: Labs[Lab]) -> None:
    """A recording rule over live data: the server evaluates each second."""
    rules = "groups: [{name: g, interval: 1s, rules: [{record: 'job:up:sum', expr: 'vector(7)'}]}]"
    server = lab("empty", rules=rules)
    assert server.get("/api/v1/rules")[1]["data"]["groups"][0]["rules"][0]["name"] == "job:up:sum"


@pytest.mark.parametrize("name", ["healthy", "canary_stale", "lagging_source", "empty"])
def test_victoriametrics_holds_the_same(victoria: Labs[VictoriaLab], name: str) -> None:
    """The exact watermarks, by the function that VictoriaMetrics has for it."""
    found = {
        who: victoria(name).value(f"max(tlast_over_time(up{{{matcher}}}[30m]))", T0, nocache=1)
        for who, matcher in MATCHERS.items()
    }
    offsets = {who: None if at is None else round(at - T0, 3) for who, at in found.items()}
    assert offsets == WATERMARKS.get(name, FRESH)
