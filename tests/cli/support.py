"""Shared by the tests of the command line: minimal command lines, processes, scripted handlers."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from gatekeeper.cli import tables
from gatekeeper.cli.app import run
from gatekeeper.cli.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.cli.call import Handler
    from gatekeeper.cli.spec import Command

CHECK = ["check", "--policy", "p.json", "--experiment", "exp-42", "--variant", "B", "--snapshot", "s.json"]
"""The least that `check` takes."""

DRIVER = os.path.join(os.path.dirname(__file__), "driver.py")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def command(*path: str) -> Command:
    """The declared command of this path."""
    found = tables.find(list(path))
    assert found is not None
    return found


def run_with(handler: Handler, argv: list[str] | None = None) -> int:
    """The exit code of *argv* (default: `check`) when *handler* carries it out."""
    argv = CHECK if argv is None else argv
    return run(argv, {each.handler: handler for each in tables.every()})


def answering(code: int, text: str = "") -> Handler:
    """A handler with this answer."""
    return lambda _: Outcome(text, code)


def raising(make: Callable[[], BaseException]) -> Handler:
    """A handler that fails."""

    def handler(_: object) -> Outcome:
        raise make()

    return handler


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with *changes*, for a process that imports gatekeeper from here."""
    return {**os.environ, "PYTHONPATH": ROOT, **changes}


def start(*argv: str, scene: str | None = None, **changes: str) -> subprocess.Popen[bytes]:
    """Start `python -m gatekeeper`, or the driver with a *scene*, with pipes."""
    program = ["-m", "gatekeeper"] if scene is None else [DRIVER, scene]
    return subprocess.Popen(
        [sys.executable, *program, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**changes),
    )


def finish(*argv: str, scene: str | None = None, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run it to its end."""
    with start(*argv, scene=scene, **changes) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def shell(line: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which $GATE is the driver; it is called as `$GATE SCENE ARGUMENTS…`."""
    changes["GATE"] = f"{sys.executable} {DRIVER}"
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=environment(**changes))
