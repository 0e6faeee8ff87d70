"""Disk calls that are counted, fail, or are the last thing that a process does."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from typing import Any

from gatekeeper.ledger.fsops import FileOps

Fault = Callable[[Callable[..., Any], tuple[Any, ...]], Any]
"""Is given the call and its arguments, and stands for it."""

CALLS = tuple(name for name in vars(FileOps) if not name.startswith("_"))
"""Every call there is; a new one is picked up by itself."""


class FaultyOps(FileOps):
    """Counts all calls from `arm` on; hands the *at*-th, and all of these *names*, to *fault* instead of making them.

    Attributes:
        log: names of the calls counted.
    """

    def __init__(self, at: int = 0, fault: Fault | None = None, names: frozenset[str] = frozenset()) -> None:
        self.at = at
        self.fault = fault
        self.names = names
        self.log: list[str] = []
        self.armed = False

    def arm(self) -> FaultyOps:
        """Count from here on."""
        self.armed = True
        return self


def _counted(name: str) -> Callable[..., Any]:
    plain = getattr(FileOps, name)

    def call(self: FaultyOps, *arguments: Any) -> Any:
        if not self.armed:
            return plain(self, *arguments)
        self.log.append(name)
        if (len(self.log) == self.at or name in self.names) and self.fault is not None:
            if name == "close":  # a close that reports an error has closed all the same
                plain(self, *arguments)
                return self.fault(lambda *_: None, arguments)
            return self.fault(lambda *given: plain(self, *given), arguments)
        return plain(self, *arguments)

    return call


for _name in CALLS:
    setattr(FaultyOps, _name, _counted(_name))


def fails_with(number: int) -> Fault:
    """The call raises this errno and does nothing."""

    def fault(_call: Callable[..., Any], _arguments: tuple[Any, ...]) -> Any:
        raise OSError(number, os.strerror(number))

    return fault


def takes_only(share: float) -> Fault:
    """A write that takes a part of its bytes and says so, as on a disk that is filling up; other calls fail."""

    def fault(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if len(arguments) == 2 and isinstance(arguments[1], bytes):
            return call(arguments[0], arguments[1][: int(len(arguments[1]) * share)])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return fault


def killed_before(_call: Callable[..., Any], _arguments: tuple[Any, ...]) -> Any:
    """The process ends before the call is made."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The call is made, and the process ends before it hears of it."""
    try:
        call(*arguments)
    finally:
        os.kill(os.getpid(), signal.SIGKILL)


def killed_within(call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Half of a write reaches the file, then the process ends; other calls are not made."""
    if len(arguments) == 2 and isinstance(arguments[1], bytes):
        call(arguments[0], arguments[1][: len(arguments[1]) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def in_killed_process(body: Callable[[], None]) -> bool:
    """Run *body* in a process of its own. True when it came to its end, False when it was killed.

    Any other end of it is an error of the test.
    """
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:  # noqa: BLE001  # the child must never return into the test runner
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.waitstatus_to_exitcode(status) == 0
    return True
