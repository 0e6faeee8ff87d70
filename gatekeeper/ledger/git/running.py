"""One program at a time, with bytes in, bytes out and a time limit.

`subprocess` does the same and costs every check 4 ms of imports; it is used where much is streamed (`history`).
"""

from __future__ import annotations

import os
import select
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PIPE_BYTES = 1 << 16


class TimeLimitError(Exception):
    """It did not end in time, and was ended."""


class Ended:
    """How a program ended: exit code (negative: the signal), and all that it wrote."""

    __slots__ = ("code", "err", "out")

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.out = out
        self.err = err


class Running:
    """A program that was started and not waited for yet.

    Args:
        command: found along PATH.
        environment: all of its variables.
        data: what it reads.

    Raises:
        FileNotFoundError: there is no such program.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], data: bytes = b"") -> None:
        ends = [os.pipe() for _ in range(3)]
        (reads, self._input), (self._out, writes), (self._err, tells) = ends
        try:
            actions = [(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate((reads, writes, tells))]
            # a group of its own, so that what it starts (ssh, the other side) can be ended with it
            self._pid = os.posix_spawnp(
                command[0], list(command), environment, file_actions=actions, setpgroup=0, setsigdef=[signal.SIGPIPE]
            )
        except BaseException:
            for end in (self._input, self._out, self._err):
                os.close(end)
            raise
        finally:
            for end in (reads, writes, tells):
                os.close(end)
        self._data = memoryview(data)
        self._exit = _exit_of(self._pid)

    def finish(self, seconds: float) -> Ended:
        """Feed it, hear it out and wait for its end.

        Raises:
            TimeLimitError: that took longer than *seconds*.
        """
        heard: dict[int, list[bytes]] = {self._out: [], self._err: []}
        out, err = heard[self._out], heard[self._err]
        has_ended = False
        try:
            self._exchange(heard, time.monotonic() + seconds)
            _, status = os.waitpid(self._pid, 0)  # whoever has closed both ends has nothing left to do
            has_ended = True
        finally:
            self._close(has_ended=has_ended)
        return Ended(os.waitstatus_to_exitcode(status), b"".join(out), b"".join(err))

    def end(self) -> None:
        """Nobody wants its answer any more."""
        self._close(has_ended=False)

    def _exchange(self, heard: dict[int, list[bytes]], deadline: float) -> None:
        waiting = select.poll()
        for end in heard:
            waiting.register(end, select.POLLIN)
            os.set_blocking(end, False)
        if self._exit >= 0:
            waiting.register(self._exit, select.POLLIN)
        os.set_blocking(self._input, False)
        waiting.register(self._input, select.POLLOUT)
        self._feed(waiting)
        while heard:
            left = deadline - time.monotonic()
            ready = waiting.poll(left * 1000) if left > 0 else []
            if not ready:
                raise TimeLimitError
            ended = self._exit >= 0 and any(end == self._exit for end, _ in ready)
            for end in [end for end in heard if ended or any(end == one for one, _ in ready)]:
                if not _drain(end, heard[end]) or ended:
                    waiting.unregister(end)
                    del heard[end]
            if self._input >= 0 and any(end == self._input for end, _ in ready):
                self._feed(waiting)

    def _feed(self, waiting: select.poll) -> None:
        try:
            while self._data:
                self._data = self._data[os.write(self._input, self._data[:_PIPE_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it reads no further; its exit code tells why
            pass
        waiting.unregister(self._input)
        os.close(self._input)
        self._input = -1

    def _close(self, *, has_ended: bool) -> None:
        if not has_ended:
            try:  # noqa: SIM105 - contextlib is not worth its import on this path
                os.killpg(self._pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # it has ended meanwhile
                pass
            os.waitpid(self._pid, 0)
        for end in (self._input, self._out, self._err, self._exit):
            if end >= 0:
                os.close(end)
        self._input = self._out = self._err = self._exit = -1


def _exit_of(pid: int) -> int:
    """What becomes readable when the process has ended; -1 where the system has no such thing (macOS).

    The ends of its pipes tell it too, unless something that it has left behind (a connection that ssh keeps for
    the next call) still holds them.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _drain(end: int, heard: list[bytes]) -> bool:
    """Read what there is; False once there is no more to come."""
    try:
        while part := os.read(end, _PIPE_BYTES):
            heard.append(part)
    except BlockingIOError:
        return True
    return False
