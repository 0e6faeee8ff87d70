"""The whole command in a process of its own, forked from here: real entry point, real exit, chosen disk calls."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gatekeeper.cli import app
from gatekeeper.ledger import ndjson
from tests.e2e.desk import Done

if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps
    from tests.e2e.desk import Desk


def call_forked(desk: Desk, argv: Sequence[str], make_ops: Callable[[], FileOps]) -> Done:
    """Run *argv* with `make_ops()` as the ledger's disk calls; a killed process has a negative code."""
    out, err = desk.place / "forked.out", desk.place / "forked.err"
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        try:
            _become(desk, argv, make_ops, out, err)
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    code = -signal.SIGKILL if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
    return Done(code, out.read_bytes(), err.read_text())


def call_here(desk: Desk, *argv: str) -> Done:
    """The same command without a fault, in this process: quick, for what only has to pass."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(desk.place), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = app.run(list(argv))
    return Done(code, out.getvalue().encode(), err.getvalue())


def _become(desk: Desk, argv: Sequence[str], make_ops: Callable[[], FileOps], out: Path, err: Path) -> None:
    for number, place in ((1, out), (2, err)):
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
    sys.stdout, sys.stderr = open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    os.chdir(desk.place)
    setattr(ndjson, "FileOps", make_ops)  # noqa: B010 - the ledger makes its own when it is given none
    sys.argv = ["gatekeeper", *argv]
    app.main()
