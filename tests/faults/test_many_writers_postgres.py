"""32 processes on one PostgreSQL log, some killed anywhere: all that was told is there, once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.migrating import migrate
from tests.doubles import StepClock
from tests.faults.test_many_writers import STAGES
from tests.faults.writers import Telling, fork_all, moves_of, told_in
from tests.lab.postgres import SETTINGS, Postgres
from tests.ledger.postgres_logs import Database, plain
from tests.orchestrator.desk import Desk

pytestmark = [pytest.mark.server, pytest.mark.slow]

WRITERS = 32
KILLED = 12
ROUNDS = 2


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """On a server that takes so many connections."""
    with Postgres({**SETTINGS, "max_connections": "100"}) as server:
        database = Database(plain(server.url), tmp_path / "state")
        migrate(database.address)
        yield database
        for ledger in database.opened:
            ledger.close()


class Killed(PostgresLedger):
    """Ends its process at the n-th time that the server is waited for, before or after that."""

    left = 0
    is_after = False

    def arm(self, random: Random) -> None:
        """From now on."""
        self.left, self.is_after = random.randrange(1, 120), random.random() < 0.5
        real = psycopg.Connection.wait

        def wait(connection: Any, *given: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.is_after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return real(connection, *given, **named)
            finally:
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        psycopg.Connection.wait = wait  # type: ignore[method-assign,assignment]


def body(number: int, url: str, place: Path, barrier: int) -> None:
    """One writer: runs of its own through four stages, and with all others at once steps of a run that they share."""
    ledger = Killed(address_of(url), clock=StepClock(), state_directory=str(place))
    desk = Desk(place, another=lambda _clock: ledger)
    check = Telling(number, desk, place).check

    ledger.view()
    os.read(barrier, 1)  # until the other end is closed
    if number < KILLED:
        ledger.arm(Random(number))
    for turn in range(ROUNDS):
        for stage in STAGES:
            check(stage, f"own-{number}-{turn}", f"exp-{number}-{turn}")
        for stage in STAGES[2 * turn : 2 * turn + 2]:
            with contextlib.suppress(InputRefusedError):  # the run has passed the stage
                check(stage, "shared", "shared")


def test_no_line_is_lost_or_doubled_and_each_run_moves_once(database: Database, tmp_path: Path) -> None:
    """What was told is in the log once, the chain holds, nothing moved twice, and the state is that of a fold."""
    desk = Desk(tmp_path, another=database.ledger)
    desk.walk("DRY_RUN", run_id="first", experiment_id="first")
    ends = fork_all(WRITERS, lambda number, barrier: body(number, database.url, tmp_path, barrier))
    killed = [number for number, end in enumerate(ends) if os.WIFSIGNALED(end)]
    assert {os.WTERMSIG(ends[number]) for number in killed} == {signal.SIGKILL}
    assert set(killed) <= set(range(KILLED))
    assert len(killed) >= KILLED // 3
    assert [number for number, end in enumerate(ends) if number not in killed and end != 0] == []

    desk.check("DRY_RUN", run_id="last", experiment_id="last")
    events = desk.events()
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    ids = Counter(event["event_id"] for event in events)
    told = told_in(tmp_path)
    assert len(told) >= (WRITERS - KILLED) * ROUNDS * len(STAGES)
    assert [event_id for event_id in told if ids[event_id] != 1] == []
    assert [event_id for event_id, count in ids.items() if count != 1] == []
    moves = moves_of(events)
    assert [move for move, count in moves.items() if count != 1] == []
    assert [moves["shared", stage] for stage in STAGES] == [1, 1, 1, 1]
    whole = [f"own-{number}-{turn}" for number in range(KILLED, WRITERS) for turn in range(ROUNDS)]
    assert [run_id for run_id in whole if moves[run_id, STAGES[-1]] != 1] == []
    assert_chained(database.lines())
    ledger = database.ledger()
    runs = list(ledger.view().runs())
    assert list(ledger.rebuild().runs()) == runs


def assert_chained(lines: list[bytes]) -> None:
    """By SHA-256 and JSON alone."""
    prev = "0" * 64
    for line in lines:
        assert json.loads(line)["prev"] == f"sha256:{prev}"
        prev = hashlib.sha256(line).hexdigest()
