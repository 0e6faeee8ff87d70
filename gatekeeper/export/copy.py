"""A copy of the log in a file: the recorded bytes, gone on with where the file ends.

Lines are appended under a lock and on the device before the call ends. Where it fails, they are cut off again; killed,
it leaves whole lines and at most a piece of one, which the next call finishes once it is seen to be a piece of the log.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass

from gatekeeper.errors import InputRefusedError, LogError, UsageError
from gatekeeper.export.position import Position
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.compression import compression_of
from gatekeeper.ledger.fsops import close_quietly, read_exactly, write_all
from gatekeeper.ledger.torn import terminated_size
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import decode, is_blank, is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.export.lines import Line
    from gatekeeper.ledger.fsops import FileOps

_WRITE_BYTES = 1 << 20
_TAIL_BYTES = 1 << 16


@dataclass
class Copied:
    """What was appended: how many lines and bytes, and the first and last seq among them."""

    lines: int = 0
    size: int = 0
    first_seq: int | None = None
    last_seq: int | None = None

    def count(self, line: Line) -> None:
        """One more line."""
        self.lines += 1
        self.size += len(line.data) + 1
        if line.seq is not None:
            self.first_seq = line.seq if self.first_seq is None else self.first_seq
            self.last_seq = line.seq


class Copy:
    """The file, locked; `position` is where it ends. Nothing is created before the first line is there."""

    def __init__(self, ops: FileOps, path: str, descriptor: int | None) -> None:
        self._ops = ops
        self._path = path
        self._descriptor = descriptor
        self._end, self._torn = 0, b""
        self.position = Position()
        if descriptor is not None:
            size = ops.size(descriptor)
            self._end = terminated_size(ops, descriptor, size)
            self._torn = read_exactly(ops, descriptor, size - self._end, self._end)
            self.position = _position(ops, descriptor, self._end)

    def refuse_own(self, path: str) -> None:
        """Raise UsageError if *path*, a file of the log, is this one: a log is no copy of itself."""
        if os.path.exists(self._path) and os.path.exists(path) and os.path.samefile(self._path, path):
            raise UsageError(f"{self._path} is the log itself", remedy="give --to another file")

    def take(self, lines: Iterator[Line]) -> Copied:
        """Append the lines behind `position`.

        Raises:
            InputRefusedError: what stands unfinished at the end of the file is no piece of the first of them.
            LogError: the file cannot be written; it is as it was.
        """
        done, waiting, size = Copied(), list[bytes](), 0
        try:
            for line in lines:
                if self._torn:
                    self._cut_torn(line.data + b"\n")
                done.count(line)
                waiting += (line.data, b"\n")
                size += len(line.data) + 1
                if size >= _WRITE_BYTES:
                    self._write(b"".join(waiting))
                    waiting, size = [], 0
            if self._torn:
                self._cut_torn(b"")
            self._write(b"".join(waiting))
            if self._descriptor is not None:
                self._ops.flush(self._descriptor)  # also what a call that was killed has left
        except BaseException as error:
            self._undo()
            if isinstance(error, OSError):
                raise _unwritable(self._path, error) from error
            raise
        return done

    def close(self) -> None:
        """Let the file go."""
        if self._descriptor is not None:
            close_quietly(self._ops, self._descriptor)

    def _cut_torn(self, line: bytes) -> None:
        if not line.startswith(self._torn):
            raise InputRefusedError(
                f"{self._path} ends with {len(self._torn)} bytes that the log does not have behind seq "
                f"{self.position.seq}",
                remedy="cut its unfinished last line off, or export into another file",
            )
        assert self._descriptor is not None
        self._ops.truncate(self._descriptor, self._end)
        self._torn = b""

    def _write(self, data: bytes) -> None:
        if not data:
            return
        if self._descriptor is None:
            self._descriptor = self._ops.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
            self._ops.lock(self._descriptor)
            self._ops.flush_directory(os.path.dirname(self._path) or ".")
        write_all(self._ops, self._descriptor, data)

    def _undo(self) -> None:
        """Cut off what was appended, unless the disk does not even do that: whole lines are no harm."""
        try:
            if self._descriptor is not None and self._ops.size(self._descriptor) > self._end + len(self._torn):
                self._ops.truncate(self._descriptor, self._end)
        except OSError:
            return


@contextmanager
def opened_copy(ops: FileOps, path: str) -> Iterator[Copy]:
    """The copy at *path*, which need not exist yet; no other export goes on with it meanwhile.

    Raises:
        LogError: it cannot be opened or read.
        UsageError: its name says that it is compressed.
    """
    if compression_of(path) is not None:
        raise UsageError(f"--to writes plain lines, and {path} is named as if compressed", remedy="compress it later")
    descriptor: int | None = None
    try:
        try:
            descriptor = ops.open(path, os.O_RDWR | os.O_APPEND)
            ops.lock(descriptor)
        except FileNotFoundError:
            pass
        copy = Copy(ops, path, descriptor)
    except OSError as error:
        if descriptor is not None:
            close_quietly(ops, descriptor)
        raise _unwritable(path, error) from error
    try:
        yield copy
    finally:
        copy.close()


def _position(ops: FileOps, descriptor: int, end: int) -> Position:
    """Where the lines before offset *end* leave off: at their last event, and what stands behind it."""
    length = _TAIL_BYTES
    while True:
        start = max(0, end - length)
        lines = read_exactly(ops, descriptor, end - start, start).split(b"\n")[:-1]
        found = _last_event([line for line in (lines if start == 0 else lines[1:]) if not is_blank(line)])
        if found.seq or start == 0:
            return found
        length *= 4


def _last_event(lines: list[bytes]) -> Position:
    for index in range(len(lines) - 1, -1, -1):
        event = decode(lines[index])
        seq = seq_of(event) if event is not None and is_chained(event) else None
        if seq is not None:
            return Position(seq, line_digest(lines[index]), len(lines) - 1 - index, line_digest(lines[-1]))
    return Position(behind=len(lines), last_digest=line_digest(lines[-1])) if lines else Position()


def _unwritable(path: str, error: OSError) -> LogError:
    reason = error.strerror or str(error)
    return LogError(f"{path} cannot be written: {reason}", remedy="make room or mend the permissions, then ask again")
