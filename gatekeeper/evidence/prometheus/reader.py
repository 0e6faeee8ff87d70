"""A Prometheus source in one collection: all that is asked at once, then a deep look for what was not found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import PrometheusSource
from gatekeeper.evidence.prometheus.ages import Scene
from gatekeeper.evidence.prometheus.client import Client
from gatekeeper.evidence.prometheus.plan import plan_of
from gatekeeper.evidence.prometheus.readings import reading_of, wanted_deep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gatekeeper.evidence.collection import MetricSpec, SourceSpec
    from gatekeeper.evidence.prometheus.answer import Answer
    from gatekeeper.evidence.reading import Reading
    from gatekeeper.evidence.round import Round


def open_reader(name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> PrometheusReader:
    """The reader of one server; nothing is connected yet.

    Raises:
        UsageError: an environment variable is not set (64).
        CollectionError: a query that cannot be read, bound or dated; an address that is none (65).
    """
    assert isinstance(source, PrometheusSource)
    return PrometheusReader(name, source, metrics, shared)


class PrometheusReader:
    """One server in one collection."""

    def __init__(self, name: str, source: PrometheusSource, metrics: Mapping[str, MetricSpec], shared: Round) -> None:
        self._shared = shared
        self._questions = plan_of(metrics, shared.loaded.collection, source, shared.secrets)
        self._client = Client(name, source, shared)
        self._answers: dict[str, Answer] = {}
        self._scene = Scene(name, self._client.shown, shared.at, source.scrape_interval_seconds, self._answers)
        self._asked = 0

    def read(self) -> None:
        """Ask everything; see `round.SourceReader`."""
        try:
            # values first: at a deadline they are worth more than what is known about them
            values = [(question.query, question.pointer) for question in self._questions]
            others = [(query, question.pointer) for question in self._questions for query in question.queries()]
            if self._ask([*values, *others]):
                self._ask(
                    (query, question.pointer)
                    for question in self._questions
                    for query in wanted_deep(question, self._scene)
                )
        finally:
            self._client.close()

    def readings(self) -> list[Reading]:
        """What is known by now."""
        return [reading_of(question, self._scene) for question in self._questions]

    @property
    def progress(self) -> tuple[int, int]:
        """Answers that have come, questions asked by now."""
        return len(self._answers), self._asked

    def _ask(self, wanted: Iterable[tuple[str, str]]) -> bool:
        """Ask each text once; whether all answers have come."""
        fresh: dict[str, str] = {}
        for query, pointer in wanted:
            fresh.setdefault(query, pointer)
        self._asked += len(fresh)
        jobs = [partial(self._answer, query, pointer) for query, pointer in fresh.items()]
        return self._shared.workers.run(jobs, self._shared.deadline)

    def _answer(self, query: str, pointer: str) -> None:
        answer = self._client.ask(query)
        if answer.mistake is not None:
            raise CollectionError(
                f"{pointer}: the server refuses the query {query}: {answer.mistake}",
                remedy="mend the query in the collection file; see also that `dialect` names the right server",
            )
        self._answers[query] = answer
