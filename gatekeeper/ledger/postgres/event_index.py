"""The index over events as queries use it: `ports.EventIndex` over the tables, at one snapshot of them."""

from __future__ import annotations

import json
from itertools import islice

from gatekeeper.ledger.postgres.driver import psycopg
from gatekeeper.ledger.postgres.session import Session
from gatekeeper.ledger.projection_index import DAY
from gatekeeper.ledger.projection_rows import digest_blob
from gatekeeper.model.event import line_digest
from gatekeeper.model.indexed import Count, Facet, IndexUnusableError, Place, StoredLine
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.address import Address
    from gatekeeper.model.indexed import Selection

MOST_ODD = 1000
"""With more lines than these that are not listed, reading the log is the better way."""

_LINES = 256  # in memory at once
_DATE_LENGTH = len("2026-02-18")
_COLUMNS = {
    "day": f"floor(ts / {DAY}.0)::bigint",
    "run": "run_id",
    "experiment": "experiment_id",
    "variant": "variant_id",
    "actor": "actor",
}
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# as many look-ups as the range has binary digits, all in one statement: times never fall
_SEQ_FROM = """
WITH RECURSIVE search (low, high) AS (
  SELECT %(first)s::bigint, %(end)s::bigint
  UNION ALL
  SELECT CASE WHEN listed.ts < %(moment)s THEN listed.seq + 1 ELSE low END,
         CASE WHEN listed.ts < %(moment)s THEN high ELSE (low + high) / 2 END
  FROM search LEFT JOIN LATERAL (
    SELECT seq, ts FROM gatekeeper.facts
    WHERE seq >= (low + high) / 2 AND seq < high AND facet IS NOT NULL ORDER BY seq LIMIT 1
  ) AS listed ON true
  WHERE low < high
)
SELECT coalesce(
  (SELECT min(seq) FROM gatekeeper.facts WHERE seq >= low AND seq < %(end)s AND facet IS NOT NULL), %(end)s)
FROM search WHERE low >= high
"""


def open_index(address: Address) -> PostgresIndex:
    """The index at a snapshot of now. Raises LedgerUnreachableError, StateUnreadableError."""
    session = Session(address)
    session.rows("SELECT 1")  # the connection, and whether the tables are ours
    session.connection.execute(_SNAPSHOT)
    return PostgresIndex(session)


