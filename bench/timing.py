"""Whole processes and workers, timed in interleaved rounds: the machine drifts, ratios of one round do not."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence


class FailedError(Exception):
    """A command that is measured did not do its work: its time would mean nothing."""


def timed(command: Sequence[str], *, directory: str, output: str, expected: int = 0) -> float:
    """Seconds from spawn to reap of *command*, run in *directory* with its output in the file *output*.

    Raises:
        FailedError: another exit code than *expected*.
    """
    here = os.open(".", os.O_RDONLY)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    os.chdir(directory)
    try:
        begun = time.perf_counter()
        child = os.posix_spawn(command[0], list(command), _environment(), file_actions=actions)
        _, status = os.waitpid(child, 0)
        seconds = time.perf_counter() - begun
    finally:
        os.fchdir(here)
        os.close(here)
    code = os.waitstatus_to_exitcode(status)
    if code != expected:
        with open(output, encoding="utf-8", errors="replace") as file:
            raise FailedError(f"exit code {code}, expected {expected}: {' '.join(command)}\n{file.read()}")
    return seconds


def _environment() -> dict[str, str]:
    """What a CI job has, less what would make one of the commands do other work than the rest."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("GATEKEEPER_", "PYTHON"))}


def rounds(subjects: Mapping[str, Callable[[int], float]], *, count: int, warm: int = 2) -> dict[str, list[float]]:
    """Measure every subject once a round, in turn: name -> one value a round; *warm* rounds first do not count."""
    values: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(-warm, count):
        for name, measure in subjects.items():
            value = measure(number + warm)
            if number >= 0:
                values[name].append(value)
    return values


def ratio(values: Mapping[str, Sequence[float]], name: str, base: str) -> float:
    """Median over the rounds of *name* against *base* in the same round."""
    return statistics.median(a / b for a, b in zip(values[name], values[base], strict=True))
