"""Durable appends by sixteen processes on one log file, in turn with sixteen clients of PostgreSQL.

The same disk for both, as many bytes each; PostgreSQL has the settings that it comes with, pgbench is the client.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from environments import GATE, HERE, ROOT, program
from log_files import run

sys.path.append(ROOT)  # the tests' servers
from tests.lab.postgres import Postgres, wheel

WRITERS = 16
SETTINGS = {"listen_addresses": "", "max_connections": "40"}
DISK = "/var/tmp"  # the account that PostgreSQL runs as can go there
_SPARE = 4_000


def measure(*, count: int, seconds: float) -> dict[str, Any]:
    """Events per second of so many rounds under "ledger" and "postgres"; under "bytes" those of an event."""
    directory = tempfile.mkdtemp(prefix="bench-append-", dir=DISK)
    os.chmod(directory, 0o711)  # for that account
    measured: dict[str, Any] = {"ledger": [], "postgres": []}
    try:
        with Postgres(SETTINGS, directory) as server:
            for number in range(count + 1):
                ours = _appended(os.path.join(directory, str(number)), seconds)
                if not number:
                    line = ours["line"]
                    script = _prepare(server, directory, line)
                    measured["bytes"] = len(line)
                theirs = _inserted(server, script, seconds)
                if number:  # the first round warms up
                    measured["ledger"].append(ours["rate"])
                    measured["postgres"].append(theirs)
    finally:
        shutil.rmtree(directory)
    return measured


def _appended(directory: str, seconds: float) -> dict[str, Any]:
    """What the writers report, and the last line of their log."""
    os.makedirs(directory)
    worker = [program(GATE, "python"), os.path.join(HERE, "append_many_worker.py"), directory]
    report: dict[str, Any] = json.loads(run([*worker, str(WRITERS), str(seconds)]))
    with open(os.path.join(directory, "append.ndjson"), "rb") as file:
        file.seek(-2 * report["bytes"] - _SPARE, os.SEEK_END)
        report["line"] = file.read().splitlines()[-1].decode()
    shutil.rmtree(directory)
    return report


def _prepare(server: Postgres, directory: str, line: str) -> str:
    """Make the table, and pgbench's script: one event a transaction."""
    import psycopg

    with psycopg.connect(host=str(server.home), user="postgres", autocommit=True) as session:
        session.execute("create table events (seq bigserial primary key, line text)")
    quoted = line.replace("\\", "\\\\").replace("'", "''").replace(":", "\\x3a")  # pgbench takes :word for a variable
    script = os.path.join(directory, "insert.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"insert into events (line) values (E'{quoted}');\n")
    return script


def _inserted(server: Postgres, script: str, seconds: float) -> float:
    """Transactions per second of as many clients, by pgbench."""
    installed = wheel()
    assert installed is not None
    pgbench = str(installed / "pginstall18" / "bin" / "pgbench")
    command = [pgbench, "-n", "-M", "prepared", "-c", str(WRITERS), "-T", str(max(1, round(seconds))), "-f", script]
    done = subprocess.run(
        [*command, "-h", str(server.home), "-U", "postgres", "postgres"], capture_output=True, text=True, check=True
    )
    return next(float(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("tps"))
