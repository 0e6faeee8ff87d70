"""Words on standard error while something takes its time."""

from __future__ import annotations

import os

from gatekeeper.cli.output import say
from gatekeeper.cli.present import layout_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

    from gatekeeper.evidence.collect import SourceProgress
    from gatekeeper.evidence.workers import Deadline
    from gatekeeper.orchestrator.question import Answer

_CLEAR_LINE = "\r\x1b[K"


class CollectionProgress:
    """One line of a terminal that says which source is waited for, how long, and of what limit.

    Silent where nobody looks on: in CI, in a pipe, on a terminal that cannot rewrite a line.
    """

    def __init__(self, stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> None:
        self._stream = stream
        self._is_shown = False
        watched = stream is not None and stream.isatty()
        self.is_watched = watched and not environ.get("CI") and environ.get("TERM", "dumb") != "dumb"

    def show(self, sources: Sequence[SourceProgress], deadline: Deadline) -> None:
        """Rewrite the line."""
        waiting = [f"{one.name} {one.answered}/{one.asked}" for one in sources if not one.ended]
        if waiting:
            spent = f"{deadline.elapsed_seconds:.1f} s of {deadline.seconds:g} s"
            line = f"collecting {spent}: {', '.join(waiting)}"
            width = layout_of(self._stream).width - 1  # a line that wraps cannot be rewritten
            self._write(_CLEAR_LINE + line[:width])
            self._is_shown = True

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._is_shown:
            self._write(_CLEAR_LINE)
            self._is_shown = False

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal has gone
            self.is_watched = self._is_shown = False


def waiting(answer: Answer, left_seconds: float, refused: str | None) -> None:
    """One line for each hold of `check --wait`, and for each time that the evidence could not be read."""
    reasons = refused or ", ".join(answer.event["decision"]["reason_codes"])
    say(f"gatekeeper: held at {answer.event['stage']}: {reasons}; asking again for {round(left_seconds)} s more")
