"""Query one range of a log on its bytes: only lines that may be meant are read, and those that look odd.

A line is usual when it begins and ends as a decision of the ledger, shows the seq that follows the one of the line
before, and holds the beginning of one event only. A line that was torn lacks its end, and one that another was glued
to holds two beginnings, so they are odd, and read: where a line holds no event it is named. So is every event of
another kind; there are few. A zero, or a byte that is no text, makes a line odd as well. In a usual line, text that
needs no escape stands as its own bytes, unless somebody wrote it with a backslash: such lines are odd too. Damage
within a line that leaves all this in place may go unnamed; finding such is what `verify` and its chain are for.

Where a time is asked for, the events next to a hole are read, too: their times tell whether it touches the range.
"""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.line import bulk_decoder, is_blank, stated_seq
from gatekeeper.replay.blocks import blocks_of, line_before
from gatekeeper.replay.holes import moment_of
from gatekeeper.replay.lines import DAMAGED, TORN
from gatekeeper.replay.needles import LineSearch
from gatekeeper.replay.prefilter import needles_of
from gatekeeper.replay.query import is_behind, matcher
from gatekeeper.replay.scan_counts import ScanCounts
from gatekeeper.replay.slim import without_findings
from gatekeeper.replay.usual import is_usual, looks_plain, usual_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from gatekeeper.replay.blocks import Block, Range
    from gatekeeper.replay.query import Filter

    Record = tuple[Any, ...]

    class Taker(Protocol):
        """Looks at selected decisions where they are read, so that only what comes of them is told."""

        def take(self, event: Mapping[str, Any], line: bytes) -> None:
            """The next one, perhaps without what `slim.without_findings` leaves out; *line* holds all of it."""
            ...

        def taken(self) -> object:
            """What has come of those since the last time; it must be picklable."""
            ...


# What a scan tells, in the order of the log, as tuples that begin with one of these words.
SEQS = "seqs"
"""first and last: lines that hold these seqs without a gap."""
NO_SEQ = "no seq"
"""a line that shows none."""
AT = "at"
"""microseconds: the time of the nearest event before a hole, or of the first one behind it."""
MEANT = "meant"
"""line number within the range, from 1, and bytes of a line that is selected."""
ODD = "odd"
"""line number within the range, bytes, and the problem of a line that holds no event."""
BEHIND = "behind"
"""a chained line behind `until`: nothing that follows is meant."""
COUNTS = "counts"
"""how many selected events have each combination of values, as far as the range was read."""
TAKEN = "taken"
"""what has come of the selected decisions, as far as the range was read."""
LINES = "lines"
"""how many lines the range has, blank ones too; the last record of a range that was read to its end."""

_TS = b'"ts":"'
_NO_SEQ_BEFORE = 1 << 62
"""In the place of the seq before a line that is to be read, whatever it shows."""
_ROOM = bytes(64)  # behind decompressed lines, so that they are searched as fast as others


@dataclass(frozen=True)
class Query:
    """What is asked of every range.

    Attributes:
        wanted: `limit` is the reader's business, not the range's.
        fields: what selected events are counted by; None: they are told.
        taker: makes what selected decisions are given to instead; None: they are told.
    """

    wanted: Filter
    fields: tuple[str, ...] | None = None
    taker: Callable[[], Taker] | None = None


