"""`gatekeeper demo`: a whole rollout on built-in evidence, through the real commands, in a directory of its own."""

from __future__ import annotations

import json
import os
import shlex
import tempfile

from gatekeeper.cli.demo_story import LOG_FILE, STEPS, TOKEN, files
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.present import layout_of_output
from gatekeeper.errors import GatekeeperError, LogError
from gatekeeper.render.plain import paint, printable, wrap, wrap_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.cli.demo_story import Step
    from gatekeeper.cli.values import Values

_INTERRUPTED, _TERMINATED, _UNWRITABLE = 130, 143, 74


def demo(values: Values) -> Outcome:  # noqa: ARG001 - it takes no options
    """Tell the story step by step; each step's exit code is compared with what it must be."""
    return Outcome(_tell())


def _tell() -> Iterator[str]:
    directory = _lay_out()
    before, hidden = _here(), _hide_settings()
    os.chdir(directory)
    try:
        yield _paragraph(
            "A rollout of variant B of exp-42, stage by stage. Between two stages the pipeline asks the gate, and "
            "the exit code says what it does next."
        )
        yield _paragraph("Policy, evidence and log of this demo are in a new directory:")
        yield _command("cd", directory)
        for number, step in enumerate(STEPS, start=1):
            yield from _carry_out(number, step)
        yield "\n" + _paragraph(
            "That was a whole rollout. The directory is kept. Asked again, the stopped run answers every check with "
            "its REJECT; to go through it once more, take the log away first:"
        )
        yield _command("rm", f"{LOG_FILE}*")
        yield _paragraph("For a rollout of your own, begin with:")
        yield _command("gatekeeper", "init", "DIR")
    finally:
        os.environ.update(hidden)
        if before is not None:
            os.chdir(before)


def _carry_out(number: int, step: Step) -> Iterator[str]:
    from gatekeeper.cli.app import run

    argv = [_resume_token() if word == TOKEN else word for word in step.argv]
    yield "\n" + _paragraph(f"{number}. {step.caption}", tone="held")
    yield _command("gatekeeper", *argv)
    code = run(argv)  # prints its answer by itself
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code == _TERMINATED:
        from gatekeeper.cli.failures import TerminatedError

        raise TerminatedError
    if code != step.exit_code:
        kind = LogError if code == _UNWRITABLE else GatekeeperError
        raise kind(
            f"step {number} of the demo ended with exit code {code}, and {step.exit_code} was expected",
            remedy=f"see what it printed; to repeat it: cd {shlex.quote(os.getcwd())} && gatekeeper {shlex.join(argv)}",
        )
    yield _paragraph(f"Exit code {code}: {step.moral}")


def _lay_out() -> str:
    """Write the files of the story in a new directory, and tell which."""
    try:
        directory = os.path.realpath(tempfile.mkdtemp(prefix="gatekeeper-demo-"))
        for path, data in files().items():
            place = os.path.join(directory, path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as file:
                file.write(data)
    except OSError as error:
        raise LogError(
            f"the demo's directory cannot be written: {error.strerror or error}",
            remedy="make room, or set TMPDIR to a directory that can be written",
        ) from None
    return directory


def _here() -> str | None:
    """The working directory; None when it is gone, as in a job that has cleaned up behind itself."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _hide_settings() -> dict[str, str]:
    """Take the caller's own defaults out of the way; what was taken."""
    names = [name for name in os.environ if name in {"GATEKEEPER_LOG", "GATEKEEPER_OUTPUT"}]
    return {name: os.environ.pop(name) for name in names}


def _resume_token() -> str:
    """Of the hold that the log's last line began."""
    with open(LOG_FILE, "rb") as file:
        token: str = json.loads(file.read().splitlines()[-1])["resume"]["resume_token"]
    return token


def _paragraph(text: str, *, tone: str = "") -> str:
    layout = layout_of_output()
    lines = wrap(printable(text, unicode=layout.unicode), layout.width)
    return "\n" + "\n".join(paint(line, tone, colour=layout.colour) for line in lines) + "\n"


def _command(*words: str) -> str:
    layout = layout_of_output()
    quoted = [
        printable(word if word == f"{LOG_FILE}*" else shlex.quote(word), unicode=layout.unicode) for word in words
    ]
    lines = wrap_command(["$", *quoted], layout.width, lead="")
    return "\n" + "\n".join(lines) + "\n"
