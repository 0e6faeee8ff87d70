"""Durable appends by one writer, in turn with plain writes of as many bytes: events per second, one line of JSON.

usage: append_worker.py DIRECTORY ROUNDS SECONDS    DIRECTORY lies on the disk that is meant
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

from evidence import POLICY, REFERENCES, collected, example, just_now

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.document import parse_json
from gatekeeper.model.exchange import Expectation
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.snapshot import read_snapshot
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question

RUN = "exp-42:B:append"


class SystemClock:
    """The host's clock."""

    def now(self) -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1000


def main() -> None:
    directory, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    ledger = NdjsonLedger(os.path.join(directory, "append.ndjson"), clock=SystemClock())
    loaded = read_policy(POLICY)
    first = ask(question(just_now()), ledger=ledger, clock=SystemClock()).event
    template = {key: value for key, value in first.items() if key not in {"v", "seq", "prev", "ts"}}
    size = len(json.dumps(first, separators=(",", ":"), ensure_ascii=False)) + 1
    plain = os.open(os.path.join(directory, "plain"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    data = b"x" * size
    seen, numbers = [int(first["seq"])], count(2)

    def append() -> None:
        draft = {**template, "event_id": f"{RUN}:CANARY_10#{next(numbers)}"}
        expect = Expectation(RUN, seen[0])  # what a check has read; the ledger compares it under its lock
        seen[0] = ledger.append([draft], expect=expect, policies=(loaded,), actor="bench").events[-1]["seq"]

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


def read_policy(path: str) -> LoadedPolicy:
    """As a check reads it."""
    with open(path, "rb") as file:
        return loaded_policy(parse_json(file.read()))


def question(now: datetime) -> Question:
    """A run that begins at the first canary."""
    return Question(
        command="check",
        snapshot=read_snapshot(json.dumps(collected(example("CANARY_10"), now)).encode()),
        actor="bench",
        run_id=RUN,
        experiment_id="exp-42",
        variant_id="B",
        policy=read_policy(POLICY),
        evidence=REFERENCES,
        start_stage="CANARY_10",
        reason="benchmark",
    )


def rate(step: Callable[[], None], seconds: float) -> float:
    done, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        step()
        done += 1
    return done / spent


main()
