"""The connection to PostgreSQL is lost, anywhere: an event is recorded once, or said to be in doubt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gatekeeper.errors import LedgerUnreachableError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.migrating import migrate
from gatekeeper.model.event import line_digest
from gatekeeper.model.exchange import Expectation
from tests.doubles import StepClock
from tests.lab.postgres import Postgres
from tests.ledger.drafts import decision
from tests.ledger.postgres_logs import Database, plain
from tests.ledger.wire import Wire

pytestmark = pytest.mark.server

STORING = {"one": b"put_events", "locked": b"put_events", "lazy": b"put_events", "plain": b"append_plain"}
"""In what a client sends when it stores events, with its commit, by the way that an append goes."""

LOCKING = b"lock_log"


@pytest.fixture
def wire(postgres: Postgres) -> Iterator[Wire]:
    """Between the ledger and the session's server."""
    with Wire(str(postgres.home)) as wire:
        yield wire


def assert_once(database: Database, *event_ids: str) -> None:
    """The log holds these events in this order and no other, in one chain, and the state is that of a fold."""
    found = database.rows("SELECT seq, line, digest, event_id FROM gatekeeper.events JOIN gatekeeper.facts USING (seq)")
    assert [event_id for *_, event_id in sorted(found)] == [*event_ids]
    assert [seq for seq, *_ in sorted(found)] == [*range(1, len(event_ids) + 1)]
    ledger = database.ledger()
    events = list(ledger.read())
    assert [event["prev"] for event, _ in events][1:] == [line_digest(line) for _, line in events][:-1]
    runs = list(ledger.view().runs())
    assert list(ledger.rebuild().runs()) == runs


def prepared(ledger: PostgresLedger, trip: str) -> None:
    """Record a first event, and have the next append go this way.

    In `one` round trip; `locked`; `lazy`, the same without waiting under the lock; `plain`, sealed by the database.
    """
    ledger.append([decision()], expect=Expectation("r", 0), actor="t")
    ledger._contended = 0 if trip == "one" else 9
    ledger.view().run("r")
    ledger._session.waits_here_only = trip in {"lazy", "plain"}


def second(trip: str) -> dict[str, Any]:
    """The next event; a plain append is one of a kind that the log has."""
    return decision(number=2) if trip == "plain" else decision(stage="SHADOW")


TRIPS = [*STORING]


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("way", ["before", "after"])
def test_a_connection_cut_in_the_commit_records_the_event_once(
    way: str, trip: str, wire: Wire, pg_log: Database
) -> None:
    """Whether or not the server had committed: the writer asks, and appends anew only what is not there."""
    ledger = pg_log.ledger(url=wire.url(pg_log.url))
    prepared(ledger, trip)
    wire.cut_at(way, STORING[trip])
    receipt = ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
    assert (wire.cuts, receipt.events[0]["seq"]) == (1, 2)
    assert_once(pg_log, "r:DRY_RUN", second(trip)["event_id"])


@pytest.mark.parametrize("trip", ["locked", "lazy"])
def test_a_connection_cut_while_the_log_is_locked_changes_nothing(trip: str, wire: Wire, pg_log: Database) -> None:
    """Nothing was sent that could be committed: the writer begins again."""
    ledger = pg_log.ledger(url=wire.url(pg_log.url))
    prepared(ledger, trip)
    wire.cut_at("after", LOCKING)
    ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
    assert wire.cuts == 1
    assert_once(pg_log, "r:DRY_RUN", second(trip)["event_id"])


