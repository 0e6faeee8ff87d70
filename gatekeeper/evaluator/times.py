"""How old evidence is: freshness, skew between sources, and windows that began before the stage.

Times are integers of microseconds, ages are seconds. The moment of evaluation is a value of the
context; nothing here reads a clock. SPEC 4, "Age", "Sources" and "Window".
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance, Phase
from gatekeeper.model.canonical import is_number
from gatekeeper.model.decision import Outcome
from gatekeeper.model.snapshot import META_FIELDS, meta_of
from gatekeeper.model.times import MICROSECONDS, format_time, parse_duration, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gatekeeper.evaluator.plan import StagePlan

CLOCK_DRIFT_SECONDS = 5
"""How far ahead of the evaluation a stated time may lie; more is invalid evidence."""

_META_FIELDS = frozenset(META_FIELDS)
_NOTHING: Mapping[str, Any] = {}

_INVALID = {
    name: Hindrance(Outcome.INVALID, f"observation_invalid:{name}", (name,))
    for name in ("collected_at", "watermark_event_time", "freshness_seconds")
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


class Source:
    """One listed source: its name, its watermark or what is wrong with it, and how far it lags."""

    __slots__ = ("hindrance", "lag_seconds", "metrics", "name", "skew", "watermark")

    def __init__(self, entry: object, latest: int) -> None:
        document = entry if isinstance(entry, dict) else _NOTHING
        name = document.get("name")
        self.name = name if isinstance(name, str) else None
        listed = document.get("metrics")
        # a source that lists no metrics answers for all
        self.metrics = (
            [item for item in listed if isinstance(item, str)] if isinstance(listed, list) and listed else None
        )
        self.watermark: int | None = None
        self.hindrance: Hindrance | None = None
        self.lag_seconds = 0.0
        self.skew: Hindrance | None = None
        stated = document.get("watermark_event_time")
        if stated is None:
            self.hindrance = Hindrance(
                Outcome.MISSING,
                "observation_missing:watermark_event_time",
                ("watermark_event_time",),
                source=self.name,
            )
            return
        moment = parse_time(stated)
        if moment is None or moment > latest:
            self.hindrance = _INVALID["watermark_event_time"]
        else:
            self.watermark = moment


class MetricTimes:
    """What is stated about one metric's age.

    Attributes:
        watermark: the oldest stated for it, else `_meta`'s; None when neither is usable.
        age_seconds: the worst of all that counts for it; None when nothing states an age.
        source: name of what its watermark was taken from; None for `_meta`.
        listed_by: name of the first source that lists it.
        lag_seconds: the worst lag of its sources behind the newest source.
        undated: a source of it was listed without a watermark, and a limit needs one.
        freshness, skew: what is wrong, each or None.
        hindrance: `freshness`, else `skew`.
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
    )

    def __init__(
        self,
        watermark: int | None,
        age_seconds: float | None,
        source: str | None,
        listed_by: str | None,
        lag_seconds: float,
        undated: Hindrance | None,
        freshness: Hindrance | None,
        skew: Hindrance | None,
    ) -> None:
        self.watermark = watermark
        self.age_seconds = age_seconds
        self.source = source
        self.listed_by = listed_by
        self.lag_seconds = lag_seconds
        self.undated = undated
        self.freshness = freshness
        self.skew = skew
        self.hindrance = freshness or skew


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
        facts = meta(document)
        self.meta = facts
        self.plan = plan
        self.evaluated_at = evaluated_at
        self.latest = evaluated_at + CLOCK_DRIFT_SECONDS * MICROSECONDS
        self.entered_at = entered_at
        self.invalid: Hindrance | None = None
        """A time of `_meta` that is no admissible time: nothing that it dates can be trusted."""
        self.collected_at = self._moment(facts, "collected_at")
        self.watermark = self._moment(facts, "watermark_event_time")
        self.freshness = self._stated_freshness(facts)
        self.base_age = self.freshness
        if self.collected_at is not None:
            age = self.age_of(self.collected_at)
            self.base_age = age if self.base_age is None or age > self.base_age else self.base_age
        self.sources: list[Source] = []
        self._for_all: list[Source] = []
        self._by_metric: dict[str, list[Source]] = {}
        stated_sources = facts.get("sources")
        if stated_sources is not None:
            self._read_sources(stated_sources if isinstance(stated_sources, list) else [None])
        self._undated: MetricTimes | None = None
        self._window = self._window_length() if entered_at is not None else None

    def age_of(self, moment: int) -> float:
        """Seconds from *moment* to the evaluation; a clock slightly ahead makes no negative age."""
        return (self.evaluated_at - moment) / MICROSECONDS if moment < self.evaluated_at else 0.0

    def of(self, name: str | None, observation: Mapping[str, Any]) -> MetricTimes:
        """The times of the metric *name*; None asks for `_meta` and what counts for all."""
        stated = observation.get("watermark_event_time") if observation else None
        listed = self._by_metric.get(name) if name is not None else None
        if stated is None and listed is None:
            if self._undated is None:
                self._undated = self._combine(self._for_all, None, None, None)
            return self._undated
        sources = self._for_all if listed is None else listed
        listed_by = listed[0].name if listed else None
        if stated is None:
            return self._combine(sources, listed_by, None, None)
        moment = parse_time(stated)
        if moment is None or moment > self.latest:
            return self._combine(sources, listed_by, None, _INVALID["watermark_event_time"])
        source = observation.get("source")
        return self._combine(sources, listed_by, (moment, source if isinstance(source, str) else listed_by), None)

    def _combine(
        self,
        sources: Iterable[Source],
        listed_by: str | None,
        own: tuple[int, str | None] | None,
        invalid: Hindrance | None,
    ) -> MetricTimes:
        invalid = self.invalid or invalid
        watermark, name = own or (None, None)
        missing = skew = None
        lag = 0.0
        for source in sources:
            moment = source.watermark
            if moment is None:
                if source.hindrance is _INVALID["watermark_event_time"]:
                    invalid = invalid or source.hindrance
                else:
                    missing = missing or source.hindrance
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
        if self.plan.max_freshness_seconds is None and self.plan.max_skew_seconds is None:
            missing = None
        freshness = invalid or missing or self._staleness(watermark, age, name)
        return MetricTimes(watermark, age, name, listed_by, lag, missing, freshness, skew)

    def _staleness(self, watermark: int | None, age: float | None, source: str | None) -> Hindrance | None:
        limit = self.plan.max_freshness_seconds
        if limit is None:
            return None
        if watermark is None and self.freshness is None:
            return _NO_FRESHNESS
        if age is not None and age > limit:
            return Hindrance(
                Outcome.STALE,
                "observation_stale:over_freshness_budget",
                observed=age,
                limit=limit,
                source=source,
            )
        return None

    def window_hindrance(self, times: MetricTimes) -> Hindrance | None:
        """Why the window of a metric does not lie within the stage; None where windows are not asked."""
        if self.entered_at is None:
            return None
        if self._window is None:
            return _NO_WINDOW
        if times.freshness is not None and times.freshness.outcome is Outcome.INVALID:
            return None  # no time to reckon from can be trusted; the times say so themselves
        start = self.window_start(times)
        if start is None:
            return _NO_WINDOW_START
        if start >= self.entered_at:
            return None
        return Hindrance(
            Outcome.STALE,
            "observation_stale:window_before_stage",
            phase=Phase.REFERENCES,
            observed=time_text(start),
            limit=time_text(self.entered_at),
            source=times.source,
        )

    def window_start(self, times: MetricTimes) -> int | None:
        """Where the window of a metric begins: at its watermark, else at `collected_at`, minus its length."""
        moment = times.watermark if times.watermark is not None else self.collected_at
        return None if moment is None or self._window is None else moment - self._window

    @property
    def window_fits_at(self) -> int | None:
        """The earliest watermark whose window lies within the stage; None where that cannot be told."""
        return None if self._window is None or self.entered_at is None else self.entered_at + self._window

    def _moment(self, facts: Mapping[str, Any], name: str) -> int | None:
        stated = facts.get(name)
        if stated is None:
            return None
        moment = parse_time(stated)
        if moment is None or moment > self.latest:
            self.invalid = self.invalid or _INVALID[name]
            return None
        return moment

    def _stated_freshness(self, facts: Mapping[str, Any]) -> float | None:
        stated = facts.get("freshness_seconds")
        if stated is None:
            return None
        if not is_number(stated) or stated < 0:
            self.invalid = self.invalid or _INVALID["freshness_seconds"]
            return None
        return stated

    def _window_length(self) -> int | None:
        milliseconds = parse_duration(self.meta.get("window"))
        return None if milliseconds is None else milliseconds * (MICROSECONDS // 1000)

    def _read_sources(self, entries: list[Any]) -> None:
        self.sources = [Source(entry, self.latest) for entry in entries]
        limit = self.plan.max_skew_seconds
        if limit is not None:
            newest = max((source.watermark for source in self.sources if source.watermark is not None), default=0)
            for source in self.sources:
                if source.watermark is not None and source.watermark < newest:
                    source.lag_seconds = (newest - source.watermark) / MICROSECONDS
                    if source.lag_seconds > limit:
                        source.skew = Hindrance(
                            Outcome.STALE,
                            "observation_stale:watermark_skew",
                            observed=source.lag_seconds,
                            limit=limit,
                            source=source.name,
                        )
        self._for_all = [source for source in self.sources if source.metrics is None]
        for source in self.sources:
            for name in source.metrics or ():
                listed = self._by_metric.setdefault(name, [])
                if not listed or listed[-1] is not source:
                    listed.append(source)
        for listed in self._by_metric.values():
            listed.extend(self._for_all)


def time_text(microseconds: int) -> str | None:
    """RFC 3339 of a moment; None for one before the year 1 or after 9999, which no such text can state."""
    try:
        return format_time(microseconds)
    except OverflowError:
        return None
