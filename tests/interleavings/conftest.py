"""The desk as a fixture, over each ledger that several may share."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gatekeeper.ports import Clock, Ledger
from tests.lab.git import Bare, alone
from tests.ledger.postgres_logs import Database
from tests.orchestrator.desk import Desk


@pytest.fixture(
    params=[
        "ndjson",
        pytest.param("postgres", marks=pytest.mark.server),
        pytest.param("git", marks=pytest.mark.slow),
    ]
)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A log without events; in PostgreSQL each caller has a connection, with git a machine of its own."""
    path = tmp_path / "logs" / "decision.ndjson"
    if request.param == "ndjson":
        yield Desk(path)
        return
    if request.param == "postgres":
        database: Database = request.getfixturevalue("pg_log")
        yield Desk(path, another=database.ledger)
        return
    with pytest.MonkeyPatch.context() as patch:
        alone(patch, tmp_path)
        team, machines = Bare(tmp_path), count()

        def another(clock: Clock) -> Ledger:
            return team.ledger(clock=clock, cache=tmp_path / f"machine-{next(machines)}")

        yield Desk(path, another=another)
