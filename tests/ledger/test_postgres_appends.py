from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import LedgerUnreachableError, LogError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.head import Head
from gatekeeper.ledger.postgres import rows, writing
from gatekeeper.ledger.postgres.failures import not_set_up
from gatekeeper.ledger.postgres.fold import Fold
from gatekeeper.ledger.postgres.ledger import PostgresLedger
from gatekeeper.ledger.postgres.preparing import Prepared
from gatekeeper.ledger.postgres.writing import Wanted
from gatekeeper.model.canonical import GENESIS_DIGEST, canonical_bytes
from gatekeeper.model.canonical_bulk import bulk_canonical_bytes
from gatekeeper.model.event import encode_line, seal
from gatekeeper.model.exchange import ConflictError, Expectation
from tests.lab.postgres import Postgres
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.postgres_logs import Database, plain

server = pytest.mark.server

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e9, 1e9) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3),
    max_leaves=6,
)
NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(["actor", "clocks", "pres", "prev_", "sequel", "tt", "vv"])


@given(draft=st.dictionaries(NAMES, JSON, max_size=8), clock=st.none() | st.just("2026-01-01T00:00:00Z"))
def test_a_line_sealed_in_parts_is_the_line_sealed_as_a_whole(draft: dict[str, Any], clock: str | None) -> None:
    """Members encoded before the lock and those that come with the place make the canonical bytes of the event."""
    draft = {**{name: value for name, value in draft.items() if name != "decision"}, "kind": "action"}
    place: dict[str, Any] = {"seq": 7, "prev": GENESIS_DIGEST, "ts": "2026-02-18T01:00:10.000000Z", "clock": clock}
    whole = seal(draft, **place)
    for encode in (canonical_bytes, bulk_canonical_bytes):
        assert Prepared(draft, encode).sealed(**place) == (whole, encode_line(whole))


@given(draft=st.dictionaries(NAMES, JSON, max_size=8), clock=st.none() | st.just("2026-01-01T00:00:00Z"))
def test_the_parts_around_a_place_make_the_line(draft: dict[str, Any], clock: str | None) -> None:
    """What the database puts together is the canonical line, with and without a clock that is behind."""
    draft = {**draft, "kind": "action", "event_id": "r:action#1"}
    parts = Prepared(draft).around_place()
    has_own = any(name in draft for name in ("clock", "prev", "seq", "ts", "v")) or b'"seq":' in encode_line(draft)
    assert (parts is None) == has_own
    if parts is None:
        return
    start, before, behind_prev, behind_seq, end = parts
    told = b"" if clock is None else b'"clock":"%s",' % clock.encode()
    prev, ts = b"0" * 64, b"2026-02-18T01:00:10.000000Z"
    line = start + told + before + prev + behind_prev + b"7" + behind_seq + ts + end
    place: dict[str, Any] = {"seq": 7, "prev": GENESIS_DIGEST, "ts": ts.decode(), "clock": clock}
    assert line == encode_line(seal(draft, **place))


