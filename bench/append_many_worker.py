"""Durable appends by many processes on one log: events per second of all together, one line of JSON.

usage: append_many_worker.py DIRECTORY WRITERS SECONDS    DIRECTORY is empty and lies on the disk that is meant

Each writer has a run of its own, whose version its appends are compared with. Afterwards the log must have every
line that was acknowledged, in one chain.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

from appends import SystemClock, draft_of, first_question

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import Expectation
from gatekeeper.orchestrator.gate import ask


def main() -> None:
    directory, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    path = os.path.join(directory, "append.ndjson")
    ready, go, counted = os.pipe(), os.pipe(), os.pipe()
    for number in range(writers):
        if os.fork() == 0:
            os.close(go[1])
            append = writer(path, number)
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
    events, size = checked(path)
    appended = sum(done for done, _ in counts)
    if events != 1 + 2 * writers + appended:  # before: a policy, and how each run began, which is two events
        sys.exit(f"{appended} appends of {writers} writers left {events} events")
    print(json.dumps({"rate": sum(done / spent for done, spent in counts), "events": events, "bytes": size}))


def writer(path: str, number: int) -> Callable[[], None]:
    """One more append of the run that is this writer's own."""
    run_id = f"exp-{number}:B:append"
    question, policies = first_question(run_id, f"exp-{number}")
    ledger = NdjsonLedger(path, clock=SystemClock())
    first = ask(question, ledger=ledger, clock=SystemClock()).event
    draft = draft_of(first)
    seen = [int(first["seq"]), 1]

    def append() -> None:
        seen[1] += 1
        events = [{**draft, "event_id": f"{run_id}:CANARY_10#{seen[1]}"}]
        receipt = ledger.append(events, expect=Expectation(run_id, seen[0]), policies=policies, actor="bench")
        seen[0] = int(receipt.events[-1]["seq"])

    return append


def repeat(step: Callable[[], None], seconds: float) -> tuple[int, float]:
    """How often, and in how many seconds."""
    done, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        step()
        done += 1
    return done, spent


def checked(path: str) -> tuple[int, int]:
    """Number of events and mean bytes of one, the chain followed."""
    events, prev = 0, "sha256:" + "0" * 64
    with open(path, "rb") as file:
        for line in file:
            event = json.loads(line)
            events += 1
            if event["seq"] != events or event["prev"] != prev:
                sys.exit(f"the chain breaks at line {events}")
            prev = line_digest(line[:-1])
    return events, os.path.getsize(path) // events


main()
