"""The line that says what is waited for: only where a person looks on, and nothing stays behind."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from gatekeeper.cli.progress import CollectionProgress
from gatekeeper.evidence.collect import SourceProgress
from gatekeeper.evidence.workers import Deadline

SOURCES = [
    SourceProgress("prom", 12, 40, ended=False),
    SourceProgress("bake", 1, 1, ended=True),
    SourceProgress("dwh", 0, 1, ended=False),
]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def deadline() -> Deadline:
    """3.25 of 20 seconds have passed."""
    readings = iter([100.0])
    return Deadline(20, monotonic=lambda: next(readings, 103.25))


def shown(stream: io.StringIO, environ: Mapping[str, str]) -> str:
    """What a stream got from one look at the sources."""
    progress = CollectionProgress(stream, environ)
    if progress.is_watched:
        progress.show(SOURCES, deadline())
    return stream.getvalue()


def test_a_person_sees_who_is_waited_for_and_how_long() -> None:
    """Sources that have ended are no longer named."""
    assert shown(Terminal(), {"TERM": "xterm"}) == "\r\x1b[Kcollecting 3.2 s of 20 s: prom 12/40, dwh 0/1"


@pytest.mark.parametrize(
    ("stream", "environ"),
    [
        (io.StringIO(), {"TERM": "xterm"}),  # a pipe or a file
        (Terminal(), {"TERM": "xterm", "CI": "true"}),
        (Terminal(), {"TERM": "dumb"}),
        (Terminal(), {}),
    ],
)
def test_nobody_else_sees_anything(stream: io.StringIO, environ: dict[str, str]) -> None:
    """Escapes in the log of a CI job cannot be taken back."""
    assert shown(stream, environ) == ""


def test_the_line_is_gone_afterwards() -> None:
    """The verdict begins at the beginning of a clean line; where nothing was shown nothing is cleared."""
    stream = Terminal()
    progress = CollectionProgress(stream, {"TERM": "xterm"})
    progress.clear()
    assert stream.getvalue() == ""

    progress.show(SOURCES, deadline())
    progress.clear()

    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrapped line is not rewritten but repeated, five times a second."""
    monkeypatch.setenv("COLUMNS", "20")

    text = shown(Terminal(), {"TERM": "xterm"})

    assert text == "\r\x1b[K" + "collecting 3.2 s of "[:19]


def test_a_terminal_that_has_gone_ends_nothing() -> None:
    """A closed window must not turn a verdict into a crash."""
    stream = Terminal()
    progress = CollectionProgress(stream, {"TERM": "xterm"})
    stream.close()

    progress.show(SOURCES, deadline())
    progress.clear()

    assert not progress.is_watched
