"""A real PostgreSQL as a source: the server itself keeps a query from writing."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import Kind
from gatekeeper.evidence.reading import ReadingProblem
from gatekeeper.evidence.sql.rows import Answer
from gatekeeper.model.times import require_time
from tests.evidence.sql_support import by_side, code, metric, read, read_one, reader

pytestmark = pytest.mark.server

GUARDRAIL = "observation_invalid:guardrail_value"
FAILED = "observation_invalid:query_failed"
INVALID_TIME = "observation_invalid:watermark_event_time"


def admin(database: str) -> psycopg.Connection[tuple[object, ...]]:
    """A session of the superuser, beside ours."""
    return psycopg.connect(database.replace("+psycopg", ""), autocommit=True)


@pytest.fixture
def sales(database: str) -> str:
    """URL of a database with a table of one row."""
    with admin(database) as session:
        session.execute("CREATE TABLE sales (rate float8, was numeric, n bigint)")
        session.execute("INSERT INTO sales VALUES (0.132, 0.129, 184211)")
    return database


@pytest.mark.parametrize(
    ("expression", "value", "text", "problem"),
    [
        ("0.132::float8", 0.132, "0.132", None),
        ("0.1000000000000000055511151231257827::numeric", 0.1, "0.1000000000000000055511151231257827", None),
        ("0.00000001::numeric", 1e-8, "0.00000001", None),
        ("count(*)", 1, "1", None),
        ("'NaN'::float8", None, "nan", GUARDRAIL),
        ("'NaN'::numeric", None, "NaN", GUARDRAIL),
        ("'-Infinity'::float8", None, "-inf", GUARDRAIL),
        ("'Infinity'::numeric", None, "Infinity", GUARDRAIL),
        ("9007199254740993", None, "9007199254740993", GUARDRAIL),
        ("NULL::float8", None, None, "observation_missing:empty_result"),
        ("'0.1'::text", None, "0.1", GUARDRAIL),
        ("true", None, "true", GUARDRAIL),
        ("now()", None, ..., GUARDRAIL),
        ("interval '1 s'", None, ..., GUARDRAIL),
    ],
)
def test_types_of_postgresql(
    sales: str, expression: str, value: float | None, text: object, problem: str | None
) -> None:
    """What has no finite number has no value, whatever type says it."""
    reading = read_one(sales, f"SELECT {expression} AS rate FROM sales")
    assert (reading.value, code(reading)) == (value, problem)
    assert text is ... or reading.value_text == text


def test_booleans_of_postgresql(database: str) -> None:
    """They are what `kind: boolean` wants."""
    switch, off = read(
        database,
        {
            "switch": metric("SELECT true AS rate", kind=Kind.BOOLEAN),
            "off": metric("SELECT 0 AS rate", kind=Kind.BOOLEAN),
        },
    )
    assert switch.value is True
    assert off.value is False


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("timestamptz '2026-02-18 01:59:10+01'", None),
        ("1771376350", None),
        ("extract(epoch from timestamptz '2026-02-18 00:59:10Z')", None),
        ("'2026-02-18T00:59:10Z'", None),
        ("timestamp '2026-02-18 00:59:10'", INVALID_TIME),
        ("date '2026-02-18'", INVALID_TIME),
        ("'yesterday'", INVALID_TIME),
        ("'NaN'::float8", INVALID_TIME),
        ("NULL::timestamptz", "observation_missing:watermark_event_time"),
        ("timestamptz 'infinity'", FAILED),
    ],
)
def test_watermarks_of_postgresql(database: str, expression: str, problem: str | None) -> None:
    """The time is the same in all forms that state it."""
    spec = metric(f"SELECT 1 AS rate, 2 AS was, {expression} AS until", baseline="was", watermark="until")
    both = by_side(read(database, {"sales": spec}))
    wanted = require_time("2026-02-18T00:59:10Z") if problem is None else None
    assert [(code(one), one.watermark) for one in both.values()] == [(problem, wanted)] * 2


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT length(':x %(a)s %s ? {y} %%') AS rate", 20),
        ("SELECT 7 % 4 AS rate -- 100 % of it", 3),
        ("SELECT '12'::int AS rate", 12),
        ("SELECT count(*) AS rate FROM sales WHERE 'a%b' LIKE 'a\\%b'", 1),
        ("SELECT 2 AS rate;", 2),
        ("WITH x AS (SELECT 5 AS rate) SELECT rate FROM x", 5),
        ("SELECT length(current_query()) AS rate   ", 41),
    ],
)
def test_the_text_is_sent_as_it_is_written(sales: str, query: str, value: int) -> None:
    """Nothing in it is taken for a parameter, and nothing is put around it."""
    assert read_one(sales, query).value == value


def test_a_statement_runs_in_a_read_only_transaction_with_a_limit(database: str) -> None:
    """As the server sees it, from within."""
    query = (
        "SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN 1 ELSE 0 END AS rate,"
        " setting::int AS milliseconds FROM pg_settings WHERE name = 'statement_timeout'"
    )
    metrics = {"read_only": metric(query), "milliseconds": metric(query, "milliseconds")}
    assert [one.value for one in read(database, metrics, timeout_seconds=0.75)] == [1, 750]
    left = read_one(database, query, "milliseconds", timeout_seconds=60, deadline=5).value
    assert left is not None
    assert 1000 < left <= 5000


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("INSERT INTO sales VALUES (1, 1, 1) RETURNING rate", "cannot execute INSERT in a read-only transaction"),
        ("WITH gone AS (DELETE FROM sales RETURNING rate) SELECT rate FROM gone", "read-only transaction"),
        ("DELETE FROM sales", "cannot execute DELETE in a read-only transaction"),
        ("SELECT 1 AS rate; COMMIT; DELETE FROM sales", "cannot execute DELETE in a read-only transaction"),
        ("COMMIT; DELETE FROM sales; SELECT 1 AS rate", "cannot execute DELETE in a read-only transaction"),
        ("SET TRANSACTION READ WRITE; DELETE FROM sales", "must be set before any query"),
        ("SELECT nextval('counted') AS rate", "cannot execute nextval() in a read-only transaction"),
        ("CREATE TEMP TABLE t (rate int)", "cannot execute CREATE TABLE in a read-only transaction"),
        ("VACUUM sales", "cannot run inside a transaction block"),
    ],
)
def test_a_query_that_would_write_is_a_mistake(sales: str, query: str, said: str) -> None:
    """The server refuses it; the rows are those that were there."""
    with admin(sales) as session:
        session.execute("CREATE SEQUENCE counted")
    with pytest.raises(CollectionError) as caught:
        read_one(sales, query)
    assert caught.value.message.startswith("evidence/collection.json: /metrics/rate/query: ")
    assert said in caught.value.message
    with admin(sales) as session:
        assert session.execute("SELECT * FROM sales").fetchall() == [(0.132, Decimal("0.129"), 184211)]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nosuch AS rate FROM sales", 'column "nosuch" does not exist'),
        ("SELECT rate FROM nosuch", 'relation "nosuch" does not exist'),
        ("SELECT rate FROM nosuch.sales", 'relation "nosuch.sales" does not exist'),
        ("SELECT rate FROM other.public.sales", "cross-database references are not implemented"),
        ("SELECT nosuch(1) AS rate", "function nosuch(integer) does not exist"),
        ("SELEC 1 AS rate", 'syntax error at or near "SELEC"'),
        ("SELECT :x AS rate", 'syntax error at or near ":"'),
        ("SELECT $1 AS rate", "there is no parameter $1"),
        ("SELECT rate FROM sales GROUP BY n", "must appear in the GROUP BY clause"),
        ("SELECT 1 AS rate; SELECT 2 AS rate", "more than one statement"),
        ("-- nothing", "yields no rows"),
        ("SELECT 1 AS ratio", 'no column "rate"; did you mean "ratio"? it has: ratio'),
    ],
)
def test_a_mistake_in_the_text_is_one_at_once(sales: str, query: str, said: str) -> None:
    """Waiting would mend nothing."""
    with pytest.raises(CollectionError) as caught:
        read_one(sales, query)
    assert caught.value.exit_code == 65
    assert said in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT 1 / (n - n) AS rate FROM sales", FAILED),
        ("SELECT ('x' || n)::int AS rate FROM sales", FAILED),
        ("SELECT (n * 1e300 * 1e300)::float8 AS rate FROM sales", FAILED),
        ("SELECT rate FROM sales WHERE n < 0", "observation_missing:empty_result"),
        ("SELECT rate FROM sales, generate_series(1, 3)", "observation_invalid:multiple_series"),
        ("SELECT sum(rate) AS rate FROM sales WHERE n < 0", "observation_missing:empty_result"),
    ],
)
def test_trouble_with_the_data_is_no_mistake_of_the_file(sales: str, query: str, problem: str) -> None:
    """Tomorrow's data may be better: the run holds."""
    reading = read_one(sales, query)
    assert (code(reading), reading.value) == (problem, None)


