"""The questions about age and coverage, as text; what servers answer to them is in test_promql_server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gatekeeper.evidence.collection import Dialect
from gatekeeper.evidence.prometheus.promql import PromqlError, Selector, parse, selectors
from gatekeeper.evidence.prometheus.promql_queries import (
    bucket_bounds_query,
    coverage_groups,
    coverage_query,
    coverage_ratio,
    deep_watermark_query,
    watermark_query,
)

TARGETS = ("job", "pod")


def only(query: str) -> Selector:
    """The one selector of a query."""
    (selector,) = selectors(parse(query))
    return selector


def test_the_questions_keep_the_offset_and_drop_the_window() -> None:
    """The newest sample of the moment that the query reads, not of the present."""
    selector = only('max_over_time(rate(x{a="}"}[5m] offset 90s)[30m:1m] offset -1h)')
    assert watermark_query(selector, TARGETS) == 'max(timestamp(x{a="}"} offset -58m30s))'
    assert deep_watermark_query(selector, "30m", Dialect.PROMETHEUS) == (
        'max(max_over_time(timestamp(x{a="}"} offset -58m30s)[30m:1m]))'
    )
    assert deep_watermark_query(selector, "1h", Dialect.VICTORIAMETRICS) == (
        'max(tlast_over_time(x{a="}"}[1h] offset -58m30s))'
    )
    assert bucket_bounds_query(only("rate(x_bucket[5m] offset 1m)")) == "count by (le) (x_bucket offset 1m)"


def test_coverage_is_asked_of_selectors_with_a_window_by_name() -> None:
    """An instant selector has no window; a series that a label gave birth to is vouched for by one of its name."""
    one_name = 'rate(x{code="5"}[5m]) / rate(x[5m]) + x + rate(x[1m])'
    query = one_name + ' + rate(y[5m]) + rate(y[5m] offset 1m) + rate({a="b"}[5m])'
    assert [[one.text for one in group] for group in coverage_groups(selectors(parse(query)))] == [
        ['x{code="5"}', "x"],
        ["x"],
        ["y"],
        ["y"],
        ['{a="b"}'],
    ]


def test_coverage_counts_a_target_once_and_a_series_without_instance_by_itself() -> None:
    """One question a group, whatever the selectors match already."""
    (group,) = coverage_groups(selectors(parse('rate(x{instance=~"a.*"}[1h30m] offset 1m) + rate(x[90m] offset 1m)')))
    assert coverage_query(group, TARGETS) == (
        'min(max by (job, pod) (count_over_time(x{instance!="",instance=~"a.*"}[1h30m] offset 1m)'
        ' or count_over_time(x{instance!=""}[1h30m] offset 1m))'
        ' or count_over_time(x{instance="",instance=~"a.*"}[1h30m] offset 1m)'
        ' or count_over_time(x{instance=""}[1h30m] offset 1m))'
    )
    (one,) = coverage_groups([only('rate({__name__="x"}[5m])')])
    assert coverage_query(one, TARGETS) == (
        'min(max by (job, pod) (count_over_time({__name__="x",instance!=""}[5m]))'
        ' or count_over_time({__name__="x",instance=""}[5m]))'
    )
    parse(coverage_query(group, TARGETS))


def test_an_instant_is_as_old_as_its_oldest_target() -> None:
    """`avg(up)` would else be as new as the instance that still answers."""
    assert watermark_query(only('x{a="b"} offset 1m'), TARGETS) == (
        'min(max by (job, pod) (timestamp(x{a="b",instance!=""} offset 1m))'
        ' or timestamp(x{a="b",instance=""} offset 1m))'
    )
    parse(watermark_query(only("x"), TARGETS))


def test_a_window_with_one_sample_more_is_covered_once() -> None:
    """Servers before 3.0 count both ends of a window."""
    assert coverage_ratio(21, 300, 15) == 1.0
    assert coverage_ratio(5, 300, 15) == 0.25
    assert coverage_ratio(0, 300, 15) == 0.0


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: watermark_query(one, TARGETS),
        bucket_bounds_query,
        lambda one: coverage_query([one], TARGETS),
        lambda one: deep_watermark_query(one, "30m", Dialect.PROMETHEUS),
        lambda one: deep_watermark_query(one, "30m", Dialect.VICTORIAMETRICS),
    ],
)
def test_series_at_a_fixed_time_have_no_age(ask: Callable[[Selector], str]) -> None:
    """The present's watermark would be told for data of that time."""
    with pytest.raises(PromqlError, match="x: @ fixes its time"):
        ask(only("rate(x[5m] @ 5)"))
