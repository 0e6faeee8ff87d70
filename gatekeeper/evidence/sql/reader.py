"""Databases as a source: one row per query, read in a transaction that is always rolled back (SPEC 9).

The statements of one source go one after the other over one connection, in the reader's own thread: a database that
does not answer keeps none of the shared workers busy. Metrics with the same query share one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.errors import CollectionError, UsageError
from gatekeeper.evidence.collection import SqlMetric, SqlSource
from gatekeeper.evidence.reading import ReadingProblem, Unavailable, unavailable
from gatekeeper.evidence.sql.failures import Mistake
from gatekeeper.evidence.sql.rows import Answer, column_mistake, readings_of, without_answer
from gatekeeper.model.document import escape_pointer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.evidence.collection import MetricSpec, SourceSpec
    from gatekeeper.evidence.reading import Reading
    from gatekeeper.evidence.round import Round
    from gatekeeper.evidence.sql.session import Database, Session


def open_reader(name: str, source: SourceSpec, metrics: Mapping[str, MetricSpec], shared: Round) -> SqlReader:
    """The reader of one database; nothing is connected yet.

    Raises:
        UsageError: SQLAlchemy, a dialect or a driver is not installed, or a variable of the URL is not set (64).
        CollectionError: the URL is none (65).
    """
    assert isinstance(source, SqlSource)
    try:
        from gatekeeper.evidence.sql.url import open_database
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "sqlalchemy":
            raise
        raise UsageError(
            f"/sources/{escape_pointer(name)}: a source of type sql needs SQLAlchemy 2.0 or later",
            remedy="python -m pip install 'sqlalchemy>=2.0.20'",
        ) from None
    return SqlReader(name, source, metrics, shared, open_database(name, source, shared))


class SqlReader:
    """One database in one collection."""

    def __init__(
        self, name: str, source: SqlSource, metrics: Mapping[str, MetricSpec], shared: Round, database: Database
    ) -> None:
        self._name = name
        self._source = source
        self._shared = shared
        self._database = database
        self._metrics = {metric: spec for metric, spec in metrics.items() if isinstance(spec, SqlMetric)}
        self._asked: dict[str, dict[str, SqlMetric]] = {}
        for metric, spec in self._metrics.items():
            self._asked.setdefault(spec.query, {})[metric] = spec
        self._answers: dict[str, Answer | ReadingProblem] = {}  # filled by one thread, copied whole by another

    def read(self) -> None:
        """Connect once and ask each query; see `round.SourceReader`."""
        session = self._database.connect()
        if isinstance(session, ReadingProblem):
            self._give_up(session)
            return
        with session:
            for query, metrics in self._asked.items():
                limit = min(self._source.timeout_seconds, self._shared.deadline.left_seconds)
                if not limit:
                    return
                answer = self._answers[query] = self._ask(session, query, metrics, limit)
                if session.is_lost and isinstance(answer, ReadingProblem):
                    self._give_up(answer)
                    return

    def readings(self) -> list[Reading]:
        """See `round.SourceReader`."""
        answers = dict(self._answers)
        seconds = self._shared.deadline.seconds
        late = unavailable(Unavailable.TIMEOUT, f"no answer within the collection's {seconds:g} s")
        found = []
        for metric, spec in self._metrics.items():
            answer = answers.get(spec.query, late)
            record = {"query": spec.query, "endpoint": self._database.endpoint}
            if isinstance(answer, Answer):
                found += readings_of(answer, metric, spec, source=self._name, record=record)
            else:
                found += without_answer(answer, metric, spec, source=self._name, record=record)
        return found

    @property
    def progress(self) -> tuple[int, int]:
        """See `round.SourceReader`."""
        return len(self._answers), len(self._asked)

    def _ask(
        self, session: Session, query: str, metrics: Mapping[str, SqlMetric], limit: float
    ) -> Answer | ReadingProblem:
        try:
            answer = session.ask(query, limit)
        except Mistake as mistake:
            where = ", ".join(f"/metrics/{escape_pointer(metric)}/query" for metric in metrics)
            raise self._refusal(f"{where}: {mistake.said}", "correct the query in the collection file") from None
        if isinstance(answer, Answer):
            for metric, spec in metrics.items():
                if wrong := column_mistake(answer, spec.columns):
                    where = f"/metrics/{escape_pointer(metric)}/columns"
                    raise self._refusal(f"{where}/{wrong}", "correct the column's name, or the query")
        return answer

    def _refusal(self, message: str, remedy: str) -> CollectionError:
        return CollectionError(self._shared.secrets.mask(f"{self._shared.loaded.path}: {message}"), remedy=remedy)

    def _give_up(self, problem: ReadingProblem) -> None:
        """Without a connection, all that is still unanswered has one and the same problem."""
        for query in self._asked:
            self._answers.setdefault(query, problem)
