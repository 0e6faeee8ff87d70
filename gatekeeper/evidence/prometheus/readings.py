"""From answers to the reading of one metric on one side: which of its troubles counts, and how old it is.

The first trouble that applies is stated: nobody could be asked, partial, failed, no answer of the API, asked for a
time that the server has not reached, stopped, empty, several series, no value, out of range, then what concerns
age and coverage. A usable number is kept beside it.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.prometheus.answer import Answer
from gatekeeper.evidence.prometheus.promql_queries import coverage_ratio
from gatekeeper.evidence.reading import Reading, ReadingProblem, Unavailable, checked_value, unavailable
from gatekeeper.model.times import MICROSECONDS, seconds_to_microseconds
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gatekeeper.evidence.prometheus.plan import Basis, Look, Question

_TOLERATED_AHEAD_SECONDS = 5
_BAD_WATERMARK = "observation_invalid:watermark_event_time"
_NO_WATERMARK = "observation_missing:watermark_event_time"
_STOPPED = "observation_stale:over_freshness_budget"
_LATE = Answer(problem=unavailable(Unavailable.TIMEOUT, "no answer within the time limit of the collection"))


@dataclass(frozen=True)
class Scene:
    """What the readings of one source share.

    Attributes:
        at: the evaluation instant, milliseconds since 1970.
        answers: by query text; what is not there has not come by the deadline.
    """

    source: str
    endpoint: str
    at: int
    scrape_interval_seconds: float
    answers: Mapping[str, Answer]

    def answer(self, query: str) -> Answer:
        """The answer to *query*."""
        return self.answers.get(query, _LATE)


@dataclass(frozen=True)
class _Age:
    """How old the data behind an answer are.

    Attributes:
        stopped: series that ended before the evaluation instant.
        problem: why the age is not known, or not trusted.
    """

    watermark: int | None = None
    stopped: ReadingProblem | None = None
    problem: ReadingProblem | None = None


def reading_of(question: Question, scene: Scene) -> Reading:
    """What is known of one metric on one side by now."""
    answer = scene.answer(question.query)
    basis, guard = question.basis, None
    age = _age(basis, scene)
    record: dict[str, Any] = {"query": question.query, "endpoint": scene.endpoint}
    if _is_empty(answer) and not age.stopped and question.guard is not None:
        guard = scene.answer(question.guard)
        if guard.problem is None and _all_differ_from_zero(guard):
            basis = question.guard_basis
            age = _age(basis, scene)
            record["imputed"] = True
    value, value_problem = _value(question, answer, imputed="imputed" in record)
    coverage, coverage_problem = _coverage(question, basis, scene)
    problems = (
        answer.problem,
        _ahead_of_server(answer, scene.at),
        age.stopped,
        _guard_problem(guard),
        value_problem,
        age.problem,
        coverage_problem,
    )
    record.update(_details(answer))
    return Reading(
        metric=question.metric,
        side=question.side,
        source=scene.source,
        value=value,
        value_text=answer.samples[0].text if len(answer.samples) == 1 else None,
        problem=next((problem for problem in problems if problem is not None), None),
        watermark=age.watermark,
        coverage_ratio=coverage,
        window_milliseconds=basis.window_milliseconds,
        record=record,
    )


def wanted_deep(question: Question, scene: Scene) -> Iterator[str]:
    """Queries that tell series which ended from series that never were, for selectors that found none."""
    bases = [question.basis]
    if question.guard is not None and _is_empty(scene.answer(question.query)):
        bases.append(question.guard_basis)
    for basis in bases:
        for look in basis.looks:
            if _is_empty(scene.answer(look.newest)) and not _is_tolerated(look, basis, scene):
                yield look.deep


def _is_empty(answer: Answer) -> bool:
    return answer.problem is None and not answer.samples


def _value(question: Question, answer: Answer, *, imputed: bool) -> tuple[float | bool | None, ReadingProblem | None]:
    if len(answer.samples) > 1:
        detail = f"{len(answer.samples)} series: {answer.series}"
        return None, ReadingProblem("observation_invalid:multiple_series", detail)
    if answer.samples:
        number = float(answer.samples[0].text)
    elif imputed:
        number = 0.0
    else:
        detail = "the query yields no series"
        if question.guard is not None:
            detail += ", and zero_if does not say that this means 0"
        return None, ReadingProblem("observation_missing:empty_result", detail)
    return checked_value(number, kind=question.spec.kind, bounds=question.spec.range, side=question.side)


def _all_differ_from_zero(guard: Answer) -> bool:
    numbers = [float(sample.text) for sample in guard.samples]
    return bool(numbers) and all(isfinite(number) and number != 0 for number in numbers)


def _guard_problem(guard: Answer | None) -> ReadingProblem | None:
    return None if guard is None or guard.problem is None else _about("zero_if", guard.problem)


def _ahead_of_server(answer: Answer, at: int) -> ReadingProblem | None:
    if answer.server_time is None:
        return None
    ahead = at / 1000 - answer.server_time
    if ahead <= _TOLERATED_AHEAD_SECONDS:
        return None
    detail = f"the evaluation time is {ahead:.3f} s ahead of the server's clock"
    return ReadingProblem("observation_invalid:collected_at", detail)


def _age(basis: Basis, scene: Scene) -> _Age:
    if basis.event_time_query is not None:
        return _stated_age(scene.answer(basis.event_time_query), scene.at)
    times: list[int] = []
    stopped = problem = None
    for look in basis.looks:
        answer = scene.answer(look.newest)
        is_deep = _is_empty(answer)
        if is_deep:
            if _is_tolerated(look, basis, scene):
                continue
            answer = scene.answer(look.deep)
        time = _sample_time(answer)
        if time is not None:
            times.append(time + seconds_to_microseconds(look.selector.offset_seconds))
        if is_deep and time is not None:
            stopped = stopped or _stopped(look, times[-1], scene.at)
        problem = problem or _watermark_problem(look, answer, time)
    if not basis.looks:
        problem = ReadingProblem(_NO_WATERMARK, "the query reads no series, so nothing tells how old its answer is")
    return _Age(min(times, default=None), stopped, problem)


def _is_tolerated(look: Look, basis: Basis, scene: Scene) -> bool:
    """Whether another selector of the same metric has samples: this one's series need not exist, such as errors."""
    name = look.selector.name
    return name is not None and any(
        other.selector.name == name and _sample_time(scene.answer(other.newest)) is not None for other in basis.looks
    )


