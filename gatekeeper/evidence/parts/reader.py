"""Evidence from a snapshot file, or from standard input, as a part of a collection: what it says is passed on.

A part says more than a value: what went wrong when it was collected, of when it is, over which window, statistics
and a baseline. All of that stays with the metric, so that a part judges nothing better than the snapshot it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gatekeeper.errors import CanonicalError, DocumentError, SnapshotError
from gatekeeper.evidence.collection import FileMetric, FileSource
from gatekeeper.evidence.parts.times import PartTimes
from gatekeeper.evidence.reading import (
    BAD_RESPONSE,
    Reading,
    ReadingProblem,
    Side,
    Unavailable,
    empty_code,
    unavailable,
)
from gatekeeper.model.canonical import is_number
from gatekeeper.model.document import odd_places
from gatekeeper.model.reasons import is_observation_problem
from gatekeeper.model.snapshot import STATISTICS, read_snapshot
from gatekeeper.model.times import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import MetricSpec, SourceSpec
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.secrets import Secrets

STANDARD_INPUT = "-"
_DEEPEST = 100  # how deep the whole snapshot can be written depends on the stack that is left there
_OWN_FIELDS = frozenset({"source", "value_text", "watermark_event_time", "coverage_ratio", "problem"})
"""Fields of an observation that a reading has itself."""


class PartReader:
    """One part in one collection (`round.SourceReader`)."""

    def __init__(self, name: str, source: FileSource, metrics: Mapping[str, FileMetric], shared: Round) -> None:
        self._name = name
        self._path = source.path
        self._metrics = metrics
        self._shared = shared
        self._part: Mapping[str, Any] | ReadingProblem | None = None

    def read(self) -> None:
        """Read the file; whatever is wrong with it is a problem of its metrics."""
        try:
            if self._path == STANDARD_INPUT:
                data = self._shared.read_standard_input()
            else:
                with open(os.path.join(os.path.dirname(self._shared.loaded.path), self._path), "rb") as file:
                    data = file.read()
        except (OSError, ValueError) as error:  # ValueError: a path with a null character
            reason = getattr(error, "strerror", None) or "no file can have that name"
            if isinstance(error, OSError) and error.strerror is None:  # such as standard input that is closed
                reason = str(error) or "the operating system gives no reason"
            self._part = unavailable(Unavailable.UNREACHABLE, f"{self._path}: cannot be read: {reason}")
            return
        self._part = self._parsed(data)

    def readings(self) -> list[Reading]:
        """As `round.SourceReader`."""
        part = self._part
        if part is None:
            seconds = self._shared.deadline.seconds
            part = unavailable(Unavailable.TIMEOUT, f"{self._path}: not read to its end within {seconds:.3g} s")
        if isinstance(part, ReadingProblem):
            record = {"path": self._path}
            return [Reading(metric, Side.VARIANT, self._name, problem=part, record=record) for metric in self._metrics]
        return self._read_part(part)

    @property
    def progress(self) -> tuple[int, int]:
        """As `round.SourceReader`."""
        return int(self._part is not None), 1

    def _parsed(self, data: bytes) -> Mapping[str, Any] | ReadingProblem:
        try:
            snapshot = read_snapshot(data, source=self._path)
            _ = snapshot.digest  # what has none would fail the whole snapshot later
        except (DocumentError, SnapshotError) as error:
            fault = error.message
        except CanonicalError as error:
            fault = f"{self._path}: {error.message}"
        except RecursionError:
            fault = f"{self._path}: nested too deeply"
        else:
            odd = (value for _, value, _ in odd_places(snapshot.document, _DEEPEST))
            if not any(isinstance(value, (dict, list)) for value in odd):
                return snapshot.document
            fault = f"{self._path}: nested deeper than {_DEEPEST} levels"
        return ReadingProblem(BAD_RESPONSE, self._shared.secrets.mask(fault))

    def _read_part(self, part: Mapping[str, Any]) -> list[Reading]:
        now, secrets = self._shared.now(), self._shared.secrets
        variant = _Half(part, PartTimes(part, now), Side.VARIANT, secrets)
        stated, baseline, compared = part.get("baseline"), None, set[str]()
        if stated is not None:
            half = stated if isinstance(stated, dict) else {"observations": stated}  # as unreadable as these are
            baseline = _Half(half, PartTimes(half, now), Side.BASELINE, secrets)
            # a baseline without any of them is missing evidence, other than none at all
            names = [spec.metric or metric for metric, spec in self._metrics.items()]
            compared = set(filter(baseline.has, names)) or set(names)
        readings = []
        for metric, spec in self._metrics.items():
            name = spec.metric or metric
            record = {"path": self._path} if name == metric else {"path": self._path, "metric": name}
            statistics = _statistics(part, name, is_only=len(self._metrics) == 1)
            readings.append(variant.reading(metric, name, self._name, record, statistics=statistics))
            if baseline is not None and name in compared:
                readings.append(baseline.reading(metric, name, self._name, record, compared_with=variant.times))
        return readings


class _Half:
    """One side of a part."""

    def __init__(self, document: Mapping[str, Any], times: PartTimes, side: Side, secrets: Secrets) -> None:
        metrics, observations = document.get("metrics"), document.get("observations")
        self.times = times
        self._side = side
        self._secrets = secrets
        self._metrics: Mapping[str, Any] = metrics if isinstance(metrics, dict) else {}
        self._observations: Mapping[str, Any] = observations if isinstance(observations, dict) else {}
        self._is_unreadable = observations is not None and not isinstance(observations, dict)

    def has(self, name: str) -> bool:
        """Whether the part says anything of the metric."""
        return name in self._metrics or name in self._observations

    def reading(
        self,
        metric: str,
        name: str,
        source: str,
        record: Mapping[str, Any],
        *,
        statistics: Mapping[str, Any] | None = None,
        compared_with: PartTimes | None = None,
    ) -> Reading:
        """What the part says of its metric *name*.

        Args:
            metric: what the collection calls it.
            record: facts of the reading that come before those of the part's observation.
            compared_with: the times of the variant, for a baseline.
        """
        stated = self._observations.get(name)
        observation = stated if isinstance(stated, dict) else {}
        value = self._metrics.get(name)
        age = self.times.age_of(name, observation)
        watermark, problem = age.watermark, age.problem
        noted = {**_carried(observation, self.times.meta), **record}
        window = self.times.window
        if self._side is Side.BASELINE:
            problem = problem or self._incomparable(compared_with)
            if problem is not None:
                window = None  # it measures nothing, so the other values do not lie in it
            watermark = age.latest  # of a baseline, `collected_at` states an age too: SPEC 4
            if watermark is None:
                problem = problem or ReadingProblem(
                    "observation_missing:watermark_event_time", "the baseline states no time, not even collected_at"
                )
        else:
            problem = problem or self.times.window_problem
            if watermark is None and age.latest is not None:
                # dates the window; as the source is listed without a watermark, it makes nothing fresh
                noted["watermark_event_time"] = format_time(age.latest)
        coverage, text = observation.get("coverage_ratio"), observation.get("value_text")
        if not is_number(coverage) and coverage is not None:
            noted["coverage_ratio"] = coverage
        return Reading(
            metric,
            self._side,
            source,
            value=value,
            value_text=self._secrets.mask(text) if isinstance(text, str) else None,
            problem=self._stated_problem(stated, value, name) or problem,
            watermark=watermark,
            coverage_ratio=coverage if is_number(coverage) else None,
            window_milliseconds=window,
            statistics=statistics or {},
            record=noted,
        )

    def _stated_problem(self, observation: Any, value: Any, name: str) -> ReadingProblem | None:
        """What went wrong when the part was collected, else that there is no value."""
        problem = observation.get("problem") if isinstance(observation, dict) else None
        if self._is_unreadable or not isinstance(observation, (dict, type(None))):
            return ReadingProblem(BAD_RESPONSE, f"what the part observed of {name} is no object")
        if problem is not None:
            code = problem.get("code") if isinstance(problem, dict) else None
            if not isinstance(code, str) or not is_observation_problem(code):
                return ReadingProblem(
                    BAD_RESPONSE, f"the part states a problem of {name} without a code that may stand there"
                )
            detail, kind = problem.get("detail"), problem.get("kind")
            return ReadingProblem(
                code,
                self._secrets.mask(detail) if isinstance(detail, str) else "",
                Unavailable(kind) if kind in list(Unavailable) else None,
            )
        if value is None:
            return ReadingProblem(empty_code(self._side), f"the part has no value of {name}")
        return None

    def _incomparable(self, variant: PartTimes | None) -> ReadingProblem | None:
        """A baseline over another window: no budget is computed from it, be there other windows in the collection."""
        if variant is None or (self.times.window == variant.window and self.times.window_problem is None):
            return None
        windows = [times.meta.get("window") for times in (self.times, variant)]
        detail = f"the baseline's window is {_words(windows[0])}, the snapshot's {_words(windows[1])}"
        return ReadingProblem("observation_invalid:baseline_value", detail)


def open_reader(name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> PartReader:
    """As `round.OpensReader`."""
    assert isinstance(source, FileSource)
    return PartReader(name, source, {n: m for n, m in metrics.items() if isinstance(m, FileMetric)}, shared)


def _statistics(part: Mapping[str, Any], name: str, *, is_only: bool) -> Mapping[str, Any]:
    """What `promotion` states of the metric; of the only one, it may be stated flat."""
    promotion = part.get("promotion")
    if not isinstance(promotion, dict):
        return {}
    own = promotion.get(name)
    if isinstance(own, dict):
        return own
    return {field: promotion[field] for field in STATISTICS if field in promotion} if is_only else {}


def _carried(observation: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    """What of the part's own record goes on: all of its observation, and which snapshot it was."""
    carried = {key: value for key, value in observation.items() if key not in _OWN_FIELDS}
    if observation.get("source") is not None:
        carried["stated_source"] = observation["source"]
    return {**{key: meta[key] for key in ("snapshot_id", "collected_at") if meta.get(key) is not None}, **carried}


def _words(window: object) -> str:
    return "not stated" if window is None else str(window)[:32]
