"""Durable appends by many processes on one log: events per second of all together, one line of JSON.

usage: append_many_worker.py DIRECTORY WRITERS SECONDS    DIRECTORY is empty and lies on the disk that is meant

Each writer has a run of its own, whose version its appends are compared with. Afterwards the log must have every
line that was acknowledged, in one chain.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from appends import SystemClock, appender, first_question
from many import by_many, chained, check_all

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.orchestrator.gate import ask


def main() -> None:
    directory, writers, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    path = os.path.join(directory, "append.ndjson")
    rate, appended = by_many(lambda number: writer(path, number), writers, seconds)
    with open(path, "rb") as file:
        events = chained(line[:-1] for line in file)
    check_all(events, writers=writers, appended=appended)
    print(json.dumps({"rate": rate, "events": events, "bytes": os.path.getsize(path) // events}))


def writer(path: str, number: int) -> Callable[[], None]:
    """One more append of the run that is this writer's own."""
    run_id = f"exp-{number}:B:append"
    question, policies = first_question(run_id, f"exp-{number}")
    ledger = NdjsonLedger(path, clock=SystemClock())
    return appender(ledger, ask(question, ledger=ledger, clock=SystemClock()).event, policies)


main()
