"""A terminal of its own for one process."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from typing import TYPE_CHECKING

from tests.e2e.desk import COMMAND, Done

if TYPE_CHECKING:
    from tests.e2e.desk import Desk


def in_terminal(desk: Desk, *argv: str, **env: str | None) -> Done:
    """Call the command with a terminal of 100 columns as its three streams; what the terminal shows."""
    return _in_terminal(desk, argv, 100, env)


def in_narrow_terminal(desk: Desk, *argv: str) -> Done:
    """The same with 40 columns."""
    return _in_terminal(desk, argv, 40, {})


def _in_terminal(desk: Desk, argv: tuple[str, ...], width: int, env: dict[str, str | None]) -> Done:
    changes = {"TERM": "xterm-256color", "NO_COLOR": None, "COLUMNS": None, **env}
    environment = desk.env(**changes)
    child, master = pty.fork()
    if child == 0:
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
            os.chdir(desk.place)
            os.execve(COMMAND[0], [*COMMAND, *argv], environment)
        finally:
            os._exit(126)
    shown = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # EIO: the last process that had the terminal has ended
            break
        if not block:
            break
        shown += block
    os.close(master)
    _, status = os.waitpid(child, 0)
    return Done(os.waitstatus_to_exitcode(status), shown, "")
