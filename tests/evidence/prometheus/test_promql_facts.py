"""What a query does that its author may not have meant is told, and nothing else is."""

from __future__ import annotations

import pytest

from gatekeeper.evidence.prometheus.promql import Selector, parse
from gatekeeper.evidence.prometheus.promql_facts import (
    HistogramQuantile,
    answers_without_series,
    constant_fallbacks,
    filters_at_top,
    has_selector,
    histogram_quantiles,
    longest_window_seconds,
    name_patterns,
    rate_calls,
    recording_rules,
    uses_at,
)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("sum(job:x:rate5m) / y + {__name__='a:b'} + job:x:rate5m offset 1m", ("job:x:rate5m", "a:b")),
        ("x{a='b:c'} + {__name__=~'a:.*'}", ()),
    ],
)
def test_a_recording_rule_is_told_by_its_name(query: str, names: tuple[str, ...]) -> None:
    """Its samples are fresh over stale data."""
    assert recording_rules(parse(query)) == names


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("1 + sum(rate(x[5m] @ 5))", True),
        ("x @ end()", True),
        ("max_over_time(vector(1)[5m:1m] @ 5)", True),
        ("x{a='@ 5'} offset 5m # @ 5", False),
    ],
)
def test_a_fixed_time_is_found_wherever_it_stands(query: str, expected: bool) -> None:
    """The answer would be as good as new for ever."""
    assert uses_at(parse(query)) is expected


@pytest.mark.parametrize("op", ["==", "!=", ">", "<", ">=", "<="])
def test_a_comparison_that_filters_is_found(op: str) -> None:
    """It answers nothing when all is well, which reads as a missing metric."""
    assert filters_at_top(parse(f"sum(x) {op} 0.05"))
    assert filters_at_top(parse(f"((sum(x)) {op} on () y)"))
    assert not filters_at_top(parse(f"x {op} bool 0.05"))
    assert not filters_at_top(parse(f"sum(x {op} 0.05)"))
    assert not filters_at_top(parse(f"1 - (x {op} bool 0.05)"))


def test_arithmetic_is_no_filter() -> None:
    """Only comparisons drop series."""
    for query in ("x", "x + 1", "x and y", "x or y", "-x", "x atan2 y"):
        assert not filters_at_top(parse(query))


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("x or vector(0)", ("vector(0)",)),
        ("sum(x) or on() vector(0)", ("vector(0)",)),
        ("(sum(x) or (vector(-1))) / (sum(y) or vector(0) * 2)", ("(vector(-1))", "vector(0) * 2")),
        ("vector(1) or x", ("vector(1)",)),
        ("max_over_time((x or vector(time()))[5m:1m])", ("vector(time())",)),
        ("(sum(rate(bad[5m])) or 0 * sum(rate(all[5m]))) / sum(rate(all[5m]))", ()),
        ("x + vector(0) unless vector(1)", ()),
    ],
)
def test_a_constant_in_the_place_of_missing_series_is_found(query: str, texts: tuple[str, ...]) -> None:
    """`or vector(0)` turns a dead source into a healthy zero."""
    assert constant_fallbacks(parse(query)) == texts


ANSWERS_TO_NOTHING = (
    "1",
    "time() - 5",
    "vector(1)",
    "sum(nothing) or vector(0)",
    "sum(nothing) or on() vector(0)",
    "vector(0) or nothing",
    "1 - (sum(rate(nothing[5m])) or vector(0))",
    "round(max_over_time((nothing or vector(0))[5m:1m]))",
    "absent(nothing)",
    "absent_over_time(nothing[5m])",
    "vector(scalar(nothing))",
    "scalar(nothing)",
    "vector(1) unless nothing",
    "sum(vector(1)) and on() absent(nothing)",
    "topk(1, vector(2))",
    "-vector(1)",
)
"""Queries that an empty server answers."""
ANSWERS_NOTHING = (
    "nothing",
    "nothing @ 5",
    "sum(nothing) or 0 * sum(nothing)",
    "(sum(nothing) or vector(0)) / sum(nothing)",
    "sum(nothing) and vector(1)",
    "nothing unless vector(1)",
    "clamp_min(nothing, 0) + 1",
    "topk(scalar(vector(1)), nothing)",
    "count(nothing)",
    "histogram_quantile(0.9, rate(nothing[5m]))",
    "max_over_time(nothing[5m:1m])",
    "rate(nothing[5m])",
    "nothing == bool 0",
    'label_replace(nothing, "a", "b", "c", "d")',
)
"""Queries that it does not."""


def test_a_query_that_answers_although_its_source_is_dead_is_found() -> None:
    """The server's own answers to these are compared in test_promql_server."""
    for query in ANSWERS_TO_NOTHING:
        assert answers_without_series(parse(query)), query
    for query in ANSWERS_NOTHING:
        assert not answers_without_series(parse(query)), query


def test_calls_that_miss_the_first_increment_are_found() -> None:
    """A constraint that must be zero reads the counter itself."""
    query = "sum(increase(x[5m])) + rate(x[1m]) + irate(y[1m]) + delta(z[1m]) + idelta(z[1m]) + increase(x[5m])"
    assert rate_calls(parse(query)) == (
        "increase(x[5m])",
        "rate(x[1m])",
        "irate(y[1m])",
        "delta(z[1m])",
        "idelta(z[1m])",
    )
    assert rate_calls(parse("sum(increase) + deriv(x[5m]) + x{a='rate(y[5m])'}")) == ()


def test_a_name_that_is_a_pattern_is_found() -> None:
    """Nobody can say which series that will be."""
    query = (
        "sum({__name__=~'x.*'}) + {__name__!='y',a='b'} + rate({__name__!~'z',a='b'}[5m]) + {__name__='w'} + y{a!='b'}"
    )
    assert name_patterns(parse(query)) == (
        '{__name__=~"x.*"}',
        '{__name__!="y",a="b"}',
        '{__name__!~"z",a="b"}',
    )


def test_a_query_that_reads_no_series_is_told() -> None:
    """It measures nothing, whatever it answers."""
    assert not has_selector(parse("vector(time()) + 1"))
    assert has_selector(parse("vector(time()) + topk(scalar(x), vector(1))"))


def test_the_longest_window_counts_subqueries() -> None:
    """It is how long a bad moment stays in the answer."""
    assert longest_window_seconds(parse("x")) == 0
    assert longest_window_seconds(parse("rate(x[5m] offset 1d) + max_over_time(rate(x[1m])[30m:1m])")) == 1860


def test_quantiles_of_histograms_come_with_their_buckets() -> None:
    """A limit above the highest finite bucket can never be passed."""
    call = 'histogram_quantile(0.95, sum by (le) (rate(x_bucket{a="b"}[5m] offset 1m)))'
    assert histogram_quantiles(parse(f"1 + max_over_time({call}[1h:]) > bool 2")) == (
        HistogramQuantile(call, 0.95, (Selector("x_bucket", 'x_bucket{a="b"}', 300.0, 60.0, has_at=False),)),
    )
    (other,) = histogram_quantiles(parse("histogram_quantile(scalar(q), x)"))
    assert other.quantile is None
    (third,) = histogram_quantiles(parse("histogram_quantile((.5), x)"))
    assert third.quantile == 0.5