@pytest.mark.parametrize("trip", TRIPS)
def test_a_statement_that_arrives_late_does_nothing(trip: str, wire: Wire, pg_log: Database) -> None:
    """It was lost sight of, is not there when the writer asks, and reaches the server after the event was recorded."""
    ledger = pg_log.ledger(url=wire.url(pg_log.url))
    prepared(ledger, trip)
    wire.cut_at("held", STORING[trip])
    if trip in {"one", "plain"}:
        ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
        wire.deliver()
    else:  # the old transaction has the log's lock: nobody can ask before it has ended
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gatekeeper.ledger.postgres.writing._SILENT_FOR", "200ms")
            ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
        wire.deliver()
    assert_once(pg_log, "r:DRY_RUN", second(trip)["event_id"])


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("way", ["before", "after"])
def test_nobody_left_to_ask_is_told_as_in_doubt(way: str, trip: str, wire: Wire, pg_log: Database) -> None:
    """Neither recorded nor not recorded may be claimed; asking again later records nothing twice."""
    ledger = pg_log.ledger(url=wire.url(pg_log.url))
    prepared(ledger, trip)
    wire.cut_at(way, STORING[trip])
    wire.is_up = False
    with pytest.raises(LedgerUnreachableError, match="is recorded, or nothing of it is") as caught:
        ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
    assert caught.value.exit_code == 69
    assert f"gatekeeper explain {second(trip)['event_id']}" in caught.value.remedy
    wire.is_up = True
    is_there = ledger.view().event(second(trip)["event_id"]) is not None
    assert is_there == (way == "after")
    assert_once(pg_log, "r:DRY_RUN", *[second(trip)["event_id"]] * is_there)


@pytest.mark.parametrize("what", ["view", "append"])
def test_an_idle_connection_that_was_lost_is_opened_again(what: str, pg_log: Database) -> None:
    """A pool, a firewall or a restart has ended it while evidence was collected."""
    ledger = pg_log.ledger()
    ledger.append([decision()], expect=None, actor="t")
    ledger.view().run("r")
    pid = ledger._session.connection.info.backend_pid
    assert pg_log.rows("SELECT pg_terminate_backend(%s, 5000)", pid) == [(True,)]
    if what == "view":
        assert ledger.view().run("r") is not None
    else:
        ledger.append([decision(stage="SHADOW")], expect=Expectation("r", 1), actor="t")
        assert_once(pg_log, "r:DRY_RUN", "r:SHADOW")


def test_a_writer_that_falls_silent_loses_the_log(pg_log: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suspended runner must not keep all others waiting; when it wakes up, it is told the truth."""
    monkeypatch.setattr("gatekeeper.ledger.postgres.writing._SILENT_FOR", "100ms")
    silent, other = pg_log.ledger(), pg_log.ledger()
    silent.append([decision("s", experiment="s")], expect=None, actor="t")
    silent._contended = 9
    store = silent._writer.store

    def store_late(*given: Any, **named: Any) -> None:
        monkeypatch.setattr(silent._writer, "store", store)
        other.append([decision("o", experiment="o")], expect=None, actor="t")
        store(*given, **named)

    monkeypatch.setattr(silent._writer, "store", store_late)
    silent.append([decision("s", "SHADOW", experiment="s")], expect=Expectation("s", 1), actor="t")
    assert_once(pg_log, "s:DRY_RUN", "o:DRY_RUN", "s:SHADOW")


@pytest.mark.parametrize("trip", TRIPS)
def test_what_was_told_survives_a_crash_of_the_server(trip: str, tmp_path: Path) -> None:
    """Even where the database's own default is to commit without waiting for its log."""
    with Postgres() as server:
        url = plain(server.url)
        migrate(address_of(url))
        ledger = PostgresLedger(address_of(url), clock=StepClock(), state_directory=str(tmp_path))
        with closing(ledger):
            prepared(ledger, trip)
            ledger.append([second(trip)], expect=Expectation("r", 1), actor="t")
            server.crash()
            assert [event["event_id"] for event, _ in ledger.read()] == ["r:DRY_RUN", second(trip)["event_id"]]


def test_what_is_not_on_the_device_yet_is_not_read(pg_log: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer was killed between its commit and the wait: whoever reads its event waits in its place."""
    ledger = pg_log.ledger()
    prepared(ledger, "lazy")
    monkeypatch.setattr("gatekeeper.ledger.postgres.writing.WAIT", "SELECT 1")
    monkeypatch.setattr("gatekeeper.ledger.postgres.durability._LOOKS", 0)
    ledger.append([decision(stage="SHADOW")], expect=Expectation("r", 1), actor="t")
    flushed = "SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn"
    reader = pg_log.ledger()
    with psycopg.connect(pg_log.url, autocommit=True) as session:
        place = session.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
        assert reader.view().run("r") is not None
        assert place is not None
        assert session.execute(flushed, place).fetchone() == (True,)
