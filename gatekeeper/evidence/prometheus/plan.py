"""What one source is asked: for each metric and side its query, and what tells the age and coverage of its answer.

Nothing is asked here. Metrics share selectors, so that the same text stands in the plan many times; it is asked once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.prometheus.promql import PromqlError, Selector, bind, parse, selectors, with_window
from gatekeeper.evidence.prometheus.promql_queries import (
    coverage_groups,
    coverage_query,
    deep_watermark_query,
    watermark_query,
)
from gatekeeper.evidence.reading import Side
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gatekeeper.evidence.collection import Collection, MetricSpec, PrometheusMetric, PrometheusSource
    from gatekeeper.evidence.secrets import Secrets


@dataclass(frozen=True)
class Look:
    """A selector with the queries that tell how new it is: in the last minutes, and in `watermark_depth`."""

    selector: Selector
    newest: str
    deep: str


@dataclass(frozen=True)
class Coverage:
    """Asks how many samples of its window the worst target of selectors of one name has."""

    query: str
    window_seconds: float
    name: str


@dataclass(frozen=True)
class Basis:
    """What the age and the completeness of one answer are read from.

    Attributes:
        looks: the selectors whose newest samples date it.
        event_time_query: dates it instead of them.
        shared_offset_seconds: how far back every selector of the query is shifted; what it reads is that old.
        window_milliseconds: how far back from there the query looks; None where it is of one moment.
    """

    looks: tuple[Look, ...] = ()
    event_time_query: str | None = None
    coverage: tuple[Coverage, ...] = ()
    shared_offset_seconds: float = 0
    window_milliseconds: int | None = None

    def queries(self) -> Iterable[str]:
        """What is asked at once; the deep queries only when these find nothing."""
        yield from (look.newest for look in self.looks)
        if self.event_time_query is not None:
            yield self.event_time_query
        yield from (coverage.query for coverage in self.coverage)


@dataclass(frozen=True)
class Question:
    """One metric on one side.

    Attributes:
        pointer: where the metric stands in the file.
        query: as sent.
        guard: `on_empty.zero_if` as sent; None without.
        guard_basis: what dates a value that `guard` allowed to be 0.
        own_looks: the query's own series, where `on_empty` asks whether there are any; None where nobody knows which.
    """

    metric: str
    side: Side
    spec: PrometheusMetric
    pointer: str
    query: str
    basis: Basis
    guard: str | None = None
    guard_basis: Basis = Basis()
    own_looks: tuple[Look, ...] | None = ()

    def queries(self) -> Iterable[str]:
        """What is asked at once, the value first."""
        yield self.query
        if self.guard is not None:
            yield self.guard
        yield from self.basis.queries()
        yield from self.guard_basis.queries()


def plan_of(
    metrics: Mapping[str, MetricSpec], collection: Collection, source: PrometheusSource, secrets: Secrets
) -> tuple[Question, ...]:
    """The questions of one source, in the file's order, the variant before the baseline.

    Raises:
        CollectionError: a query that cannot be parsed, bound or dated.
        UsageError: an environment variable in a label value is not set.
    """
    labels = _label_values(collection, secrets)
    return tuple(
        question
        for name, spec in metrics.items()
        for question in _Planner(name, spec, collection, source).questions(labels)  # type: ignore[arg-type]
    )


def _label_values(collection: Collection, secrets: Secrets) -> dict[Side, dict[str, str] | None]:
    """What is bound on each side; None: that side is not asked."""
    found: dict[Side, dict[str, str] | None] = {Side.VARIANT: {}, Side.BASELINE: {} if collection.labels else None}
    for label, values in collection.labels.items():
        for side, value in ((Side.VARIANT, values.variant), (Side.BASELINE, values.baseline)):
            bound = found[side]
            if value is None:
                found[side] = None
            elif bound is not None:
                bound[label] = secrets.expand(value, where=f"/labels/{escape_pointer(label)}/{side.value}")
    return found


class _Planner:
    """Plans one metric."""

    def __init__(self, name: str, spec: PrometheusMetric, collection: Collection, source: PrometheusSource) -> None:
        self._name = name
        self._spec = spec
        self._window = collection.window
        self._depth = collection.limits.watermark_depth
        self._dialect = source.dialect
        self._targets = source.target_labels
        self._pointer = f"/metrics/{escape_pointer(name)}"

    def questions(self, labels: Mapping[Side, Mapping[str, str] | None]) -> Iterable[Question]:
        stated = {Side.VARIANT: self._spec.variant_query, Side.BASELINE: self._spec.baseline_query}
        for side in Side:
            bound = labels[side]
            text = stated[side]
            if text is not None:
                yield self._question(side, f"{side.value}_query", text, None)
            elif self._spec.query is None:
                continue
            elif not self._spec.bind:
                if side is Side.VARIANT:
                    yield self._question(side, "query", self._spec.query, None)
            elif bound is not None:
                yield self._question(side, "query", self._spec.query, bound)

    def _question(self, side: Side, key: str, text: str, labels: Mapping[str, str] | None) -> Question:
        query = self._text(key, text, labels)
        basis, own = self._basis_of_query(key, query, labels)
        guard, guard_basis, own_looks = None, Basis(), None
        if self._spec.on_empty is not None:
            key_of_guard = "on_empty/zero_if"
            guard = self._text(key_of_guard, self._spec.on_empty.zero_if, labels)
            guard_basis = self._basis(key_of_guard, self._selectors(key_of_guard, guard))
            own_looks = self._looks(key, own) if own else None
        return Question(self._name, side, self._spec, self._pointer, query, basis, guard, guard_basis, own_looks)

    def _basis_of_query(
        self, key: str, query: str, labels: Mapping[str, str] | None
    ) -> tuple[Basis, tuple[Selector, ...]]:
        """What dates the answer, and the query's own selectors: none where its text is of another dialect."""
        watermark = self._spec.watermark
        if watermark is None:
            own = self._selectors(key, query)
            return self._basis(key, own), own
        try:
            own = selectors(parse(query))
        except PromqlError:
            own = ()
        if watermark.event_time_query is not None:
            text = self._text("watermark/event_time_query", watermark.event_time_query, labels)
            return self._basis(key, own, event_time_query=text), own
        stated = self._text("watermark/selector", watermark.selector or "", labels)
        return self._basis(key, own, dated_by=self._selectors("watermark/selector", stated)), own

    def _looks(self, key: str, dating: Sequence[Selector]) -> tuple[Look, ...]:
        try:
            return tuple(
                Look(one, watermark_query(one, self._targets), deep_watermark_query(one, self._depth, self._dialect))
                for one in dating
            )
        except PromqlError as error:
            raise self._refused(key, str(error)) from None

    def _basis(
        self,
        key: str,
        own: Sequence[Selector],
        *,
        dated_by: Sequence[Selector] | None = None,
        event_time_query: str | None = None,
    ) -> Basis:
        dating = [] if event_time_query is not None else own if dated_by is None else dated_by
        looks = self._looks(key, dating)
        try:
            coverage = tuple(
                Coverage(coverage_query(group, self._targets), group[0].window_seconds, group[0].name or group[0].text)
                for group in coverage_groups(own)
            )
        except PromqlError as error:
            raise self._refused(key, str(error)) from None
        shared = max(0.0, min((one.offset_seconds for one in own), default=0.0))  # the watermark lies that far back
        window = max(
            (round((one.window_seconds + one.offset_seconds - shared) * 1000) for one in own if one.window_seconds),
            default=0,
        )
        return Basis(looks, event_time_query, coverage, shared, window if window > 0 else None)

    def _text(self, key: str, text: str, labels: Mapping[str, str] | None) -> str:
        """The text to send: with the window, and with *labels* bound into it unless they are None."""
        try:
            text = with_window(text, self._window)
            return text if labels is None else bind(text, labels)
        except PromqlError as error:
            raise self._refused(key, str(error)) from None

    def _selectors(self, key: str, query: str) -> tuple[Selector, ...]:
        try:
            return selectors(parse(query))
        except PromqlError as error:
            raise self._refused(
                key,
                str(error),
                remedy="mend the query; text of another dialect needs `watermark` and nothing bound into it",
            ) from None

    def _refused(
        self, key: str, message: str, *, remedy: str = "mend the query in the collection file"
    ) -> CollectionError:
        return CollectionError(f"{self._pointer}/{key}: {message}", remedy=remedy)