def test_a_failed_statement_leaves_the_next_alone(sales: str) -> None:
    """Each has a transaction of its own, over one connection."""
    metrics = {
        "a": metric("SELECT pg_backend_pid() AS rate"),
        "b": metric("SELECT 1 / 0 AS rate"),
        "c": metric("SELECT pg_backend_pid() AS rate, rate AS other FROM sales"),
    }
    a, b, c = read(sales, metrics)
    assert code(b) == FAILED
    assert a.value == c.value
    assert a.value is not None


def test_every_transaction_is_rolled_back(database: str) -> None:
    """A notification is sent when its transaction commits, and may be asked for in a read-only one."""
    with admin(database) as listener:
        listener.execute("LISTEN told")
        for table in ("pg_notify('told', 'ours')", "generate_series(1, 1)"):
            assert read_one(database, f"SELECT 1 AS rate FROM {table}").value == 1
        listener.execute("NOTIFY told, 'last'")
        assert [told.payload for told in listener.notifies(timeout=10, stop_after=1)] == ["last"]


def test_nothing_of_a_session_is_left_to_the_next_client_of_a_pooler(database: str) -> None:
    """What limits a statement is undone with its transaction, also where the statement failed."""
    one = reader(database, {"rate": metric("SELECT 1 AS rate")})
    session = one._database.connect()
    assert not isinstance(session, ReadingProblem)
    with session:
        assert isinstance(session.ask("SELECT 1 AS rate", 1), Answer)
        assert isinstance(session.ask("SELECT 1 / 0 AS rate", 1), ReadingProblem)
        left = session._connection.exec_driver_sql(
            "SELECT current_setting('default_transaction_read_only'), current_setting('transaction_read_only'),"
            " current_setting('statement_timeout')"
        ).one()
    assert tuple(left) == ("off", "off", "0")
    assert session._connection.closed
