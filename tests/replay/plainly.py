"""The answer of a query by its definition: all lines are there, parsed, and looked at as often as need be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from gatekeeper.model.exchange import LogLine
from gatekeeper.model.line import stated_seq
from gatekeeper.model.times import parse_time
from gatekeeper.replay.query import Filter, select


class Plainly:
    """What *wanted* means in these lines, and what of them could not be seen.

    Attributes:
        lines: the answer.
        damaged, gaps: the holes that are to be told, in the order of the log; gaps as first and last seq.
    """

    def __init__(self, lines: Iterable[LogLine], wanted: Filter) -> None:
        self._read: list[LogLine] = []
        self.lines = list(select(self._noted(line for line in lines if line.data.strip()), wanted))
        moments = [_moment(line) for line in self._read]
        self.damaged: list[LogLine] = []
        self.gaps: list[tuple[int, int]] = []
        seq = excused = 0
        for at, line in enumerate(self._read):
            before = next((one for one in reversed(moments[:at]) if one is not None), -inf)
            behind = next((one for one in moments[at:] if one is not None), inf)
            low, high = min(before, behind), max(before, behind)
            is_asked = (wanted.since is None or high >= wanted.since) and (wanted.until is None or low <= wanted.until)
            stated = stated_seq(line.data) if line.problem != "torn" else None
            if stated is None:
                excused += line.problem != "torn"
            else:
                if is_asked and stated > seq + 1 + excused:
                    self.gaps.append((seq + 1, stated - 1))
                seq, excused = max(seq, stated), 0
            if is_asked and line.event is None:
                self.damaged.append(line)

    def _noted(self, lines: Iterable[LogLine]) -> Iterator[LogLine]:
        for line in lines:
            self._read.append(line)
            yield line


def _moment(line: LogLine) -> int | None:
    """When the line was written, if it is an event of the chain that says so."""
    event = line.event
    if event is None or "kind" not in event or type(event.get("seq")) is not int:
        return None
    return parse_time(event.get("ts"))
