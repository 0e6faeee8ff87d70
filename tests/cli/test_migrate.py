"""`log migrate`: the tables of a log in PostgreSQL, up and down, by us and by somebody who applies the SQL."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import psycopg
import pytest

from gatekeeper.cli.app import run
from gatekeeper.ledger.postgres.migrations import NEWEST
from tests.lab.postgres import Postgres, wheel

EXAMPLE = str(Path(__file__).parents[2] / "logs" / "example.ndjson")


@pytest.fixture
def log(postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The address of an empty database, as its owner."""
    monkeypatch.chdir(tmp_path)
    return postgres.fresh().replace("postgresql+psycopg://", "postgresql://")


def tables(log: str) -> dict[str, str]:
    """Every table of ours in the database with its columns, and every right that somebody else has on it."""
    with psycopg.connect(log) as session:
        columns = session.execute(
            "SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position)"
            " FROM information_schema.columns WHERE table_schema = 'gatekeeper' GROUP BY 1 ORDER BY 1"
        ).fetchall()
        rights = session.execute(
            "SELECT 'rights on ' || table_name, string_agg(grantee || ' ' || privilege_type, ', ' ORDER BY 1)"
            " FROM information_schema.role_table_grants WHERE table_schema = 'gatekeeper' GROUP BY 1 ORDER BY 1"
        ).fetchall()
    return dict([*columns, *rights])


def steps(log: str) -> list[int]:
    """What the database says of itself."""
    with psycopg.connect(log) as session:
        return [number for (number,) in session.execute("SELECT number FROM gatekeeper.migrations ORDER BY 1")]


def apply(sql: str, log: str) -> None:
    """Give *sql* to PostgreSQL's own client, which stops at the first error."""
    installed = wheel()
    assert installed is not None
    psql = [str(installed / "pginstall18/bin/psql"), "-v", "ON_ERROR_STOP=1", "--quiet", "--no-psqlrc", log]
    done = subprocess.run(psql, input=sql.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.server
def test_sql_that_is_printed_makes_what_the_command_makes(
    log: str, postgres: Postgres, capfd: pytest.CaptureFixture[str]
) -> None:
    """A team whose administrator applies the SQL gets the same tables, rights and history; nothing is done before."""
    other = postgres.fresh().replace("postgresql+psycopg://", "postgresql://")
    assert run(["log", "migrate", "--log", log, "--dry-run"]) == 0
    sql = capfd.readouterr().out
    assert tables(log) == {}

    apply(sql, log)
    assert run(["log", "migrate", "--log", other]) == 0

    assert tables(log) == tables(other)
    assert steps(log) == steps(other) == list(range(1, NEWEST + 1))
    assert run(["log", "import", EXAMPLE, "--log", log]) == 0


@pytest.mark.server
@pytest.mark.parametrize("by_hand", [False, True], ids=["by the command", "by its SQL"])
def test_a_log_goes_down_a_step_and_up_again_and_knows_its_runs(
    log: str, by_hand: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """The state is folded anew: a rejected run whose state came back empty could be asked again."""
    assert run(["log", "migrate", "--log", log]) == 0
    assert run(["log", "import", EXAMPLE, "--log", log]) == 0
    assert run(["log", "migrate", "--to", "1", "--log", log]) == 0
    assert steps(log) == [1]
    assert run(["status", "--log", log]) == 69
    capfd.readouterr()

    if by_hand:
        assert run(["log", "migrate", "--dry-run", "--log", log]) == 0
        sql, words = capfd.readouterr()
        assert "gatekeeper log rebuild, before any job asks" in words
        apply(sql, log)
        assert run(["log", "rebuild", "--log", log]) == 0
    else:
        assert run(["log", "migrate", "--log", log]) == 0
    capfd.readouterr()

    assert run(["status", "--log", log, "-o", "json"]) == 0
    (known,) = json.loads(capfd.readouterr().out)["runs"]
    assert known["state"] == "STOPPED"


@pytest.mark.server
def test_events_are_removed_only_by_somebody_who_says_so(log: str, capfd: pytest.CaptureFixture[str]) -> None:
    """`--to 0` is a typing mistake away from the loss of a log."""
    assert run(["log", "migrate", "--log", log]) == 0
    assert run(["log", "import", EXAMPLE, "--log", log]) == 0
    before = tables(log)

    assert run(["log", "migrate", "--to", "0", "--log", log]) == 65
    assert "--drop-events" in capfd.readouterr().err
    assert tables(log) == before
    assert run(["log", "migrate", "--to", "0", "--drop-events", "--log", log]) == 0
    assert tables(log) == {}


@pytest.mark.server
def test_what_was_done_is_told(log: str, capfd: pytest.CaptureFixture[str]) -> None:
    """And that nothing was, the second time; a program reads the same."""
    assert run(["log", "migrate", "--log", log]) == 0
    first = capfd.readouterr().out
    assert first.startswith(f"the tables stand at step {NEWEST}\n")
    assert "up to 1: the log" in first
    assert run(["log", "migrate", "--log", log, "-o", "json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert (document["found"], document["reached"], document["steps"]) == (NEWEST, NEWEST, [])
    assert run(["log", "migrate", "--to", str(NEWEST + 1), "--log", log]) == 64


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--log", "decision.ndjson"], "only a log in PostgreSQL is migrated"),
        (["--log", "git+file:///srv/team.git"], "only a log in PostgreSQL is migrated"),
        (["--log", "postgresql://db/gate", "--to", "one"], "'one' is no step"),
        (["--log", "postgresql://db/gate", "--drop-events"], "--to"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_reached(
    words: list[str], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """64, and what to type."""
    assert run(["log", "migrate", *words]) == 64
    assert told in capfd.readouterr().err
