"""Words on standard error while something takes its time."""

from __future__ import annotations

import os
import time

from gatekeeper.cli.output import say
from gatekeeper.cli.present import layout_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TextIO

    from gatekeeper.evidence.collect import SourceProgress
    from gatekeeper.evidence.workers import Deadline
    from gatekeeper.orchestrator.question import Answer

_CLEAR_LINE = "\r\x1b[K"
_SHOWN_EVERY_SECONDS = 0.2


class _RewrittenLine:
    """One line of a terminal that is written again and again.

    Silent where nobody looks on: in CI, in a pipe, on a terminal that cannot rewrite a line.
    """

    def __init__(self, stream: TextIO | None, environ: Mapping[str, str] = os.environ) -> None:
        self._stream = stream
        self._is_shown = False
        watched = stream is not None and stream.isatty()
        self.is_watched = watched and not environ.get("CI") and environ.get("TERM", "dumb") != "dumb"

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._is_shown:
            self._write(_CLEAR_LINE)
            self._is_shown = False

    def _rewrite(self, line: str) -> None:
        width = layout_of(self._stream).width - 1  # a line that wraps cannot be rewritten
        self._write(_CLEAR_LINE + line[:width])
        self._is_shown = True

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal has gone
            self.is_watched = self._is_shown = False


class CollectionProgress(_RewrittenLine):
    """Says which source is waited for, how long, and of what limit."""

    def show(self, sources: Sequence[SourceProgress], deadline: Deadline) -> None:
        """Rewrite the line."""
        waiting = [f"{one.name} {one.answered}/{one.asked}" for one in sources if not one.ended]
        if waiting:
            spent = f"{deadline.elapsed_seconds:.1f} s of {deadline.seconds:g} s"
            self._rewrite(f"collecting {spent}: {', '.join(waiting)}")


class ReadingProgress(_RewrittenLine):
    """Says how much of a log was read, and how fast.

    Args:
        doing: a word for it.
        monotonic: seconds from any moment on.
    """

    def __init__(
        self,
        doing: str,
        stream: TextIO | None,
        environ: Mapping[str, str] = os.environ,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, environ)
        self._doing = doing
        self._monotonic = monotonic
        self._begun = self._shown_at = monotonic()

    def show(self, done: int, total: int) -> None:
        """Rewrite the line, if the last time is long enough ago: *done* of *total* bytes."""
        now = self._monotonic()
        if self.is_watched and total and now - self._shown_at >= _SHOWN_EVERY_SECONDS:
            self._shown_at = now
            rate = done / 1e6 / (now - self._begun)
            self._rewrite(f"{self._doing} {100 * done // total} % of {total / 1e6:,.0f} MB, {rate:,.0f} MB/s")


def waiting(answer: Answer, left_seconds: float, refused: str | None) -> None:
    """One line for each hold of `check --wait`, and for each time that the evidence could not be read."""
    reasons = refused or ", ".join(answer.event["decision"]["reason_codes"])
    say(f"gatekeeper: held at {answer.event['stage']}: {reasons}; asking again for {round(left_seconds)} s more")
