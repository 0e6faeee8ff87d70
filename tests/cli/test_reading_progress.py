"""The line that says how much of a log was read: only where a person looks on, and nothing stays behind."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pytest

from gatekeeper.cli.progress import ReadingProgress
from tests.cli.test_collection_progress import Terminal

MB = 1_000_000


def shown(stream: io.StringIO, environ: Mapping[str, str]) -> str:
    """What a stream gets within two seconds, told every tenth of one, 80 MB each."""
    moments = iter([100 + number / 10 for number in range(40)])
    progress = ReadingProgress("verifying", stream, environ, lambda: next(moments))
    for number in range(1, 4):
        progress.show(number * 80 * MB, 2000 * MB)
    return stream.getvalue()


def test_a_person_sees_how_far_it_is_and_how_fast() -> None:
    """Not more often than can be read: of three calls within a third of a second one is shown."""
    assert shown(Terminal(), {"TERM": "xterm"}) == "\r\x1b[Kverifying 8 % of 2,000 MB, 800 MB/s"


@pytest.mark.parametrize(
    ("stream", "environ"),
    [
        (io.StringIO(), {"TERM": "xterm"}),
        (Terminal(), {"TERM": "xterm", "CI": "true"}),
        (Terminal(), {"TERM": "dumb"}),
    ],
)
def test_nobody_else_sees_anything(stream: io.StringIO, environ: dict[str, str]) -> None:
    """Escapes in the log of a CI job cannot be taken back."""
    assert shown(stream, environ) == ""


def test_the_line_is_gone_afterwards() -> None:
    """The answer begins at the beginning of a clean line."""
    stream = Terminal()
    moments = iter([0.0, 1.0])
    progress = ReadingProgress("searching", stream, {"TERM": "xterm"}, lambda: next(moments))
    progress.clear()
    progress.show(MB, 2 * MB)
    progress.clear()
    assert stream.getvalue() == "\r\x1b[Ksearching 50 % of 2 MB, 1 MB/s\r\x1b[K"
