from __future__ import annotations

import json

import psycopg
import pytest

from gatekeeper.errors import InputRefusedError, LedgerUnreachableError, UsageError
from gatekeeper.ledger.address import address_of
from gatekeeper.ledger.postgres.layout import DERIVED, READER, WRITER
from gatekeeper.ledger.postgres.migrating import migrate
from gatekeeper.ledger.postgres.migrations import MIGRATIONS, NEWEST
from gatekeeper.model.exchange import Expectation
from gatekeeper.model.run import Run
from tests.lab.postgres import Postgres
from tests.ledger.drafts import decision, policy
from tests.ledger.postgres_logs import Database, plain

pytestmark = pytest.mark.server

CHANGES = {
    "update": "UPDATE gatekeeper.events SET line = '\\x7b7d'",
    "update of nothing": "UPDATE gatekeeper.events SET line = line WHERE false",
    "delete": "DELETE FROM gatekeeper.events",
    "truncate": "TRUNCATE gatekeeper.events",
    "upsert": "INSERT INTO gatekeeper.events SELECT * FROM gatekeeper.events ON CONFLICT (seq) DO UPDATE SET line = ''",
}

OF_OWNERS = ("DROP TABLE gatekeeper.events", "ALTER TABLE gatekeeper.events DISABLE TRIGGER ALL")


@pytest.fixture
def filled(pg_log: Database) -> Database:
    """A log with a policy and a decision."""
    pg_log.ledger().append([decision()], expect=None, policies=[policy()], actor="t")
    return pg_log


def as_member(database: Database, role: str) -> str:
    """The address by which somebody logs in who is a member of *role* and nothing else."""
    user = f"member_of_{role}"
    if not database.rows("SELECT FROM pg_roles WHERE rolname = %s", user):
        database.execute(f"CREATE ROLE {user} LOGIN IN ROLE {role}")
    return database.url.replace("postgres@", f"{user}@")


@pytest.mark.parametrize("change", CHANGES)
def test_the_owner_cannot_change_or_remove_a_line(change: str, filled: Database) -> None:
    """Not even a superuser that plays a replica, for whom other triggers sleep."""
    before = filled.lines()
    with psycopg.connect(filled.url, autocommit=True) as session:
        for role in ("origin", "replica"):
            session.execute(f"SET session_replication_role = {role}".encode())
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="append-only"):
                session.execute(CHANGES[change].encode())
    assert filled.lines() == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_writer_may_append_and_read_and_no_more(change: str, filled: Database) -> None:
    """The role that the documentation tells to use: a line that it has written is out of its reach."""
    url = as_member(filled, WRITER)
    ledger = filled.ledger(url=url)
    ledger.append([decision(stage="SHADOW")], expect=Expectation("r", 2), actor="t")
    ledger.append([decision("s", experiment="s", verdict="DEGRADE")], expect=None, policies=[policy("2")], actor="t")
    with psycopg.connect(url, autocommit=True) as session:
        for statement in (CHANGES[change], *OF_OWNERS):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(statement.encode())
    kinds = [json.loads(line)["kind"] for line in filled.lines()]
    assert kinds == ["policy", "decision", "decision", "policy", "decision"]
    runs = list(ledger.view().runs())
    assert list(ledger.rebuild().runs()) == runs


def test_a_reader_reads_all_and_appends_nothing(filled: Database) -> None:
    """Dashboards and `verify`; an append says which role is wanted, 69."""
    ledger = filled.ledger(url=as_member(filled, READER))
    assert ledger.view().run("r") is not None
    assert list(ledger.lines()) == filled.lines()
    with pytest.raises(LedgerUnreachableError, match="permission denied") as caught:
        ledger.append([decision(stage="SHADOW")], expect=None, actor="t")
    assert "gatekeeper_writer" in caught.value.remedy
    assert len(filled.lines()) == 2


