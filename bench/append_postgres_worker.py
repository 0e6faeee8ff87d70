"""Durable appends to a PostgreSQL log, one line of JSON; the database is set up here.

usage: append_postgres_worker.py one URL ROUNDS SECONDS    one client, in turn with INSERT and commit of as many bytes
       append_postgres_worker.py many URL WRITERS SECONDS  many processes, each with a run of its own

Afterwards the log must have every line that was acknowledged, in one chain.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import psycopg
from appends import SystemClock, appender, first_question
from many import by_many, chained, check_all, repeat

from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.migrating import migrate
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
    rate, appended = by_many(lambda number: writer(url, number)[0], writers, seconds)
    events = checked(url)
    check_all(events, writers=writers, appended=appended)
    return {"rate": rate, "events": events}


def writer(url: str, number: int) -> tuple[Callable[[], None], dict[str, Any]]:
    """One more append of the run that is this writer's own, and the event that it repeats."""
    run_id = f"exp-{number}:B:append"
    question, policies = first_question(run_id, f"exp-{number}")
    ledger = PostgresLedger(address_of(url), clock=SystemClock())
    first = dict(ask(question, ledger=ledger, clock=SystemClock()).event)
    return appender(ledger, first, policies), first


def checked(url: str) -> int:
    """Number of events, the chain followed."""
    ledger = PostgresLedger(address_of(url), clock=SystemClock())
    events = chained(ledger.lines())
    ledger.close()
    return events


main()