@pytest.fixture
def plain_log(pg_log: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A log in which nothing may take another way than the plain one."""
    first = pg_log.ledger()
    first.append([decision()], expect=None, actor="t")
    monkeypatch.setattr(writing.Writer, "lock_and_seal", lambda *_given: pytest.fail("the log was locked"))
    return pg_log


def plainly(database: Database) -> PostgresLedger:
    """A ledger that has read the run, recorded its facet, and finds others waiting."""
    ledger = database.ledger()
    ledger.view().run("r")
    ledger._known.facets |= {number for (number,) in database.rows("SELECT id FROM gatekeeper.facets")}
    ledger._contended = 9
    return ledger


@server
def test_a_plain_append_leaves_the_rows_that_a_fold_leaves(plain_log: Database) -> None:
    """Sealed by the database, folded by us: line, state and facts are those of any other append."""
    ledger = plainly(plain_log)
    receipt = ledger.append([decision(number=2)], expect=Expectation("r", 1), actor="t")
    ledger.append([decision(number=3)], expect=Expectation("r", 2), actor="t")
    assert json.loads(plain_log.lines()[1]) == receipt.events[0]
    assert plain_log.lines()[1] == encode_line(receipt.events[0])
    view = ledger.view()
    runs, facts = list(view.runs()), plain_log.rows("SELECT * FROM gatekeeper.facts ORDER BY seq")
    assert (runs[0].version, runs[0].last_event_id) == (3, "r:DRY_RUN#3")
    assert list(ledger.rebuild().runs()) == runs
    assert plain_log.rows("SELECT * FROM gatekeeper.facts ORDER BY seq") == facts


@server
def test_a_plain_append_keeps_the_reading_of_a_clock_that_is_behind(plain_log: Database) -> None:
    """A writer that waited read its clock before others had theirs: `ts` never runs back, the reading is kept."""
    ledger = plainly(plain_log)
    plain_log.clock.advance(-0.5)
    event = ledger.append([decision(number=2)], expect=Expectation("r", 1), actor="t").events[0]
    assert event["ts"] == "2026-02-18T01:00:10.000000Z"
    assert "2026-02-18T01:00:09.500000Z" <= event["clock"] < event["ts"]
    assert plain_log.lines()[1] == encode_line(event)


@server
def test_a_clock_that_is_far_behind_is_no_plain_matter(pg_log: Database) -> None:
    """People are told of it, which the database cannot do: the append goes the other way."""
    pg_log.ledger().append([decision()], expect=None, actor="t")
    ledger = plainly(pg_log)
    pg_log.clock.advance(-61)
    receipt = ledger.append([decision(number=2)], expect=Expectation("r", 1), actor="t")
    assert (receipt.events[0]["seq"], receipt.events[0]["clock"]) == (2, "2026-02-18T00:59:09.000000Z")
    assert [warning for warning in receipt.warnings if "ahead of this clock" in warning]


@server
def test_a_plain_append_of_a_run_that_has_moved_writes_nothing(pg_log: Database) -> None:
    """The version is compared where the log is locked."""
    pg_log.ledger().append([decision()], expect=None, actor="t")
    ledger = plainly(pg_log)
    pg_log.ledger().append([stop()], expect=None, actor="t")
    wanted = Wanted([Prepared(decision(number=2))], policies={}, expect=Expectation("r", 1))
    assert ledger._writer.append_plain(wanted, is_lazy=True) is None
    assert len(pg_log.lines()) == 2


@server
def test_a_writer_that_has_the_log_is_not_overtaken(pg_log: Database) -> None:
    """The lock: whoever comes later waits, so that what was sealed under it needs no second try."""
    first, second = pg_log.ledger(), pg_log.ledger()
    sealed = first._writer.lock_and_seal(Wanted([Prepared(decision("a"))], policies={}, expect=None))
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(second.append, [decision("b", experiment="f")], expect=None, actor="t")
        while not later.done() and pg_log.rows(waiting) == [(0,)]:
            pass
        first._writer.store(sealed, has_lock=True)
        assert later.result(20).events[0]["seq"] == 2
    assert [json.loads(line)["run_id"] for line in pg_log.lines()] == ["a", "b"]


@server
def test_a_head_that_has_moved_leaves_nothing_behind(pg_log: Database) -> None:
    """Compare and set: what was sealed behind another head puts no row into any table."""
    ledger = pg_log.ledger()
    ledger.append([decision("a")], expect=None, actor="t")
    fold = Fold(Head(4, GENESIS_DIGEST), lambda _run_id: None)
    event, line = Prepared(decision("late", verdict="DEGRADE")).sealed(
        seq=5, prev=GENESIS_DIGEST, ts="2026-02-18T01:00:10.000000Z", clock=None
    )
    fold.take(event, line)
    changes = rows.change_rows(fold, known_facets=set(), doubled_facets=set())
    changes[rows.EVENTS] = [rows.event_row(5, line, fold.head.digest)]
    stale = Head(0, GENESIS_DIGEST)
    assert rows.store(ledger._session.connection, stale, fold, changes).fetchall() == [(0,)]
    counted = [pg_log.rows(f"SELECT count(*) FROM gatekeeper.{name}")[0][0] for name in ("events", "facts", "runs")]
    assert (counted, pg_log.rows("SELECT seq FROM gatekeeper.head")) == ([1, 1, 1], [(1,)])
    assert pg_log.rows("SELECT count(*) FROM gatekeeper.tokens") == [(0,)]


@server
def test_a_session_that_was_overtaken_seals_anew(pg_log: Database) -> None:
    """Two sessions have read the same state of different runs: both are recorded, one behind the other."""
    first, second = pg_log.ledger(), pg_log.ledger()
    for ledger, name in ((first, "a"), (second, "b")):
        assert ledger.view().run(name) is None
    for ledger, name in ((first, "a"), (second, "b")):
        ledger.append([decision(name, experiment=name)], expect=Expectation(name, 0), actor="t")
    assert [json.loads(line)["event_id"] for line in pg_log.lines()] == ["a:DRY_RUN", "b:DRY_RUN"]


@server
def test_a_session_that_was_overtaken_on_its_run_writes_nothing(pg_log: Database) -> None:
    """Two sessions have read the same run: the loser is told, and leaves no row, no facet, no token."""
    first, second = pg_log.ledger(), pg_log.ledger()
    for ledger in (first, second):
        assert ledger.view().run("r") is None
    first.append([decision()], expect=Expectation("r", 0), actor="t")
    with pytest.raises(ConflictError):
        second.append([decision(verdict="DEGRADE")], expect=Expectation("r", 0), actor="t")
    assert len(pg_log.lines()) == 1
    assert pg_log.rows("SELECT count(*) FROM gatekeeper.facets") == [(1,)]
    assert second.view().token("token-r") is None


@server
@pytest.mark.parametrize("contended", [0, 9])
def test_an_append_of_everything_at_once_is_whole(contended: int, pg_log: Database) -> None:
    """Policies, a superseded run, its successor and a hold in one transaction, by both ways."""
    ledger = pg_log.ledger()
    ledger.append([decision("a")], expect=None, policies=[policy()], actor="t")
    ledger.view().run("a")
    ledger._contended = contended
    drafts = [stop("a"), decision("b", verdict="DEGRADE")]
    receipt = ledger.append(drafts, expect=Expectation("b", 0), policies=[policy("2"), policy()], actor="t")
    assert [event["kind"] for event in receipt.events] == ["policy", "action", "decision"]
    view = ledger.view()
    assert view.token("token-b") == ("b", None)
    runs = list(view.runs())
    assert [(run.run_id, str(run.state)) for run in runs] == [("a", "STOPPED"), ("b", "HELD")]
    assert list(ledger.rebuild().runs()) == runs
    assert pg_log.rows("SELECT count(*) FROM gatekeeper.policies") == [(2,)]


@server
def test_another_text_under_the_number_of_a_facet_is_never_used(pg_log: Database) -> None:
    """64 bits of a digest may meet: such an event is not listed, so that no query counts it for another."""
    prepared = Prepared(decision())
    pg_log.execute("INSERT INTO gatekeeper.facets VALUES (%s, 'another')", prepared.facet)
    ledger = pg_log.ledger()
    ledger.append([decision()], expect=None, actor="t")
    assert pg_log.rows("SELECT seq, facet, ts FROM gatekeeper.facts") == [(1, None, None)]
    assert pg_log.rows("SELECT body FROM gatekeeper.facets") == [("another",)]


@server
def test_a_text_that_the_database_cannot_hold_is_refused_whole(pg_log: Database) -> None:
    """U+0000 is JSON and no text of PostgreSQL: nothing of the append is left."""
    ledger = pg_log.ledger()
    with pytest.raises(LogError, match="NUL"):
        ledger.append([decision(idempotency_key="a\0b")], expect=None, actor="t")
    assert pg_log.lines() == []
    ledger.append([decision()], expect=None, actor="t")


@server
def test_a_lock_that_is_never_given_back_is_waited_for_no_longer_than_that(
    pg_log: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's forgotten session in psql must not hang a pipeline: 69, which says where to look."""
    ledger = pg_log.ledger()
    monkeypatch.setattr(writing, "_SILENT_FOR", "1s")
    with psycopg.connect(pg_log.url) as forgotten:
        forgotten.execute("SELECT FROM gatekeeper.head FOR UPDATE")
        ledger._session.rows("SELECT set_config('lock_timeout', '100ms', false)")
        with pytest.raises(LedgerUnreachableError, match="did not answer in time") as caught:
            ledger.append([decision()], expect=None, actor="t")
    assert (caught.value.exit_code, "pg_stat_activity" in caught.value.remedy) == (69, True)
    ledger.append([decision()], expect=None, actor="t")
    assert len(pg_log.lines()) == 1


@server
def test_limits_that_somebody_has_set_stay(pg_log: Database) -> None:
    """Ours are for where there are none; a promise stronger than `on` is kept, a weaker one is not."""
    wanted = "?options=-c%20statement_timeout%3D7s%20-c%20synchronous_commit%3Dremote_apply&host="
    ledger = pg_log.ledger(url=pg_log.url.replace("?host=", wanted))
    shown = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), "
    shown += "current_setting('synchronous_commit')"
    assert ledger._session.rows(shown) == [("7s", "30s", "remote_apply")]
    assert pg_log.ledger()._session.rows(shown) == [("1min", "30s", "on")]  # the tests' server has it off


