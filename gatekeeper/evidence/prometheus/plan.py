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

    from gatekeeper.evidence.collection import Collection, Dialect, MetricSpec, PrometheusMetric
    from gatekeeper.evidence.secrets import Secrets


@dataclass(frozen=True)
class Look:
    """A selector with the queries that find its newest sample: in the last minutes, and in `watermark_depth`."""

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
        window_milliseconds: how far back the query looks, offsets included; None where it is of one moment.
    """

    looks: tuple[Look, ...] = ()
    event_time_query: str | None = None
    coverage: tuple[Coverage, ...] = ()
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
    """

    metric: str
    side: Side
    spec: PrometheusMetric
    pointer: str
    query: str
    basis: Basis
    guard: str | None = None
    guard_basis: Basis = Basis()

    def queries(self) -> Iterable[str]:
        """What is asked at once, the value first."""
        yield self.query
        if self.guard is not None:
            yield self.guard
        yield from self.basis.queries()
        yield from self.guard_basis.queries()


def plan_of(
    metrics: Mapping[str, MetricSpec], collection: Collection, dialect: Dialect, secrets: Secrets
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
        for question in _Planner(name, spec, collection, dialect).questions(labels)  # type: ignore[arg-type]
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

    def __init__(self, name: str, spec: PrometheusMetric, collection: Collection, dialect: Dialect) -> None:
        self._name = name
        self._spec = spec
        self._window = collection.window
        self._depth = collection.limits.watermark_depth
        self._dialect = dialect
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
        guard, guard_basis = None, Basis()
        if self._spec.on_empty is not None:
            key_of_guard = "on_empty/zero_if"
            guard = self._text(key_of_guard, self._spec.on_empty.zero_if, labels)
            guard_basis = self._basis(key_of_guard, self._selectors(key_of_guard, guard))
        basis = self._basis_of_query(key, query, labels)
        return Question(self._name, side, self._spec, self._pointer, query, basis, guard, guard_basis)

    def _basis_of_query(self, key: str, query: str, labels: Mapping[str, str] | None) -> Basis:
        watermark = self._spec.watermark
        if watermark is None:
            return self._basis(key, self._selectors(key, query))
        try:
            own = selectors(parse(query))
        except PromqlError:  # another dialect's text: nothing is known of its windows
            own = ()
        if watermark.event_time_query is not None:
            text = self._text("watermark/event_time_query", watermark.event_time_query, labels)
            return self._basis(key, own, event_time_query=text)
        stated = self._text("watermark/selector", watermark.selector or "", labels)
        return self._basis(key, own, dated_by=self._selectors("watermark/selector", stated))

    def _basis(
        self,
        key: str,
        own: Sequence[Selector],
        *,
        dated_by: Sequence[Selector] | None = None,
        event_time_query: str | None = None,
    ) -> Basis:
        dating = [] if event_time_query is not None else own if dated_by is None else dated_by
        try:
            looks = tuple(
                Look(one, watermark_query(one), deep_watermark_query(one, self._depth, self._dialect)) for one in dating
            )
            coverage = tuple(
                Coverage(coverage_query(group), group[0].window_seconds, group[0].name or group[0].text)
                for group in coverage_groups(own)
            )
        except PromqlError as error:
            raise self._refused(key, str(error)) from None
        window = max(
            (round((one.window_seconds + one.offset_seconds) * 1000) for one in own if one.window_seconds), default=0
        )
        return Basis(looks, event_time_query, coverage, window if window > 0 else None)

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
