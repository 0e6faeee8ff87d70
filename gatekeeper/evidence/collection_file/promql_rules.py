"""Rules of PromQL: what is asked must be readable, datable and bindable before any server is asked.

A text that the parser does not know may be MetricsQL. It is let through where nothing is bound into it and the
watermark is stated: the server is then the one who says whether it can be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import SourceType
from gatekeeper.evidence.collection_file.bounds import duration, is_label
from gatekeeper.evidence.collection_file.typed import members, typed_metrics
from gatekeeper.evidence.prometheus.promql import PromqlError, bind, parse, selectors, with_window
from gatekeeper.evidence.prometheus.promql_facts import answers_without_series, recording_rules, uses_at
from gatekeeper.evidence.prometheus.promql_shapes import evaluation_time, no_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import promql_parser as pp

    from gatekeeper.evidence.collection_file.typed import TypedPart

    Sound = Callable[[str], bool]

_SOME_WINDOW = "5m"  # where the file's own is wrong, which has been said
_WATERMARK = 'state "watermark": {"selector": …} with the raw series, or {"event_time_query": …}'
_METRICSQL = "MetricsQL goes into variant_query and baseline_query, or has bind false, and a watermark beside it"


def promql_problems(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    """Every rule that the PromQL in *document* breaks."""
    window = _SOME_WINDOW if list(duration(document, "", "window")) else document.get("window")
    stated = members(document, "labels") if sound("/labels") else {}
    labels = {name: values["variant"] for name, values in stated.items() if is_label(name)}
    for part in typed_metrics(document):
        if part.type is SourceType.PROMETHEUS:
            metric = _Metric(part, window if isinstance(window, str) else None, labels, is_sound=sound(part.pointer))
            yield from metric.problems()


def _undated(expr: pp.Expr) -> str | None:
    """Why the samples behind a query tell no age: a rule recorded them, or nobody knows whether one did."""
    for one in selectors(expr):
        if one.name is None:
            return f"{one.text} names no metric, and may find what a recording rule has written"
    rules = recording_rules(expr)
    if rules:
        return f"{rules[0]} is a recording rule, whose samples are new however old the data behind them are"
    return None


class _Metric:
    """One metric of a Prometheus source."""

    def __init__(self, part: TypedPart, window: str | None, labels: Mapping[str, str], *, is_sound: bool) -> None:
        self._pointer = part.pointer
        self._content = part.content
        self._window = window
        self._labels = labels
        self._is_sound = is_sound
        self._is_dated = "watermark" in part.content
        self._is_bound = "query" in part.content and part.content.get("bind") is not False

    def problems(self) -> Iterator[Problem]:
        """Every rule that it breaks."""
        for key in ("query", "variant_query", "baseline_query"):
            yield from self._value_query(f"{self._pointer}/{key}", self._content.get(key))
        yield from self._selector(members(self._content, "watermark").get("selector"))
        event_time = members(self._content, "watermark").get("event_time_query")
        pointer = f"{self._pointer}/watermark/event_time_query"
        yield from self._readable(pointer, event_time, may_be_metricsql=not self._is_bound)
        yield from self._event_time(pointer, event_time)
        yield from self._guard(members(self._content, "on_empty").get("zero_if"))

    def _value_query(self, pointer: str, text: object) -> Iterator[Problem]:
        """What is asked for the value itself."""
        yield from self._readable(pointer, text, may_be_metricsql=self._is_dated and not self._is_bound)
        expr = self._parsed(text)
        if expr is None or self._is_dated or not self._is_sound:
            return
        if undated := _undated(expr):
            yield Problem(
                "collection.needs_watermark", pointer, f"{undated}; allowed: it, with a watermark", _WATERMARK
            )
        elif not selectors(expr):
            message = "the query reads no series, so the answer has no age; allowed: it, with a watermark"
            yield Problem("collection.needs_watermark", pointer, message, _WATERMARK)

    def _readable(
        self, pointer: str, text: object, *, may_be_metricsql: bool, is_selector: bool = False
    ) -> Iterator[Problem]:
        """A text that can be sent, and into which the labels can be put where they have to be."""
        if not isinstance(text, str) or not text.strip():
            return
        try:
            query = with_window(text, self._window or _SOME_WINDOW)
            if self._window is None and query != text:
                message = "$window is used, and the file states none; allowed: a window at the top of the file"
                yield Problem("collection.no_window", pointer, message, 'add "window": "5m"')
            expr = parse(query)
        except PromqlError as error:
            if not may_be_metricsql:
                yield Problem("collection.bad_query", pointer, f"no PromQL: {error}", _METRICSQL)
            return
        if (kind := no_vector(expr)) and not is_selector:
            message = f"the query is {kind}, of which no server answers one number; allowed: a vector or a number"
            yield Problem("collection.bad_query", pointer, message, "write a function around it, such as sum(rate(…))")
        elif uses_at(expr):
            message = "@ fixes a time, and the answer never grows old; allowed: queries of the evaluation instant"
            yield Problem("collection.fixed_time", pointer, message)
        elif self._is_bound:
            yield from self._bindable(pointer, query)

    def _bindable(self, pointer: str, query: str) -> Iterator[Problem]:
        try:
            bind(query, self._labels)
        except PromqlError as error:
            yield Problem("collection.cannot_bind", pointer, f"the labels cannot be put into the query: {error}")

    def _selector(self, text: object) -> Iterator[Problem]:
        """Where the age is read: one selector of raw series."""
        pointer = f"{self._pointer}/watermark/selector"
        problems = list(self._readable(pointer, text, may_be_metricsql=False, is_selector=True))
        yield from problems
        expr = self._parsed(text)
        if problems or expr is None:
            return
        found = selectors(expr)
        if len(found) != 1 or parse(found[0].text).prettify() != expr.prettify():
            message = 'found a query; allowed: one selector without range and offset, such as requests_total{job="api"}'
            yield Problem("collection.bad_selector", pointer, message, "or state event_time_query in its place")
        elif undated := _undated(expr):
            yield Problem("collection.needs_watermark", pointer, f"{undated}; allowed: the raw series behind it")

    def _event_time(self, pointer: str, text: object) -> Iterator[Problem]:
        """Whose value is a time that somebody wrote down: the time of asking never grows old."""
        expr = self._parsed(text)
        if expr is None or no_vector(expr):
            return
        if answers_without_series(expr):
            message = "it answers where no series is, so the age is known for ever"
        elif stated := evaluation_time(expr):
            message = f"`{stated}` is the time of an evaluation, not of an event"
        else:
            return
        allowed = "allowed: a time that the event wrote, such as max(push_time_seconds)"
        remedy = "or state `selector` in its place"
        yield Problem("collection.age_not_measured", pointer, f"{message}; {allowed}", remedy)

    def _guard(self, text: object) -> Iterator[Problem]:
        """What must be there for an empty answer to mean 0; what answers without data would guard nothing."""
        pointer = f"{self._pointer}/on_empty/zero_if"
        yield from self._readable(pointer, text, may_be_metricsql=False)
        expr = self._parsed(text)
        if expr is None:
            return
        if answers_without_series(expr):
            message = 'it answers where no series is; allowed: series of the same target, such as up{job="api"}'
            yield Problem("collection.bad_guard", pointer, message, "else a dead target would read as 0")
        elif undated := _undated(expr):
            yield Problem("collection.bad_guard", pointer, f'{undated}; allowed: raw series, such as up{{job="api"}}')

    def _parsed(self, text: object) -> pp.Expr | None:
        if not isinstance(text, str) or not text.strip():
            return None
        try:
            return parse(with_window(text, self._window or _SOME_WINDOW))
        except PromqlError:
            return None
