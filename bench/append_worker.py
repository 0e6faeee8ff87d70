"""Durable appends by one writer, in turn with plain writes of as many bytes: events per second, one line of JSON.

usage: append_worker.py DIRECTORY ROUNDS SECONDS    DIRECTORY lies on the disk that is meant
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from appends import SystemClock, draft_of, first_question

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.exchange import Expectation
from gatekeeper.orchestrator.gate import ask

RUN = "exp-42:B:append"


def main() -> None:
    directory, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    ledger = NdjsonLedger(os.path.join(directory, "append.ndjson"), clock=SystemClock())
    question, policies = first_question(RUN, "exp-42")
    first = ask(question, ledger=ledger, clock=SystemClock()).event
    template = draft_of(first)
    size = len(json.dumps(first, separators=(",", ":"), ensure_ascii=False)) + 1
    plain = os.open(os.path.join(directory, "plain"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    data = b"x" * size
    seen, numbers = [int(first["seq"])], count(2)

    def append() -> None:
        draft = {**template, "event_id": f"{RUN}:CANARY_10#{next(numbers)}"}
        expect = Expectation(RUN, seen[0])  # what a check has read; the ledger compares it under its lock
        seen[0] = ledger.append([draft], expect=expect, policies=policies, actor="bench").events[-1]["seq"]

    def write() -> None:
        os.write(plain, data)
        os.fdatasync(plain)

    measured: dict[str, Any] = {"bytes": size, "raw": [], "ledger": []}
    for number in range(rounds + 1):
        for name, step in (("raw", write), ("ledger", append)):
            value = rate(step, seconds)
            if number:  # the first round warms up
                measured[name].append(value)
    print(json.dumps(measured))


def rate(step: Callable[[], None], seconds: float) -> float:
    done, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        step()
        done += 1
    return done / spent


main()
