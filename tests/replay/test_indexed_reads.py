"""A query that reads more of the log than it prints, or trusts an index that does not fit the log."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from gatekeeper.ledger import indexing
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.index_selection import plan_of
from gatekeeper.ledger.indexing import open_index
from gatekeeper.model.indexed import IndexUnusableError, Selection
from gatekeeper.replay.indexed import IndexedQuery
from gatekeeper.replay.query import Filter
from tests.ledger.checking import Weighed
from tests.ledger.damage import DAMAGES, database, lose
from tests.ledger.drafts import decision
from tests.replay.builder import write
from tests.replay.logs import ledger_at
from tests.replay.test_index_equals_scan import indexed, scanned


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """50 runs; every tenth event is a REJECT."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    for number in range(50):
        verdict = "ACCEPT" if number % 10 else "REJECT"
        ledger.append([decision(f"r{number}", experiment=f"e{number}", verdict=verdict)], expect=None, actor="t")
    ledger.close()
    return path


def test_only_the_lines_that_are_printed_are_read(log: Path) -> None:
    """Five of fifty, and the last one, by which the file is known again."""
    ops = Weighed()
    index, _ = open_index(str(log), ops=ops)
    assert index is not None
    last = log.read_bytes().splitlines(keepends=True)[-1]
    found = list(IndexedQuery(index, Filter(verdicts=("REJECT",))).data())
    index.close()
    assert [b'"verdict":"REJECT"' in line for line in found] == [True] * 5
    assert ops.read == len(last) + sum(map(len, found))


def test_a_limit_reads_so_many_lines(log: Path) -> None:
    """Ten lines of a long log are ten reads."""
    ops = Weighed()
    index, _ = open_index(str(log), ops=ops)
    assert index is not None
    last = log.read_bytes().splitlines(keepends=True)[-1]
    found = list(IndexedQuery(index, Filter(limit=3)).data())
    index.close()
    assert ops.read == len(last) + sum(map(len, found))
    assert len(found) == 3


def test_counting_reads_no_line(log: Path) -> None:
    """Every field that can be grouped by, at once."""
    ops = Weighed()
    index, _ = open_index(str(log), ops=ops)
    assert index is not None
    last = log.read_bytes().splitlines(keepends=True)[-1]
    fields = ("verdict", "reason", "stage", "run", "experiment", "variant", "policy", "policy_version", "day", "actor")
    assert len(IndexedQuery(index, Filter()).groups(fields)) == 50
    index.close()
    assert ops.read == len(last)


def test_a_log_that_has_grown_is_read_on_first(log: Path) -> None:
    """Lines that another process has appended and not projected are part of the answer."""
    line = log.read_bytes().splitlines()[-1].replace(b'"seq":50', b'"seq":51').replace(b"r49", b"r99")
    log.write_bytes(log.read_bytes() + line + b"\n")
    assert indexed(log, Filter(run="r99"), ("run",)) == scanned(log, Filter(run="r99"), ("run",))


def test_there_is_no_index_where_too_much_is_unread(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking in gigabytes first would take longer than reading them once."""
    monkeypatch.setattr(indexing, "LAG_BYTES", 10)
    log.write_bytes(log.read_bytes() + b"\n" * 11)
    assert open_index(str(log)) == (None, [])


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_left_to_those_who_write(damage: object, log: Path) -> None:
    """A query neither makes the state anew nor answers from what is left of it."""
    assert callable(damage)
    damage(log)
    before = {found: found.read_bytes() for found in log.parent.iterdir() if found.name.endswith(".db")}
    index, _ = open_index(str(log))
    if index is not None:  # the damage does not show before it is read, and may not matter
        with suppress(IndexUnusableError):
            assert list(IndexedQuery(index, Filter()).data()) == log.read_bytes().splitlines()
        index.close()
    assert {found: found.read_bytes() for found in log.parent.iterdir() if found.name.endswith(".db")} == before


def test_a_log_without_a_state_beside_it_gets_none(log: Path) -> None:
    """A log copied from a runner is read, and nothing is written next to it."""
    copy = write(log.parent / "copy.ndjson", log.read_bytes().splitlines())
    assert open_index(str(copy)) == (None, [])
    assert sorted(found.name for found in log.parent.iterdir() if found.name.startswith("copy")) == ["copy.ndjson"]
    lose(log)
    assert open_index(str(log)) == (None, [])
    assert not database(log).exists()


def test_a_line_that_was_changed_in_its_place_is_not_printed(log: Path) -> None:
    """The index would say what stood there once: the log itself is read instead."""
    log.write_bytes(log.read_bytes().replace(b'"actor":"tester"', b'"actor":"forger"', 1))
    index, _ = open_index(str(log))
    assert index is not None
    with pytest.raises(IndexUnusableError, match="not the one that was recorded"):
        list(IndexedQuery(index, Filter()).data())
    index.close()


def test_a_read_only_place_is_asked_without_a_lock(log: Path) -> None:
    """An index that is level is used; one that is not is left alone, and the log is read."""

    class ReadOnly(FileOps):
        def open(self, path: str, flags: int) -> int:
            if flags & (os.O_CREAT | os.O_RDWR | os.O_WRONLY):
                raise PermissionError(13, "Permission denied")
            return super().open(path, flags)

    index, _ = open_index(str(log), ops=ReadOnly())
    assert index is not None
    index.close()
    log.write_bytes(log.read_bytes() + b"\n")
    assert open_index(str(log), ops=ReadOnly()) == (None, [])


def test_a_query_looks_up_and_does_not_search(log: Path) -> None:
    """SQLite's own plan: rows by facet, run, experiment or a range of seqs; nothing is scanned from end to end."""
    index, _ = open_index(str(log))
    assert index is not None
    sent: list[str] = []
    index._connection.set_trace_callback(sent.append)
    wanted = (Filter(verdicts=("REJECT",), since=1), Filter(run="r1"), Filter(experiment="e1"), Filter(limit=2))
    for one in wanted:
        query = IndexedQuery(index, one)
        list(query.data())
        query.groups(["verdict"])
    index._connection.set_trace_callback(None)
    connection = sqlite3.connect(f"{log}.db")
    for statement in sent:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        scanned_tables = [step for step in steps if step.startswith("SCAN") and "facets" not in step]
        assert scanned_tables == [], statement
    connection.close()
    index.close()


@pytest.mark.parametrize(
    ("selection", "limit", "plan"),
    [
        (Selection([1], None, None, 1, 1001), None, "INDEXED BY events_facet"),
        (Selection([1], None, None, 1, 21), None, "INDEXED BY events_facet"),
        (Selection([2], None, None, 1, 1001), None, "NOT INDEXED"),
        (Selection([1], None, None, 1, 1001), 1, "NOT INDEXED"),  # about 20 are passed over, 50 would be sorted
        (Selection([1], None, None, 1, 1001), 20, "INDEXED BY events_facet"),
        (Selection([2], None, None, 1, 1001), 5, "NOT INDEXED"),
        (Selection([1, 2], None, None, 1, 1001), None, "NOT INDEXED"),
        (Selection([2], "r", "e", 1, 1001), None, "INDEXED BY events_name"),
        (Selection([2], None, "e", 1, 1001), 5, "INDEXED BY events_experiment"),
    ],
)
def test_few_events_are_found_by_what_they_are_and_many_by_their_order(
    selection: Selection, limit: int | None, plan: str
) -> None:
    """50 of 1,000 events are of facet 1: sorting the others into their order costs more than passing them over."""
    assert plan_of(selection, {1: 50, 2: 950}, [(1, 1000)], limit=limit) == plan
