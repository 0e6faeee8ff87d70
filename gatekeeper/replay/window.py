"""Which part of a file a time range means: found by halving, because `ts` never runs back within one log (SPEC 7).

That is checked as far as it costs next to nothing: at places spread over the whole file. Where it does not hold,
or where no events are found, the whole file is meant.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

from gatekeeper.errors import unreadable_log
from gatekeeper.model.line import decode, is_chained
from gatekeeper.model.times import parse_time
from gatekeeper.replay.blocks import close_source, open_source, size_of
from gatekeeper.replay.lines import seq_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.replay.blocks import Source

_PLACES = 32
_FINE_BYTES = 1 << 18  # closer than that it is quicker to read on
_STEP_BYTES = 1 << 14
_TRIES = 4  # lines that are no events of ours, one after the other


@dataclass(frozen=True)
class Window:
    """A part of a file of *size* bytes.

    It holds the events next to the range as well, one on either side: they tell which holes touch the range.
    """

    start: int
    end: int
    size: int


@dataclass(frozen=True, order=True)
class _Probe:
    """An event and where its line begins. In this order a log's events rise in everything."""

    offset: int
    seq: int
    moment: int


def window_of(source: Source, since: int | None, until: int | None) -> Window:
    """The lines among which those from *since* to *until* stand, both in microseconds, both included.

    Args:
        source: a plain file.

    Raises:
        LogError: it cannot be read.
    """
    size = size_of(source)
    whole = Window(source.begins, size, size)
    if (since is None and until is None) or size - source.begins < _FINE_BYTES:
        return whole
    try:
        descriptor = open_source(source)
    except OSError as error:
        raise unreadable_log(source.path, error) from error
    try:
        return _Search(descriptor, source.begins, size).window(since, until) or whole
    except OSError as error:
        raise unreadable_log(source.path, error) from error
    finally:
        close_source(source, descriptor)


class _Search:
    def __init__(self, descriptor: int, begins: int, size: int) -> None:
        self._descriptor = descriptor
        self._begins = begins
        self._size = size

    def window(self, since: int | None, until: int | None) -> Window | None:
        """None where the file is not in order."""
        step = (self._size - self._begins) // _PLACES
        places = [self._probe(self._begins + number * step) for number in range(_PLACES)]
        probes = [place for place in places if place is not None]
        if len(probes) < _PLACES or not _rises(probes):
            return None
        start, end = self._begins, self._size
        if since is not None:
            found = self._halve(probes, since - 1)
            if found is None:
                return None
            if found[0] is not None:
                start = found[0].offset
        if until is not None:
            found = self._halve(probes, until)
            if found is None:
                return None
            if found[1] is not None:
                end = found[1].offset + 1
        return Window(start, max(start, end), self._size)

    def _halve(self, probes: list[_Probe], moment: int) -> tuple[_Probe | None, _Probe | None] | None:
        """An event not after *moment* and one after it, near each other; None where the file is not in order."""
        before = max((probe for probe in probes if probe.moment <= moment), default=None)
        after = min((probe for probe in probes if probe.moment > moment), default=None)
        while before is not None and (after.offset if after else self._size) - before.offset > _FINE_BYTES:
            middle = (before.offset + (after.offset if after else self._size)) // 2
            probe = self._probe(middle)
            if probe is None or (after is not None and probe.offset >= after.offset):
                break  # nothing there that could be told by: what is known is good enough
            if not _rises([one for one in (before, probe, after) if one is not None]):
                return None
            before, after = (probe, after) if probe.moment <= moment else (before, probe)
        return before, after

    def _probe(self, offset: int) -> _Probe | None:
        """The first event of which the line begins at or behind *offset*."""
        is_cut = offset > self._begins
        offset -= is_cut
        data = b""
        for _ in range(_TRIES + is_cut):
            while b"\n" not in data:
                more = os.pread(self._descriptor, min(_STEP_BYTES, self._size - offset - len(data)), offset + len(data))
                if not more:
                    return None
                data += more
            line, _, data = data.partition(b"\n")
            if is_cut:
                is_cut = False
            else:
                event = decode(line)
                if event is not None and is_chained(event):
                    seq, moment = seq_of(event), parse_time(event.get("ts"))
                    return None if seq is None or moment is None else _Probe(offset, seq, moment)
            offset += len(line) + 1
        return None


def _rises(probes: list[_Probe]) -> bool:
    return all(
        one.offset == other.offset or (one.seq < other.seq and one.moment <= other.moment)
        for one, other in pairwise(probes)
    )
