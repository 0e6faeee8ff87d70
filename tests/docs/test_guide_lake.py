"""The queries of the guide, word for word, by DuckDB on a lake that was exported: their answers worked out by hand."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.times import require_time
from gatekeeper.orchestrator import gate
from tests.docs.console import blocks
from tests.export.logs import into_lake
from tests.ledger.checking import Unflushed
from tests.orchestrator.desk import STAGES, Desk, policy

REJECTS, HOLDS, ROLLOUTS, CHANGED = blocks("docs/guides/lake.md", "sql")

SEARCH = policy(policy_id="search")
STRICTER = policy(policy_version="2")
NO_ERRORS: dict[str, Any] = {"errors": ...}
NO_LEAKS: dict[str, Any] = {"leaks": ...}


def story(desk: Desk) -> None:
    """Eight runs in four days and two weeks; the 18th of February 2026 is a Wednesday, the 23rd a Monday."""

    def ask(time: str, run: str, stage: str, verdict: str, **fields: Any) -> None:
        desk.clock.moment = require_time(f"2026-02-{time}")
        answer = desk.check(stage, run_id=run, experiment_id=run, **fields)
        assert (answer.verdict, answer.is_recorded) == (verdict, False)

    def all_stages(times: str, run: str, **fields: Any) -> None:
        for stage, time in zip(STAGES, times.split(), strict=True):
            ask(time, run, stage, "ACCEPT", **fields)

    # held for errors from 02:00 to 02:30 and for leaks from 02:30 to 04:30, whatever was asked of DRY_RUN meanwhile
    ask("18T01:00:00Z", "slow", "DRY_RUN", "ACCEPT")
    ask("18T02:00:00Z", "slow", "SHADOW", "DEGRADE", metrics=NO_ERRORS)
    ask("18T02:30:00Z", "slow", "SHADOW", "DEGRADE", metrics=NO_LEAKS)
    ask("18T02:40:00Z", "slow", "DRY_RUN", "ACCEPT")
    ask("18T02:50:00Z", "slow", "DRY_RUN", "DEGRADE", metrics=NO_ERRORS)
    ask("18T04:30:00Z", "slow", "SHADOW", "ACCEPT")
    for stage, time in zip(STAGES[2:], ("18T05:00:00Z", "18T06:00:00Z", "18T07:00:00Z"), strict=True):
        ask(time, "slow", stage, "ACCEPT")
    # stopped by hand after a quarter of an hour of waiting for errors
    ask("18T10:00:00Z", "stopped", "DRY_RUN", "DEGRADE", metrics=NO_ERRORS)
    desk.clock.moment = require_time("2026-02-18T10:15:00Z")
    gate.stop("stopped", reason="INC-7", actor="sre", ledger=desk.ledger)
    # three quarters of an hour under one policy, a quarter under the next: two holds
    ask("18T11:00:00Z", "adopting", "DRY_RUN", "DEGRADE", metrics=NO_ERRORS)
    ask("18T11:45:00Z", "adopting", "DRY_RUN", "DEGRADE", metrics=NO_ERRORS, policy=STRICTER, adopt_reason="INC-8")
    ask("18T12:00:00Z", "adopting", "DRY_RUN", "ACCEPT", policy=STRICTER)
    all_stages("18T13:00:00Z 18T13:30:00Z 18T14:00:00Z 18T14:15:00Z 18T15:00:00Z", "quick", policy=SEARCH)
    # simulated: in no report
    for stage in STAGES[:2]:
        ask("18T16:00:00Z", "simulated", stage, "ACCEPT", as_of="2026-02-18T16:00:00Z")
    ask("18T16:00:00Z", "simulated", "CANARY_10", "REJECT", as_of="2026-02-18T16:00:00Z", metrics={"leaks": 1})
    # the last microsecond of one week, the first of the next
    ask("22T23:59:59.999999Z", "sunday", "DRY_RUN", "REJECT", metrics={"leaks": 1})
    ask("23T00:00:00Z", "monday", "DRY_RUN", "DEGRADE", metrics={**NO_ERRORS, **NO_LEAKS})
    ask("23T01:00:00Z", "monday", "DRY_RUN", "REJECT", metrics={"errors": 0.5})
    all_stages("23T02:00:00Z 23T03:00:00Z 23T04:00:00Z 23T05:00:00Z 23T06:00:00Z", "steady")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the lake of the story, exported twice on its way."""
    place = tmp_path_factory.mktemp("guide")
    desk = Desk(place / "decision.ndjson")
    desk.ledger = NdjsonLedger(str(desk.path), clock=desk.clock, ops=Unflushed())
    story(desk)
    into_lake(desk.path, place / "lake")
    return place


