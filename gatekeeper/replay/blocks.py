"""A log file as blocks of whole lines, from any byte on: what all fast readers stand on.

How much is in memory at once does not depend on the file, only on its longest line.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from gatekeeper.errors import unreadable_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BLOCK_BYTES = 1 << 20
"""How much of a file is in memory at once: what the second-level cache of a core holds."""

_BEHIND_BYTES = 1 << 14  # read at once to find the end of a range's last line


@dataclass(frozen=True)
class Source:
    """One file of a log, or a part of it.

    Attributes:
        path: as told to people.
        begins, ends: offsets in the content between which the wanted lines stand; `ends` None: all there is now.
        lines_before: how many lines stand before `begins`.
        content: the decompressed content from an offset on, in blocks; None for a plain file.
        descriptor: of a plain file that is open already, so that it stays the same whatever takes its name.
    """

    path: str
    begins: int = 0
    ends: int | None = None
    lines_before: int = 0
    content: Callable[[int], Iterator[bytes]] | None = None
    descriptor: int | None = None


@dataclass(frozen=True)
class Range:
    """The lines of a source that begin at an offset from `start` to before `end`; `end` None: to its end.

    `size`: offset at which the content ends, as it was when it was first looked at; None where that is unknown.
    """

    source: Source
    start: int
    end: int | None
    size: int | None


@dataclass(frozen=True)
class Block:
    r"""Whole lines.

    Attributes:
        data: the lines stand from `begin` to before `end`, the last newline included; the next block overwrites it.
        is_terminated: False for a block that is one line without its newline: the end of a file.
    """

    data: bytes | bytearray
    begin: int
    end: int
    is_terminated: bool = True

    def lines(self) -> list[bytes]:
        r"""The lines without their `\n`, blank ones too."""
        end = self.end - self.is_terminated
        with memoryview(self.data) as view:
            return bytes(view[self.begin : end]).split(b"\n")


def ranges_of(sources: Sequence[Source], range_bytes: int) -> list[Range]:
    """All lines of the sources, cut into ranges of so many bytes; a compressed file is one range.

    Raises:
        LogError: a file does not exist or cannot be looked at.
    """
    found = []
    for source in sources:
        if source.content is not None:
            found.append(Range(source, source.begins, source.ends, None))
            continue
        end = size_of(source)
        starts = range(source.begins, end, range_bytes)
        found += [Range(source, start, min(start + range_bytes, end), end) for start in starts]
    return found


def size_of(source: Source) -> int:
    """Offset at which the wanted content of a plain file ends now. Raises LogError."""
    try:
        size = os.stat(source.path if source.descriptor is None else source.descriptor).st_size
    except OSError as error:
        raise unreadable_log(source.path, error) from error
    return size if source.ends is None else min(size, source.ends)


def weight_of(part: Range) -> int:
    """About how many bytes of a file are read for a range; for a compressed one, as it stands there."""
    if part.end is not None:
        return part.end - part.start
    try:
        return os.stat(part.source.path).st_size
    except OSError:
        return 0


def blocks_of(part: Range, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """The lines of a range, in blocks. Raises LogError, and what the source's `content` raises."""
    try:
        if part.source.content is not None:
            yield from _streamed(part, part.source.content)
        elif part.size is not None and part.end is not None:
            yield from _plain(part.source, part.start, part.end, part.size, block_bytes)
    except OSError as error:
        raise unreadable_log(part.source.path, error) from error


def open_source(source: Source) -> int:
    """A descriptor to read a plain file by, to be given back with `close_source`. Raises OSError."""
    return os.open(source.path, os.O_RDONLY | os.O_CLOEXEC) if source.descriptor is None else source.descriptor


def close_source(source: Source, descriptor: int) -> None:
    """Close what `open_source` has opened."""
    if source.descriptor is None:
        os.close(descriptor)


def line_before(data: bytes | bytearray, begin: int, position: int, *, holding: bytes) -> bytes | None:
    r"""The nearest whole line between *begin* and *position* that holds these bytes, without its `\n`."""
    while position > begin:
        start = max(data.rfind(b"\n", begin, position - 1) + 1, begin)
        if data.find(holding, start, position) >= 0:
            return bytes(data[start : position - 1])
        position = start
    return None


def _plain(source: Source, start: int, end: int, size: int, block_bytes: int) -> Iterator[Block]:
    descriptor = open_source(source)
    try:
        yield from _read(descriptor, source.begins, start, end, size, block_bytes)
    finally:
        close_source(source, descriptor)


def _read(descriptor: int, begins: int, start: int, end: int, size: int, block_bytes: int) -> Iterator[Block]:
    is_cut = start > begins  # it may begin within a line, which belongs to the range before
    base = start - is_cut  # offset of the buffer's first byte
    buffer, filled = bytearray(block_bytes), 0
    while True:
        at = base + filled
        wanted = min(len(buffer) - filled, size - at, end - at if at < end else _BEHIND_BYTES)
        with memoryview(buffer) as view:
            got = os.preadv(descriptor, [view[filled : filled + wanted]], at) if wanted > 0 else 0
        if not got:
            break
        filled += got
        begin = 0
        if is_cut:
            begin = buffer.find(b"\n", 0, filled) + 1
            is_cut = begin == 0
            begin = begin or filled
        if base + begin >= end:
            return
        # the line that holds the byte before the end is the last one
        last = buffer.find(b"\n", max(begin, end - 1 - base), filled) + 1 if base + filled >= end else 0
        stop = last or buffer.rfind(b"\n", begin, filled) + 1 or begin
        if stop > begin:
            yield Block(buffer, begin, stop)
        if last:
            return
        filled -= stop
        base += stop
        if filled == len(buffer):
            buffer.extend(bytes(filled))
        elif filled:
            buffer[:filled] = buffer[stop : stop + filled]
    if filled and not is_cut:
        yield Block(buffer, 0, filled, is_terminated=False)


def _streamed(part: Range, content: Callable[[int], Iterator[bytes]]) -> Iterator[Block]:
    offset, rest = part.start, b""  # of the first byte that was not given yet
    for block in content(part.start):
        stop = block.rfind(b"\n") + 1
        if not stop:
            rest += block
            continue
        data = rest + block[:stop]
        rest = block[stop:]
        if part.end is not None and offset + len(data) > part.end:
            if part.end > offset:
                yield Block(data, 0, part.end - offset)
            return
        yield Block(data, 0, len(data))
        offset += len(data)
    if rest and (part.end is None or offset < part.end):
        yield Block(rest, 0, len(rest), is_terminated=False)
