"""Compressed log files: gzip from the standard library, zstd through the extra `archive`.

A zstd archive is a row of frames of about a megabyte and, at its end, a seek table in the format of the zstd
project ("seekable format"), which other readers skip: `zstdcat` prints the whole file, and one line is read
by decompressing one frame.
"""

from __future__ import annotations

import io
import os

from gatekeeper.errors import LogDamagedError, UsageError
from gatekeeper.ledger.codec import BLOCK_BYTES, blocks_between, lines_in
from gatekeeper.ledger.fsops import close_quietly, read_exactly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps

GZIP, ZSTD = "gzip", "zstd"

SUFFIXES = {".gz": GZIP, ".zst": ZSTD}
"""How names of compressed files end -> what they are compressed with."""

_INPUT_BYTES = 1 << 15  # compressed; what comes of it is in memory at once
_SEEK_FRAME = 0x184D2A5E
_SEEK_MAGIC = 0x8F92EAB1
_FOOTER_BYTES = 9
_HEADER_BYTES = 8
_HAS_CHECKSUMS = 0x80


def compression_of(path: str) -> str | None:
    """`gzip`, `zstd`, or None for a plain file: its name tells."""
    return SUFFIXES.get(os.path.splitext(path)[1])


def zstd_library() -> Any:
    """The library. Raises UsageError (64) where the extra is not installed."""
    try:
        import zstandard as library
    except ImportError:
        raise UsageError(
            "zstd archives need the library zstandard, which is not installed",
            remedy="python -m pip install 'zstandard>=0.22', or use --compression gzip",
        ) from None
    return library


def content_blocks(ops: FileOps, path: str, *, start: int = 0) -> Iterator[bytes]:
    """What the file holds, decompressed, from offset *start* on, in blocks of no particular size.

    Raises:
        OSError: it cannot be opened or read.
        LogDamagedError: it cannot be decompressed any further; what came before is good.
        UsageError: it is zstd, and the library is not installed.
    """
    kind = compression_of(path)
    descriptor = ops.open(path, os.O_RDONLY)
    try:
        if kind is None:
            # what is appended meanwhile belongs to the next look
            yield from blocks_between(ops, descriptor, start, ops.size(descriptor))
        elif kind == GZIP:
            yield from _without_beginning(_gunzipped(ops, descriptor, path), start)
        else:
            offset, skip = _frame_at(ops, descriptor, start)
            yield from _without_beginning(_unzstandarded(ops, descriptor, path, offset), skip)
    finally:
        close_quietly(ops, descriptor)


def read_at(ops: FileOps, path: str, offset: int, length: int) -> bytes:
    """*length* bytes of the content from *offset* on, fewer at its end. Raises as `content_blocks` does."""
    parts: list[bytes] = []
    for block in content_blocks(ops, path, start=offset):
        parts.append(block[:length])
        length -= len(parts[-1])
        if length == 0:
            break
    return b"".join(parts)


def content_lines(
    ops: FileOps, path: str, *, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, bytes, bool]]:
    """Offset and bytes without the newline of every line from offset *start* on, and whether it is terminated.

    Args:
        start, end: offsets in the content, each at the beginning of a line.
    """
    for offset, line, is_terminated in lines_in(content_blocks(ops, path, start=start), start):
        if end is not None and offset >= end:
            return
        yield offset, line, is_terminated


class _Compressed(io.RawIOBase):
    """The bytes as they stand in the file, for libraries that read from an object."""

    def __init__(self, ops: FileOps, descriptor: int) -> None:
        super().__init__()
        self._ops = ops
        self._descriptor = descriptor
        self._position = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill *buffer* as far as one read goes."""
        data = self._ops.pread(self._descriptor, len(buffer), self._position)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def _gunzipped(ops: FileOps, descriptor: int, path: str) -> Iterator[bytes]:
    import gzip
    import zlib

    with gzip.GzipFile(fileobj=_Compressed(ops, descriptor), mode="rb") as file:
        while True:
            try:
                block = file.read1(BLOCK_BYTES)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise _damaged(path, error) from error
            if not block:
                return
            yield block


def _unzstandarded(ops: FileOps, descriptor: int, path: str, offset: int) -> Iterator[bytes]:
    library = zstd_library()
    data = b""
    while True:
        if not data:
            data = ops.pread(descriptor, _INPUT_BYTES, offset)
            offset += len(data)
            if not data:
                return
        frame = library.ZstdDecompressor().decompressobj()
        try:
            while not frame.eof:
                if not data:
                    data = ops.pread(descriptor, _INPUT_BYTES, offset)
                    offset += len(data)
                    if not data:
                        raise EOFError("it ends within a frame")  # noqa: TRY301 - the same to whoever reads
                block, data = frame.decompress(data), b""
                if block:
                    yield block
        except (EOFError, library.ZstdError) as error:
            raise _damaged(path, error) from error
        data = frame.unused_data


def _without_beginning(blocks: Iterator[bytes], skip: int) -> Iterator[bytes]:
    for block in blocks:
        if skip < len(block):
            yield block[skip:] if skip else block
        skip = max(0, skip - len(block))


def _damaged(path: str, error: Exception) -> LogDamagedError:
    return LogDamagedError(
        f"{path} cannot be decompressed any further: {error}", remedy="bring a good copy of this file back"
    )


def seek_table(frames: Sequence[tuple[int, int]]) -> bytes:
    """The table behind the frames of a zstd file.

    Args:
        frames: compressed and decompressed length of each.
    """
    entries = b"".join(_u32(packed) + _u32(plain) for packed, plain in frames)
    footer = _u32(len(frames)) + b"\0" + _u32(_SEEK_MAGIC)
    return _u32(_SEEK_FRAME) + _u32(len(entries) + len(footer)) + entries + footer


def _frame_at(ops: FileOps, descriptor: int, start: int) -> tuple[int, int]:
    """Where the frame begins that has offset *start* of the content, and how far into it that is.

    Without a seek table that is the beginning of the file.
    """
    if start == 0:
        return 0, 0
    position = 0
    for packed, plain in _frames(ops, descriptor):
        if start < plain:
            return position, start
        position, start = position + packed, start - plain
    return position, start


def _frames(ops: FileOps, descriptor: int) -> list[tuple[int, int]]:
    size = ops.size(descriptor)
    footer = read_exactly(ops, descriptor, _FOOTER_BYTES, size - _FOOTER_BYTES) if size > _FOOTER_BYTES else b""
    if len(footer) < _FOOTER_BYTES or _number(footer[5:]) != _SEEK_MAGIC:
        return []
    width = 12 if footer[4] & _HAS_CHECKSUMS else 8
    length = _number(footer[:4]) * width
    begin = size - _FOOTER_BYTES - length
    if begin < _HEADER_BYTES:
        return []
    table = read_exactly(ops, descriptor, length, begin)
    return [(_number(table[at : at + 4]), _number(table[at + 4 : at + 8])) for at in range(0, length, width)]


def _u32(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