def answer(place: Path, query: str, *, zone: str = "UTC") -> list[tuple[Any, ...]]:
    """What DuckDB answers in that directory, in a session of this time zone."""
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.execute(f"SET file_search_path = '{place}'")
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Kolkata"])
def test_rejects_by_policy_and_week(zone: str, place: Path) -> None:
    """A stop by hand is no reject of the gate; Sunday's last microsecond is not Monday, wherever the session is.

    checkout, first week: slow 9, stopped 1, adopting 3, sunday 1; second week: monday 2, steady 5.
    """
    assert answer(place, REJECTS, zone=zone) == [
        ("checkout", date(2026, 2, 16), 14, 1, 7.1),
        ("checkout", date(2026, 2, 23), 7, 1, 14.3),
        ("search", date(2026, 2, 16), 5, 0, 0.0),
    ]


def test_which_rule_holds_us_up(place: Path) -> None:
    """Leaks: slow 2 h, monday 1 h. Errors: slow 0.5 h, stopped 0.25 h, adopting 0.75 h and 0.25 h, monday 1 h."""
    assert answer(place, HOLDS) == [
        ("constraint:leaks", 2, 2, 0, 3.0),
        ("guardrail:errors", 5, 5, 0, 2.75),
    ]


def test_a_hold_that_is_open_counts_up_to_now(tmp_path: Path) -> None:
    """Two attempts half an hour apart; what has passed since is more than a year's share of hours by now."""
    desk = Desk(tmp_path / "decision.ndjson")
    desk.clock.moment = require_time("2024-02-18T01:00:00Z")
    desk.hold("DRY_RUN")
    desk.clock.advance(1800)
    desk.hold("DRY_RUN")
    into_lake(desk.path, tmp_path / "lake")
    ((rule, holds, attempts, still_held, hours),) = answer(tmp_path, HOLDS)
    assert (rule, holds, attempts, still_held) == ("guardrail:errors", 1, 2, 1)
    assert hours > 8760


def test_time_to_full_rollout(place: Path) -> None:
    """checkout: slow 01:00 to 07:00, steady 02:00 to 06:00, so 5 h in the middle; search: 13:00 to 15:00."""
    assert answer(place, ROLLOUTS) == [("checkout", 2, 5.0, 6.0, "slow"), ("search", 1, 2.0, 2.0, "quick")]


def test_a_row_that_was_changed_is_found(place: Path, tmp_path: Path) -> None:
    """None in the lake as it is; with one line changed that one, with its digest made to fit the next one."""
    assert answer(place, CHANGED) == []
    source = f"read_parquet('{place}/lake/*/*.parquet', hive_partitioning = true)"
    for columns, expected in (
        ("* REPLACE (if(seq = 7, replace(line, 'slow', 'fast'), line) AS line)", 7),
        ("* REPLACE (if(seq = 7, 'sha256:' || sha256('{}'), digest) AS digest, if(seq = 7, '{}', line) AS line)", 8),
    ):
        target = tmp_path / str(expected)
        with duckdb.connect() as connection:
            target.mkdir()
            copy = f"COPY (SELECT {columns} FROM {source}) TO '{target}/lake' (FORMAT parquet, PARTITION_BY (date))"
            connection.execute(copy)
        assert [seq for seq, _ in answer(target, CHANGED)] == [expected]
