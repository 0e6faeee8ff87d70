"""One call of the program: parse, settle the defaults, one handler, its answer, its exit code.

0, 1, 2 and 3 leave here only as what a handler answered, and 1 to 3 only from a command that declares
verdicts. Everything else, whatever goes wrong and wherever, is 10 or 64 and above.
"""

from __future__ import annotations

import os
import sys

from gatekeeper.cli.config import asks_for_json, read_settings, settle
from gatekeeper.cli.failures import UNWRITABLE, explain, trace
from gatekeeper.cli.outcome import CODES
from gatekeeper.cli.output import Printer, UnwritableError, forget_what_was_said, say, say_once
from gatekeeper.cli.parse import check_combinations, parse
from gatekeeper.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gatekeeper.cli.outcome import Outcome, Output
    from gatekeeper.cli.parse import Parsed
    from gatekeeper.cli.spec import Answer, Command
    from gatekeeper.cli.values import Values

    Handler = Callable[[Values], Outcome]

_COMPLETION = "_GATEKEEPER_COMPLETE"


class Call:
    """A command line on its way to an exit code."""

    def __init__(self, argv: list[str], handlers: Mapping[str, Handler] | None) -> None:
        self._argv = argv
        self._handlers = handlers
        self._printer = Printer()
        self._as_json: bool | None = None  # unknown until the output is settled

    def run(self) -> int:
        """The exit code, after all has been told."""
        forget_what_was_said()
        try:
            return self._carry_out()
        except BaseException as error:  # noqa: BLE001 - SystemExit too: a library must not choose our code
            return self._fail(error)
        finally:
            remote = sys.modules.get("gatekeeper.cli.remote")
            if remote is not None:
                remote.close_shared()

    def _carry_out(self) -> int:
        parsed = parse(self._argv) or self._ask_typer()
        if isinstance(parsed, str):
            return self._tell(parsed, exit_code=0, kind="report", as_utf8=False)
        values = settle(parsed, read_settings(os.environ))
        output = values.text("output") if "output" in parsed.command.names() else "text"
        self._as_json = output == "json"
        check_combinations(parsed)
        outcome = self._handler(parsed.command)(values)
        if outcome.exit_code not in CODES[parsed.command.answer]:
            raise RuntimeError(f"{parsed.command.handler} answered with exit code {outcome.exit_code}")
        for line in outcome.stderr:
            say_once(line)
        as_utf8 = output in {"json", "ndjson", "sarif", "junit"}
        return self._tell(outcome.stdout, exit_code=outcome.exit_code, kind=parsed.command.answer, as_utf8=as_utf8)

    def _tell(self, text: Output, *, exit_code: int, kind: Answer, as_utf8: bool) -> int:
        """Print the answer; a verdict and an effect stand even where nobody can read them."""
        try:
            self._printer.show(text, as_utf8=as_utf8)
        except UnwritableError as trouble:
            if trouble.closed:
                return exit_code
            say(f"gatekeeper: the answer could not be written to standard output: {trouble.reason}")
            return UNWRITABLE if kind == "report" and exit_code == 0 else exit_code
        return exit_code

    def _ask_typer(self) -> Parsed | str:
        """What typer makes of it: values all the same, or text to print (help, completion)."""
        from gatekeeper.cli.typer_app import answer

        if self._argv:  # completion scripts call without arguments; a stray variable must not answer a check with 0
            os.environ.pop(_COMPLETION, None)
        elif _COMPLETION not in os.environ:
            text = answer(["--help"])
            assert isinstance(text, str)
            say(text)
            raise UsageError("no command given", remedy="choose one of those above")
        return answer(self._argv)

    def _handler(self, command: Command) -> Handler:
        if self._handlers is not None:
            return self._handlers[command.handler]
        module, _, function = command.handler.partition(":")
        handler: Handler = getattr(__import__(module, fromlist=[function]), function)
        return handler

    def _fail(self, error: BaseException) -> int:
        """Tell people on standard error what went wrong, and a caller that reads JSON in one document too."""
        failure = explain(error)
        details = trace(error)
        if details:
            say(details)
        as_json = asks_for_json(self._argv, os.environ) if self._as_json is None else self._as_json
        say(failure.as_text())
        if as_json and not self._printer.started:
            try:
                self._printer.show(failure.as_json(), as_utf8=True)
            except UnwritableError:  # it has been said on standard error
                return failure.exit_code
        return failure.exit_code
