"""The logs that are asked: made once a run, read into the page cache, with a projection and without one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from environments import GATE, HERE, program
from timing import FailedError

POLICY_ID = "checkout-latency"
SHORT, MIDDLE = 10_000, 100_000
LONG, LONG_ON_A_SMALL_MACHINE = 1_000_000, 500_000
BYTES_PER_EVENT = 8_300


def longest_here() -> int:
    """How many events the longest log gets here: a million, where disk and page cache have room for them."""
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    size = LONG * BYTES_PER_EVENT
    has_room = available > 1.5 * size and shutil.disk_usage(HERE).free > 2.5 * size
    return LONG if has_room else LONG_ON_A_SMALL_MACHINE


class Log:
    """One log, twice: names of the same file in two directories, with a projection beside one of them.

    Attributes:
        events, size: how many, and bytes.
        since: where the last seven days begin, RFC 3339.
        bare: the name without a projection.
    """

    def __init__(self, made: dict[str, Any], directory: str) -> None:
        self.events, self.size = int(made["events"]), int(made["bytes"])
        last = datetime.fromtimestamp(made["last"], UTC)
        self.since = (last - timedelta(days=7)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._directory = directory
        self.bare = self.another_name("bare", made["path"])

    def another_name(self, place: str, path: str | None = None) -> str:
        """The same file in a directory of its own: what is derived from it appears there only."""
        name = os.path.join(self._directory, f"{self.events}-{place}", "decision.ndjson")
        os.makedirs(os.path.dirname(name))
        os.link(path or self.bare, name)
        return name

    @cached_property
    def projected(self) -> str:
        """The name with a projection beside it."""
        name = self.another_name("projected")
        run([program(GATE, "gatekeeper"), "log", "rebuild", "--log", name])
        if not os.path.exists(f"{name}.db"):
            raise FailedError(f"no projection beside {name}")
        return name

    def warm(self) -> None:
        """Read it into the page cache."""
        with open(self.bare, "rb", buffering=0) as file:
            while file.read(1 << 22):
                pass

    def assert_bare(self) -> None:
        """No measured command may have left a projection where there was none."""
        found = [name for name in os.listdir(os.path.dirname(self.bare)) if ".db" in name]
        if found:
            raise FailedError(f"a projection appeared beside {self.bare}: {', '.join(found)}")


def make(directory: str, sizes: list[int]) -> dict[int, Log]:
    """Logs of so many events, written in *directory*."""
    worker = [program(GATE, "python"), os.path.join(HERE, "make_log.py"), directory]
    lines = run([*worker, *map(str, sizes)]).splitlines()
    return {size: Log(json.loads(line), directory) for size, line in zip(sizes, lines, strict=True)}


def run(command: list[str]) -> str:
    """What a command that is not measured prints on stdout."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        reason = told[-1] if told[0].startswith("Traceback") else told[0]
        raise FailedError(f"{reason} ({' '.join(command[1:])})")
    return done.stdout
