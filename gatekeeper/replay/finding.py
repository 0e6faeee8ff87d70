"""The line of one event in the files of a log, most of which is never parsed."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.line import is_blank
from gatekeeper.replay.blocks import blocks_of, ranges_of
from gatekeeper.replay.history import find_event
from gatekeeper.replay.lines import parse_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.model.exchange import LogLine
    from gatekeeper.replay.blocks import Source

_WHOLE = 1 << 62


def find_line(sources: Sequence[Source], wanted: str) -> LogLine:
    """The line of an event by `event_id` or `seq`; its number counts from the beginning of its file or part.

    Raises:
        InputRefusedError: no such event; the remedy names the nearest ids.
        LogError: a file cannot be read.
    """
    try:
        return find_event(_lines(sources, _needle(wanted)), wanted)
    except InputRefusedError:  # it may be written in another way than ours, and the remedy wants all ids
        return find_event(_lines(sources, b""), wanted)


def _needle(wanted: str) -> bytes:
    """What the canonical line of the event holds."""
    if wanted.isascii() and wanted.isdigit():
        return b'"seq":%d,' % int(wanted[:20])
    return b'"event_id":' + canonical_bytes(wanted)


def _lines(sources: Sequence[Source], needle: bytes) -> Iterator[LogLine]:
    for part in ranges_of(sources, _WHOLE):
        number = part.source.lines_before
        for block in blocks_of(part):
            if not block.is_terminated:
                continue
            if needle and block.data.find(needle, block.begin, block.end) < 0:
                number += block.data.count(b"\n", block.begin, block.end)
                continue
            for line in block.lines():
                number += 1
                if needle in line and not is_blank(line):
                    yield parse_line(part.source.path, number, line)