class PostgresIndex:
    """Answers from the tables, and reads lines by their seqs.

    Args:
        session: in a transaction whose snapshot is read; closed with the index.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._source = session.address.shown
        self._cursors = 0
        row = self._one("SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) FROM gatekeeper.facts")
        self._first: int = row[0]
        self._last: int = row[1]

    def facets(self) -> Mapping[int, Facet]:
        """Every facet that a listed event has, by its number."""
        rows = self._all("SELECT id, body FROM gatekeeper.facets")
        return {number: Facet.of_facts(json.loads(body)) for number, body in rows}

    def spans(self) -> Sequence[tuple[int, int]]:
        """First and last seq of each row of listed events without a gap, in the order of the log."""
        spans, first = [], self._first
        for seq in [*self._odd(), self._last + 1]:
            if first < seq:
                spans.append((first, seq - 1))
            first = seq + 1
        return spans

    def odd_lines(self) -> Iterator[StoredLine]:
        """The lines that are not listed, in the order of the log."""
        follows, before = 0, self._first - 1
        seqs = self._odd()
        for seq, data in self._lines(iter(seqs)):
            if seq - 1 != before:
                follows = seq - 1
            before = seq
            yield StoredLine(self._source, self._number(seq), data, follows)

    def torn_line(self) -> StoredLine | None:
        """A database has none."""
        return None

    def seq_from(self, moment: int) -> int:
        """`seq` of the first listed event that is not before *moment* (microseconds); behind the last if none is."""
        spans = self.spans()
        if not spans:
            return 1
        found: int = self._one(_SEQ_FROM, {"first": spans[0][0], "end": spans[-1][1] + 1, "moment": moment})[0]
        return found

    def places(self, selection: Selection, *, limit: int | None = None) -> Iterator[Place]:
        """The selected events, by rising seq, the first *limit* of them."""
        where, parameters = _condition(selection)
        sql = f"SELECT seq FROM gatekeeper.facts WHERE {where} ORDER BY seq"  # noqa: S608 - our own columns
        if limit is not None:
            sql, parameters = f"{sql} LIMIT %s", [*parameters, limit]
        for (seq,) in self._streamed(sql, parameters):
            yield Place(seq, 1, self._number(seq), 0, 0, b"")

    def read(self, places: Iterator[Place]) -> Iterator[StoredLine]:
        """Their lines, each compared with the digest that was recorded with it."""
        for seq, data in self._lines(place.seq for place in places):
            yield StoredLine(self._source, self._number(seq), data, seq)

    def count(self, selection: Selection, by: Sequence[str]) -> Iterator[Count]:
        """How many of the selected events share a facet and what *by* names; no line is read."""
        where, parameters = _condition(selection)
        columns = ", ".join(["facet", *(_COLUMNS[name] for name in by)])
        group = ", ".join(str(number) for number in range(1, len(by) + 2))
        sql = f"SELECT {columns}, count(*) FROM gatekeeper.facts WHERE {where} GROUP BY {group}"  # noqa: S608
        for facet, *values, count in self._streamed(sql, parameters):
            told = (_date(value) if name == "day" else value for name, value in zip(by, values, strict=True))
            yield Count(facet, tuple(told), count)

    def close(self) -> None:
        """Give the snapshot up."""
        self._session.close()

    def _number(self, seq: int) -> int:
        """The line number that it has in a file of the log."""
        return seq - self._first + 1

    def _odd(self) -> list[int]:
        sql = "SELECT seq FROM gatekeeper.facts WHERE facet IS NULL ORDER BY seq LIMIT %s"
        seqs = [row[0] for row in self._all(sql, [MOST_ODD + 1])]
        if len(seqs) > MOST_ODD:
            raise IndexUnusableError("too many lines are not listed")
        return seqs

    def _lines(self, seqs: Iterator[int]) -> Iterator[tuple[int, bytes]]:
        sql = "SELECT seq, line, digest FROM gatekeeper.events WHERE seq = ANY(%s) ORDER BY seq"
        while part := list(islice(seqs, _LINES)):
            found = self._all(sql, [part], is_binary=True)
            if len(found) != len(part):
                raise IndexUnusableError("a line that the index lists is not there")
            for seq, line, digest in found:
                if digest_blob(line_digest(line)) != digest:
                    raise IndexUnusableError(f"{self._source}: seq {seq} is not the line that was recorded")
                yield seq, line

    def _one(self, sql: str, parameters: Any = ()) -> tuple[Any, ...]:
        return self._all(sql, parameters)[0]

    def _all(self, sql: str, parameters: Any = (), *, is_binary: bool = False) -> list[tuple[Any, ...]]:
        try:
            with self._session.connection.cursor(binary=is_binary) as cursor:
                return cursor.execute(sql.encode(), parameters).fetchall()
        except psycopg.Error as error:
            raise IndexUnusableError(str(error)) from error

    def _streamed(self, sql: str, parameters: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, a part at a time."""
        self._cursors += 1
        try:
            with self._session.connection.cursor(name=f"gatekeeper_{self._cursors}") as cursor:
                cursor.itersize = 10 * _LINES
                cursor.execute(sql.encode(), parameters)
                yield from cursor
        except psycopg.Error as error:
            raise IndexUnusableError(str(error)) from error


def _condition(selection: Selection) -> tuple[str, list[object]]:
    """What stands behind WHERE, with its parameters."""
    terms = ["facet = ANY(%s)", "seq >= %s", "seq < %s"]
    parameters: list[object] = [[*selection.facets], selection.first_seq, selection.end_seq]
    for column, value in (("run_id", selection.run), ("experiment_id", selection.experiment)):
        if value is not None:
            terms.append(f"{column} = %s")
            parameters.append(value)
    return " AND ".join(terms), parameters


def _date(day: int) -> str:
    return format_time(day * DAY)[:_DATE_LENGTH]
