"""Queries that hold for ever or pass what they should not are told; a sound form that means the same is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatekeeper.evidence.lint.lint import lint
from tests.cli.support import environment
from tests.evidence.lint_files import SOUND, file, one, told, written

WATERMARK = {"selector": "up"}
ZERO_IF = {"zero_if": 'up{job="a"}'}


QUERIES: list[tuple[str, str, list[str]]] = [
    ("answers_without_series", "sum(x) or vector(0)", ["(sum(x) or 0 * sum(y)) / sum(y)", "sum(x)"]),
    ("answers_without_series", "sum(rate(x[5m])) or on() vector(0)", ["sum(rate(x[5m])) or 0 * sum(rate(y[5m]))"]),
    ("answers_without_series", "scalar(sum(x)) > bool 3", ["scalar(sum(x))", "sum(x) > bool 3"]),
    ("answers_without_series", "sum(x) or absent(x)", ["sum(x)"]),
    ("constant_fallback", "(sum(x) or vector(0)) / sum(y)", ["(sum(x) or 0 * sum(y)) / sum(y)"]),
    ("filters_at_top", "sum(x) > 5", ["sum(x) > bool 5", "sum(x)"]),
    ("filters_at_top", "(sum(x) / sum(y) >= 0.5)", ["(sum(x) / sum(y) >= bool 0.5)"]),
    ("filters_at_top", "absent(up)", ["sum(up)"]),
    ("filters_at_top", "sum(absent_over_time(up[5m]))", ["sum(count_over_time(up[5m]))"]),
    ("filters_inside", "count(up == 0)", ["sum(up == bool 0)", "count(up)"]),
    ("filters_inside", "100 * count(up == 0) / count(up)", ["100 * sum(up == bool 0) / count(up)"]),
    ("filters_inside", "floor(sum(x > 5))", ["floor(sum(x))"]),
    ("filters_inside", "sum(x) and sum(y) > 5", ["sum(x) and sum(y)"]),
    ("filters_inside", "(sum(x) > 5) unless sum(y) > 1", ["sum(x) unless sum(y) > 1"]),
    (
        "quantile_out_of_bounds",
        "histogram_quantile(95, sum by (le) (h_bucket))",
        [
            "histogram_quantile(0.95, sum by (le) (h_bucket))",
            "histogram_quantile(1, sum by (le) (h_bucket))",
            "histogram_quantile(0, sum by (le) (h_bucket))",
        ],
    ),
    (
        "quantile_without_le",
        "histogram_quantile(0.9, sum(rate(h_bucket[5m])))",
        [
            "histogram_quantile(0.9, sum by (le) (rate(h_bucket[5m])))",
            "max(histogram_quantile(0.9, sum without (pod) (rate(h_bucket[5m]))))",
            "histogram_quantile(0.9, sum(rate(native_seconds[5m])))",
        ],
    ),
    (
        "quantile_without_le",
        "max(histogram_quantile(0.9, sum without (le) (h_bucket)))",
        ["max(histogram_quantile(0.9, sum without (pod) (h_bucket)))"],
    ),
    ("rate_of_sum", "rate(sum(x)[5m:1m])", ["sum(rate(x[5m]))", "max_over_time(sum(rate(x[5m]))[30m:1m])"]),
    ("several_series", "x", ["sum(x)", "max(x)", 'x{instance="a:1"}', "topk(1, x)"]),
    (
        "several_series",
        "sum by (pod) (rate(x[5m]))",
        [
            "sum by (track) (rate(x[5m]))",
            "sum(rate(x[5m]))",
            'sum by (job) (rate(x{job="a"}[5m]))',
        ],
    ),
    ("several_series", "sum without (pod) (x)", ["sum(x)"]),
    ("several_series", "topk(3, x)", ["max(x)"]),
    ("several_series", 'count_values("v", x)', ["count(x)"]),
    ("several_series", "time() - x", ["time() - max(x)"]),
    ("several_series", "-clamp_max(x, 3) * 100", ["-clamp_max(max(x), 3) * 100"]),
    ("several_series", "sum(x) or y", ["sum(x) or sum(y)"]),
    (
        "several_series",
        "histogram_quantile(0.9, h_bucket)",
        [
            "histogram_quantile(0.9, sum by (le, track) (h_bucket))",
            "max(histogram_quantile(0.9, h_bucket))",
        ],
    ),
    ("looks_back", "sum(x offset 1h)", ["sum(x)", "sum(x) / sum(x offset 1w)"]),
    ("looks_back", "sum(rate(x[5m] offset 1m)) / sum(rate(y[5m] offset 2m))", ["sum(rate(x[5m])) / sum(rate(y[5m]))"]),
    ("looks_ahead", "sum(x offset -1m)", ["sum(x)"]),
    ("window_too_short", "sum(rate(x[29s]))", ["sum(rate(x[30s]))"]),
    ("window_too_short", "max(max_over_time(x[14s]))", ["max(max_over_time(x[15s]))"]),
    # 44 s hold two samples for sure: 30 of 44 s are 0.68; of 37 s they are 0.81
    ("coverage_never_met", "sum(rate(x[44s]))", ["sum(rate(x[37s]))", "sum(rate(x[45s]))"]),
]


@pytest.mark.parametrize(("code", "spoilt", "mended"), QUERIES)
def test_a_query_is_told_and_its_mended_forms_are_not(code: str, spoilt: str, mended: list[str]) -> None:
    """One remark each: what is otherwise sound is not accused, too."""
    assert told(one(spoilt), []) == [(code, "/metrics/m/query")]
    for query in mended:
        assert told(one(query), []) == [], query


def test_a_pattern_of_names_is_told_where_its_age_is_stated() -> None:
    """Without a watermark it does not load."""
    pattern, name = ({"query": f"sum({{__name__{text}}})", "watermark": WATERMARK} for text in ('=~"h_.*"', '="h"'))
    assert told(one(pattern), []) == [("name_pattern", "/metrics/m/query")]
    assert told(one(name), []) == []


def test_a_join_and_a_divisor_may_filter() -> None:
    """`group_left` on an info metric and `/ (x > 0)` mean what they say: no answer without a partner or traffic."""
    assert told(one("sum(x * on (pod) group_left (version) (pod_info == 1))"), []) == []
    assert told(one("sum(rate(x[5m])) / (sum(rate(y[5m])) > 0)"), []) == []


def test_a_stated_meaning_of_empty_settles_a_filter() -> None:
    """With `on_empty` an empty answer is 0 while the target lives, which is what the filter is for."""
    for query in ("sum(x) > 5", "count(up == 0)"):
        assert told(one({"query": query, "on_empty": ZERO_IF}), []) == []


def test_a_fallback_beside_a_watermark_of_its_own_reads_a_dead_source_as_healthy() -> None:
    """Then nothing else tells: the message says which of the two it is."""
    dated, undated = one({"query": "sum(x) or vector(0)", "watermark": WATERMARK}), one("sum(x) or vector(0)")
    messages = [lint(written(each), "c.json")[1][0].message for each in (dated, undated)]
    assert "a dead source reads as healthy" in messages[0]
    assert "the check holds" in messages[1]


@pytest.mark.parametrize(
    ("guard", "is_told"),
    [
        ("count(up)", True),
        ('count by (job) (up{job="a"})', True),
        ("(group(up))", True),
        ("up >= bool 0", True),
        ("sum(up) < bool 1", True),
        ("0 == bool up", True),
        ("1 - up", True),
        ("count_over_time(up[5m])", True),
        ("timestamp(up)", True),
        ("up or count(up)", False),
        ("up", False),
        ("count(up == 1)", False),
        ("sum(up) > bool 0", False),
        ("min(up) * 3", False),
        ("sum(rate(x_total[5m])) > 0", False),
        ("count(up) and up", True),
        ("count(up) * up", False),
        ("avg_over_time(up[5m]) == bool 1", False),
    ],
)
def test_a_guard_that_is_not_zero_while_every_target_is_down_is_told(guard: str, *, is_told: bool) -> None:
    """It would turn an outage into "no errors"; what is down has the value 0."""
    document = one({"query": "sum(errors_total)", "on_empty": {"zero_if": guard}})
    assert told(document, []) == ([("guard_without_target", "/metrics/m/on_empty/zero_if")] if is_told else [])


@pytest.mark.parametrize("query", ["sum(increase(leaks_total[5m]))", "sum(rate(a[5m])) / sum(rate(b[5m]))"])
def test_a_rate_under_must_be_zero_is_told(query: str) -> None:
    """PROMETHEUS facts: `increase` misses a counter that is born at 1. Without the policy it is a usual query."""
    spoilt = file(metrics__leaks__query=query)
    assert told(spoilt) == [("rate_must_be_zero", "/metrics/leaks/query")]
    assert told(spoilt, []) == []
    assert told(file(metrics__leaks__query="sum(leaks_total)")) == []


def test_a_rate_that_is_compared_with_zero_under_must_be_false_is_told() -> None:
    """It asks whether something has ever happened; a comparison with a level does not."""

    def asks(query: str) -> list[tuple[str, str]]:
        return told(file(metrics__killed__query=query))

    assert asks("sum(increase(leaks[5m])) > bool 0") == [("rate_must_be_zero", "/metrics/killed/query")]
    assert asks("0 < bool sum(increase(leaks[5m]))") == [("rate_must_be_zero", "/metrics/killed/query")]
    assert asks("sum(rate(errors[5m])) / sum(rate(all[5m])) > bool 0.05") == []
    assert asks("sum(leaks) > bool 0") == []


def test_a_sum_under_must_be_false_is_told() -> None:
    """Two switches that are on make 2, which is no violation but invalid evidence."""
    assert told(file(metrics__killed__query="sum(killswitch)")) == [("not_boolean", "/metrics/killed/query")]
    assert told(file(metrics__leaks__query="sum(killswitch)")) == []


def test_coverage_that_is_switched_off_is_told_where_there_is_a_window() -> None:
    """A late start and a dead instance pass; a query of one moment has no window to cover."""
    assert told(one({"query": "sum(rate(x[5m]))", "min_coverage": 0}), []) == [
        ("coverage_off", "/metrics/m/min_coverage")
    ]
    assert told(one({"query": "sum(x)", "min_coverage": 0}), []) == []


@pytest.mark.parametrize(("least", "is_told"), [(1, True), (0.951, True), (0.95, False), (0.8, False)])
def test_coverage_that_forgives_no_lost_scrape_is_told(least: float, *, is_told: bool) -> None:
    """Of 20 scrapes in 5 minutes, 19 are 0.95."""
    document = one({"query": "sum(rate(x[5m]))", "min_coverage": least})
    assert told(document, []) == ([("coverage_tight", "/metrics/m/min_coverage")] if is_told else [])


def test_the_default_coverage_of_a_short_window_is_not_nagged_about() -> None:
    """[1m] at 15 s forgives no lost scrape either; nobody has asked for more than the default."""
    assert told(one("sum(rate(x[1m]))"), []) == []


def test_a_scrape_interval_that_nobody_stated_is_told_where_coverage_hangs_on_it() -> None:
    """Prometheus' own default is a minute: at 15 s a quarter of its samples would be missing for ever."""
    assert told(one("sum(rate(x[5m]))", scrape=None), []) == [("scrape_interval_assumed", "/sources/p")]
    assert told(one("sum(x)", scrape=None), []) == []


