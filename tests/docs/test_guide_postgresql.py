"""The guide to PostgreSQL and the page of its tables, held against a real server."""

from __future__ import annotations

import re

import psycopg
import pytest

from gatekeeper.ledger.postgres.ledger import PostgresLedger
from tests.docs.console import blocks, read
from tests.ledger.drafts import decision, stop
from tests.ledger.postgres_logs import Database

pytestmark = pytest.mark.server

GUIDE, PAGE = "docs/guides/postgresql.md", "docs/formats/postgresql.md"


def test_the_page_names_every_table_and_column(pg_log: Database) -> None:
    """A column that nobody explains is one that somebody will take for something else."""
    text = read(PAGE)
    columns = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'gatekeeper'"
    found = pg_log.rows(columns)
    sections = {
        name: part for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:] for name in re.findall(r"`(\w+)`", part)
    }
    assert {table for table, _ in found} <= sections.keys()
    assert [(table, column) for table, column in found if f"`{column}`" not in sections[table]] == []
    functions = pg_log.rows("SELECT proname FROM pg_proc WHERE pronamespace = 'gatekeeper'::regnamespace")
    assert [name for (name,) in functions if f"`{name}`" not in text] == []


def test_the_queries_of_the_page_say_what_it_says(pg_log: Database) -> None:
    """The chain is whole, then it is not; verdicts are counted."""
    chain, verdicts = blocks(PAGE, "sql")
    pg_log.ledger().append([decision("a"), stop("a"), decision("b", verdict="REJECT")], expect=None, actor="t")
    assert pg_log.rows(chain.rstrip().rstrip(";")) == []
    assert pg_log.rows(verdicts.rstrip().rstrip(";")) == [("ACCEPT", 1), ("REJECT", 1)]
    pg_log.execute("ALTER TABLE gatekeeper.events DISABLE TRIGGER append_only")
    pg_log.execute("UPDATE gatekeeper.events SET line = convert_to('{\"prev\":\"x\"}', 'UTF8') WHERE seq = 2")
    assert pg_log.rows(chain.rstrip().rstrip(";")) == [(2,)]


def test_the_users_of_the_guide_can_do_what_it_says(pg_log: Database) -> None:
    """The SQL as it stands there, and then a runner that appends and a dashboard that only reads."""
    (users,) = blocks(GUIDE, "sql")
    pg_log.execute(users)
    try:
        runner = pg_log.ledger(url=pg_log.url.replace("postgres@", "ci_runner:change%20me@"))
        runner.append([decision()], expect=None, actor="t")
        dashboard: PostgresLedger = pg_log.ledger(url=pg_log.url.replace("postgres@", "dashboard:x@"))
        assert dashboard.head()["seq"] == 1
        with psycopg.connect(dashboard.address.target) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("INSERT INTO gatekeeper.events VALUES (2, '', '')")
    finally:
        for name in ("ci_runner", "dashboard"):
            pg_log.execute(f"DROP ROLE {name}")
