"""What the figures of the log share: how long the logs are, the logs themselves, the commands that are timed."""

from __future__ import annotations

import os
import statistics
from functools import cached_property

import log_questions as ask
from environments import GATE, program
from log_files import LONG_ON_A_SMALL_MACHINE, MIDDLE, SHORT, Log, longest_here, make, run
from log_questions import Subject

Values = dict[str, list[float]]


class LogScale:
    """One directory with logs of three lengths; it is for the caller to remove.

    Attributes:
        count, few: rounds of what takes seconds, and of what takes a minute.
        middle, longest: numbers of events; the shortest log has SHORT.
    """

    def __init__(self, directory: str, *, quick: bool, longest: int | None = None) -> None:
        self.directory, self.quick = directory, quick
        self.longest = longest or (SHORT if quick else longest_here())
        self.middle = SHORT if quick else MIDDLE
        self.count, self.few = (3, 1) if quick else (5, 2)

    @cached_property
    def logs(self) -> dict[int, Log]:
        """By number of events."""
        return make(self.directory, sorted({SHORT, self.middle, self.longest}))

    @property
    def log(self) -> Log:
        """The longest."""
        return self.logs[self.longest]

    @cached_property
    def parquet(self) -> str:
        """The longest log as Parquet: the columns that a projection has."""
        path = os.path.join(self.directory, "columns.parquet")
        run(ask.parquet("write-columns", self.log.bare, path))
        return path

    @property
    def size(self) -> str:
        """In words."""
        has_no_room = self.longest == LONG_ON_A_SMALL_MACHINE
        return f"{self.longest:,} events" + (" (no room for more)" if has_no_room else "")

    def subject(self, name: str, command: list[str], read: ask.Reader, *, log: Log | None = None) -> Subject:
        """A command that is timed; *log* must remain without a projection."""
        return Subject(self.directory, name, command, read, log=log)


def verify(log: str, *more: str) -> list[str]:
    """Our command."""
    return [program(GATE, "gatekeeper"), "verify", "--log", log, *more]


def nothing(_output: str) -> None:
    """Reads the output of what answers by its exit code."""


def times(values: Values, ours: str, peer: str) -> str:
    """Medians of both in words."""
    return " : ".join(f"{statistics.median(values[name]):.2f} s" for name in (ours, peer))