def test_unlike_windows_of_variant_and_baseline_are_told() -> None:
    """The policy compares the two numbers, and cannot see that one is of an hour."""
    both = {"variant_query": "sum(rate(x[5m]))", "baseline_query": "sum(rate(y[1h]))"}
    assert told(one(both), []) == [("sides_differ", "/metrics/m/baseline_query")]
    assert told(one({**both, "baseline_query": "sum(rate(y[5m]))"}), []) == []
    before = {**both, "baseline_query": "sum(rate(x[5m] offset 1d))"}
    assert ("sides_differ", "/metrics/m/baseline_query") in told(one(before), [])


def test_a_query_that_looks_back_further_than_the_window_is_told() -> None:
    """The snapshot states the longer one, and every stage waits for it."""
    assert told(one("sum(rate(x[10m]))", window="5m"), []) == [("window_exceeded", "/metrics/m/query")]
    assert told(one("sum(rate(x[$window]))", window="5m"), []) == []
    assert told(one("sum(rate(x[10m]))"), []) == []


def test_text_of_another_dialect_is_passed_over() -> None:
    """The server is the one to say what it means; its watermark is stated."""
    metricsql = {"variant_query": "keep_last_value(sum(x)) or vector(0)", "watermark": WATERMARK}
    assert told(one(metricsql), []) == []


