"""What a reviewer should know of the windows of queries: too short for a rate, never covered, elsewhere in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import PrometheusSource
from gatekeeper.evidence.lint.queries import value_queries
from gatekeeper.evidence.lint.remarks import metric_pointer, source_pointer
from gatekeeper.evidence.prometheus.promql import selectors
from gatekeeper.evidence.prometheus.promql_facts import longest_window_seconds
from gatekeeper.evidence.prometheus.promql_shapes import samples_needed
from gatekeeper.model.times import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.evidence.collection import Collection, LoadedCollection
    from gatekeeper.evidence.lint.queries import Query


def window_remarks(loaded: LoadedCollection) -> Iterator[Problem]:
    """Every remark about windows, offsets and coverage."""
    collection = loaded.collection
    for query in value_queries(collection):
        source = collection.sources[query.spec.source]
        assert isinstance(source, PrometheusSource)
        too_short = list(_too_short(query, source))
        yield from too_short or _coverage(query, source, is_stated="min_coverage" in _document(loaded, query.metric))
        yield from _offsets(query)
        yield from _exceeded(query, collection)
    yield from _sides(collection)
    yield from _assumed_intervals(loaded)


def _document(loaded: LoadedCollection, metric: str) -> dict[str, object]:
    document: dict[str, object] = loaded.document["metrics"][metric]
    return document


def _too_short(query: Query, source: PrometheusSource) -> Iterator[Problem]:
    scrape = source.scrape_interval_seconds
    for text, seconds, count in samples_needed(query.expr):
        if seconds < count * scrape:
            need = "two samples" if count == 2 else "a sample"
            message = (
                f"{query.metric}: `{text}` needs {need} in {seconds:g} s, and a scrape every {scrape:g} s does not "
                "bring them each time: the answer is empty by chance, or always"
            )
            remedy = f"look back {4 * scrape:g} s or more, or correct scrape_interval_seconds of {query.spec.source}"
            yield Problem("collection.window_too_short", query.pointer, message, remedy)


def _coverage(query: Query, source: PrometheusSource, *, is_stated: bool) -> Iterator[Problem]:
    least, scrape = query.spec.min_coverage, source.scrape_interval_seconds
    windows = sorted({one.window_seconds for one in selectors(query.expr) if one.window_seconds})
    pointer = metric_pointer(query.metric, "min_coverage")
    if windows and not least:
        message = f"{query.metric} is believed however few samples it has: a late start and a dead instance pass"
        yield Problem("collection.coverage_off", pointer, message, "ask for 0.8, or leave min_coverage out")
        return
    for window in windows:
        usual = _milliseconds(window) // _milliseconds(scrape)  # whole scrapes, and one more by chance
        if usual * scrape / window < least:
            message = (
                f"{query.metric}: {usual} samples, {scrape:g} s apart, cover {usual * scrape / window:.3f} of "
                f"{window:g} s, and {least:g} is asked for: checks hold by chance"
            )
            remedy = f"look back a multiple of {scrape:g} s, or ask for less coverage"
            yield Problem("collection.coverage_never_met", query.pointer, message, remedy)
        elif is_stated and (usual - 1) * scrape / window < least:
            message = f"{query.metric}: one lost scrape of {usual} leaves less than the {least:g} that is asked for"
            yield Problem("collection.coverage_tight", pointer, message, "look back longer, or ask for less coverage")


def _offsets(query: Query) -> Iterator[Problem]:
    offsets = [one.offset_seconds for one in selectors(query.expr)]
    if not offsets:
        return
    if min(offsets) > 0:
        message = (
            f"{query.metric} judges what was {min(offsets):g} s ago, and is that old: a change made since is not in "
            "it, and a policy that allows less age holds every check"
        )
        remedy = "for data that come late, evaluate_at.settle_seconds counts as age"
        yield Problem("collection.looks_back", query.pointer, message, remedy)
    if min(offsets) < 0:
        message = (
            f"{query.metric} reads {-min(offsets):g} s ahead of the evaluation time: asked again, it answers otherwise"
        )
        yield Problem("collection.looks_ahead", query.pointer, message, "ask without a negative offset")


def _exceeded(query: Query, collection: Collection) -> Iterator[Problem]:
    longest, stated = longest_window_seconds(query.expr), _stated_seconds(collection)
    if collection.window is not None and longest > stated:
        message = f"{query.metric} looks back {longest:g} s, window is {collection.window}: snapshots state the former"
        yield Problem("collection.window_exceeded", query.pointer, message, "write [$window] in queries")


def _sides(collection: Collection) -> Iterator[Problem]:
    """Variant and baseline, where each has a query of its own."""
    reach: dict[tuple[str, str], tuple[float, float]] = {}
    for query in value_queries(collection):
        found = selectors(query.expr)
        longest = max((one.offset_seconds for one in found), default=0)
        reach[query.metric, query.key] = (longest_window_seconds(query.expr), longest)
    for (metric, key), of_baseline in reach.items():
        of_variant = reach.get((metric, "variant_query"))
        if key == "baseline_query" and of_variant is not None and of_variant != of_baseline:
            message = (
                f"{metric} compares unlike windows: variant_query looks back {_reach_text(of_variant)}, baseline_query "
                f"{_reach_text(of_baseline)}"
            )
            pointer = metric_pointer(metric, key)
            yield Problem("collection.sides_differ", pointer, message, "give both one window and one offset")


def _reach_text(reach: tuple[float, float]) -> str:
    window, offset = reach
    return f"{window:g} s" + (f" offset {offset:g} s" if offset else "")


def _assumed_intervals(loaded: LoadedCollection) -> Iterator[Problem]:
    collection = loaded.collection
    windowed = {query.spec.source for query in value_queries(collection) if longest_window_seconds(query.expr)}
    for name in sorted(windowed):
        source = collection.sources[name]
        if isinstance(source, PrometheusSource) and "scrape_interval_seconds" not in loaded.document["sources"][name]:
            message = (
                f"coverage of {name} is reckoned with a scrape every {source.scrape_interval_seconds:g} s, which "
                "nobody has stated: with a longer interval every check holds, with a shorter one gaps pass"
            )
            remedy = "state scrape_interval_seconds as the server's configuration has it"
            yield Problem("collection.scrape_interval_assumed", source_pointer(name), message, remedy)


def longest_look_seconds(collection: Collection) -> float:
    """How far back the windows of the queries reach, offsets included."""
    return max(
        (
            one.window_seconds + one.offset_seconds
            for query in value_queries(collection)
            for one in selectors(query.expr)
            if one.window_seconds
        ),
        default=0.0,
    )


def _stated_seconds(collection: Collection) -> float:
    return (parse_duration(collection.window) or 0) / 1000


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
