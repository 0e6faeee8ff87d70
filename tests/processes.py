"""Which processes a test has started: tests before it may have left servers running, which they share."""

from __future__ import annotations

import os
from pathlib import Path


def children() -> set[int]:
    """Processes that this one has started and that are still there, ended or not."""
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    return {int(pid) for pid in found}
