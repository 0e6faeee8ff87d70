"""`replay --follow`: the lines of a log that grows, through rotation and repair."""

from __future__ import annotations

import os

from gatekeeper.model.line import is_chained, stated_seq
from gatekeeper.replay.lines import is_blank, parse_line, seq_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gatekeeper.model.exchange import LogLine

_BLOCK_BYTES = 1 << 20


def follow(read_new: Callable[[], Iterable[LogLine]], pause: Callable[[], bool]) -> Iterator[LogLine]:
    """Whatever *read_new* gives, asked again after each *pause* until that answers False.

    Args:
        read_new: the lines since it was last asked (`FileTail.read`).
        pause: waits as long as the caller likes; False means that nobody wants to go on.
    """
    while True:
        yield from read_new()
        if not pause():
            return


class LedgerTail:
    """Asks a ledger that is no file for its lines, then for those that were appended.

    Args:
        source: its name for people.
        lines_after: the lines behind a `seq`, without their newlines.

    Attributes:
        warnings: none ever: nothing is rotated or cut there.
    """

    def __init__(self, source: str, lines_after: Callable[[int], Iterable[bytes]]) -> None:
        self.warnings: list[str] = []
        self._source = source
        self._lines_after = lines_after
        self._seq = 0

    def read(self) -> Iterator[LogLine]:
        """The lines that have come since the last call. Raises what `lines_after` raises."""
        for data in self._lines_after(self._seq):
            self._seq = stated_seq(data) or self._seq + 1
            yield parse_line(self._source, self._seq, data)


class FileTail:
    """Reads a log file from its beginning, then what is appended.

    Only terminated lines are given. What stands behind the last newline is read again next time: it may
    be half of a write, and the ledger may cut it off. When another file takes the path (rotation), the old
    one is first read to its end; when the file itself was cut or rewritten, it is read from its beginning.
    In both cases lines whose `seq` was given before are passed over.

    Args:
        path: the file; it may not exist yet.
        after_seq: lines of the chain up to this `seq` are passed over from the start.
        sealed: gives the lines behind a `seq` that stand in files which are not appended to any more. They are
            read before the file itself is, and where it was rotated more than once between two reads.

    Attributes:
        warnings: what a person should be told: seqs that were rotated away between two reads.
    """

    def __init__(
        self, path: str, *, after_seq: int = 0, sealed: Callable[[int], Iterable[LogLine]] | None = None
    ) -> None:
        self.warnings: list[str] = []
        self._path = path
        self._file: int | None = None
        self._seq = after_seq  # the highest that was given or passed over
        self._known = after_seq  # up to here lines are passed over
        self._is_new_file = False
        self._sealed = sealed
        self._start()

    def _start(self) -> None:
        self._offset = 0  # behind the last whole line
        self._number = 0
        self._last = b""

    def read(self) -> Iterator[LogLine]:
        """The lines that have come since the last call.

        Raises:
            OSError: the file cannot be read; one that does not exist is waited for.
        """
        while True:
            if self._file is None:
                if not self._open():
                    return
                yield from self._before()  # with the file open: what is sealed from here on stands in it, too
            if not self._is_continued():
                self._restart()
            yield from self._new_lines()
            if not self._is_replaced():
                return
            yield from self._new_lines()  # appended between the read and the rename
            yield from self._torn_end()
            self.close()
            self._restart()

    def close(self) -> None:
        """Give the file back; `read` would open it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _before(self) -> Iterator[LogLine]:
        """What stands in sealed files since the last line that was given."""
        for line in self._sealed(self._seq) if self._sealed is not None else ():
            if self._is_news(line):
                yield line
        self._known = self._seq

    def _open(self) -> bool:
        try:
            self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        return True

    def _restart(self) -> None:
        self._start()
        self._known = self._seq
        self._is_new_file = True

    def _is_continued(self) -> bool:
        """Whether the last line that was read still stands where it stood."""
        return os.pread(self._handle, len(self._last), self._offset - len(self._last)) == self._last

    def _is_replaced(self) -> bool:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return False  # moved away, and nothing has come in its place yet
        return not os.path.samestat(found, os.fstat(self._handle))

    @property
    def _handle(self) -> int:
        if self._file is None:
            raise ValueError("the tail is closed")
        return self._file

    def _new_lines(self) -> Iterator[LogLine]:
        buffer = b""
        while True:
            block = os.pread(self._handle, _BLOCK_BYTES, self._offset + len(buffer))
            if not block:
                return
            *whole, buffer = (buffer + block).split(b"\n")
            for data in whole:
                self._last = data + b"\n"
                self._offset += len(self._last)
                self._number += 1
                line = parse_line(self._path, self._number, data)
                if self._is_news(line):
                    yield line

    def _is_news(self, line: LogLine) -> bool:
        if is_blank(line):
            return False
        seq = seq_of(line.event) if line.event is not None and is_chained(line.event) else None
        if seq is None:
            return True
        if seq <= self._known:
            return False
        if self._is_new_file and seq > self._seq + 1:
            self.warnings.append(f"seq {self._seq + 1} to {seq - 1} were rotated away between two reads")
        self._is_new_file = False
        self._seq = max(self._seq, seq)
        return True

    def _torn_end(self) -> Iterator[LogLine]:
        """What a file that is left for good holds behind its last newline."""
        rest = os.pread(self._handle, max(0, os.fstat(self._handle).st_size - self._offset), self._offset)
        if rest:
            yield parse_line(self._path, self._number + 1, rest, is_terminated=False)
