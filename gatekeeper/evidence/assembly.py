"""Readings of all sources into one snapshot (SPEC 4): values, observations, statistics, times of each source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.collection import PrometheusSource
from gatekeeper.evidence.reading import Side
from gatekeeper.model.snapshot import Snapshot, snapshot_from_document
from gatekeeper.model.times import MICROSECONDS, format_time, parse_duration
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.evidence.collection import Collection, LoadedCollection
    from gatekeeper.evidence.reading import Reading

_TOLERATED_LAG_SECONDS = 30.0  # two scrapes of a usual Prometheus; sources of other types have no interval of their own


@dataclass(frozen=True)
class Moment:
    """When a snapshot was taken.

    Attributes:
        at: the evaluation instant, milliseconds since 1970.
        collected_at: the wall clock when the last answer was in, microseconds since 1970.
    """

    at: int
    collected_at: int


def assemble(readings: Sequence[Reading], loaded: LoadedCollection, moment: Moment, *, snapshot_id: str) -> Snapshot:
    """The snapshot that *readings* make."""
    collection = loaded.collection
    variant = [reading for reading in readings if reading.side is Side.VARIANT]
    baseline = [reading for reading in readings if reading.side is Side.BASELINE]
    window = _window(readings, collection.window)
    document = _part(variant, collection, moment, window)
    document["_meta"] = {
        "snapshot_id": snapshot_id,
        "collector_digest": loaded.digest,
        "query_time": format_time(moment.at * 1000),
        **document["_meta"],
    }
    promotion = {reading.metric: dict(reading.statistics) for reading in variant if reading.statistics}
    if promotion:
        document["promotion"] = promotion
    if baseline:
        document["baseline"] = _part(baseline, collection, moment, window)
    return snapshot_from_document(document)


def _part(readings: Sequence[Reading], collection: Collection, moment: Moment, window: str | None) -> dict[str, Any]:
    sources = _sources(readings, collection, moment)
    meta: dict[str, Any] = {"collected_at": format_time(moment.collected_at)}
    if window is not None:
        meta["window"] = window
    stated = [source["watermark_event_time"] for source in sources if source["watermark_event_time"] is not None]
    if stated:
        meta["watermark_event_time"] = min(stated)  # RFC 3339 in UTC with six digits sorts by time
    if len(sources) == 1 and stated:
        meta["freshness_seconds"] = sources[0]["freshness_seconds"]  # it counts for all, so it must be true of all
    meta["sources"] = sources
    return {
        "metrics": {reading.metric: reading.value for reading in readings},
        "observations": {reading.metric: _observation(reading) for reading in readings},
        "_meta": meta,
    }


def _window(readings: Sequence[Reading], stated: str | None) -> str | None:
    """The window that all values lie in: the stated one, or a longer one that a query looks back over."""
    longest = max((reading.window_milliseconds or 0 for reading in readings), default=0)
    if longest <= (parse_duration(stated) or 0):
        return stated
    return f"{longest}ms" if longest % 1000 else f"{longest // 1000}s" if longest % 60_000 else f"{longest // 60_000}m"


def _observation(reading: Reading) -> dict[str, Any]:
    stated: dict[str, Any] = {"source": reading.source, **reading.record, "value_text": reading.value_text}
    if reading.watermark is not None:
        stated["watermark_event_time"] = format_time(reading.watermark)
    if reading.coverage_ratio is not None:
        stated["coverage_ratio"] = reading.coverage_ratio
    stated["problem"] = None if reading.problem is None else reading.problem.to_dict()
    return stated


def _sources(readings: Sequence[Reading], collection: Collection, moment: Moment) -> list[dict[str, Any]]:
    """What each source's data are dated; a metric with a problem is decided by that and dates nothing.

    Data of one server need not be of one age. A metric that lags behind the newest of its source by more than two
    scrapes is a source of its own: the skew is then seen, and charged to it alone.
    """
    entries = []
    for name in collection.sources:
        sound = [reading for reading in readings if reading.source == name and reading.problem is None]
        dated = sorted(
            ((reading.watermark, reading.metric) for reading in sound if reading.watermark is not None), reverse=True
        )
        undated = [reading.metric for reading in sound if reading.watermark is None]
        lag = _tolerated_lag(collection, name)
        together = [item for item in dated if dated[0][0] - item[0] <= lag]
        if together:
            entries.append(_entry(name, together, moment))
        laggards: dict[int, list[tuple[int, str]]] = {}
        for item in dated[len(together) :]:
            laggards.setdefault(item[0], []).append(item)
        entries.extend(_entry(f"{name}/{min(items)[1]}", items, moment) for items in laggards.values())
        if undated:
            entries.append({"name": name, "watermark_event_time": None, "metrics": sorted(undated)})
    return entries


def _entry(name: str, items: Sequence[tuple[int, str]], moment: Moment) -> dict[str, Any]:
    watermark = min(items)[0]
    return {
        "name": name,
        "watermark_event_time": format_time(watermark),
        "freshness_seconds": max(0, moment.collected_at - watermark) / MICROSECONDS,
        "metrics": sorted(metric for _, metric in items),
    }


def _tolerated_lag(collection: Collection, name: str) -> float:
    source = collection.sources[name]
    seconds = 2 * source.scrape_interval_seconds if isinstance(source, PrometheusSource) else _TOLERATED_LAG_SECONDS
    return seconds * MICROSECONDS
