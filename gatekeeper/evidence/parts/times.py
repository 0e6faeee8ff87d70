"""How old one side of a part is: its `_meta` and what its sources and observations state, read per metric (SPEC 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.http.values import FIRST_TIME
from gatekeeper.evidence.reading import ReadingProblem
from gatekeeper.model.canonical import is_number
from gatekeeper.model.snapshot import json_type, meta_of
from gatekeeper.model.times import MICROSECONDS, parse_duration, parse_time, seconds_to_microseconds
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

_WATERMARK = "watermark_event_time"
_AHEAD = 5 * MICROSECONDS  # clocks of two machines differ; SPEC 4


@dataclass(frozen=True)
class Age:
    """What is known of one metric's age.

    Attributes:
        watermark: the oldest time stated for it, and no newer than the part's collection; None where none is stated,
            or one of its sources states none.
        latest: what is known even then: a time that the newest event cannot be newer than.
        problem: a stated time that is none, or lies ahead.
    """

    watermark: int | None
    latest: int | None
    problem: ReadingProblem | None


class PartTimes:
    """The times of one side of a part: its own `_meta`, or its baseline's."""

    def __init__(self, document: Mapping[str, Any], now: int) -> None:
        """Read `_meta`.

        Args:
            document: the part in wrapped form, or its baseline.
            now: the wall clock when it was read, microseconds since 1970.
        """
        self.meta = meta_of(document)
        self._now = now
        self._problems: list[ReadingProblem] = []
        self._collected_at = self._moment(self.meta, "collected_at", self._problems)
        self._watermark = self._moment(self.meta, _WATERMARK, self._problems)
        self._freshness = self._stated_freshness()
        self.window = parse_duration(self.meta.get("window"))
        """Milliseconds; None where none is stated, or what is stated is none."""

    @property
    def window_problem(self) -> ReadingProblem | None:
        """A stated window that is no duration."""
        stated = self.meta.get("window")
        if stated is None or self.window is not None:
            return None
        return ReadingProblem("observation_missing:window", f"the window is no duration: {_shown(stated)}")

    def age_of(self, metric: str, observation: Mapping[str, Any]) -> Age:
        """The age of *metric*, of which *observation* is what `observations` holds."""
        sources, problems = self._sources_of(metric), list(self._problems)
        stated = [self._moment(place, _WATERMARK, problems) for place in (observation, *sources)]
        dates = [moment for moment in stated if moment is not None]
        if not dates and self._watermark is not None:
            dates = [self._watermark]
        collected = self._now if self._collected_at is None else self._collected_at
        if self._freshness is not None:
            dates.append(max(FIRST_TIME, collected - self._freshness))
        latest = min([*dates, collected]) if dates else self._collected_at
        is_dated = bool(dates) and all(source.get(_WATERMARK) is not None for source in sources)
        return Age(latest if is_dated else None, latest, problems[0] if problems else None)

    def _sources_of(self, metric: str) -> list[Mapping[str, Any]]:
        """Every listed source that counts for *metric*: it lists it, or lists nothing."""
        sources = self.meta.get("sources")
        if sources is None:
            return []
        found: list[Mapping[str, Any]] = []
        for source in sources if isinstance(sources, list) else [None]:
            entry = source if isinstance(source, dict) else {}
            listed = entry.get("metrics")
            if not listed or not isinstance(listed, list) or metric in listed:
                found.append(entry)
        return found

    def _moment(self, place: Mapping[str, Any], name: str, problems: list[ReadingProblem]) -> int | None:
        stated = place.get(name)
        if stated is None:
            return None
        moment = parse_time(stated)
        if moment is not None and FIRST_TIME <= moment <= self._now + _AHEAD:
            return moment
        fault = "is no time with a zone" if moment is None else "lies in the future, or before the year 1"
        problems.append(ReadingProblem(f"observation_invalid:{name}", f"{name} {fault}: {_shown(stated)}"))
        return None

    def _stated_freshness(self) -> int | None:
        stated = self.meta.get("freshness_seconds")
        if stated is None:
            return None
        if is_number(stated) and stated >= 0:
            return seconds_to_microseconds(stated)
        detail = f"freshness_seconds is no number from 0 up: {_shown(stated)}"
        self._problems.append(ReadingProblem("observation_invalid:freshness_seconds", detail))
        return None


def _shown(stated: object) -> str:
    return repr(stated[:64]) if isinstance(stated, str) else json_type(stated)