def tables(database: Database) -> set[str]:
    """What stands in the schema."""
    return {name for (name,) in database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'gatekeeper'")}


def definitions(database: Database) -> list[tuple[object, ...]]:
    """Columns, indexes, triggers and functions of the schema."""
    return [
        *database.rows(
            "SELECT table_name, column_name, data_type, is_nullable, collation_name FROM information_schema.columns "
            "WHERE table_schema = 'gatekeeper' ORDER BY 1, 2"
        ),
        *database.rows("SELECT indexdef FROM pg_indexes WHERE schemaname = 'gatekeeper' ORDER BY 1"),
        *database.rows("SELECT tgname, tgenabled::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"),
        *database.rows("SELECT proname FROM pg_proc WHERE pronamespace = 'gatekeeper'::regnamespace ORDER BY 1"),
        *database.rows(
            "SELECT grantee, table_name, privilege_type FROM information_schema.role_table_grants "
            "WHERE table_schema = 'gatekeeper' AND grantee LIKE 'gatekeeper%%' ORDER BY 1, 2, 3"
        ),
    ]


def runs_of(database: Database) -> list[Run]:
    """All runs; and the policy is there."""
    ledger = database.ledger()
    runs = list(ledger.view().runs())
    assert ledger.view().policy(policy().digest) == policy().document
    ledger.close()  # tables that somebody is reading cannot be changed
    return runs


def test_down_and_up_again_gives_the_same_tables_and_the_same_state(filled: Database) -> None:
    """Every step has its way back; what is derived is folded anew from the lines, which stay."""
    whole, lines = definitions(filled), filled.lines()
    runs = runs_of(filled)
    for step in range(NEWEST - 1, 0, -1):
        assert migrate(filled.address, to=step).reached == step
        with pytest.raises(LedgerUnreachableError, match="older gatekeeper") as caught:
            filled.ledger().view()
        assert "gatekeeper log migrate" in caught.value.remedy
        assert migrate(filled.address).found == step
        assert definitions(filled) == whole
        assert (runs_of(filled), filled.lines()) == (runs, lines)
    assert {"events", "head", "migrations", *DERIVED} == tables(filled)


def test_a_log_with_events_is_not_removed_by_the_way(filled: Database) -> None:
    """`--to 0` is refused unless it is said that the log is meant, too; nothing of it is done."""
    with pytest.raises(InputRefusedError, match="holds a log with events") as caught:
        migrate(filled.address, to=0)
    assert "--drop-events" in caught.value.remedy
    assert len(filled.lines()) == 2
    assert migrate(filled.address, to=0, drop_events=True).reached == 0
    assert tables(filled) == set()
    assert migrate(filled.address).steps[0] == "up to 1: the log"
    assert filled.ledger().head()["seq"] == 0


def test_tables_that_are_read_are_waited_for_no_longer_than_a_while(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gate that collects its evidence has a snapshot open: a migration gives up, and nothing is half done."""
    monkeypatch.setattr("gatekeeper.ledger.postgres.migrating._LIMIT", "SET LOCAL lock_timeout = '100ms'")
    ledger = filled.ledger()
    assert ledger.view().run("r") is not None
    with pytest.raises(LedgerUnreachableError, match="did not answer in time"):
        migrate(filled.address, to=1)
    assert filled.ledger().view().run("r") is not None


def test_an_empty_log_may_be_removed(pg_log: Database) -> None:
    """Nothing is lost."""
    migrate(pg_log.address, to=0)
    assert tables(pg_log) == set()


def test_a_dry_run_says_what_it_would_do_and_does_nothing(postgres: Postgres) -> None:
    """The statements are those that a person may carry out by hand."""
    url = plain(postgres.fresh())
    told = migrate(address_of(url), dry_run=True)
    assert [told.found, told.reached, len(told.steps)] == [0, NEWEST, len(MIGRATIONS)]
    with psycopg.connect(url, autocommit=True) as session:
        assert session.execute("SELECT to_regnamespace('gatekeeper')").fetchone() == (None,)
        for statement in told.statements:
            session.execute(statement.encode())
        assert session.execute("SELECT count(*) FROM gatekeeper.events").fetchone() == (0,)


def test_migrating_twice_changes_nothing(filled: Database) -> None:
    """Two jobs that set the log up at once: the second finds nothing to do."""
    whole = definitions(filled)
    assert migrate(filled.address).steps == ()
    assert definitions(filled) == whole


def test_tables_of_a_newer_gatekeeper_are_left_alone(filled: Database) -> None:
    """An old program must not write into tables that it does not know."""
    filled.execute("INSERT INTO gatekeeper.migrations (number, name) VALUES (%s, 'later')", NEWEST + 1)
    with pytest.raises(LedgerUnreachableError, match="newer gatekeeper") as caught:
        filled.ledger().view()
    assert caught.value.remedy == "update gatekeeper"
    with pytest.raises(InputRefusedError):
        migrate(filled.address)


def test_a_step_that_is_not_there_is_wrong_usage(pg_log: Database) -> None:
    """64, with the numbers that there are."""
    with pytest.raises(UsageError, match=f"there is no step {NEWEST + 1}"):
        migrate(pg_log.address, to=NEWEST + 1)


def test_a_database_that_cannot_hold_every_text_is_refused(postgres: Postgres) -> None:
    """Else an append would fail in the middle of an incident, at the first name with an accent."""
    with psycopg.connect(plain(postgres.url), autocommit=True) as session:
        session.execute("DROP DATABASE IF EXISTS latin")
        session.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(Exception, match="encoded as LATIN1") as caught:
        migrate(address_of(plain(postgres.url).replace("/postgres?", "/latin?")))
    assert getattr(caught.value, "exit_code", None) == 74