def test_a_recording_rule_and_a_fixed_time_do_not_load() -> None:
    """PROMETHEUS assertion 8: a rule's samples are new over stale data; the review refuses it without a watermark."""
    for query, code in (("sum(job:x:rate5m)", "needs_watermark"), ("sum(x @ 1767225600)", "fixed_time")):
        loaded, found = lint(written(one(query)), "c.json")
        assert loaded is None
        assert [(each.code, each.pointer) for each in found] == [(f"collection.{code}", "/metrics/m/query")]
    assert told(one({"query": "sum(job:x:rate5m)", "watermark": WATERMARK}), []) == []


def test_files_without_promql_load_no_parser() -> None:
    """And no review loads an HTTP stack, which only --ask needs."""
    script = (
        "import sys; from gatekeeper.evidence.lint.lint import lint; "
        "lint(sys.stdin.buffer.read(), 'c.json'); print(*sorted({'promql_parser', 'requests'} & set(sys.modules)))"
    )
    without = file(metrics={"queue": SOUND["metrics"]["queue"]}, labels={})
    for document, loads in ((without, b""), (SOUND, b"promql_parser")):
        argv = [sys.executable, "-c", script]
        done = subprocess.run(argv, input=written(document), capture_output=True, check=True, env=environment())
        assert done.stdout.strip() == loads
