"""Group commit: where requests wait, and the pipe on which each writer hears its answer.

`LOG.queue` holds the requests; it has a lock of its own, shared by those who write and alone for the one who
empties it. Nothing in it need survive: a request counts only while its writer waits at the other end of
`LOG.reply-…`, and a writer that hears nothing takes the log's lock and looks for itself.
"""

from __future__ import annotations

import errno
import os

from gatekeeper.ledger.commit import queue_path
from gatekeeper.ledger.fsops import close_quietly, read_exactly, remove_quietly
from gatekeeper.ledger.group_wire import answers_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps

LONGEST_QUEUE_BYTES = 1 << 23
"""A queue that nobody empties is not filled any further."""

_LONGEST_ANSWER_BYTES = 4096  # a pipe takes so much as a whole or not at all (POSIX: at least 512; Linux: 4096)
_READ_BYTES = 1 << 16


def hand_in(ops: FileOps, path: str, frame: bytes) -> bool:
    """Put a request into the queue; False where it cannot wait there."""
    try:
        queue = ops.open(queue_path(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except OSError:
        return False
    try:
        ops.lock_shared(queue)  # writes to its end do not meet; only who empties it is alone
        if ops.size(queue) > LONGEST_QUEUE_BYTES:
            return False
        return ops.write(queue, frame) == len(frame)
    except OSError:
        return False
    finally:
        close_quietly(ops, queue)


def take_out(ops: FileOps, path: str) -> bytes:
    """All requests, which the queue then no longer has; the log's lock is held."""
    try:
        queue = ops.open(queue_path(path), os.O_RDWR)
    except OSError:
        return b""
    try:
        ops.lock(queue)
        data = read_exactly(ops, queue, ops.size(queue), 0)
        ops.truncate(queue, 0)
    except OSError:
        return b""  # a request that is not taken out may be done twice: its writer looks first
    else:
        return data
    finally:
        close_quietly(ops, queue)


def first_waiting(ops: FileOps, path: str) -> bytes:
    """The beginning of the queue, for the one that goes and wants to tell the next."""
    return _look(ops, path, _READ_BYTES)


def is_queued(ops: FileOps, path: str, reply: str) -> bool:
    """Whether a request that is answered on *reply* still waits, so that nobody has touched it; the lock is held."""
    return reply.encode() in _look(ops, path, 2 * LONGEST_QUEUE_BYTES)


def _look(ops: FileOps, path: str, most: int) -> bytes:
    try:
        queue = ops.open(queue_path(path), os.O_RDONLY)
    except OSError:
        return b""
    try:
        return ops.pread(queue, most, 0)
    except OSError:
        return b""
    finally:
        close_quietly(ops, queue)


class ReplyPipe:
    """The end on which one writer hears; it exists while the writer does.

    Args:
        path: of the log.

    Raises:
        OSError: no pipe can be made there.
    """

    def __init__(self, ops: FileOps, path: str) -> None:
        self._ops = ops
        self.name = f"{os.path.basename(path)}.reply-{os.urandom(8).hex()}"
        self._path = os.path.join(os.path.dirname(path), self.name)
        ops.make_pipe(self._path)
        try:
            self._descriptor = ops.open(self._path, os.O_RDWR)  # both ways: it never sees the end of the others
        except OSError:
            remove_quietly(ops, self._path)
            raise

    def hear(self, seconds: float) -> list[tuple[int, Any]]:
        """What has been answered by then: `number` and what was told of it. Raises OSError."""
        if not self._ops.wait_readable(self._descriptor, seconds):
            return []
        return answers_in(self._ops.read_pipe(self._descriptor, _READ_BYTES))

    def close(self) -> None:
        """Nobody waits here any more."""
        close_quietly(self._ops, self._descriptor)
        remove_quietly(self._ops, self._path)


class Answers:
    """The other end: opens the pipes of those that wait, and so learns who still does."""

    def __init__(self, ops: FileOps, path: str) -> None:
        self._ops = ops
        self._path = path
        self._open: dict[str, int] = {}

    def is_waiting(self, reply: str) -> bool:
        """Whether somebody waits on this pipe; one that nobody will read from is removed."""
        if reply in self._open:
            return True
        prefix = f"{os.path.basename(self._path)}.reply-"
        if not reply.startswith(prefix) or not reply[len(prefix) :].isalnum():
            return False
        place = os.path.join(os.path.dirname(self._path), reply)
        try:
            self._open[reply] = self._ops.open(place, os.O_WRONLY)
        except OSError as error:
            if error.errno == errno.ENXIO:
                remove_quietly(self._ops, place)
            return False
        return True

    def tell(self, reply: str, answer: bytes) -> None:
        """Answer one that was found waiting. One that is gone, or that cannot be told, looks for itself."""
        if len(answer) > _LONGEST_ANSWER_BYTES:
            return
        try:  # noqa: SIM105 - contextlib is not worth its import on this path
            self._ops.write(self._open[reply], answer)
        except OSError:
            pass

    def close(self) -> None:
        """Close all ends."""
        for descriptor in self._open.values():
            close_quietly(self._ops, descriptor)
        self._open.clear()


def new_pipe(ops: FileOps, path: str) -> ReplyPipe:
    """A pipe to hear on; those of writers that were killed while they waited are removed on the way.

    The queue's lock keeps a pipe that has no reader yet apart from one that has none any more.

    Raises:
        OSError: no pipe can be made there.
    """
    queue = ops.open(queue_path(path), os.O_RDWR | os.O_CREAT)
    answers = Answers(ops, path)
    try:
        ops.lock(queue)
        for name in ops.list_directory(os.path.dirname(path) or "."):
            answers.is_waiting(name)
        return ReplyPipe(ops, path)
    finally:
        answers.close()
        close_quietly(ops, queue)
