"""Work on all cores: children of this process, each with every n-th task, their answers in the order of the tasks.

Children are forked, not spawned: nothing is imported again, and what the parent holds is there. Each writes to a
pipe of its own and waits while nobody reads it, so answers never pile up. A child that ends before its answers
are complete ends the whole work with an error.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys

from gatekeeper.errors import GatekeeperError, LogError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any, NoReturn, Self, TypeVar

    Task = TypeVar("Task")

_LENGTH_BYTES = 4
_PIPE_BYTES = 1 << 20  # how far a child may run ahead, and the most that Linux grants to everybody
_ANSWER, _END, _ERROR, _BUG = range(4)
_REMEDY = "ask again; if it happens again, use --jobs 1 or give the machine more memory"


def cores() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS has no such call
        return os.cpu_count() or 1


def may_fork() -> bool:
    """Whether children can be forked here: a process with threads must not, a lock of theirs would stay locked."""
    threading = sys.modules.get("threading")
    return hasattr(os, "fork") and (threading is None or threading.active_count() == 1)


class Workers:
    """Children at work; a context manager that leaves none of them behind.

    Args:
        jobs: how many children, one at least.
        tasks: what is to be done, in order.
        work: gives the answers of one task, any number; they must be picklable. It runs in a child.
    """

    def __init__(self, jobs: int, tasks: Sequence[Task], work: Callable[[Task], Iterable[Any]]) -> None:
        self._count = len(tasks)
        self._children: list[_Child] = []
        try:
            for first in range(min(jobs, len(tasks))):
                self._children.append(_start(tasks[first :: min(jobs, len(tasks))], work, self._children))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answers(self) -> Iterator[Iterator[Any]]:
        """The answers of each task, tasks in order. Read those of one task to their end before the next.

        Raises:
            GatekeeperError: that a child met. LogError: a child has died.
        """
        for number in range(self._count):
            yield self._children[number % len(self._children)].answers()

    def close(self) -> None:
        """End the children that are still at work, and wait until they have."""
        for child in self._children:
            child.end()
        self._children.clear()


class _Child:
    def __init__(self, pid: int, descriptor: int) -> None:
        self.pipe = os.fdopen(descriptor, "rb", _PIPE_BYTES)
        self._pid: int | None = pid

    def answers(self) -> Iterator[Any]:
        """Of the next task."""
        while True:
            kind, content = self._next()
            if kind == _END:
                return
            if kind == _ERROR:
                error, message, remedy = content
                raise error(message, remedy=remedy)
            if kind == _BUG:
                raise RuntimeError(content)
            yield content

    def _next(self) -> tuple[int, Any]:
        head = self.pipe.read(_LENGTH_BYTES)
        length = int.from_bytes(head, "little")
        data = self.pipe.read(length)
        if len(head) < _LENGTH_BYTES or len(data) < length:
            raise self._death()
        answer: tuple[int, Any] = pickle.loads(data)  # noqa: S301 - a child of this very process wrote it
        return answer

    def _death(self) -> LogError:
        code = self._wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        return LogError(f"a process that read a part of the log {how} before it was done", remedy=_REMEDY)

    def _wait(self) -> int:
        pid, self._pid = self._pid, None
        return 0 if pid is None else os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def end(self) -> None:
        if self._pid is not None:
            os.kill(self._pid, signal.SIGKILL)  # it holds nothing that anybody would miss
            self._wait()
        self.pipe.close()


def _start(tasks: Sequence[Task], work: Callable[[Task], Iterable[Any]], others: Sequence[_Child]) -> _Child:
    # between the fork and the child's own handlers an interrupt would run the parent's clean-up in the child
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        reading, writing = os.pipe()
        _widen(writing)
        pid = os.fork()
        if pid == 0:
            _be_child(tasks, work, writing, [reading, *(other.pipe.fileno() for other in others)], before)
        os.close(writing)
        return _Child(pid, reading)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _widen(pipe: int) -> None:
    """Let a child go on while its answers wait for those of a slower one; only speed depends on it."""
    import fcntl

    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except (AttributeError, OSError):  # macOS has no such call, and a user may have too many wide pipes
        return


def _be_child(
    tasks: Sequence[Task], work: Callable[[Task], Iterable[Any]], writing: int, foreign: Sequence[int], mask: Any
) -> NoReturn:
    """Do the tasks and leave; nothing of the parent's (its handlers, its clean-up, its output) may run here."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for descriptor in foreign:  # or nobody would notice that the parent has gone
            os.close(descriptor)
        with os.fdopen(writing, "wb", _PIPE_BYTES) as pipe:
            _answer(tasks, work, pipe)
        code = 0
    finally:
        os._exit(code)


def _answer(tasks: Sequence[Task], work: Callable[[Task], Iterable[Any]], pipe: Any) -> None:
    try:
        for task in tasks:
            for answer in work(task):
                _write(pipe, _ANSWER, answer)
            _write(pipe, _END, None)
    except GatekeeperError as error:
        _write(pipe, _ERROR, (type(error), error.message, error.remedy))
    except BaseException as error:  # noqa: BLE001 - the parent tells of it, as of a bug of its own
        _write(pipe, _BUG, f"in a child: {type(error).__name__}: {error}")


def _write(pipe: Any, kind: int, content: Any) -> None:
    data = pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "little"))
    pipe.write(data)
    pipe.flush()
