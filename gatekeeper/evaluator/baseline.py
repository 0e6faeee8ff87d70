"""The baseline part of a snapshot: what budgets are measured against, and why it may not serve.

SPEC 4: a baseline of another window length is not comparable; its age is judged only by
`max_baseline_age_seconds`; a baseline of 0 has no relative worsening.
"""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance, problem_hindrance
from gatekeeper.evaluator.times import Times, meta
from gatekeeper.model.canonical import is_number
from gatekeeper.model.decision import Outcome
from gatekeeper.model.reasons import is_observation_problem
from gatekeeper.model.times import parse_duration, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.rules import GuardrailPlan

_REMEDY = "collect_baseline"
_NOTHING: Mapping[str, Any] = {}

_WINDOW_MISMATCH = Hindrance(Outcome.NOT_READY, "precondition_unknown:baseline_window_mismatch", (), _REMEDY)
_NO_TIME = Hindrance(Outcome.MISSING, "observation_missing:watermark_event_time", ("watermark_event_time",), _REMEDY)
_TOO_OLD = Hindrance(Outcome.STALE, "observation_stale:baseline_age", (), _REMEDY)
_BAD_TIME = {
    name: Hindrance(Outcome.INVALID, f"observation_invalid:{name}", (name,), _REMEDY)
    for name in ("watermark_event_time", "collected_at")
}


def bad_value(metric: str) -> Hindrance:
    """A baseline value that is no number, lies outside the metric's range, or is 0 under a ratio."""
    return Hindrance(Outcome.INVALID, "observation_invalid:baseline_value", (f"baseline.{metric}",), _REMEDY)


def no_value(metric: str) -> Hindrance:
    """A baseline that lacks the metric."""
    return Hindrance(Outcome.MISSING, "observation_missing:baseline_metric", (f"baseline.{metric}",), _REMEDY)


def _bad_response(metric: str) -> Hindrance:
    return Hindrance(Outcome.INVALID, "observation_invalid:bad_response", (f"baseline.{metric}",), _REMEDY)


class Baseline:
    """The baseline of one snapshot; its times and its window are judged once, when first asked.

    Attributes:
        is_absent: whether the snapshot has no baseline at all (the founding form).
    """

    def __init__(self, part: object, times: Times, max_age_seconds: float | None) -> None:
        self.is_absent = part is None
        self._part: Mapping[str, Any] | None = part if isinstance(part, dict) else None
        self._times = times
        self._max_age_seconds = max_age_seconds
        self._judged = False
        self._comparable: Hindrance | None = None
        document = self._part or _NOTHING
        metrics = document.get("metrics")
        self._metrics: Mapping[str, Any] = metrics if isinstance(metrics, dict) else _NOTHING
        self._observations = document.get("observations")

    def value(self, metric: str) -> float | None:
        """The value of *metric* if it is a number, for findings; it may still not serve."""
        value = self._metrics.get(metric)
        return value if is_number(value) else None

    def hindrance(self, guardrail: GuardrailPlan) -> Hindrance | None:
        """Why no budget of *guardrail* can be measured; not to be asked where there is no baseline at all."""
        if self._part is None:
            return guardrail.bad_baseline
        metric = guardrail.metric
        if self._observations is not None:
            problem = self._problem(metric)
            if problem is not None:
                return problem
        value = self._metrics.get(metric)
        if value is None:
            return guardrail.no_baseline
        if not is_number(value) or (guardrail.range is not None and not guardrail.in_range(value)):
            return guardrail.bad_baseline
        if not self._judged:
            self._comparable = self._window_hindrance() or self._age_hindrance()
            self._judged = True
        return self._comparable

    def _problem(self, metric: str) -> Hindrance | None:
        if not isinstance(self._observations, dict):
            return _bad_response(metric)
        observation = self._observations.get(metric)
        if observation is None:
            return None
        if not isinstance(observation, dict):
            return _bad_response(metric)
        problem = observation.get("problem")
        if problem is None:
            return None
        code = problem.get("code") if isinstance(problem, dict) else None
        if not isinstance(code, str) or not is_observation_problem(code):
            return _bad_response(metric)
        return problem_hindrance(code, f"baseline.{metric}", _REMEDY)

    def _window_hindrance(self) -> Hindrance | None:
        of_variant = self._times.meta.get("window")
        of_baseline = meta(self._part or _NOTHING).get("window")
        if of_variant is None and of_baseline is None:
            return None
        length = parse_duration(of_variant)
        if length is None or length != parse_duration(of_baseline):
            return _WINDOW_MISMATCH
        return None

    def _age_hindrance(self) -> Hindrance | None:
        if self._max_age_seconds is None:
            return None
        facts = meta(self._part or _NOTHING)
        for name in ("watermark_event_time", "collected_at"):
            stated = facts.get(name)
            if stated is None:
                continue
            moment = parse_time(stated)
            if moment is None or moment > self._times.latest:
                return _BAD_TIME[name]
            return _TOO_OLD if self._times.age_of(moment) > self._max_age_seconds else None
        return _NO_TIME
