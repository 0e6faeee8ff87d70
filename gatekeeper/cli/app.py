"""The entry point: nothing gets past it with an exit code that means something else (SPEC 8).

Nothing else of gatekeeper is imported before somebody watches over it: with a damaged installation
Python itself would leave with 1, which is REJECT.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import NoReturn

    from gatekeeper.cli.call import Handler

_INTERNAL = 70
_INTERRUPTED = 130
_STANDARD_DESCRIPTORS = 3
_GARBAGE_SEARCHED_EVERY = 100_000
"""New objects between two searches for garbage in cycles. Python's 700 makes hundreds while modules are imported."""


def main() -> NoReturn:
    """The console script. Leaves without Python's shutdown: what must last is on disk by now."""
    code = _INTERNAL
    try:
        gc.set_threshold(_GARBAGE_SEARCHED_EVERY)
        _keep_standard_descriptors()
        _raise_on_sigterm()
        code = run(sys.argv[1:])
    finally:
        os._exit(code)


def run(argv: list[str], handlers: Mapping[str, Handler] | None = None) -> int:
    """Carry out one command line and tell its answer; never raises.

    Args:
        argv: without the program's name.
        handlers: `Command.handler` -> function, instead of importing it by that name.

    Returns:
        The exit code.
    """
    try:
        from gatekeeper.cli.call import Call

        return Call(argv, handlers).run()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - also a second error while the first was being told
        _last_words(error)
        return _INTERNAL


def _last_words(error: BaseException) -> None:
    """Without anything of gatekeeper, which may be what is broken; not even the message: it may hold a secret."""
    try:
        sys.stderr.write(
            f"gatekeeper: internal error: {type(error).__name__}\n"
            "  remedy: install gatekeeper anew; if that does not help, report this as a bug of gatekeeper\n"
        )
    except (AttributeError, OSError, ValueError):  # nobody listens
        return


def _keep_standard_descriptors() -> None:
    """Fill descriptors 0 to 2 where the caller closed them, or the log would be opened as standard output."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        for descriptor in range(_STANDARD_DESCRIPTORS):
            try:
                os.fstat(descriptor)
            except OSError:
                os.open(os.devnull, os.O_RDWR)


def _raise_on_sigterm() -> None:
    """SIGTERM takes the same way out as Ctrl-C, unless the caller has it ignored."""
    import signal

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        from gatekeeper.cli.failures import TerminatedError

        raise TerminatedError

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
