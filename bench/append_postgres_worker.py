"""Durable appends to a PostgreSQL log, one line of JSON; the database is set up here.

usage: append_postgres_worker.py one URL ROUNDS SECONDS    one client, in turn with INSERT and commit of as many bytes
       append_postgres_worker.py many URL WRITERS SECONDS  many processes, each with a run of its own

Afterwards the log must have every line that was acknowledged, in one chain.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import psycopg
from appends import SystemClock, draft_of, first_question

from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.migrating import migrate
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import Expectation
from gatekeeper.orchestrator.gate import ask


def main() -> None:
    way, url, number, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    migrate(address_of(url))
    print(json.dumps(one(url, number, seconds) if way == "one" else many(url, number, seconds)))


def one(url: str, rounds: int, seconds: float) -> dict[str, Any]:
    """Appends per second, and inserts by psycopg as its manual has them: execute, commit."""
    append, first = writer(url, 0)
    data = json.dumps(first, separators=(",", ":"), ensure_ascii=False).encode()
    measured: dict[str, Any] = {"bytes": len(data), "insert": [], "ledger": []}
    with psycopg.connect(url) as session:
        session.execute("CREATE TABLE plain (seq bigserial PRIMARY KEY, line bytea NOT NULL)")
        session.commit()

        def insert() -> None:
            session.execute("INSERT INTO plain (line) VALUES (%b)", (data,))
            session.commit()

        for turn in range(rounds + 1):
            for name, step in (("insert", insert), ("ledger", append)):
                done, spent = repeat(step, seconds)
                if turn:  # the first round warms up
                    measured[name].append(done / spent)
    checked(url)
    return measured


def many(url: str, writers: int, seconds: float) -> dict[str, Any]:
    """Events per second of all together."""
    ready, go, counted = os.pipe(), os.pipe(), os.pipe()
    for number in range(writers):
        if os.fork() == 0:
            os.close(go[1])
            append, _ = writer(url, number)
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
    events, appended = checked(url), sum(done for done, _ in counts)
    if events != 1 + 2 * writers + appended:  # before: a policy, and how each run began, which is two events
        sys.exit(f"{appended} appends of {writers} writers left {events} events")
    return {"rate": sum(done / spent for done, spent in counts), "events": events}


def writer(url: str, number: int) -> tuple[Callable[[], None], dict[str, Any]]:
    """One more append of the run that is this writer's own, and the event that it repeats."""
    run_id = f"exp-{number}:B:append"
    question, policies = first_question(run_id, f"exp-{number}")
    ledger = PostgresLedger(address_of(url), clock=SystemClock())
    first = dict(ask(question, ledger=ledger, clock=SystemClock()).event)
    draft, seen, numbers = draft_of(first), [int(first["seq"])], count(2)

    def append() -> None:
        events = [{**draft, "event_id": f"{run_id}:CANARY_10#{next(numbers)}"}]
        receipt = ledger.append(events, expect=Expectation(run_id, seen[0]), policies=policies, actor="bench")
        seen[0] = int(receipt.events[-1]["seq"])

    return append, first


def repeat(step: Callable[[], None], seconds: float) -> tuple[int, float]:
    """How often, and in how many seconds."""
    done, begun = 0, time.perf_counter()
    while (spent := time.perf_counter() - begun) < seconds:
        step()
        done += 1
    return done, spent


def checked(url: str) -> int:
    """Number of events, the chain followed."""
    ledger = PostgresLedger(address_of(url), clock=SystemClock())
    events, prev = 0, "sha256:" + "0" * 64
    for line in ledger.lines():
        event = json.loads(line)
        events += 1
        if event["seq"] != events or event["prev"] != prev:
            sys.exit(f"the chain breaks at line {events}")
        prev = line_digest(line)
    ledger.close()
    return events


main()