@server
def test_no_server_no_database_no_tables_no_login_are_69(postgres: Postgres, pg_log: Database) -> None:
    """Each says what it is, and what to do; nothing shows the password."""
    host = pg_log.url.partition("?")[2]
    found = {}
    for name, url in {
        "server": "postgresql://u:hidden@127.0.0.1:9/d?connect_timeout=2",
        "database": f"postgresql://postgres:hidden@/nowhere?{host}",
        "login": f"postgresql://nobody:hidden@/postgres?{host}",
        "tables": plain(postgres.fresh()),
    }.items():
        ledger = pg_log.ledger(url=url)
        for call in (ledger.view, lambda ledger=ledger: ledger.append([decision()], expect=None, actor="t")):
            with pytest.raises(LedgerUnreachableError) as caught:
                call()
            assert caught.value.exit_code == 69
            assert "hidden" not in caught.value.message + caught.value.remedy
            found[name] = caught.value
    assert "Connection refused" in found["server"].message
    assert 'database "nowhere" does not exist' in found["database"].message
    assert "check address, database, user and password" in found["database"].remedy
    assert 'role "nobody" does not exist' in found["login"].message
    assert "gatekeeper log migrate --log" in found["tables"].remedy
    assert found["tables"].remedy.endswith(" --log ADDRESS")  # with *** in it nobody could paste it
    plainly = address_of("postgresql://db.example.com/gate")
    assert not_set_up(plainly).remedy.endswith(" --log postgresql://db.example.com/gate")
    assert address_of(pg_log.url).shown.startswith("postgresql://***@")
