"""The index over a log's events as queries use it: `ports.EventIndex` over the projection's tables."""

from __future__ import annotations

import json
import sqlite3

from gatekeeper.ledger.fsops import close_quietly, read_exactly
from gatekeeper.ledger.index_counts import counts_of
from gatekeeper.ledger.index_lines import LineReader
from gatekeeper.ledger.index_selection import condition_of, first_not_before, numbers, plan_of
from gatekeeper.model.indexed import Facet, IndexUnusableError, Place, StoredLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.head import Head
    from gatekeeper.ledger.index_lines import IndexedFile
    from gatekeeper.model.indexed import Count, Selection

MOST_ODD = 1000
"""With more lines than these that are not listed, reading the log is the better way."""


class ProjectionIndex:
    """Answers from the tables, and reads lines by their places.

    Args:
        connection: the tables, at a snapshot that is level with the log.
        head: of that snapshot.
        files: of the log, in the order of its chain, the live one last.
        release: gives the snapshot up.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        head: Head,
        ops: FileOps,
        files: Sequence[IndexedFile],
        release: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._head = head
        self._ops = ops
        self._files = files
        self._segments = numbers(file.segment for file in files)
        self._release = release
        self._lines = LineReader(ops, files)

    def facets(self) -> Mapping[int, Facet]:
        """Every facet that a listed event has, by its number."""
        sql = f"SELECT id, body FROM facets WHERE id IN (SELECT facet FROM totals WHERE segment IN ({self._segments}))"  # noqa: S608
        return {number: Facet.of_facts(json.loads(body)) for number, body in self._rows(sql)}

    def spans(self) -> Sequence[tuple[int, int]]:
        """First and last seq of each row of listed events without a gap, in the order of the log."""
        spans = []
        for file in self._files:
            jumps = list(self._rows("SELECT seq, previous FROM jumps WHERE segment = ? ORDER BY seq", file.segment))
            ends = [*(previous for _, previous in jumps[1:]), file.last_seq]
            spans += [(first, last) for (first, _), last in zip(jumps, ends, strict=False)]
        return spans

    def odd_lines(self) -> Iterator[StoredLine]:
        """The lines that are not listed, blank ones left out, in the order of the log."""
        sql = "SELECT line, after_seq, offset, length, digest FROM odd WHERE segment = ? ORDER BY line LIMIT ?"
        left, before = MOST_ODD, 0
        for file in self._files:
            rows = list(self._rows(sql, file.segment, left + 1))
            left -= len(rows)
            if left < 0:
                raise IndexUnusableError("too many lines are not listed")
            for line, after_seq, offset, length, digest in rows:
                data = self._lines.line(file.segment, offset, length, digest)
                yield StoredLine(file.source, line, data, max(before, after_seq))
            before = max(before, file.last_seq)

    def torn_line(self) -> StoredLine | None:
        """What stands behind the last newline."""
        head, live = self._head, self._files[-1]
        if live.descriptor is None:
            return None
        size = self._ops.size(live.descriptor)
        data = read_exactly(self._ops, live.descriptor, size - head.end, head.end) if size > head.end else b""
        if not data or b"\n" in data:  # others have appended meanwhile: that belongs to a later state
            return None
        return StoredLine(live.source, head.lines + 1, data, head.listed)

    def seq_from(self, moment: int) -> int:
        """`seq` of the first listed event that is not before *moment* (microseconds); behind the last if none is."""
        spans = self.spans()
        if not spans:
            return 1
        return first_not_before(self._rows, moment, spans[0][0], spans[-1][1] + 1, self._segments)

    def places(self, selection: Selection, *, limit: int | None = None) -> Iterator[Place]:
        """The selected events, by rising seq, the first *limit* of them."""
        plan = plan_of(selection, self._totals(), self.spans(), limit=limit)
        where, parameters = condition_of(selection, self._segments)
        sql = (
            f"SELECT seq, segment, line, offset, length, digest FROM events {plan} WHERE {where} "  # noqa: S608
            "ORDER BY seq LIMIT ?"
        )
        for row in self._rows(sql, *parameters, -1 if limit is None else limit):
            yield Place(*row)

    def read(self, places: Iterator[Place]) -> Iterator[StoredLine]:
        """Their lines, each compared with the digest that the index knows."""
        sources = {file.segment: file.source for file in self._files}
        for place in places:
            data = self._lines.line(place.segment, place.offset, place.length, place.digest)
            yield StoredLine(sources[place.segment], place.line, data, place.seq)

    def count(self, selection: Selection, by: Sequence[str]) -> Iterator[Count]:
        """How many of the selected events share a facet and what *by* names; no line is read."""
        spans = self.spans()
        if spans:
            first, last = spans[0][0], spans[-1][1]
            yield from counts_of(self._rows, selection, by, segments=self._segments, first=first, last=last)

    def close(self) -> None:
        """Give the state of the log up that it holds."""
        self._lines.close()
        for file in self._files:
            if file.descriptor is not None:
                close_quietly(self._ops, file.descriptor)
        self._release()

    def _totals(self) -> dict[int, int]:
        sql = f"SELECT facet, sum(count) FROM totals WHERE segment IN ({self._segments}) GROUP BY facet"  # noqa: S608
        return dict(self._rows(sql))

    def _rows(self, sql: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        try:
            for row in self._connection.execute(sql, parameters):  # noqa: UP028 - a cursor is not to be closed
                yield row
        except sqlite3.Error as error:
            raise IndexUnusableError(str(error)) from error
