"""What must be known of every part of a log before its parts are checked at the same time."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.replay.blocks import blocks_of
from gatekeeper.replay.lines import kind_of
from gatekeeper.replay.needles import Finder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from gatekeeper.replay.blocks import Block, Range

_POLICY = b'"kind":"policy"'
_LAST_SPACE = 0x20


@dataclass(frozen=True)
class Survey:
    """One range of a log.

    Attributes:
        lines: how many it has; `filled`: those that are not blank.
        policies: its `policy` events, as far as they are written in the usual way.
    """

    lines: int
    filled: int
    policies: tuple[Mapping[str, Any], ...]


def survey(part: Range) -> Survey:
    """Count the lines of a range and pick out its policies, without reading the others."""
    lines = filled = 0
    policies: list[Mapping[str, Any]] = []
    decode = bulk_decoder()
    for block in blocks_of(part):
        if not block.is_terminated:
            lines += 1
            filled += not is_blank(block.lines()[0])
            continue
        count, blank = _count(block)
        lines += count
        filled += count - blank
        policies += _policies(block, decode)
    return Survey(lines, filled, tuple(policies))


def policies_in(part: Range) -> Iterator[Mapping[str, Any]]:
    """The `policy` events of a range that are written in the usual way, and nothing else of it."""
    decode = bulk_decoder()
    for block in blocks_of(part):
        if block.is_terminated:
            yield from _policies(block, decode)


def _policies(block: Block, decode: Callable[[bytes], Mapping[str, Any] | None]) -> Iterator[Mapping[str, Any]]:
    for line in _lines_with(_POLICY, block):
        event = decode(line)
        if event is not None and is_chained(event) and kind_of(event) == "policy":
            yield event


def _count(block: Block) -> tuple[int, int]:
    """Lines of a block, and how many of them are blank."""
    data, position, end = block.data, block.begin, block.end
    find, lines, blank = data.find, 0, 0
    while position < end:
        stop = find(b"\n", position)
        lines += 1
        if data[position] <= _LAST_SPACE and is_blank(bytes(data[position:stop])):
            blank += 1
        position = stop + 1
    return lines, blank


def _lines_with(needle: bytes, block: Block) -> list[bytes]:
    data, position, end = block.data, block.begin, block.end
    finder, found = Finder(data, position, end, needle), []
    while finder.is_within(position, end):
        hit = finder.next
        begin = max(data.rfind(b"\n", position, hit) + 1, position)
        position = data.find(b"\n", hit) + 1
        found.append(bytes(data[begin : position - 1]))
    return found
