"""The index of a PostgreSQL log answers as reading all of its lines does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.ledger.postgres.event_index import PostgresIndex, open_index
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.model.indexed import IndexUnusableError, Place, Selection
from gatekeeper.replay.group import FIELDS, group
from gatekeeper.replay.lines import parse_line
from gatekeeper.replay.query import Filter
from tests.ledger.drafts import decision
from tests.ledger.postgres_logs import Database, Databases
from tests.replay.builder import START, rollout
from tests.replay.logs import CHANGES, HOUR, Writer, chained_logs
from tests.replay.plainly import Plainly
from tests.replay.test_index_equals_scan import filters, told_by
from tests.replay.test_query import ALL_KINDS, FILTERS

pytestmark = [pytest.mark.server, pytest.mark.slow]


def scanned(ledger: PostgresLedger, wanted: Filter, fields: tuple[str, ...]) -> dict[str, Any]:
    """The answer of reading every line."""
    lines = [parse_line("log", number, data) for number, data in enumerate(ledger.lines(), 1)]
    found = Plainly(lines, wanted)
    return {
        "lines": [line.data for line in found.lines],
        "damaged": [],
        "gaps": found.gaps,
        "groups": [row.to_dict() for row in group(found.lines, fields)],
    }


def indexed(ledger: PostgresLedger, wanted: Filter, fields: tuple[str, ...]) -> dict[str, Any]:
    """The answer of the index."""
    index = ledger.index()
    assert index is not None
    try:
        return told_by(index, wanted, fields)
    finally:
        index.close()


@pytest.fixture(scope="module")
def emptied(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all examples."""
    database = databases.fresh(tmp_path_factory.mktemp("state"))
    yield database
    for ledger in database.opened:
        ledger.close()


def filled(database: Database, lines: list[bytes]) -> PostgresLedger:
    """A log of just these lines in it."""
    database.execute(
        "SET session_replication_role = replica; ALTER TABLE gatekeeper.events DISABLE TRIGGER append_only; "
        "DELETE FROM gatekeeper.events; ALTER TABLE gatekeeper.events ENABLE ALWAYS TRIGGER append_only; "
        "UPDATE gatekeeper.head SET seq = 0, digest = decode(repeat('0', 64), 'hex'), ts = '', is_complete = true"
    )
    ledger = database.opened[0] if database.opened else database.ledger()
    ledger.rebuild()
    assert ledger.take_in(iter(lines)) == len(lines)
    return ledger


@settings(max_examples=60, deadline=None)
@given(
    lines=chained_logs(),
    wanted=st.lists(filters(), min_size=1, max_size=4),
    fields=st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3) | st.just(["day"]),
)
def test_both_ways_give_the_same_answer(
    lines: list[bytes], wanted: list[Filter], fields: list[str], emptied: Database
) -> None:
    """Events of every kind, some of which say odd things of themselves: lines, counts and gaps."""
    ledger = filled(emptied, lines)
    for one in wanted:
        assert indexed(ledger, one, tuple(fields)) == scanned(ledger, one, tuple(fields)), one


def test_both_ways_agree_on_events_as_the_product_writes_them(emptied: Database) -> None:
    """Each filter of the query's own table, on evaluated decisions, with every field to group by."""
    writer = Writer()
    for line in rollout():
        event = json.loads(line)
        if event.get("decision", {}).get("verdict") != "DEGRADE":  # those of the builder hold no token
            writer.event({name: event[name] for name in event.keys() - {"v", "seq", "prev", "ts"}}, wait=60_000_000)
    ledger = filled(emptied, writer.lines)
    for name, (asked, *_) in FILTERS.items():
        for wanted in (asked, replace(asked, kinds=ALL_KINDS)):
            assert indexed(ledger, wanted, FIELDS) == scanned(ledger, wanted, FIELDS), name
    for field in FIELDS:
        assert indexed(ledger, Filter(kinds=ALL_KINDS), (field,)) == scanned(ledger, Filter(kinds=ALL_KINDS), (field,))


@pytest.mark.parametrize("field", ["day", "verdict", "reason"])
def test_ranges_of_time_are_found_by_looking_at_few_events(field: str, emptied: Database) -> None:
    """Borders on, before and behind an event, before the first and behind the last."""
    writer = Writer()
    for number in range(40):
        verdict = ("ACCEPT", "REJECT")[number % 2]
        writer.event(decision(f"r{number}", verdict=verdict, experiment=f"e{number}"), wait=3 * HOUR)
    ledger = filled(emptied, writer.lines)
    for since, until in ((10, 100), (22, 26), (0, 47), (3, 6), (200, 300), (-9, 500)):
        for offset in (-1, 0, 1):
            wanted = Filter(since=START + since * HOUR + offset, until=START + until * HOUR + offset)
            assert indexed(ledger, wanted, (field,)) == scanned(ledger, wanted, (field,)), wanted


def test_events_of_one_writer_are_all_listed(pg_log: Database) -> None:
    """An index that took every line for odd would be right, and slow; nothing of later writers is in its snapshot."""
    ledger = pg_log.ledger()
    ledger.append([decision("a"), decision("b", experiment="f")], expect=None, actor="t")
    index = open_index(pg_log.address)
    ledger.append([decision("c", experiment="g")], expect=None, actor="t")
    assert (index.spans(), list(index.odd_lines()), index.torn_line()) == ([(1, 2)], [], None)
    assert [place.seq for place in index.places(Selection([*index.facets()], None, "f", 1, 9))] == [2]
    index.close()


def test_an_empty_log_has_an_index_without_events(pg_log: Database) -> None:
    """Nothing to find, and no error."""
    index = open_index(pg_log.address)
    assert (index.spans(), dict(index.facets()), index.seq_from(START)) == ([], {}, 1)
    index.close()


def test_a_line_that_was_changed_under_the_index_is_never_given_as_recorded(pg_log: Database) -> None:
    """By somebody who switched the trigger off: its digest was recorded with it."""
    pg_log.ledger().append([decision("a")], expect=None, actor="t")
    pg_log.execute(
        "ALTER TABLE gatekeeper.events DISABLE TRIGGER append_only; UPDATE gatekeeper.events SET line = '\\x7b7d'"
    )
    index: PostgresIndex = open_index(pg_log.address)
    with pytest.raises(IndexUnusableError, match="seq 1 is not the line that was recorded"):
        list(index.read(iter([Place(1, 1, 1, 0, 0, b"")])))
    index.close()


@pytest.mark.parametrize("change", [one for one in CHANGES if "ts" in one], ids=str)
def test_a_time_that_runs_back_is_read_one_by_one(change: dict[str, Any], emptied: Database) -> None:
    """Among usual events, one whose time cannot be searched by: each way, for ranges around it."""
    writer = Writer()
    writer.event(decision("r", verdict="REJECT"), wait=HOUR)
    writer.event(decision("r", number=2), wait=HOUR, **change)
    writer.event(decision("q", experiment="f"), wait=HOUR)
    ledger = filled(emptied, writer.lines)
    for wanted in (Filter(), Filter(run="r"), Filter(since=START + 2 * HOUR), Filter(until=START + 2 * HOUR)):
        for one in (wanted, replace(wanted, limit=2)):
            assert indexed(ledger, one, FIELDS) == scanned(ledger, one, FIELDS), one
