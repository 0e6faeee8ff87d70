"""What a snapshot says about each metric: its value, its problem, its times. Nothing is judged here."""

from __future__ import annotations

from gatekeeper.evaluator.findings import Hindrance, problem_hindrance
from gatekeeper.model.canonical import is_number
from gatekeeper.model.decision import Outcome
from gatekeeper.model.reasons import is_observation_problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.evaluator.rules import MetricPlan
    from gatekeeper.evaluator.times import MetricTimes, Times

_NOTHING: Mapping[str, Any] = {}


class Reading:
    """One metric in one snapshot.

    Attributes:
        value: as read; None when absent.
        is_number: whether it is one, booleans excluded.
        observation: its entry of `observations`, empty when there is none.
        problem: what went wrong while collecting, or None.
        hindrance: `problem`, else that the value is missing, else None.
        times: what the snapshot states about its age.
        admission: that its window began before the stage, else the trouble with its times, else None.
        source: where it came from: as its observation says, else the source that lists it.
    """

    __slots__ = (
        "admission",
        "hindrance",
        "is_number",
        "observation",
        "problem",
        "source",
        "times",
        "value",
    )

    def __init__(
        self,
        value: Any,
        observation: Mapping[str, Any],
        problem: Hindrance | None,
        hindrance: Hindrance | None,
        times: MetricTimes,
    ) -> None:
        self.value = value
        self.is_number = is_number(value)
        self.observation = observation
        self.problem = problem
        self.hindrance = hindrance
        self.times = times
        self.admission = times.window or times.hindrance
        source = observation.get("source")
        self.source = source if isinstance(source, str) else times.listed_by


def read_metrics(document: Mapping[str, Any], plan: StagePlan, times: Times) -> dict[str, Reading]:
    """Read every metric that *plan* names."""
    metrics = document.get("metrics")
    if not isinstance(metrics, dict):
        metrics = _NOTHING
    observations = document.get("observations")
    unreadable = observations is not None and not isinstance(observations, dict)
    noted: Mapping[str, Any] = _NOTHING if observations is None or unreadable else observations
    readings = {}
    for metric in plan.metrics:
        name = metric.name
        observation = noted.get(name)
        problem = metric.bad_response if unreadable else None
        if observation is None:
            observation = _NOTHING
        elif problem is None:
            if not isinstance(observation, dict):
                observation, problem = _NOTHING, metric.bad_response
            elif observation.get("problem") is not None:
                problem = _stated_problem(observation["problem"], metric)
        value = metrics.get(name)
        hindrance = problem or (metric.absent if value is None else None)
        of_metric = times.of(name, observation)
        readings[name] = Reading(value, observation, problem, hindrance, of_metric)
    return readings


def _stated_problem(problem: object, metric: MetricPlan) -> Hindrance:
    code = problem.get("code") if isinstance(problem, dict) else None
    if not isinstance(code, str) or not is_observation_problem(code):
        return metric.bad_response
    return problem_hindrance(code, metric.name, "collect_metric")


def bad_response(name: str) -> Hindrance:
    """What an unreadable part of `observations` is to a metric."""
    return Hindrance(Outcome.INVALID, "observation_invalid:bad_response", (name,))
