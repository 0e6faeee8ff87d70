"""The highest bucket of a histogram, which only its server knows: a quantile never answers more.

A guardrail at or above it is no guardrail. Asked is what the variant's query reads, and the baseline's where the
variant has no series yet; the same client, limits and deadline serve as in a collection.
"""

from __future__ import annotations

import re
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import promql_parser as pp

from gatekeeper.documents.problem import Problem
from gatekeeper.errors import GatekeeperError
from gatekeeper.evidence.collect import evaluation_instant
from gatekeeper.evidence.collection import PrometheusMetric, PrometheusSource
from gatekeeper.evidence.lint.remarks import metric_pointer
from gatekeeper.evidence.prometheus.plan import plan_of
from gatekeeper.evidence.prometheus.promql import parse
from gatekeeper.evidence.prometheus.promql_facts import histogram_quantiles
from gatekeeper.evidence.prometheus.promql_queries import bucket_bounds_query
from gatekeeper.evidence.prometheus.promql_shapes import number
from gatekeeper.evidence.prometheus.promql_text import PromqlError
from gatekeeper.evidence.round import Round
from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.workers import Deadline, Workers
from gatekeeper.model.policy import Operator
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gatekeeper.evidence.collection import LoadedCollection
    from gatekeeper.evidence.prometheus.answer import Answer
    from gatekeeper.evidence.prometheus.client import Client
    from gatekeeper.evidence.prometheus.plan import Question
    from gatekeeper.model.policy import Guardrail, Policy
    from gatekeeper.ports import Clock

    Scale = Callable[[float], float]

_LE = re.compile(r'le="([^"]*)"')
_KEEPS_BOUND = frozenset({"max", "min", "avg"})


@dataclass(frozen=True)
class _Quantile:
    """What limits the answer of one query.

    Attributes:
        queries: ask for its buckets' bounds.
        scale: what the query makes of the quantile.
    """

    pointer: str
    queries: tuple[str, ...]
    scale: Scale


def bucket_asker(
    environ: Mapping[str, str], clock: Clock
) -> Callable[[LoadedCollection, Sequence[Policy]], list[Problem]]:
    """What `lint.lint` asks servers with.

    Args:
        environ: where `${NAME}` of the file is looked up.
        clock: for the evaluation instant.
    """
    return partial(_remarks, environ, clock)


def _remarks(
    environ: Mapping[str, str], clock: Clock, loaded: LoadedCollection, policies: Sequence[Policy]
) -> list[Problem]:
    capped: dict[str, list[tuple[str, Guardrail]]] = {}
    for policy in policies:
        for guardrail in policy.guardrails:
            if guardrail.threshold is not None and guardrail.op.lower_is_better:
                capped.setdefault(guardrail.metric, []).append((policy.policy_id, guardrail))
    return list(_Asker(loaded, environ, clock).remarks(capped)) if capped else []


