"""The queries of a collection file in parsed form, for its review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.evidence.collection import PrometheusMetric
from gatekeeper.evidence.lint.remarks import metric_pointer
from gatekeeper.evidence.prometheus.promql import parse
from gatekeeper.evidence.prometheus.promql_text import PromqlError, with_window
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    import promql_parser as pp

    from gatekeeper.evidence.collection import Collection

VALUE_KEYS = ("query", "variant_query", "baseline_query")


@dataclass(frozen=True)
class Query:
    """One query of one metric.

    Attributes:
        key: `query`, `variant_query`, `baseline_query` or `on_empty/zero_if`.
        pointer: where it stands in the file.
    """

    metric: str
    spec: PrometheusMetric
    key: str
    pointer: str
    expr: pp.Expr


def value_queries(collection: Collection) -> Iterator[Query]:
    """Each query for a value; what a parser of PromQL cannot read is passed over."""
    for name, spec in _metrics(collection):
        for key in VALUE_KEYS:
            yield from _query(collection, name, spec, key, getattr(spec, key))


def guard_queries(collection: Collection) -> Iterator[Query]:
    """Each query that says whether an empty answer means 0."""
    for name, spec in _metrics(collection):
        if spec.on_empty is not None:
            yield from _query(collection, name, spec, "on_empty/zero_if", spec.on_empty.zero_if)


def _metrics(collection: Collection) -> Iterator[tuple[str, PrometheusMetric]]:
    for name, spec in collection.metrics.items():
        if isinstance(spec, PrometheusMetric):
            yield name, spec


def _query(collection: Collection, name: str, spec: PrometheusMetric, key: str, text: str | None) -> Iterator[Query]:
    if text is None:
        return
    try:
        expr = parse(with_window(text, collection.window))
    except PromqlError:  # MetricsQL, with a watermark of its own, as the loader has seen to
        return
    yield Query(name, spec, key, metric_pointer(name, *key.split("/")), expr)
