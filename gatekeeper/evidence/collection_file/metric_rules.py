"""Rules of metrics that need no parser: pointers, columns, ranges, and which of a metric's queries are given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import SourceType
from gatekeeper.evidence.collection_file.bounds import bound, is_number, text
from gatekeeper.evidence.collection_file.typed import members, typed_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gatekeeper.evidence.collection_file.typed import TypedPart

    Sound = Callable[[str], bool]

_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def metric_problems(document: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    """Every rule of metrics that *document* breaks, but for what PromQL must be."""
    for part in typed_metrics(document):
        yield from _range(part)
        if part.type is SourceType.PROMETHEUS:
            yield from _prometheus(part, sound)
        elif part.type is SourceType.SQL:
            yield from _sql(part)
        elif part.type is SourceType.HTTP:
            yield from _http(part)
        else:
            yield from text(part.content, part.pointer, "metric")


def _range(part: TypedPart) -> Iterator[Problem]:
    bounds = part.content.get("range")
    if isinstance(bounds, list) and len(bounds) == 2 and all(map(is_number, bounds)) and bounds[0] > bounds[1]:
        message = f"found [{bounds[0]}, {bounds[1]}]; allowed: [low, high] with low not above high"
        yield Problem("collection.bad_range", f"{part.pointer}/range", message)


def _sql(part: TypedPart) -> Iterator[Problem]:
    yield from text(part.content, part.pointer, "query")
    for key in members(part.content, "columns"):
        yield from text(members(part.content, "columns"), f"{part.pointer}/columns", key)


def _http(part: TypedPart) -> Iterator[Problem]:
    for key in ("pointer", "baseline_pointer", "watermark_pointer"):
        value = part.content.get(key)
        if isinstance(value, str) and not _POINTER.fullmatch(value):
            allowed = 'a JSON Pointer (RFC 6901) such as "/data/0/rate", with ~1 for / and ~0 for ~ in a name'
            yield Problem(
                "collection.bad_pointer", f"{part.pointer}/{key}", f'found "{value[:60]}"; allowed: {allowed}'
            )


def _prometheus(part: TypedPart, sound: Sound) -> Iterator[Problem]:
    content, pointer = part.content, part.pointer
    yield from bound(content, pointer, "min_coverage", least=0, most=1)
    for key in ("query", "variant_query", "baseline_query"):
        yield from text(content, pointer, key)
    for key in ("selector", "event_time_query"):
        yield from text(members(content, "watermark"), f"{pointer}/watermark", key)
    yield from text(members(content, "on_empty"), f"{pointer}/on_empty", "zero_if")
    if not sound(pointer):
        return
    allowed = "allowed: query, or variant_query with or without baseline_query"
    if "query" in content and not content.keys().isdisjoint({"variant_query", "baseline_query"}):
        message = f"query is asked for both sides, and the others are asked in its place; {allowed}"
        yield Problem("collection.query_choice", f"{pointer}/query", message, at_key=True)
    elif "query" not in content and "variant_query" not in content:
        yield Problem("collection.query_choice", pointer, f"nothing is asked for the variant; {allowed}")
    if "watermark" in content and len(content["watermark"]) != 1:
        message = f"found {len(content['watermark'])} keys; allowed: one of selector, event_time_query"
        yield Problem("collection.watermark_choice", f"{pointer}/watermark", message)
