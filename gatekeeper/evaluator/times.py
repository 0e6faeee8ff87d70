"""How old evidence is, metric by metric: freshness, skew, and windows that began before the stage.

Times are integers of microseconds, ages are seconds. The moment of evaluation is a value of the
context; nothing here reads a clock. SPEC 4, "Age" and "Window".
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance, Phase
from gatekeeper.evaluator.numbers import quotient
from gatekeeper.evaluator.sources import INVALID_WATERMARK, Source, read_sources
from gatekeeper.model.canonical import is_number
from gatekeeper.model.decision import Outcome
from gatekeeper.model.snapshot import META_FIELDS, meta_of
from gatekeeper.model.times import MICROSECONDS, format_time, parse_duration, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.plan import StagePlan

CLOCK_DRIFT_SECONDS = 5
"""How far ahead of the evaluation a stated time may lie; more is invalid evidence."""

_META_FIELDS = frozenset(META_FIELDS)
_INVALID = {
    "collected_at": Hindrance(Outcome.INVALID, "observation_invalid:collected_at", ("collected_at",)),
    "watermark_event_time": INVALID_WATERMARK,
    "freshness_seconds": Hindrance(Outcome.INVALID, "observation_invalid:freshness_seconds", ("freshness_seconds",)),
}
_NO_FRESHNESS = Hindrance(Outcome.MISSING, "observation_missing:freshness_seconds", ("freshness_seconds",))
_NO_WINDOW = Hindrance(Outcome.MISSING, "observation_missing:window", ("window",), phase=Phase.REFERENCES)
_NO_WINDOW_START = Hindrance(
    Outcome.MISSING, "observation_missing:watermark_event_time", ("watermark_event_time",), phase=Phase.REFERENCES
)


def meta(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """`_meta` of a snapshot or baseline, completed from beside `metrics`; the very object where nothing is beside."""
    own = part.get("_meta")
    if isinstance(own, dict) and _META_FIELDS.isdisjoint(part):
        return own
    return meta_of(part)


class MetricTimes:
    """What is stated about one metric's age.

    Attributes:
        watermark: the oldest stated for it, else `_meta`'s; None when neither is usable.
        age_seconds: the worst of all that counts for it; None when nothing states an age.
        source: name of what its age was taken from; None for `_meta`.
        listed_by: name of the first source that lists it.
        lag_seconds: the worst lag of its sources behind the newest source.
        undated: a source of it was listed without a watermark, and a limit needs one.
        freshness, skew: what is wrong, each or None.
        hindrance: `freshness`, else `skew`.
        window_start, window: where its window begins, and what is wrong with that, where windows are asked.
    """

    __slots__ = (
        "age_seconds",
        "freshness",
        "hindrance",
        "lag_seconds",
        "listed_by",
        "skew",
        "source",
        "undated",
        "watermark",
        "window",
        "window_start",
    )

    watermark: int | None
    age_seconds: float | None
    source: str | None
    listed_by: str | None
    lag_seconds: float
    undated: Hindrance | None
    freshness: Hindrance | None
    skew: Hindrance | None
    hindrance: Hindrance | None
    window_start: int | None
    window: Hindrance | None


class Times:
    """The times of one snapshot, read once."""

    def __init__(self, document: Mapping[str, Any], plan: StagePlan, evaluated_at: int, entered_at: int | None) -> None:
        """Read `_meta`.

        Args:
            document: the wrapped snapshot.
            plan: names the limits.
            evaluated_at: microseconds; every age is measured from here.
            entered_at: when the stage was entered that a window must not reach back behind; None = windows not asked.
        """
        self.meta = facts = meta(document)
        self.max_freshness_seconds = plan.max_freshness_seconds
        self.evaluated_at = evaluated_at
        self.latest = evaluated_at + CLOCK_DRIFT_SECONDS * MICROSECONDS
        self.entered_at = entered_at
        self.invalid: Hindrance | None = None
        """A time of `_meta` that is not admissible: nothing that it dates can be trusted."""
        self.collected_at = self._moment(facts, "collected_at")
        self.watermark = self._moment(facts, "watermark_event_time")
        self.freshness = self._stated_freshness(facts.get("freshness_seconds"))
        self.base_age = self.freshness
        if self.collected_at is not None:
            age = self.age_of(self.collected_at)
            self.base_age = age if self.base_age is None or age > self.base_age else self.base_age
        self.sources: list[Source] = []
        self._for_all: list[Source] = []
        self._by_metric: dict[str, list[Source]] = {}
        self._by_source: dict[Source, MetricTimes] = {}
        self._needs_watermarks = plan.max_freshness_seconds is not None or plan.max_skew_seconds is not None
        stated = facts.get("sources")
        if stated is not None:
            self.sources = read_sources(stated, self.latest, plan.max_skew_seconds)
            self._charge_sources()
        self._unlisted: MetricTimes | None = None
        self._window_length: int | None = None
        if entered_at is not None:
            milliseconds = parse_duration(facts.get("window"))
            if milliseconds is not None:
                self._window_length = milliseconds * (MICROSECONDS // 1000)

    def age_of(self, moment: int) -> float:
        """Seconds from *moment* to the evaluation; a clock slightly ahead makes no negative age."""
        return quotient(self.evaluated_at - moment, MICROSECONDS) if moment < self.evaluated_at else 0

    def of(self, name: str | None, observation: Mapping[str, Any]) -> MetricTimes:
        """The times of the metric *name*; None asks for `_meta` and what counts for all."""
        stated = observation.get("watermark_event_time") if observation else None
        listed = self._by_metric.get(name) if name is not None else None
        if listed is None:
            if stated is None:
                if self._unlisted is None:
                    self._unlisted = self._combine(self._for_all, None)
                return self._unlisted
            listed, listed_by = self._for_all, None
        else:
            listed_by = listed[0].name
        if stated is None:
            return self._of_sources(listed, listed_by)
        moment = parse_time(stated)
        if moment is None or moment > self.latest:
            return self._combine(listed, listed_by, is_invalid=True)
        source = observation.get("source")
        return self._combine(listed, listed_by, moment, source if isinstance(source, str) else listed_by)

    def _of_sources(self, listed: list[Source], listed_by: str | None) -> MetricTimes:
        """What the sources alone state: the same for all metrics that one source lists."""
        if len(listed) > 1:
            return self._combine(listed, listed_by)
        times = self._by_source.get(listed[0])
        if times is None:
            times = self._by_source[listed[0]] = self._combine(listed, listed_by)
        return times

    @property
    def window_fits_at(self) -> int | None:
        """The earliest watermark whose window lies within the stage; None where that cannot be told."""
        if self._window_length is None or self.entered_at is None:
            return None
        return self.entered_at + self._window_length

    def _combine(
        self,
        sources: list[Source],
        listed_by: str | None,
        watermark: int | None = None,
        name: str | None = None,
        *,
        is_invalid: bool = False,
    ) -> MetricTimes:
        """Bring together what *sources* and the metric's own observation (*watermark*, *name*) state."""
        times = MetricTimes()
        undated = skew = None
        lag = 0.0
        for source in sources:
            moment = source.watermark
            if moment is None:
                is_invalid = is_invalid or source.is_invalid
                undated = undated or source.undated
            elif watermark is None or moment < watermark:
                watermark, name = moment, source.name
            if source.lag_seconds > lag:
                skew, lag = source.skew, source.lag_seconds
        if watermark is None:
            watermark = self.watermark
        age = self.base_age
        if watermark is not None:
            own_age = self.age_of(watermark)
            if age is None or own_age > age:
                age = own_age
            else:
                name = None
        times.watermark = watermark
        times.age_seconds = age
        times.source = name
        times.listed_by = listed_by
        times.lag_seconds = lag
        times.undated = undated if self._needs_watermarks else None
        invalid = self.invalid or (INVALID_WATERMARK if is_invalid else None)
        times.freshness = freshness = invalid or times.undated or self._staleness(watermark, age, name)
        times.skew = skew
        times.hindrance = freshness or skew
        times.window_start = times.window = None
        if self.entered_at is not None:
            self._place_window(times, self.entered_at, is_dated=invalid is None)
        return times

    def _staleness(self, watermark: int | None, age: float | None, source: str | None) -> Hindrance | None:
        limit = self.max_freshness_seconds
        if limit is None:
            return None
        if watermark is None and self.freshness is None:
            return _NO_FRESHNESS
        if age is None or age <= limit:
            return None
        return Hindrance(
            Outcome.STALE, "observation_stale:over_freshness_budget", observed=age, limit=limit, source=source
        )

    def _place_window(self, times: MetricTimes, entered_at: int, *, is_dated: bool) -> None:
        if self._window_length is None:
            times.window = _NO_WINDOW
            return
        if not is_dated:
            return  # no time to reckon from can be trusted; the times say so themselves
        moment = times.watermark if times.watermark is not None else self.collected_at
        if moment is None:
            times.window = _NO_WINDOW_START
            return
        times.window_start = start = moment - self._window_length
        if start < entered_at:
            times.window = Hindrance(
                Outcome.STALE,
                "observation_stale:window_before_stage",
                phase=Phase.REFERENCES,
                observed=time_text(start),
                limit=time_text(entered_at),
                source=times.source,
            )

    def _moment(self, facts: Mapping[str, Any], name: str) -> int | None:
        stated = facts.get(name)
        if stated is None:
            return None
        moment = parse_time(stated)
        if moment is None or moment > self.latest:
            self.invalid = self.invalid or _INVALID[name]
            return None
        return moment

    def _stated_freshness(self, stated: object) -> float | None:
        if stated is None:
            return None
        if not is_number(stated) or stated < 0:
            self.invalid = self.invalid or _INVALID["freshness_seconds"]
            return None
        return stated

    def _charge_sources(self) -> None:
        by_metric, for_all = self._by_metric, self._for_all
        for source in self.sources:
            if source.metrics is None:
                for_all.append(source)
                continue
            for name in source.metrics:
                if not isinstance(name, str):
                    continue
                listed = by_metric.get(name)
                if listed is None:
                    by_metric[name] = [source]
                elif listed[-1] is not source:
                    listed.append(source)
        if for_all:
            for listed in by_metric.values():
                listed.extend(for_all)


def time_text(microseconds: int) -> str | None:
    """RFC 3339 of a moment; None for one before the year 1 or after 9999, which no such text can state."""
    try:
        return format_time(microseconds)
    except OverflowError:
        return None
