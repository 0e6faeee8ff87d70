"""How old the data behind an answer are, and whether what tells it was answered at all."""

from __future__ import annotations

from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING

from gatekeeper.evidence.prometheus.answer import Answer
from gatekeeper.evidence.reading import BAD_RESPONSE, ReadingProblem, Unavailable, unavailable
from gatekeeper.model.times import MICROSECONDS, seconds_to_microseconds
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.prometheus.plan import Basis, Look

TOLERATED_AHEAD_SECONDS = 5
"""Clocks of two machines differ."""

_BAD_WATERMARK = "observation_invalid:watermark_event_time"
_NO_WATERMARK = "observation_missing:watermark_event_time"
_STOPPED = "observation_stale:over_freshness_budget"
_LATEST_SECONDS = 253_402_300_800  # the year 10000
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
class Age:
    """How old the data behind an answer are.

    Attributes:
        stopped: series that ended before the evaluation instant.
        problem: why the age is not known, or not trusted.
    """

    watermark: int | None = None
    stopped: ReadingProblem | None = None
    problem: ReadingProblem | None = None


def age_of(basis: Basis, scene: Scene) -> Age:
    """The oldest of what *basis* says; what `failure_of` states is passed over."""
    if basis.event_time_query is not None:
        return _stated_age(scene.answer(basis.event_time_query), scene.at)
    times: list[int] = []
    stopped = problem = None
    for look in basis.looks:
        answer = scene.answer(look.newest)
        is_deep = is_empty(answer)
        if is_deep:
            if is_tolerated(look, basis, scene):
                continue
            answer = scene.answer(look.deep)
        time = _sample_time(answer)
        if time is not None:
            shift = look.selector.offset_seconds - basis.shared_offset_seconds
            times.append(time + seconds_to_microseconds(shift))
        if is_deep and time is not None and answer.problem is None:
            stopped = stopped or _stopped(look, times[-1], scene.at)
        if not answer.samples and problem is None:
            detail = f"no sample of {look.selector.text}, so nothing tells how old the answer is"
            problem = ReadingProblem(_NO_WATERMARK, detail)
    if not basis.looks:
        problem = ReadingProblem(_NO_WATERMARK, "the query reads no series, so nothing tells how old its answer is")
    return Age(min(times, default=None), stopped, problem)


def failure_of(basis: Basis, scene: Scene) -> ReadingProblem | None:
    """The first question about age or coverage that was not answered, or not as a server answers it."""
    for look in basis.looks:
        queries = [look.newest]
        if is_empty(scene.answer(look.newest)) and not is_tolerated(look, basis, scene):
            queries.append(look.deep)
        for query in queries:
            if (problem := fault_of(query, scene.answer(query), limit=_LATEST_SECONDS)) is not None:
                return about(f"age of {look.selector.text}", problem)
    if basis.event_time_query is not None and (problem := scene.answer(basis.event_time_query).problem) is not None:
        return about("event_time_query", problem)
    for asked in basis.coverage:
        if (problem := fault_of(asked.query, scene.answer(asked.query))) is not None:
            return about(f"coverage of {asked.name}", problem)
    return None


def fault_of(query: str, answer: Answer, *, limit: float = inf) -> ReadingProblem | None:
    """What is wrong with the answer to a question of ours: it is one number from 0 up, or none."""
    if answer.problem is not None:
        return answer.problem
    if len(answer.samples) > 1:
        return ReadingProblem(BAD_RESPONSE, f"the answer to {query} has {len(answer.samples)} series")
    if answer.samples and not 0 <= float(answer.samples[0].text) < limit:
        return ReadingProblem(BAD_RESPONSE, f"the answer to {query} is {answer.samples[0].text}")
    return None


def is_tolerated(look: Look, basis: Basis, scene: Scene) -> bool:
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


def _stopped(look: Look, time: int, at: int) -> ReadingProblem:
    age = (at * 1000 - time) / MICROSECONDS
    return ReadingProblem(
        _STOPPED, f"{look.selector.text} has stopped: its newest sample is {age:.3f} s older than the evaluation time"
    )


def _stated_age(answer: Answer, at: int) -> Age:
    """The age that an event time query states."""
    what = "event_time_query"
    if answer.problem is not None:  # `failure_of` states it
        return Age()
    if not answer.samples:
        return Age(problem=ReadingProblem(_NO_WATERMARK, f"{what} yields no series"))
    if len(answer.samples) > 1:
        detail = f"{what} yields {len(answer.samples)} series: {answer.series}"
        return Age(problem=ReadingProblem(_BAD_WATERMARK, detail))
    time = _sample_time(answer)
    if time is None:
        detail = f"{what} yields {answer.samples[0].text}, which is no time in unix seconds"
        return Age(problem=ReadingProblem(_BAD_WATERMARK, detail))
    ahead = time / MICROSECONDS - at / 1000
    if ahead > TOLERATED_AHEAD_SECONDS:
        return Age(problem=ReadingProblem(_BAD_WATERMARK, f"{what} yields a time {ahead:.3f} s ahead"))
    return Age(watermark=time)


def is_empty(answer: Answer) -> bool:
    """Whether a sound answer holds no series."""
    return answer.problem is None and not answer.samples


def about(what: str, problem: ReadingProblem) -> ReadingProblem:
    """The problem, saying of which question it is."""
    return ReadingProblem(problem.code, f"{what}: {problem.detail}", problem.kind)
