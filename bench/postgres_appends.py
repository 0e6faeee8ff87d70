"""Durable appends to a log in PostgreSQL: one client against plain inserts, sixteen against the file ledger's sixteen.

The server waits for its disk, as it comes; both ledgers are on the same one.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import urllib.parse
from typing import Any

from appending_many import DISK, SETTINGS, WRITERS
from environments import GATE, HERE, ROOT, program
from figures import Figure, at_least, at_most, attempted
from log_files import run
from timing import ratio

sys.path.append(ROOT)  # the tests' server
from tests.lab.postgres import Postgres


def one_client(rounds: int, seconds: float) -> Figure:
    """How much longer an append takes than `INSERT` and commit."""
    with _server() as server:
        values = _worker("append_postgres_worker.py", "one", _url(server), rounds, seconds)
    took = {name: [1 / rate for rate in values[name]] for name in ("ledger", "insert")}
    rates = {name: f"{statistics.median(values[name]):,.0f}/s" for name in took}
    note = f"{rates['ledger']} : {rates['insert']}, {values['bytes']:,} bytes each"
    return at_most(ONE, ratio(took, "ledger", "insert"), 2.0, 1.4, note=note)


def many_clients(rounds: int, seconds: float) -> Figure:
    """Appends per second against those to a file, in turn."""
    values: dict[str, list[float]] = {"postgres": [], "file": []}
    with _server() as server:
        for turn in range(rounds + 1):
            directory = os.path.join(server.directory, str(turn))
            os.mkdir(directory)
            rates = {
                "postgres": _worker("append_postgres_worker.py", "many", _url(server), WRITERS, seconds)["rate"],
                "file": _worker("append_many_worker.py", directory, WRITERS, seconds)["rate"],
            }
            shutil.rmtree(directory)
            for name, rate in rates.items() if turn else ():  # the first round warms up
                values[name].append(rate)
    medians = {name: f"{statistics.median(rates):,.0f}/s" for name, rates in values.items()}
    return at_least(
        MANY, ratio(values, "postgres", "file"), 0.3, 0.8, note=f"{medians['postgres']} : {medians['file']}"
    )


ONE = "durable append to a log in PostgreSQL, one client : psycopg's `INSERT` + commit of as many bytes, time"
MANY = "durable appends per second, 16 processes, one log in PostgreSQL : one log file"


def figures(*, count: int, seconds: float, short_seconds: float) -> list[Figure]:
    """Both rows."""
    return [
        attempted(ONE, "<= 2.00 x", "<= 1.40 x", lambda: one_client(count, short_seconds)),
        attempted(MANY, ">= 0.3 x", ">= 0.8 x", lambda: many_clients(count, seconds)),
    ]


class _Server(Postgres):
    """Removes the directory that it was given, too."""

    def __init__(self, directory: str) -> None:
        super().__init__(SETTINGS, directory)
        self.directory = directory

    def close(self) -> None:
        """Stop it, and leave nothing."""
        super().close()
        shutil.rmtree(self.directory, ignore_errors=True)


def _server() -> _Server:
    directory = tempfile.mkdtemp(prefix="bench-append-", dir=DISK)
    os.chmod(directory, 0o711)  # for the account that it runs as
    return _Server(directory)


def _url(server: Postgres) -> str:
    """Of a new database."""
    database = server.fresh().partition("?")[0].rpartition("/")[2]
    return f"postgresql://postgres@/{database}?host={urllib.parse.quote(str(server.home))}"


def _worker(name: str, *arguments: object) -> dict[str, Any]:
    command = [program(GATE, "python"), os.path.join(HERE, name), *(str(one) for one in arguments)]
    report: dict[str, Any] = json.loads(run(command))
    return report
