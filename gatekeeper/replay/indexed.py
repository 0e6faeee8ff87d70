"""A query answered from the index: only the lines that are printed are read, and none at all for counts.

The answer is that of `query.select` over all lines, with the same holes named: reading ends at the last line that
`limit` asks for, or at the first chained line behind `until`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from heapq import merge
from itertools import product

from gatekeeper.model.exchange import LogLine
from gatekeeper.model.indexed import Selection
from gatekeeper.replay.group import counted, getters_of, rows_of
from gatekeeper.replay.holes import Holes
from gatekeeper.replay.lines import TORN, is_blank, parse_line
from gatekeeper.replay.query import is_behind, matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ports import EventIndex
    from gatekeeper.replay.group import GroupRow, Value
    from gatekeeper.replay.query import Filter

    Position = tuple[int, int]

COUNTED_BY = ("day", "run", "experiment", "variant", "actor")
"""What the index counts by besides facets."""

_END = 1 << 62  # behind every seq


@dataclass(frozen=True)
class _Odd:
    """A line that the index does not list; it stands behind the listed event `position[0]`."""

    position: Position
    line: LogLine


class IndexedQuery:
    """What *wanted* means in the log that *index* stands beside.

    Args:
        pruned_to: the last seq of those that were removed on purpose.

    Attributes:
        holes: what is not there, as far as a reader would have come.
    """

    def __init__(self, index: EventIndex, wanted: Filter, *, pruned_to: int = 0) -> None:
        self.holes = Holes(since=wanted.since, until=wanted.until, pruned_to=pruned_to)
        self._index = index
        self._limit = wanted.limit
        self._odd: list[_Odd] = []
        self._selection = self._selected(wanted)
        if self._limit is None or self._limit > 0:
            self._look(wanted)

    def data(self) -> Iterator[bytes]:
        """The bytes of the lines that are meant, in the order of the log."""
        if self._limit is not None and self._limit < 1:
            return
        listed = self._index.read(self._index.places(self._selection, limit=self._limit))
        rest = iter(self._odd)
        odd = next(rest, None)
        for stored in listed:
            while odd is not None and odd.position < (stored.after_seq, 0):
                yield odd.line.data
                odd = next(rest, None)
            yield stored.data
        while odd is not None:
            yield odd.line.data
            odd = next(rest, None)

    def groups(self, fields: Sequence[str]) -> list[GroupRow]:
        """The events that are meant, counted as `group.group` counts them; no line of a listed one is read."""
        names = list(dict.fromkeys(fields))
        getters = getters_of(names)
        counts: Counter[tuple[Value, ...]] = counted((odd.line for odd in self._odd), names)
        if self._limit is None or self._limit > 0:
            facets = {number: facet.as_event() for number, facet in self._index.facets().items()}
            by = [name for name in names if name in COUNTED_BY]
            for count in self._index.count(self._selection, by):
                event, values = facets[count.facet], dict(zip(by, count.values, strict=True))
                parts = [
                    (values[name],) if name in values else getter(event)
                    for name, getter in zip(names, getters, strict=True)
                ]
                for combination in product(*parts):
                    counts[combination] += count.count
        return rows_of(names, counts)

    def _selected(self, wanted: Filter) -> Selection:
        is_meant = matcher(replace(wanted, run=None, experiment=None, since=None, until=None))
        facets = [number for number, facet in self._index.facets().items() if is_meant(facet.as_event())]
        first = 0 if wanted.since is None else self._index.seq_from(wanted.since)
        end = _END if wanted.until is None else self._index.seq_from(wanted.until + 1)
        return Selection(facets, wanted.run, wanted.experiment, first, end)

    def _look(self, wanted: Filter) -> None:
        """Find where a reader would stop, and what it would have noticed until then."""
        spans = self._index.spans()
        last_listed = spans[-1][1] if spans else 0
        end = self._selection.end_seq
        stop: Position = (end, 0) if end <= last_listed else (_END, 0)
        odd, stop = self._judge_odd(wanted, stop)
        if self._limit is not None:
            stop = self._limited(stop)
        self._odd = [one for one in self._odd if one.position <= stop]
        self._watch(spans, [one for one in odd if one.position <= stop], stop)
        listed_end = stop[0] if stop[1] == 0 and stop[0] == end else stop[0] + 1
        self._selection = replace(self._selection, end_seq=min(end, listed_end))
        if stop[0] == _END:
            self._add_torn()

    def _judge_odd(self, wanted: Filter, stop: Position) -> tuple[list[_Odd], Position]:
        """All odd lines up to *stop*, and where the first of them stops the reading; those that are meant are kept."""
        is_meant, found = matcher(wanted), list[_Odd]()
        for number, stored in enumerate(self._index.odd_lines(), 1):
            one = _Odd((stored.after_seq, number), parse_line(stored.source, stored.number, stored.data))
            if one.position > stop:
                break
            found.append(one)
            event = one.line.event
            if event is None:
                continue
            if is_meant(event):
                self._odd.append(one)
            elif wanted.until is not None and is_behind(event, wanted.until):
                return found, one.position
        return found, stop

    def _limited(self, stop: Position) -> Position:
        """Where the last line stands that `limit` asks for, if that comes before *stop*."""
        selection = replace(self._selection, end_seq=min(self._selection.end_seq, stop[0] + (stop[1] > 0)))
        listed = ((place.seq, 0) for place in self._index.places(selection, limit=self._limit))
        for count, position in enumerate(merge(listed, (one.position for one in self._odd)), 1):
            if count == self._limit:
                return min(stop, position)
        return stop

    def _watch(self, spans: Sequence[tuple[int, int]], odd: Sequence[_Odd], stop: Position) -> None:
        """Note the gaps between spans of listed events, and the odd lines among them."""
        rest = list(reversed(odd))
        for first, last in spans:
            position = first
            while position <= last and (position, 0) <= stop:
                while rest and rest[-1].position < (position, 0):
                    self._see_odd(rest.pop().line)
                end = min(last, rest[-1].position[0] if rest else last, stop[0])
                self.holes.see_seqs(position, end)
                self._pass(position)
                self._pass(end)
                position = end + 1
        while rest:
            self._see_odd(rest.pop().line)

    def _see_odd(self, line: LogLine) -> None:
        self.holes.see(line.data)
        if line.event is None:
            self.holes.take_damaged(line)
        else:
            self.holes.take_event(line.event)

    def _pass(self, seq: int) -> None:
        """A listed event: their times rise with their seqs, so these tell where it stands to the range."""
        self.holes.pass_side(is_before=seq < self._selection.first_seq, is_behind=seq >= self._selection.end_seq)

    def _add_torn(self) -> None:
        stored = self._index.torn_line()
        if stored is not None:
            line = LogLine(stored.source, stored.number, stored.data, None, TORN)
            if not is_blank(line):
                self.holes.take_damaged(line)
