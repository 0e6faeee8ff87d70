"""Processes that start together: a barrier that is a pipe, no sleeps."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.desk import LIMIT_SECONDS, Done

if TYPE_CHECKING:
    from tests.e2e.desk import Desk

RACER = str(Path(__file__).with_name("racer.py"))


def all_at_once(desk: Desk, calls: Sequence[Sequence[str]]) -> list[Done]:
    """Call the command once for each of *calls*, all released at the same moment."""
    barrier, release = os.pipe()
    racers = [
        subprocess.Popen(
            [sys.executable, RACER, str(barrier), *argv],
            cwd=desk.place,
            env=desk.env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[barrier],
        )
        for argv in calls
    ]
    os.close(barrier)
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"\n"  # it is ready
    os.close(release)
    done = []
    for racer in racers:
        out, err = racer.communicate(timeout=LIMIT_SECONDS)
        done.append(Done(racer.returncode, out, err.decode()))
    return done
