"""What a reviewer should know of the queries of a collection file: fallbacks, filters, rates, quantiles, series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.lint.queries import guard_queries, value_queries
from gatekeeper.evidence.prometheus.promql import text_of
from gatekeeper.evidence.prometheus.promql_facts import (
    answers_without_series,
    constant_fallbacks,
    filters_at_top,
    histogram_quantiles,
    name_patterns,
    rate_calls,
)
from gatekeeper.evidence.prometheus.promql_shapes import (
    counts_at_top,
    filters_inside,
    is_absence,
    is_nan_without_series,
    labels_fixed,
    may_be_several,
    quantiles_without_le,
    rates_above_zero,
    rates_of_sums,
)
from gatekeeper.evidence.prometheus.promql_zeros import value_of_zeros
from gatekeeper.model.policy import ConstraintKind

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from gatekeeper.evidence.collection import Collection
    from gatekeeper.evidence.lint.queries import Query
    from gatekeeper.model.policy import Policy


def promql_remarks(collection: Collection, policies: Sequence[Policy]) -> Iterator[Problem]:
    """Every remark about what queries ask, windows apart."""
    rules = _constraints(policies)
    for query in value_queries(collection):
        yield from _fallbacks(query)
        yield from _filters(query)
        yield from _quantiles(query)
        yield from _rates(query, rules.get(query.metric, ()))
        yield from _series(query, rules.get(query.metric, ()), collection.labels)
    for query in guard_queries(collection):
        yield from _guard(query)


def _constraints(policies: Sequence[Policy]) -> dict[str, set[ConstraintKind]]:
    """Metric -> what it must be."""
    found: dict[str, set[ConstraintKind]] = {}
    for policy in policies:
        for one in policy.constraints:
            found.setdefault(one.metric, set()).add(one.kind)
    return found


def _fallbacks(query: Query) -> Iterator[Problem]:
    fallbacks = constant_fallbacks(query.expr)
    if answers_without_series(query.expr) and not is_absence(query.expr) and not is_nan_without_series(query.expr):
        by = f" by `or {fallbacks[0]}`" if fallbacks else ""
        then = (
            "a dead source reads as healthy"
            if query.spec.watermark is not None
            else "nothing dates such a value, so the check holds, and a reader takes it for healthy"
        )
        message = f"{query.metric} answers a value{by} even where none of its series exists: {then}"
        remedy = "write (A or 0 * B) / B, where B has series whenever the source lives; or state on_empty.zero_if"
        yield Problem("collection.answers_without_series", query.pointer, message, remedy)
        return
    for fallback in () if is_absence(query.expr) else fallbacks:
        message = f"{query.metric}: `or {fallback}` stands in for series that are missing, for whatever reason"
        remedy = "write `or 0 * B`, where B has series whenever the source lives"
        yield Problem("collection.constant_fallback", query.pointer, message, remedy)


def _filters(query: Query) -> Iterator[Problem]:
    if query.spec.on_empty is not None:  # what an empty answer means is stated
        return
    if is_absence(query.expr):
        message = f"{query.metric} answers nothing while all is well: absence is asked for, and an empty answer holds"
        remedy = "ask for the series itself: where it is missing or old, checks hold and say so"
        yield Problem("collection.filters_at_top", query.pointer, message, remedy)
    elif filters_at_top(query.expr):
        message = f"{query.metric} answers nothing where the comparison is false, and an empty answer holds"
        remedy = "write `> bool …`, or leave the comparison out and the limit to the policy"
        yield Problem("collection.filters_at_top", query.pointer, message, remedy)
    else:
        for text in filters_inside(query.expr):
            message = f"{query.metric} answers nothing, and not 0, where no series passes `{text}`"
            remedy = "write sum(… > bool …) to count, or state on_empty.zero_if"
            yield Problem("collection.filters_inside", query.pointer, message, remedy)


def _quantiles(query: Query) -> Iterator[Problem]:
    for call in histogram_quantiles(query.expr):
        if call.quantile is not None and not 0 <= call.quantile <= 1:
            message = f"{query.metric} asks for the quantile {call.quantile:g}: beyond 0 to 1 the answer is infinite"
            yield Problem("collection.quantile_out_of_bounds", query.pointer, message, "write 0.95 for the 95th")
    for text in quantiles_without_le(query.expr):
        message = f"{query.metric}: `{text}` loses the label le, without which histogram_quantile answers nothing"
        yield Problem("collection.quantile_without_le", query.pointer, message, "aggregate by (le)")


def _rates(query: Query, rules: Container[ConstraintKind]) -> Iterator[Problem]:
    rates = rates_above_zero(query.expr) if ConstraintKind.MUST_BE_FALSE in rules else ()
    if ConstraintKind.MUST_BE_ZERO in rules:
        rates = rate_calls(query.expr)
    if rates:
        message = (
            f"a first event of {query.metric} passes: {rates[0]} misses what a counter is born with, and forgets what "
            "lies before its window"
        )
        remedy = "ask for the counter itself, like sum(x)"
        yield Problem("collection.rate_must_be_zero", query.pointer, message, remedy)
    for text in rates_of_sums(query.expr):
        message = f"{query.metric}: `{text}` takes the restart of one instance for a reset of all"
        yield Problem("collection.rate_of_sum", query.pointer, message, "write sum(rate(x[5m])): the rate first")


def _series(query: Query, rules: Container[ConstraintKind], labels: Iterable[str]) -> Iterator[Problem]:
    for pattern in name_patterns(query.expr):
        message = f"{query.metric} reads whatever metrics {pattern} finds, today's and tomorrow's"
        yield Problem("collection.name_pattern", query.pointer, message, "name the metric")
    bound = frozenset(labels) if query.key == "query" and query.spec.bind else frozenset()
    if may_be_several(query.expr, bound | labels_fixed(query.expr)):
        message = f"{query.metric} is not aggregated: a second series of it, such as a new instance, holds every check"
        yield Problem("collection.several_series", query.pointer, message, "write sum(…), max(…) or min(…) around it")
    if ConstraintKind.MUST_BE_FALSE in rules and counts_at_top(query.expr):
        message = f"{query.metric} must be false, and counts: 2 is neither true nor false, and holds"
        yield Problem("collection.not_boolean", query.pointer, message, "write max(…), or compare: sum(…) > bool 0")


def _guard(query: Query) -> Iterator[Problem]:
    value = value_of_zeros(query.expr)
    if value is not None and value != 0:
        message = (
            f"`{text_of(query.expr)}` is {value:g} while every target is down: an empty answer of {query.metric} then "
            "means 0"
        )
        remedy = 'ask for what is 0 then, such as up{job="api"}, or count(… == 1)'
        yield Problem("collection.guard_without_target", query.pointer, message, remedy)
