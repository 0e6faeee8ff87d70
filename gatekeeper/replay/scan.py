"""Query a log that has no projection: its files are searched on all cores, and only hits are parsed.

The answer is that of `query.select` over all lines, with the same holes named as far as was read.
"""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.exchange import LogLine
from gatekeeper.replay.blocks import Range, blocks_of, ranges_of, weight_of
from gatekeeper.replay.group import counted, rows_of
from gatekeeper.replay.holes import Holes
from gatekeeper.replay.lines import parse_line
from gatekeeper.replay.parallel import Workers, cores, may_fork
from gatekeeper.replay.prefilter import needles_of
from gatekeeper.replay.scan_range import (
    AT,
    BEHIND,
    COUNTS,
    LINES,
    MEANT,
    NO_SEQ,
    ODD,
    SEQS,
    TAKEN,
    Query,
    RangeScan,
)
from gatekeeper.replay.window import window_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from gatekeeper.replay.blocks import Source
    from gatekeeper.replay.group import GroupRow
    from gatekeeper.replay.query import Filter
    from gatekeeper.replay.scan_range import Record, Taker

RANGE_BYTES = 16 << 20
"""How much of a file one process searches at a time."""

_BATCH_BYTES = 1 << 18


@dataclass(frozen=True)
class Pace:
    """How a scan goes about it.

    Attributes:
        jobs: how many processes at most; None: one for each core.
        range_bytes: how much of a file one of them searches at a time.
        progress: told after each range how many bytes were searched, of how many.
    """

    jobs: int | None = None
    range_bytes: int = RANGE_BYTES
    progress: Callable[[int, int], None] | None = None


class Scan:
    """What *wanted* means in the files of a log.

    Args:
        sources: in chain order.
        pruned_to: the last seq of those that were removed on purpose.

    Attributes:
        holes: what is not there, as far as was read.

    Raises, when it is read:
        LogError: a file cannot be read, or a process that searched a part of it has died.
    """

    def __init__(
        self, sources: Sequence[Source], wanted: Filter, pace: Pace | None = None, *, pruned_to: int = 0
    ) -> None:
        self.holes = Holes(since=wanted.since, until=wanted.until, pruned_to=pruned_to)
        self._wanted = wanted
        self._pace = pace or Pace()
        self._parts: list[Range] = []
        self._skipping: set[int] = set()  # ranges before which lines of their file are not read
        for source in sources:
            self._add(source)

    def lines(self) -> Iterator[LogLine]:
        """The lines that are meant, in order. `number` is 0 where the lines before were not read."""
        for part, number, data in self._meant():
            yield parse_line(part.source.path, number or 0, data)

    def data(self) -> Iterator[bytes]:
        """The same as bytes without the newline."""
        for _, _, data in self._meant():
            yield data

    def _meant(self) -> Iterator[tuple[Range, int | None, bytes]]:
        left = self._wanted.limit
        if left is not None and left < 1:
            return
        for kind, part, number, content in self._told(Query(self._wanted)):
            if kind == MEANT:
                yield part, number, content
                if left is not None:
                    left -= 1
                    if left == 0:
                        return

    def groups(self, fields: Sequence[str]) -> list[GroupRow]:
        """How many of them have each combination of values. Raises UsageError for an unknown field."""
        names = list(dict.fromkeys(fields))
        if self._wanted.limit is not None:
            return rows_of(names, counted(self.lines(), names))
        counts = counted((), names)  # a name that nobody knows is told before anything is read
        for kind, _, _, content in self._told(Query(self._wanted, tuple(names))):
            if kind == COUNTS:
                counts.update(content)
        return rows_of(names, counts)

    def taken(self, taker: Callable[[], Taker]) -> Iterator[Any]:
        """What *taker* makes of the decisions that are meant, one answer for each range, in order.

        The filter asks for decisions and has no limit.
        """
        for kind, _, _, content in self._told(Query(self._wanted, taker=taker)):
            if kind == TAKEN:
                yield content

    def _add(self, source: Source) -> None:
        if source.content is not None:
            self._parts += ranges_of([source], self._pace.range_bytes)
            return
        window = window_of(source, self._wanted.since, self._wanted.until)
        if window.start > source.begins:
            self._skipping.add(len(self._parts))
        step = self._pace.range_bytes
        self._parts += [
            Range(source, start, min(start + step, window.end), window.size)
            for start in range(window.start, window.end, step)
        ]

    def _told(self, query: Query) -> Iterator[tuple[str, Range, int | None, Any]]:
        """Lines and counts of all ranges, in order, until a line behind `until`; the rest is noted."""
        number: int | None = 0
        done, all_of_it = 0, sum(map(weight_of, self._parts))
        for index, records in enumerate(self._searched(query)):
            part = self._parts[index]
            if part.start == part.source.begins:
                number = part.source.lines_before
            elif index in self._skipping:
                number = None
            is_behind = False
            for record in records:
                kind = record[0]
                if kind == SEQS:
                    self.holes.see_seqs(record[1], record[2])
                elif kind == NO_SEQ:
                    self.holes.see_none()
                elif kind == AT:
                    self.holes.pass_moment(record[1])
                elif kind == ODD:
                    if number is None:
                        number = _lines_before(part)
                    line = LogLine(part.source.path, number + record[1], record[2], None, record[3])
                    self.holes.take_damaged(line)
                elif kind == MEANT:
                    yield kind, part, None if number is None else number + record[1], record[2]
                elif kind in {COUNTS, TAKEN}:
                    yield kind, part, None, record[1]
                elif kind == BEHIND:
                    is_behind = True
                elif kind == LINES and number is not None:
                    number += record[1]
            done += weight_of(part)
            if self._pace.progress is not None:
                self._pace.progress(done, all_of_it)
            if is_behind:
                return

    def _searched(self, query: Query) -> Iterator[Iterable[Record]]:
        scan = RangeScan(query)
        jobs = min(cores() if self._pace.jobs is None else self._pace.jobs, len(self._parts))
        is_worth_it = query.fields is not None or query.taker is not None or bool(needles_of(query.wanted))
        if jobs < 2 or not is_worth_it or not may_fork():
            for part in self._parts:
                yield scan.records(part)
            return
        with Workers(jobs, self._parts, lambda part: _batches(scan.records(part))) as workers:
            for batches in workers.answers():
                yield (record for batch in batches for record in batch)


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Records by the hundred: each on its way to another process would cost more than the search."""
    batch, size = [], 0
    for record in records:
        batch.append(record)
        size += 64 + (len(record[2]) if record[0] in {MEANT, ODD} else 0)
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _lines_before(part: Range) -> int:
    """How many lines of the file stand before a range: read only where a line must be named by its number."""
    source = part.source
    before = Range(source, source.begins, part.start, part.size)
    return source.lines_before + sum(len(block.lines()) for block in blocks_of(before))
