"""The sources that a snapshot lists: their watermarks, and how far each lags behind the newest.

SPEC 4, "Sources": skew is a source's lag behind the newest of all listed sources, charged to the
laggard; a listed source without watermark is missing evidence.
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance
from gatekeeper.evaluator.numbers import quotient
from gatekeeper.model.decision import Outcome
from gatekeeper.model.times import MICROSECONDS, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

INVALID_WATERMARK = Hindrance(Outcome.INVALID, "observation_invalid:watermark_event_time", ("watermark_event_time",))
"""A watermark that is no time, has no zone, or lies in the future."""

_NOTHING: Mapping[str, Any] = {}


class Source:
    """One listed source.

    Attributes:
        name: as stated; None when it is no text.
        metrics: what it lists; None when it answers for all.
        watermark: microseconds; None when there is none or it is not admissible.
        is_invalid: whether a watermark is stated that is not admissible.
        undated: set when no watermark is stated.
        lag_seconds, skew: its lag behind the newest source, and what is wrong with it.
    """

    __slots__ = ("is_invalid", "lag_seconds", "metrics", "name", "skew", "undated", "watermark")

    def __init__(self, entry: object, latest: int) -> None:
        document = entry if isinstance(entry, dict) else _NOTHING
        name, listed = document.get("name"), document.get("metrics")
        self.name = name if isinstance(name, str) else None
        self.metrics: list[Any] | None = listed if listed and isinstance(listed, list) else None
        self.watermark: int | None = None
        self.is_invalid = False
        self.undated: Hindrance | None = None
        self.lag_seconds = 0.0
        self.skew: Hindrance | None = None
        stated = document.get("watermark_event_time")
        if stated is None:
            self.undated = Hindrance(
                Outcome.MISSING,
                "observation_missing:watermark_event_time",
                ("watermark_event_time",),
                source=self.name,
            )
            return
        moment = parse_time(stated)
        if moment is None or moment > latest:
            self.is_invalid = True
        else:
            self.watermark = moment


def read_sources(stated: object, latest: int, max_skew_seconds: float | None) -> list[Source]:
    """The sources of `_meta.sources`, in an order that does not depend on how they are listed.

    Args:
        stated: what stands there; anything but a list counts as one source that cannot be read.
        latest: microseconds; a later watermark is invalid.
        max_skew_seconds: the limit on the lag; None = not asked.
    """
    entries = stated if isinstance(stated, list) else [None]
    sources = [Source(entry, latest) for entry in entries]
    if len(sources) > 1:
        sources.sort(key=_order)
        if max_skew_seconds is not None:
            _measure_lags(sources, max_skew_seconds)
    return sources


def _order(source: Source) -> tuple[str, int]:
    return source.name or "", source.watermark or 0


def _measure_lags(sources: list[Source], max_skew_seconds: float) -> None:
    watermarks = [source.watermark for source in sources if source.watermark is not None]
    if not watermarks:
        return
    newest = max(watermarks)
    for source in sources:
        if source.watermark is not None and source.watermark < newest:
            source.lag_seconds = lag = quotient(newest - source.watermark, MICROSECONDS)
            if lag > max_skew_seconds:
                source.skew = Hindrance(
                    Outcome.STALE,
                    "observation_stale:watermark_skew",
                    observed=lag,
                    limit=max_skew_seconds,
                    source=source.name,
                )
