"""From answers to the reading of one metric on one side: which of its troubles counts, and how old it is.

The first trouble that applies is stated. What a source did not answer, or answered as no source should, comes first,
whichever question it was: nobody could be asked, partial, failed, no answer of the API, clocks that differ. Then what
sound answers say: stopped, empty, several series, no value, out of range, then what concerns age and coverage. So no
failure of a source is taken for evidence of a metric that is missing. A usable number is kept beside the problem.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.prometheus.ages import (
    TOLERATED_AHEAD_SECONDS,
    about,
    age_of,
    failure_of,
    fault_of,
    is_empty,
    is_tolerated,
)
from gatekeeper.evidence.prometheus.promql_queries import coverage_ratio
from gatekeeper.evidence.reading import Reading, ReadingProblem, checked_value, empty_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.evidence.prometheus.ages import Scene
    from gatekeeper.evidence.prometheus.answer import Answer
    from gatekeeper.evidence.prometheus.plan import Basis, Question


def reading_of(question: Question, scene: Scene) -> Reading:
    """What is known of one metric on one side by now."""
    answer = scene.answer(question.query)
    basis, failure = question.basis, answer.problem or failure_of(question.basis, scene)
    record: dict[str, Any] = {"query": question.query, "endpoint": scene.endpoint}
    if question.guard is not None and is_empty(answer):
        guard = scene.answer(question.guard)
        failure = failure or _own_failure(question, scene)
        failure = failure or (None if guard.problem is None else about("zero_if", guard.problem))
        if failure is None and not _has_own_samples(question, scene) and _all_differ_from_zero(guard):
            basis, failure = question.guard_basis, failure_of(question.guard_basis, scene)
            record["imputed"] = True
    age = age_of(basis, scene)
    value, value_problem = _value(question, answer, imputed="imputed" in record)
    coverage, coverage_problem = _coverage(question, basis, scene)
    problems = (failure, _clock_problem(answer, scene.at), age.stopped, value_problem, age.problem, coverage_problem)
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
    if question.guard is not None and is_empty(scene.answer(question.query)):
        bases.append(question.guard_basis)
    for basis in bases:
        for look in basis.looks:
            if is_empty(scene.answer(look.newest)) and not is_tolerated(look, basis, scene):
                yield look.deep
    if len(bases) > 1:
        for look in question.own_looks or ():
            yield from (look.newest, look.deep)


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
        return None, ReadingProblem(empty_code(question.side), detail)
    return checked_value(number, kind=question.spec.kind, bounds=question.spec.range, side=question.side)


def _all_differ_from_zero(guard: Answer) -> bool:
    numbers = [float(sample.text) for sample in guard.samples]
    return bool(numbers) and all(isfinite(number) and number != 0 for number in numbers)


def _own_failure(question: Question, scene: Scene) -> ReadingProblem | None:
    """The first question about the query's own series that was not answered: whether there are any is not known."""
    for look in question.own_looks or ():
        for query in (look.newest, look.deep):
            if (problem := fault_of(query, scene.answer(query))) is not None:
                return about(f"age of {look.selector.text}", problem)
    return None


def _has_own_samples(question: Question, scene: Scene) -> bool:
    """Whether the query's own series have any sample, however old: what it yields nothing of is then no 0."""
    if question.own_looks is None:
        return True  # nobody knows which they are
    asked = [query for look in question.own_looks for query in (look.newest, look.deep)]
    return any(scene.answer(query).samples for query in [*asked, *(one.query for one in question.basis.coverage)])


def _clock_problem(answer: Answer, at: int) -> ReadingProblem | None:
    """Clocks that differ so much that no age can be told."""
    ahead = 0.0 if answer.server_time is None else at / 1000 - answer.server_time
    if ahead > TOLERATED_AHEAD_SECONDS:
        detail = f"the evaluation time is {ahead:.3f} s ahead of the server's clock"
    elif answer.behind_seconds > TOLERATED_AHEAD_SECONDS:
        detail = f"this machine's clock is {answer.behind_seconds:.3f} s or more behind the server's"
    else:
        return None
    return ReadingProblem("observation_invalid:collected_at", detail)


def _coverage(question: Question, basis: Basis, scene: Scene) -> tuple[float | None, ReadingProblem | None]:
    """The least covered window, and what is wrong with it."""
    ratios: list[tuple[float, str]] = []
    for asked in basis.coverage:
        answer = scene.answer(asked.query)
        if fault_of(asked.query, answer) is not None:  # `failure_of` states it
            continue
        samples = float(answer.samples[0].text) if answer.samples else 0.0
        ratios.append((coverage_ratio(samples, asked.window_seconds, scene.scrape_interval_seconds), asked.name))
    if not ratios:
        return None, None
    ratio, name = min(ratios)
    ratio = round(ratio, 6)
    if ratio < question.spec.min_coverage:
        detail = f"samples of {name} cover {ratio:.3f} of the window, {question.spec.min_coverage} is asked for"
        return ratio, ReadingProblem("observation_stale:window_coverage", detail)
    return ratio, None


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
