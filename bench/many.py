"""What the workers that append share: many processes that begin at once, and a chain that is followed afterwards."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable

from gatekeeper.model.event import line_digest

Step = Callable[[], object]


def by_many(writer: Callable[[int], Step], writers: int, seconds: float) -> tuple[float, int]:
    """Events per second of all together, and how many they appended.

    Args:
        writer: prepares the writer of a number, in its own process, and gives its step: one append.
    """
    ready, go, counted = os.pipe(), os.pipe(), os.pipe()
    for number in range(writers):
        if os.fork() == 0:
            os.close(go[1])
            append = writer(number)
            os.write(ready[1], b".")
            os.read(go[0], 1)  # ends when the parent closes its end: all begin at once
            done, spent = repeat(append, seconds)
            os.write(counted[1], f"{done} {spent}\n".encode())
            os._exit(0)
    os.close(counted[1])
    for _ in range(writers):
        os.read(ready[0], 1)
    os.close(go[1])
    with os.fdopen(counted[0], encoding="ascii") as file:
        counts = [(int(done), float(spent)) for done, spent in (line.split() for line in file)]
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(writers)]
    if any(codes) or len(counts) != writers:
        sys.exit(f"writers ended with {codes}")
    return sum(done / spent for done, spent in counts), sum(done for done, _ in counts)


def repeat(step: Step, seconds: float) -> tuple[int, float]:
    """How often, and in how many seconds."""
    done, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        step()
        done += 1
    return done, spent


def chained(lines: Iterable[bytes]) -> int:
    """Number of events, the chain followed; *lines* without newlines."""
    events, prev = 0, "sha256:" + "0" * 64
    for line in lines:
        event = json.loads(line)
        events += 1
        if event["seq"] != events or event["prev"] != prev:
            sys.exit(f"the chain breaks at line {events}")
        prev = line_digest(line)
    return events


def check_all(events: int, *, writers: int, appended: int) -> None:
    """Every append was acknowledged and is there; before: a policy, and how each run began, which is two events."""
    if events != 1 + 2 * writers + appended:
        sys.exit(f"{appended} appends of {writers} writers left {events} events")
