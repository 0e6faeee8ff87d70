"""A long log is taken in by two processes: a child parses and digests the lines, this one folds them.

The child sends of each line what the fold needs of it, in the order of the file; the lines themselves are read
here. Whatever hinders it (no second processor, threads, no memory, its death) costs time only: the rest is
then prepared here, by the same functions.
"""

from __future__ import annotations

import marshal
import os
import sys

from gatekeeper.ledger.codec import decoder_for, terminated_lines
from gatekeeper.ledger.folded import slim_of
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, NoReturn

    from gatekeeper.ledger.fsops import FileOps

    Prepared = tuple[Mapping[str, Any] | None, str, tuple[Any, ...] | None]

AHEAD_BYTES = 1 << 25
"""From so many bytes on a child repays itself."""

_BATCH = 256  # lines
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ of Linux
_LENGTH_BYTES = 4


def prepared_lines(
    ops: FileOps, descriptor: int, *, start: int, end: int
) -> Iterator[tuple[int, bytes, Prepared | None]]:
    """Offset and bytes of every terminated line, and of one that is not blank what the fold needs of it.

    That are the event (None: damaged; a decision may lack what no fold asks), the line's digest, and what
    `projection_index.said_of` says of the event, None where it has not been asked.
    """
    decode = decoder_for(end - start)
    ahead = _Child(ops, descriptor, start, end) if end - start >= AHEAD_BYTES and _may_fork() else None
    try:
        for offset, line in terminated_lines(ops, descriptor, start=start, end=end):
            if is_blank(line):
                yield offset, line, None
                continue
            sent = ahead.next() if ahead is not None else None
            if sent is not None and sent[0] == offset:
                digest, event, said = sent[1:]
                yield offset, line, (decode(line) if event is None else event, digest, said)
            else:
                yield offset, line, (decode(line), line_digest(line), None)
    finally:
        if ahead is not None:
            ahead.end()


def _may_fork() -> bool:
    """Whether there is a second processor, and no thread whose lock would stay locked in a child."""
    threading = sys.modules.get("threading")
    alone = threading is None or threading.active_count() == 1
    try:
        return alone and len(os.sched_getaffinity(0)) > 1
    except AttributeError:  # macOS has no such call, and may not fork safely either
        return False


class _Child:
    """Sends offset, digest, event and what it says of itself, for each line that is not blank."""

    def __init__(self, ops: FileOps, descriptor: int, start: int, end: int) -> None:
        self._batch: Iterator[tuple[Any, ...]] = iter(())
        self._pipe = -1
        self._pid = 0
        try:
            self._pipe, writing = os.pipe()
            self._pid = os.fork()
        except OSError:
            return
        if self._pid == 0:
            os.close(self._pipe)
            _work(ops, descriptor, start, end, writing)
        os.close(writing)

    def next(self) -> tuple[Any, ...] | None:
        """Of the next line; None where the child has ended."""
        found = next(self._batch, None)
        if found is None and self._pid:
            length = int.from_bytes(self._read(_LENGTH_BYTES), "little")
            data = self._read(length) if length else b""
            self._batch = iter(marshal.loads(data) if len(data) == length > 0 else ())  # noqa: S302 - our own child
            found = next(self._batch, None)
        if found is None:
            self.end()
        return found

    def end(self) -> None:
        """Leave nothing of it behind. It ends by itself once nobody reads its pipe."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._pid:
            os.waitpid(self._pid, 0)
            self._pid = 0

    def _read(self, length: int) -> bytes:
        parts: list[bytes] = []
        while length > 0:
            part = os.read(self._pipe, length)
            if not part:
                break
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


def _work(ops: FileOps, descriptor: int, start: int, end: int, writing: int) -> NoReturn:
    """In the child: never comes back, writes nothing but the pipe, and is silent whatever happens."""
    import signal

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends, and with it the pipe
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _widen(writing)
        decode = decoder_for(end - start)
        batch: list[tuple[Any, ...]] = []
        for offset, line in terminated_lines(ops, descriptor, start=start, end=end):
            if not is_blank(line):
                batch.append((offset, line_digest(line), *slim_of(decode(line))))
            if len(batch) >= _BATCH:
                _send(writing, batch)
                batch.clear()
        _send(writing, batch)
    finally:
        os._exit(0)


def _widen(pipe: int) -> None:
    import fcntl

    try:  # noqa: SIM105 - contextlib is not worth its import here
        fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
    except OSError:  # a narrow one is slower, no more
        pass


def _send(pipe: int, batch: list[tuple[Any, ...]]) -> None:
    data = marshal.dumps(batch)
    data = len(data).to_bytes(_LENGTH_BYTES, "little") + data
    while data:
        data = data[os.write(pipe, data) :]