class RangeScan:
    """Searches one range after the other."""

    def __init__(self, query: Query) -> None:
        self._wanted = query.wanted
        self._is_meant = matcher(query.wanted)
        self._decode = bulk_decoder()
        self._groups = needles_of(query.wanted)
        self._counts = None if query.fields is None else ScanCounts(query.wanted, query.fields, self._is_meant)
        self._taker = None if query.taker is None else query.taker()
        self._number = self._seq = 0
        self._first = 0  # of the usual lines that were not told yet; 0: none
        self._is_timed = query.wanted.since is not None or query.wanted.until is not None
        self._is_open = True  # whether no event with a time stands between the last hole and here
        self._data: bytes | bytearray = b""  # the block
        self._begin = 0  # where its first line stands
        self._kept: bytes | None = None  # the last line of the block before
        self._is_sorted = len(self._groups) < 2

    def records(self, part: Range) -> Iterator[Record]:
        """All that is to be told of a range, in order. Raises LogError, and what the source's `content` raises."""
        self._number = self._first = 0
        self._seq, self._is_open, self._kept = _NO_SEQ_BEFORE, True, None
        if self._counts is not None:
            self._counts.taken()  # of a range that was left before its end
        for block in blocks_of(part):
            if not self._is_sorted:
                self._groups = _rarest_first(self._groups, block)
                self._is_sorted = True
            for record in self._block(block) if block.is_terminated else self._torn(block):
                yield record
                if record[0] == BEHIND:
                    yield from self._counted()
                    return
        yield from self._usual_so_far()
        yield from self._open()
        yield from self._counted()
        yield (LINES, self._number)

    def _counted(self) -> Iterator[Record]:
        if self._counts is not None:
            yield (COUNTS, self._counts.taken())
        if self._taker is not None:
            yield (TAKEN, self._taker.taken())

    def _usual_so_far(self) -> Iterator[Record]:
        first, self._first = self._first, 0
        if 0 < first <= self._seq:
            yield (SEQS, first, self._seq)

    def _torn(self, block: Block) -> Iterator[Record]:
        line = block.lines()[0]
        self._number += 1
        if not is_blank(line):
            yield from self._usual_so_far()
            yield from self._open()
            yield (ODD, self._number, line, TORN)

    def _open(self, position: int = 0) -> Iterator[Record]:
        """A hole may be here: tell the time of the event before, and have the next one read for its own."""
        if self._is_open:
            return
        self._is_open, self._seq = True, _NO_SEQ_BEFORE
        line = None
        if self._is_timed:
            line = line_before(self._data, self._begin, max(position, self._begin), holding=_TS) or self._kept
        event = self._decode(line) if line is not None else None
        moment = moment_of(event) if event is not None else None
        if moment is not None:
            yield (AT, moment)

    def _block(self, block: Block) -> Iterator[Record]:
        data = block.data if isinstance(block.data, bytearray) else bytearray(block.data + _ROOM)
        position, end, plain = block.begin, block.end, looks_plain(block)
        search = LineSearch(data)
        self._data, self._begin = data, position
        while position < end:
            stops = usual_lines(search, data, position, end, self._seq, looks_plain=plain)
            if stops:
                position = yield from self._usual(search, data, position, stops)
            if position < end:
                stop = data.find(b"\n", position)
                if is_usual(data, position, stop, self._seq, looks_plain=plain):
                    yield from self._usual(search, data, position, [stop])
                else:
                    self._number += 1
                    yield from self._odd(bytes(data[position:stop]), position)
                position = stop + 1
        if self._is_timed:
            self._kept = line_before(data, block.begin, end, holding=_TS) or self._kept
        self._data, self._begin = b"", 0

    def _usual(
        self, search: LineSearch, data: bytearray, position: int, stops: Sequence[int]
    ) -> Generator[Record, None, int]:
        """What is meant among usual lines that follow each other, where their newlines stand.

        Returns:
            Where to go on: behind them, or behind one that holds no event after all.
        """
        number, seq, counts, end = self._number, self._seq, self._counts, stops[-1]
        self._first = self._first or seq + 1
        for index in self._lines_with_needles(search, position, stops):
            begin, stop = stops[index - 1] + 1 if index else position, stops[index]
            if counts is not None and counts.is_as_known(data, begin, stop, search, end):
                continue
            self._number, self._seq = number + index + 1, seq + index + 1
            if counts is not None:
                yield from self._count(counts, search, data, begin, stop, end)
            elif self._taker is not None:
                line = bytes(data[begin:stop])
                yield from self._read(line, begin, without_findings(line))
            else:
                yield from self._read(bytes(data[begin:stop]), begin)
            if self._is_open:
                return stop + 1
            self._first = self._first or self._seq + 1
        self._number, self._seq = number + len(stops), seq + len(stops)
        return stops[-1] + 1

    def _lines_with_needles(self, search: LineSearch, position: int, stops: Sequence[int]) -> Iterable[int]:
        """Indices of the lines that hold a needle of each group: the block is searched for the first one's alone."""
        if not self._groups:
            return range(len(stops))
        first, *others = self._groups
        found = search.lines_with(first, position, stops)
        if not others:
            return found
        begins = [stops[index - 1] + 1 if index else position for index in found]
        return [
            index
            for index, begin in zip(found, begins, strict=True)
            if all(search.has(group, begin, stops[index]) for group in others)
        ]

    def _count(
        self, counts: ScanCounts, search: LineSearch, data: bytearray, begin: int, stop: int, end: int
    ) -> Iterator[Record]:
        until = self._wanted.until
        event, text = counts.read(data, begin, stop, search, end)
        if event is None:
            yield from self._read(bytes(data[begin:stop]), begin)
        elif not counts.add(event, text) and until is not None and is_behind(event, until):
            yield from self._behind()

    def _odd(self, line: bytes, position: int) -> Iterator[Record]:
        if is_blank(line):
            return
        yield from self._usual_so_far()
        seq, event = stated_seq(line), self._decode(line)
        moment = moment_of(event) if event is not None else None
        if moment is None or seq != self._seq + 1:
            yield from self._open(position)
        yield (NO_SEQ,) if seq is None else (SEQS, seq, seq)
        if moment is not None:
            if self._is_open and self._is_timed:
                yield (AT, moment)
            self._is_open, self._seq = False, _NO_SEQ_BEFORE if seq is None else seq
        yield from self._judge(line, event)

    def _read(self, line: bytes, position: int, event: Mapping[str, Any] | None = None) -> Iterator[Record]:
        """A line that looks usual."""
        if event is None:
            event = self._decode(line)
        if event is None:
            yield from self._usual_so_far()
            yield from self._open(position)
        yield from self._judge(line, event)

    def _judge(self, line: bytes, event: Mapping[str, Any] | None) -> Iterator[Record]:
        if event is None:
            yield (ODD, self._number, line, DAMAGED)
        elif self._taker is not None and self._is_meant(event):
            self._taker.take(event, line)
        elif self._counts is None and self._taker is None and self._is_meant(event):
            yield from self._usual_so_far()
            yield (MEANT, self._number, line)
        elif self._counts is None or not self._counts.add(event):
            until = self._wanted.until
            if until is not None and is_behind(event, until):
                yield from self._behind()

    def _behind(self) -> Iterator[Record]:
        yield from self._usual_so_far()
        yield (BEHIND,)


def _rarest_first(groups: Sequence[tuple[bytes, ...]], block: Block) -> list[tuple[bytes, ...]]:
    """The group that rules most lines out comes first: the block is searched for it alone."""
    return sorted(groups, key=lambda group: sum(block.data.count(needle, block.begin, block.end) for needle in group))
