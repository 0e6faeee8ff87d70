"""A whole gatekeeper process with a scripted handler: `python driver.py SCENE ARGUMENTS…`.

Everything but the handler is real: entry point, parsing, boundary, printing, leaving.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from gatekeeper.cli import app

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values

LONG = "x" * 79 + "\n"


def answer(text: str, code: int) -> Callable[[Values], Outcome]:
    """A handler that answers *text* with *code*."""

    def handler(_: Values) -> Outcome:
        from gatekeeper.cli.outcome import Outcome

        return Outcome(text, code)

    return handler


def modules(_: Values) -> Outcome:
    """Names of all modules that are loaded when the handler is called."""
    from gatekeeper.cli.outcome import Outcome

    return Outcome("\n".join(sorted(sys.modules)))


def wait_for_signal(_: Values) -> Outcome:
    """Say `ready`, then wait for a minute, or until a signal ends it."""
    from gatekeeper.cli.outcome import Outcome

    def chunks() -> Iterator[str]:
        yield "ready\n"
        for _ in range(600):  # signal.pause() would sleep through one that comes just before it
            time.sleep(0.1)
        yield "went on\n"

    return Outcome(chunks())


def first_descriptor(_: Values) -> Outcome:
    """Fail unless a file that is opened now, as the log would be, is no standard stream."""
    from gatekeeper.cli.outcome import Outcome

    descriptor = os.open(__file__, os.O_RDONLY)
    return Outcome("", 1 if descriptor > 2 else 2)


def write_to_dead_socket(_: Values) -> Outcome:
    """Raise what a broken connection to a database raises: an EPIPE that is not ours."""
    raise BrokenPipeError(32, "Broken pipe")


def sigterm_is_ignored(_: Values) -> Outcome:
    """1 if SIGTERM is still ignored, as the caller wished."""
    from gatekeeper.cli.outcome import Outcome

    return Outcome("", 1 if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN else 2)


SCENES: dict[str, Callable[[Values], Outcome]] = {
    "reject-long": answer(LONG * 20_000, 1),
    "accept-long": answer(LONG * 20_000, 0),
    "reject": answer("[STOP] rejected", 1),
    "umlauts": answer("Überschreitung ✗\n", 2),
    "umlauts-json": answer('{"text":"Überschreitung ✗"}\n', 2),
    "done": answer("done", 0),
    "modules": modules,
    "wait": wait_for_signal,
    "descriptor": first_descriptor,
    "socket": write_to_dead_socket,
    "sigterm": sigterm_is_ignored,
}


class Scripted(dict[str, "Callable[[Values], Outcome]"]):
    """The same handler whatever the command."""

    def __missing__(self, key: str) -> Callable[[Values], Outcome]:
        return SCENES[scene]


if __name__ == "__main__":
    scene = sys.argv.pop(1)
    _run = app.run
    setattr(app, "run", lambda argv: _run(argv, Scripted()))  # noqa: B010 - mypy knows the real one
    app.main()
