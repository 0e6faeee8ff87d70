"""Reading lines by their places in the files of a log, plain and compressed, in the order in which they stand."""

from __future__ import annotations

import os

from gatekeeper.errors import GatekeeperError
from gatekeeper.ledger.compression import compression_of, content_blocks
from gatekeeper.ledger.fsops import close_quietly, read_exactly
from gatekeeper.ledger.projection_rows import digest_blob
from gatekeeper.model.event import line_digest
from gatekeeper.model.indexed import IndexUnusableError
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ledger.fsops import FileOps

JUMP_BYTES = 1 << 21
"""So far on in a file that can be entered anywhere, entering it anew is cheaper than passing through."""


@dataclass(frozen=True)
class IndexedFile:
    """A file whose lines the index knows.

    Attributes:
        segment: the index's number of it.
        source: where it stands, as told to people.
        last_seq: of the last event that the index lists of it; 0 when there is none.
        descriptor: of the live file, which is open; None for a sealed one.
    """

    segment: int
    source: str
    last_seq: int
    descriptor: int | None = None


class LineReader:
    """Opens each file when its first line is asked for."""

    def __init__(self, ops: FileOps, files: Sequence[IndexedFile]) -> None:
        self._ops = ops
        self._files = {file.segment: file for file in files}
        self._open: dict[int, int] = {}
        self._entered: dict[int, _Entered] = {}

    def line(self, segment: int, offset: int, length: int, digest: bytes) -> bytes:
        """The line that stands there. Raises IndexUnusableError if it is another one."""
        file = self._files[segment]
        try:
            data = self._read(file, offset, length)
        except (OSError, GatekeeperError) as error:
            raise IndexUnusableError(f"{file.source}: {error}") from error
        if digest_blob(line_digest(data)) != digest:
            raise IndexUnusableError(f"{file.source}: the line at byte {offset} is not the one that was recorded")
        return data

    def close(self) -> None:
        """Close all that was opened here."""
        for descriptor in self._open.values():
            close_quietly(self._ops, descriptor)
        self._open.clear()
        for entered in self._entered.values():
            entered.close()
        self._entered.clear()

    def _read(self, file: IndexedFile, offset: int, length: int) -> bytes:
        if compression_of(file.source) is not None:
            if file.segment not in self._entered:
                self._entered[file.segment] = _Entered(self._ops, file.source)
            return self._entered[file.segment].read(offset, length)
        descriptor = file.descriptor if file.descriptor is not None else self._open.get(file.segment)
        if descriptor is None:
            descriptor = self._open[file.segment] = self._ops.open(file.source, os.O_RDONLY)
        return read_exactly(self._ops, descriptor, length, offset)


class _Entered:
    """The content of a compressed file, passed through forwards."""

    def __init__(self, ops: FileOps, path: str) -> None:
        self._ops = ops
        self._path = path
        self._has_entries = compression_of(path) == "zstd"
        self._blocks: Iterator[bytes] = iter(())
        self._data = b""
        self._at = -1  # offset of `_data` in the content; -1: not entered yet

    def read(self, offset: int, length: int) -> bytes:
        """*length* bytes from *offset* on, fewer at the end of the content."""
        behind = self._at + len(self._data)
        if self._at < 0 or offset < self._at or (self._has_entries and offset - behind > JUMP_BYTES):
            self.close()
            self._blocks, self._at = content_blocks(self._ops, self._path, start=offset), offset
        while self._at + len(self._data) < offset + length:
            block = next(self._blocks, b"")
            if not block:
                break
            if self._at + len(self._data) <= offset:  # nothing of what came before is asked for again
                self._at, self._data = self._at + len(self._data), block
            else:
                self._data += block
        return self._data[offset - self._at : offset - self._at + length]

    def close(self) -> None:
        """Leave the file."""
        close = getattr(self._blocks, "close", None)
        if close is not None:
            close()
        self._blocks, self._data, self._at = iter(()), b"", -1
