"""The table of figures: what must be reached, what is aimed at, what was measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True)
class Figure:
    """One row.

    Attributes:
        must, aim: as the table states them; the words for people.
        measured: the words for what came out.
        meets_must, meets_aim: None where nothing could be measured.
    """

    name: str
    must: str
    aim: str
    measured: str
    meets_must: bool | None
    meets_aim: bool | None

    @property
    def judgement(self) -> str:
        """One word."""
        if self.meets_must is None:
            return "NOT MEASURED"
        if not self.meets_must:
            return "MISSED"
        return "aim" if self.meets_aim else "must"


def at_most(name: str, value: float, must: float, aim: float, *, note: str) -> Figure:
    """A ratio that should be small."""
    words = f"{value:.3f} x ({note})"
    return Figure(name, f"<= {must:.2f} x", f"<= {aim:.2f} x", words, meets_must=value <= must, meets_aim=value <= aim)


def at_least(name: str, value: float, must: float, aim: float, *, note: str) -> Figure:
    """A ratio that should be large."""
    words = f"{value:.2f} x ({note})"
    return Figure(name, f">= {must:g} x", f">= {aim:g} x", words, meets_must=value >= must, meets_aim=value >= aim)


def within(name: str, value: float, must: float, aim: float, *, show: str, note: str) -> Figure:
    """A duration that should be short, no ratio; *show* formats such a number with its unit."""
    words = f"{show.format(value)} ({note})"
    must_words, aim_words = f"<= {show.format(must)}", f"<= {show.format(aim)}"
    return Figure(name, must_words, aim_words, words, meets_must=value <= must, meets_aim=value <= aim)


def attempted(name: str, must: str, aim: str, measure: Callable[[], Figure]) -> Figure:
    """What *measure* gives, or a row that says why there is nothing."""
    try:
        return measure()
    except Exception as error:  # noqa: BLE001 - the other rows are still worth having
        reason = str(error).strip().splitlines() or [type(error).__name__]
        return Figure(name, must, aim, f"{type(error).__name__}: {reason[0][:160]}", meets_must=None, meets_aim=None)


def table(figures: list[Figure]) -> str:
    """The rows as a Markdown table."""
    lines = ["| figure | must | aim | measured | reached |", "|---|---|---|---|---|"]
    lines += [f"| {one.name} | {one.must} | {one.aim} | {one.measured} | {one.judgement} |" for one in figures]
    return "\n".join(lines)


def machine() -> str:
    """Date and machine, in words."""
    cores = os.cpu_count()
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {platform.system()} {platform.release()} {platform.machine()}, "
        f"{_processor()}, {cores} cores; CPython {platform.python_version()}; "
        f"load {os.getloadavg()[0]:.1f} at the start"
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"