def _sample_time(answer: Answer) -> int | None:
    """Microseconds since 1970 that a watermark query answers; None when it answers none."""
    if len(answer.samples) != 1:
        return None
    time = Decimal(answer.samples[0].text)
    return round(time * MICROSECONDS) if time.is_finite() and 0 <= time < _LATEST_SECONDS else None


_LATEST_SECONDS = 253_402_300_800  # the year 10000


def _stopped(look: Look, time: int, at: int) -> ReadingProblem:
    age = (at * 1000 - time) / MICROSECONDS
    return ReadingProblem(
        _STOPPED, f"{look.selector.text} has stopped: its newest sample is {age:.3f} s older than the evaluation time"
    )


def _watermark_problem(look: Look, answer: Answer, time: int | None) -> ReadingProblem | None:
    if answer.problem is not None:
        return _about(f"age of {look.selector.text}", answer.problem)
    if not answer.samples:
        detail = f"no sample of {look.selector.text}, so nothing tells how old the answer is"
        return ReadingProblem(_NO_WATERMARK, detail)
    if time is None:
        return ReadingProblem(_BAD_WATERMARK, f"age of {look.selector.text}: no time: {answer.samples[0].text}")
    return None


def _stated_age(answer: Answer, at: int) -> _Age:
    """The age that an event time query states."""
    about = "event_time_query"
    if answer.problem is not None:
        return _Age(problem=_about(about, answer.problem))
    if not answer.samples:
        return _Age(problem=ReadingProblem(_NO_WATERMARK, f"{about} yields no series"))
    if len(answer.samples) > 1:
        detail = f"{about} yields {len(answer.samples)} series: {answer.series}"
        return _Age(problem=ReadingProblem(_BAD_WATERMARK, detail))
    time = _sample_time(answer)
    if time is None:
        detail = f"{about} yields {answer.samples[0].text}, which is no time in unix seconds"
        return _Age(problem=ReadingProblem(_BAD_WATERMARK, detail))
    ahead = time / MICROSECONDS - at / 1000
    if ahead > _TOLERATED_AHEAD_SECONDS:
        return _Age(problem=ReadingProblem(_BAD_WATERMARK, f"{about} yields a time {ahead:.3f} s ahead"))
    return _Age(watermark=time)


def _coverage(question: Question, basis: Basis, scene: Scene) -> tuple[float | None, ReadingProblem | None]:
    """The least covered window, and what is wrong with it."""
    ratios: list[tuple[float, str]] = []
    problem = None
    for asked in basis.coverage:
        answer = scene.answer(asked.query)
        if answer.problem is not None:
            problem = problem or _about(f"coverage of {asked.name}", answer.problem)
            continue
        samples = float(answer.samples[0].text) if len(answer.samples) == 1 else 0.0
        ratios.append((coverage_ratio(samples, asked.window_seconds, scene.scrape_interval_seconds), asked.name))
    if not ratios:
        return None, problem
    ratio, name = min(ratios)
    ratio = round(ratio, 6)
    if problem is None and not ratio >= question.spec.min_coverage:
        detail = f"samples of {name} cover {ratio:.3f} of the window, {question.spec.min_coverage} is asked for"
        problem = ReadingProblem("observation_stale:window_coverage", detail)
    return ratio, problem


def _about(what: str, problem: ReadingProblem) -> ReadingProblem:
    return ReadingProblem(problem.code, f"{what}: {problem.detail}", problem.kind)


def _details(answer: Answer) -> Iterator[tuple[str, Any]]:
    """What the record says beyond query and endpoint: only what is out of the ordinary."""
    if answer.status not in {None, 200}:
        yield "http_status", answer.status
    if answer.warnings:
        yield "warnings", list(answer.warnings)
    if answer.infos:
        yield "infos", list(answer.infos)
    if abs(answer.clock_difference_seconds) > 1:
        yield "clock_difference_seconds", answer.clock_difference_seconds