class _Asker:
    """One review of one file."""

    def __init__(self, loaded: LoadedCollection, environ: Mapping[str, str], clock: Clock) -> None:
        collection = loaded.collection
        self._collection = collection
        at = evaluation_instant(clock.now(), collection.evaluate_at)
        deadline, workers = Deadline(collection.limits.deadline_seconds), Workers(collection.limits.parallelism)
        self._shared = Round(loaded, at, deadline, workers, Secrets(environ), lambda: b"")
        self._answers: dict[tuple[str, str], Answer] = {}
        self._hindrances: dict[str, str] = {}

    def remarks(self, capped: Mapping[str, Iterable[tuple[str, Guardrail]]]) -> Iterator[Problem]:
        """Everything to say about the guardrails of these metrics."""
        quantiles = {
            name: found
            for source in self._collection.sources
            for name, found in self._quantiles(source, capped.keys()).items()
        }
        self._ask(quantiles)
        self._shared.workers.close()
        for metric, sides in quantiles.items():
            source = self._collection.metrics[metric].source
            bound, unknown = self._bound(source, sides)
            if bound is None:
                message = f"whether a guardrail of {metric} can ever trip is not known: {unknown}"
                remedy = "ask again when the server can be asked and has the histogram"
                yield Problem("collection.buckets_unknown", sides[0].pointer, message, remedy)
                continue
            for policy, guardrail in capped[metric]:
                limit = guardrail.threshold
                assert limit is not None
                if limit > bound or (limit == bound and guardrail.op is Operator.LE):
                    message = (
                        f"{metric} {guardrail.op.value} {limit:g} of policy {policy} can never trip: the highest "
                        f"bucket of the histogram ends at {bound:g}, and no quantile answers more"
                    )
                    remedy = "give the histogram a bucket above the threshold, or lower the threshold"
                    yield Problem("collection.threshold_above_buckets", sides[0].pointer, message, remedy)

    def _quantiles(self, source: str, wanted: Iterable[str]) -> dict[str, list[_Quantile]]:
        """Metric -> its quantiles, the variant's before the baseline's."""
        spec = self._collection.sources[source]
        metrics = {
            name: metric
            for name, metric in self._collection.metrics_of(source).items()
            if name in wanted and _mentions_quantile(metric)
        }
        if not metrics or not isinstance(spec, PrometheusSource):
            return {}
        try:
            questions = plan_of(metrics, self._collection, spec, self._shared.secrets)
        except GatekeeperError as error:  # a variable is not set
            self._hindrances[source] = error.message
            return {name: [_Quantile(metric_pointer(name), (), _unchanged)] for name in metrics}
        found: dict[str, list[_Quantile]] = {}
        for question in questions:
            quantile = _quantile_of(question)
            if quantile is not None:
                found.setdefault(question.metric, []).append(quantile)
        return found

    def _ask(self, quantiles: Mapping[str, Sequence[_Quantile]]) -> None:
        from gatekeeper.evidence.prometheus.client import Client as Opened  # it loads an HTTP stack

        wanted: dict[str, dict[str, None]] = {}
        for metric, sides in quantiles.items():
            source = self._collection.metrics[metric].source
            for side in sides:
                wanted.setdefault(source, {}).update(dict.fromkeys(side.queries))
        clients, jobs = [], []
        for source, queries in wanted.items():
            spec = self._collection.sources[source]
            assert isinstance(spec, PrometheusSource)
            if source in self._hindrances:
                continue
            try:
                client = Opened(source, spec, self._shared)
            except GatekeeperError as error:  # a variable is not set, a certificate cannot be read
                self._hindrances[source] = error.message
                continue
            clients.append(client)
            jobs += [partial(self._answer, client, source, query) for query in queries]
        try:
            self._shared.workers.run(jobs, self._shared.deadline)
        finally:
            for client in clients:
                client.close()

    def _answer(self, client: Client, source: str, query: str) -> None:
        self._answers[source, query] = client.ask(query)

    def _bound(self, source: str, sides: Sequence[_Quantile]) -> tuple[float | None, str]:
        """The highest value that the query can answer; None, and why it is not known."""
        if source in self._hindrances:
            return None, self._hindrances[source]
        for side in sides:
            bounds: list[float] = []
            for query in side.queries:
                answer = self._answers.get((source, query))
                if answer is None:
                    return None, f"{source} has not answered within {self._shared.deadline.seconds:g} s"
                if answer.problem is not None or answer.mistake is not None:
                    return None, answer.mistake or (answer.problem.detail if answer.problem else "")
                stated = [_LE.search(sample.labels) for sample in answer.samples]
                if stated and not any(stated):
                    return None, f"{query} finds no label le: a native histogram has no buckets to compare with"
                bounds += [bound for one in stated if one and isfinite(bound := _float(one[1]))]
            if bounds:
                return side.scale(max(bounds)), ""
        return None, f"{source} has no buckets for {' and '.join(query for side in sides for query in side.queries)}"


def _mentions_quantile(metric: object) -> bool:
    if not isinstance(metric, PrometheusMetric):
        return False
    texts = (metric.query, metric.variant_query, metric.baseline_query)
    return any("histogram_quantile" in text for text in texts if text is not None)


def _quantile_of(question: Question) -> _Quantile | None:
    """What limits the answer; None where nothing does, or where more is reckoned than a scale."""
    try:
        expr = parse(question.query)
        scale = _scale(expr)
        if scale is None:
            return None
        queries = tuple(bucket_bounds_query(one) for call in histogram_quantiles(expr) for one in call.buckets)
    except PromqlError:  # MetricsQL
        return None
    return _Quantile(question.pointer, queries, scale)


def _scale(expr: pp.Expr) -> Scale | None:
    """What is made of a quantile on its way to the answer, in the server's own arithmetic."""
    if isinstance(expr, pp.ParenExpr):
        return _scale(expr.expr)
    if isinstance(expr, pp.AggregateExpr) and str(expr.op) in _KEEPS_BOUND:
        return _scale(expr.expr)
    if isinstance(expr, pp.Call) and expr.func.name == "histogram_quantile":
        return _unchanged
    if isinstance(expr, pp.BinaryExpr) and str(expr.op) in {"*", "/"}:
        factor, inner = number(expr.rhs), _scale(expr.lhs)
        if factor is None and str(expr.op) == "*":
            factor, inner = number(expr.lhs), _scale(expr.rhs)
        if factor is not None and factor > 0 and inner is not None:
            return partial(_multiplied if str(expr.op) == "*" else _divided, inner, factor)
    return None


def _unchanged(bound: float) -> float:
    return bound


def _multiplied(inner: Scale, factor: float, bound: float) -> float:
    return inner(bound) * factor


def _divided(inner: Scale, factor: float, bound: float) -> float:
    return inner(bound) / factor


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:  # masked, or no bound at all
        return float("inf")
