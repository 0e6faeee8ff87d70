"""Durable appends by one writer, in turn with plain writes of as many bytes: events per second, one line of JSON.

usage: append_worker.py DIRECTORY ROUNDS SECONDS    DIRECTORY lies on the disk that is meant
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from appends import SystemClock, appender, first_question
from many import repeat

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.orchestrator.gate import ask

RUN = "exp-42:B:append"


def main() -> None:
    directory, rounds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    ledger = NdjsonLedger(os.path.join(directory, "append.ndjson"), clock=SystemClock())
    question, policies = first_question(RUN, "exp-42")
    first = ask(question, ledger=ledger, clock=SystemClock()).event
    append = appender(ledger, first, policies)
    size = len(json.dumps(first, separators=(",", ":"), ensure_ascii=False)) + 1
    plain = os.open(os.path.join(directory, "plain"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    data = b"x" * size

    def write() -> None:
        os.write(plain, data)
        os.fdatasync(plain)

    measured: dict[str, Any] = {"bytes": size, "raw": [], "ledger": []}
    for number in range(rounds + 1):
        for name, step in (("raw", write), ("ledger", append)):
            done, spent = repeat(step, seconds)
            if number:  # the first round warms up
                measured[name].append(done / spent)
    print(json.dumps(measured))


main()
