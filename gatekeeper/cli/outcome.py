"""What a handler answers: the text, the exit code, and words for people."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    Chunk = str | bytes
    Output = Chunk | Iterable[Chunk]

VERDICTS = frozenset({0, 1, 2, 3})
"""ACCEPT, REJECT, DEGRADE, evaluated but not recorded."""

FOUND = 10
"""A review found what it was told to fail on."""

CODES = {
    "verdict": VERDICTS | {FOUND, 64, 65, 69, 70, 74},
    "effect": frozenset({0, FOUND, 64, 65, 69, 70, 74}),
    "report": frozenset({0, FOUND, 64, 65, 69, 70, 74}),
}
"""`Command.answer` -> the exit codes that its handler may answer (SPEC 8)."""


class Outcome:
    """The answer of a command.

    Attributes:
        stdout: text, recorded bytes, or a series of either that is shown as it comes.
        exit_code: one of `CODES` for the command's kind of answer.
        stderr: lines for people, shown before the answer.
    """

    __slots__ = ("exit_code", "stderr", "stdout")

    def __init__(self, stdout: Output = "", exit_code: int = 0, stderr: tuple[str, ...] = ()) -> None:
        self.stdout: Final = stdout
        self.exit_code: Final = exit_code
        self.stderr: Final = stderr
