"""Which parts of a log a query could not see: lines that hold no event, and seqs that no line has (SPEC 7).

With a time bound those are told that may have hidden a part of the answer. Times do not run back in a log, so what
is not there lay between the nearest events before and behind it that state a time: a hole is told unless both are
before the range, or both behind it. At the beginning and the end of what was read there is no such event, and
anything may have been there. Both ways of a query, and `--follow`, keep this one rule, so that they say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.exchange import LogLine
from gatekeeper.model.line import is_chained, stated_seq
from gatekeeper.model.times import parse_time
from gatekeeper.replay.lines import seq_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@dataclass(frozen=True)
class Gap:
    """Seqs that are missing, both ends included."""

    from_seq: int
    to_seq: int

    def to_dict(self) -> dict[str, int]:
        """`{"from_seq", "to_seq"}`."""
        return {"from_seq": self.from_seq, "to_seq": self.to_seq}


def moment_of(event: Mapping[str, Any]) -> int | None:
    """When an event of the chain was written, in microseconds since 1970; None for one that does not state it."""
    return parse_time(event.get("ts")) if is_chained(event) and seq_of(event) is not None else None


class Holes:
    """Takes the lines of a log in order, each `see`n and then what it holds, and notes what is not there.

    The `seq` of a line is read off its bytes, so that lines which nobody parses are seen too. A line that shows
    none (damaged, founding-style) may have had one of the seqs that are missing around it, so it excuses one.
    Where no time is asked for, none need be passed; where one is, lines between two events on one side of the range
    may be left out: what is missing then is no hole that is told.

    Args:
        since, until: the range that is asked for, in microseconds; both ends belong to it.
        pruned_to: the last seq of those, from 1 on, that were removed on purpose: they are not missing.
    """

    def __init__(self, *, since: int | None = None, until: int | None = None, pruned_to: int = 0) -> None:
        self._since = since
        self._until = until
        self._pruned_to = pruned_to
        self._seq = 0
        self._excused = 0
        self._side = (True, False)  # of the last event that states a time: before the range, behind it
        self._told: list[Gap | LogLine] = []
        self._open: list[tuple[tuple[bool, bool], Gap | LogLine]] = []  # with the side of what is before them

    @property
    def damaged(self) -> list[LogLine]:
        """Lines that hold no event, in the order of the log, as far as was read."""
        return [hole for hole in self._all() if isinstance(hole, LogLine)]

    @property
    def gaps(self) -> list[Gap]:
        """Seqs that no line has, in the order of the log, as far as was read; the beginning counts."""
        return [hole for hole in self._all() if isinstance(hole, Gap) and hole.to_seq > self._pruned_to]

    @property
    def reaches_pruned(self) -> bool:
        """Whether events that were removed on purpose may have been a part of the answer."""
        return any(isinstance(hole, Gap) and hole.to_seq <= self._pruned_to for hole in self._all())

    def see(self, data: bytes) -> None:
        """Take the next line, given without its newline."""
        seq = stated_seq(data)
        if seq is None:
            self.see_none()
        else:
            self.see_seqs(seq, seq)

    def see_seqs(self, first: int, last: int) -> None:
        """Take the next lines, which hold the seqs from *first* to *last* without a gap."""
        if first > self._seq + 1 + self._excused:
            self._note_missing(self._seq + 1, first - 1)
        self._seq = max(self._seq, last)
        self._excused = 0

    def see_none(self) -> None:
        """Take the next line, which shows no seq."""
        self._excused += 1

    def take_damaged(self, line: LogLine) -> None:
        """The line that was just seen, or stands at the end without its newline, holds no event."""
        self._open.append((self._side, line))

    def take_event(self, event: Mapping[str, Any]) -> None:
        """The event of the line that was just seen."""
        moment = moment_of(event)
        if moment is not None:
            self.pass_moment(moment)

    def pass_moment(self, moment: int) -> None:
        """The line that was just seen is an event of this time."""
        self.pass_side(
            is_before=self._since is not None and moment < self._since,
            is_behind=self._until is not None and moment > self._until,
        )

    def pass_side(self, *, is_before: bool, is_behind: bool) -> None:
        """The line that was just seen is an event before the range, behind it, or neither."""
        for (was_before, was_behind), hole in self._open:
            if not (was_before and is_before) and not (was_behind and is_behind):
                self._told.append(hole)
        self._open.clear()
        self._side = (is_before, is_behind)

    def forget(self) -> None:
        """Begin anew with what is told; what was told is said."""
        self._told.clear()
        self._open.clear()

    def _note_missing(self, first: int, last: int) -> None:
        spans = ((first, min(last, self._pruned_to)), (max(first, self._pruned_to + 1), last))
        self._open += [(self._side, Gap(*span)) for span in spans if span[0] <= span[1]]

    def _all(self) -> list[Gap | LogLine]:
        return [*self._told, *(hole for (_, was_behind), hole in self._open if not was_behind)]
