"""A check costs the same on the first day and after years: every look-up is in an index, every read is bounded."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.model.exchange import Expectation
from tests.ledger.checking import Weighed, ledger_at
from tests.ledger.drafts import decision


def one_check(path: Path, number: int) -> tuple[int, int]:
    """Calls and bytes read by the look and the append of one check in a new process."""
    ops = Weighed()
    ledger = ledger_at(path, ops=ops)
    view = ledger.view()
    view.token("none")
    view.live_run("e", "B", simulated=False)
    run = view.run("r")
    assert run is not None
    draft = decision("r", number=number, actor="0" * (20 - len(str(number))))
    ledger.append([draft], expect=Expectation("r", run.version), actor="t")
    ledger.close()
    return ops.calls, ops.read


def test_a_check_reads_no_more_of_a_longer_log(tmp_path: Path) -> None:
    """The same calls and, but for the digits of numbers, the same bytes after 10 and after 3,000 events."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    for number in range(1, 11):
        ledger.append([decision("r", number=number)], expect=None, actor="t")
    ledger.close()
    one_check(path, 11)  # its last line is of the same kind as those that are compared
    calls, read = one_check(path, 12)
    ledger = ledger_at(path)
    ledger.append([decision("r", number=number) for number in range(13, 3000)], expect=None, actor="t")
    ledger.close()
    one_check(path, 3000)
    later_calls, later_read = one_check(path, 3001)
    assert later_calls == calls
    assert abs(later_read - read) < 32


@pytest.mark.parametrize(
    ("name", "arguments", "keywords"),
    [
        ("run", ("r",), {}),
        ("live_run", ("e", "B"), {"simulated": False}),
        ("latest_run", ("e", "B"), {"simulated": False}),
        ("holds", (), {}),
        ("token", ("T",), {}),
        ("accepted", ("r", "sha256:q"), {}),
        ("key", ("k",), {}),
        ("refused", ("r", "sha256:q"), {}),
        ("policy", ("sha256:p",), {}),
        ("event", ("r:DRY_RUN",), {}),
    ],
)
def test_no_lookup_scans_a_table(
    name: str, arguments: tuple[Any, ...], keywords: dict[str, Any], tmp_path: Path
) -> None:
    """SQLite's own plan of every statement that a view sends names an index."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("r", idempotency_key="k")], expect=None, actor="t")
    view = ledger.view()
    connection, sent = view._connection, list[str]()
    connection.set_trace_callback(sent.append)
    getattr(view, name)(*arguments, **keywords)
    connection.set_trace_callback(None)
    assert sent
    for statement in sent:
        assert_searches(connection, statement)


def test_no_lookup_of_an_append_scans_a_table(tmp_path: Path) -> None:
    """Version, slot, key, event id and policy are compared through indexes too."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision("r", idempotency_key="k")], expect=None, actor="t")
    connection = ledger.view()._connection
    sent: list[str] = []
    connection.set_trace_callback(sent.append)
    expect = Expectation("r", 1, slot=("e", "B", False), live_run_id="r", key="k", key_seq=1)
    ledger.append([decision("r", number=2)], expect=expect, actor="t")
    connection.set_trace_callback(None)
    for statement in sent:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            assert_searches(connection, statement)


def assert_searches(connection: sqlite3.Connection, statement: str) -> None:
    """No table is read through; the index of live runs may be, it has one entry for each slot."""
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    scans = [step for step in steps if step.startswith("SCAN") and "USING INDEX runs_live" not in step]
    assert [step for step in scans if step != "SCAN head"] == [], statement
    assert not [step for step in steps if "TEMP B-TREE" in step], statement
