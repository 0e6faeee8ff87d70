"""SQLite files as a source: read, never written, never made, and left alone in time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from gatekeeper.errors import CollectionError
from gatekeeper.evidence.collection import Kind
from tests.evidence.sql_support import (
    by_side,
    code,
    collected,
    metric,
    read,
    read_one,
    reader,
    rows_of,
    sqlite_file,
)

TABLE = ("CREATE TABLE sales (rate REAL, was REAL, n INTEGER)", "INSERT INTO sales VALUES (0.132, 0.129, 184211)")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n{}"


def test_a_row_becomes_value_and_baseline(tmp_path: Path) -> None:
    """With query, columns and endpoint for the record."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    query = "SELECT rate, was FROM sales"
    both = by_side(read(url, {"sales": metric(query, baseline="was")}))
    assert (both["variant"].value, both["baseline"].value) == (0.132, 0.129)
    for reading in both.values():
        assert (reading.source, reading.problem) == ("dwh", None)
        assert reading.record == {"query": query, "endpoint": url, "columns": {"value": "rate", "baseline": "was"}}


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("SELECT 1 AS rate WHERE '5%' LIKE '%5\\%%' ESCAPE '\\'", 1),
        ("SELECT length(':x %(a)s %s ? {y} %%') AS rate", 20),
        ("SELECT 7 % 4 AS rate -- 100 % of it\n", 3),
        ("SELECT 2 AS rate;", 2),
    ],
)
def test_the_text_is_sent_as_it_is_written(tmp_path: Path, query: str, value: int) -> None:
    """Nothing in it is taken for a parameter."""
    assert read_one(sqlite_file(tmp_path / "w.db"), query).value == value


@pytest.mark.parametrize("name", ["ware house.db", "100%.db", "a#b.db", "a+b&c=d;e.db", "ü.db"])
def test_a_file_of_any_name_is_the_one_that_is_read(tmp_path: Path, name: str) -> None:
    """Names go through a URI of SQLite's, where some characters mean something."""
    url = sqlite_file(tmp_path / name, *TABLE)
    assert read_one(url, "SELECT rate FROM sales").value == 0.132
    assert os.listdir(tmp_path) == [name]


def test_a_uri_of_the_users_own_is_read_only_too(tmp_path: Path) -> None:
    """`mode=rwc` in it would make the file."""
    sqlite_file(tmp_path / "w.db", *TABLE)
    there = read_one(f"sqlite:///file:{tmp_path}/w.db?mode=rwc&uri=true", "SELECT rate FROM sales")
    assert there.value == 0.132
    absent = read_one(f"sqlite:///file:{tmp_path}/v.db?mode=rwc&uri=true", "SELECT 1 AS rate")
    assert code(absent) == "unreachable"
    assert os.listdir(tmp_path) == ["w.db"]


def test_a_file_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    """SQLite would make an empty one, in which a table is then missing: a mistake of the file that there is not."""
    reading = read_one(f"sqlite:///{tmp_path}/none.db", "SELECT 1 AS rate")
    assert (code(reading), reading.value) == ("unreachable", None)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_no_database_is_a_bad_endpoint(tmp_path: Path) -> None:
    """And a directory is unreachable."""
    (tmp_path / "w.db").write_text("rate,n\n0.1,5\n" * 100)
    assert code(read_one(f"sqlite:///{tmp_path}/w.db", "SELECT rate FROM sales")) == "bad_endpoint"
    assert code(read_one(f"sqlite:///{tmp_path}", "SELECT rate FROM sales")) == "unreachable"


def test_a_file_whose_writer_crashed_is_unreachable(tmp_path: Path) -> None:
    """Half a transaction is in it, and only a writer may undo that; SQLite calls it an attempt to write."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    writer = sqlite3.connect(tmp_path / "w.db", isolation_level=None)
    writer.execute("PRAGMA cache_spill = 1")
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN")
    writer.execute("CREATE TABLE pad AS SELECT zeroblob(100000)")
    writer.execute("UPDATE sales SET rate = 0.5")
    for end in ("", "-journal"):
        shutil.copy(tmp_path / f"w.db{end}", tmp_path / f"crashed.db{end}")
    writer.close()
    reading = read_one(f"sqlite:///{tmp_path}/crashed.db", "SELECT rate FROM sales")
    assert (code(reading), reading.value) == ("unreachable", None)
    assert read_one(url, "SELECT rate FROM sales").value == 0.132


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nosuch AS rate FROM sales", "no such column: nosuch"),
        ("SELECT rate FROM nosuch", "no such table: nosuch"),
        ("SELECT nosuch(1) AS rate", "no such function: nosuch"),
        ("SELEC 1 AS rate", 'near "SELEC": syntax error'),
        ("SELECT (1 AS rate", 'near "AS": syntax error'),
        ("SELECT (1", "incomplete input"),
        ("SELECT 'x AS rate", "unrecognized token"),
        ("SELECT abs(1, 2) AS rate", "wrong number of arguments to function abs()"),
        ("SELECT rate FROM sales, sales AS again", "ambiguous column name: rate"),
        ("SELECT max(sum(n)) AS rate FROM sales", "misuse of aggregate"),
        ("SELECT :x AS rate", "Incorrect number of bindings"),
        ("SELECT 1 AS rate; SELECT 2 AS rate", "one statement at a time"),
        ("SELECT 1 AS rate\0", "null character"),
        ("-- nothing", "yields no rows"),
        ("PRAGMA query_only", 'no column "rate"'),
        ("DELETE FROM sales", "attempt to write a readonly database"),
        ("INSERT INTO sales VALUES (1, 1, 1) RETURNING rate", "attempt to write a readonly database"),
        ("CREATE TEMP TABLE t (rate)", "attempt to write a readonly database"),
        ("ATTACH 'made.db' AS made", "too many attached databases"),
        ("VACUUM INTO 'made.db'", "too many attached databases"),
    ],
)
def test_a_mistake_in_the_text_is_one_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, said: str
) -> None:
    """It names the metrics and what SQLite says; nothing has been written, nothing been made."""
    monkeypatch.chdir(tmp_path)
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    with pytest.raises(CollectionError) as caught:
        read(url, {"a/b": metric(query), "c": metric(query)})
    assert caught.value.exit_code == 65
    assert caught.value.message.startswith("evidence/collection.json: /metrics/a~1b/")
    assert said in caught.value.message
    assert rows_of(tmp_path / "w.db", "sales") == [(0.132, 0.129, 184211)]
    assert os.listdir(tmp_path) == ["w.db"]


def test_a_wrong_column_is_told_with_the_right_one(tmp_path: Path) -> None:
    """Even where there is no row that could be read."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    with pytest.raises(CollectionError) as caught:
        read(url, {"sales": metric("SELECT rate, n FROM sales WHERE n < 0", "rates")})
    assert caught.value.message == (
        'evidence/collection.json: /metrics/sales/columns/value: the query has no column "rates"; '
        'did you mean "rate"? it has: rate, n'
    )


def test_metrics_that_share_a_text_are_all_held_against_it(tmp_path: Path) -> None:
    """A mistake in it is everybody's, a wrong column is that of the metric that names it."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    with pytest.raises(CollectionError, match=r": /metrics/a/query, /metrics/b/query: no such table: t$"):
        read(url, {"a": metric("SELECT 1 AS rate FROM t"), "b": metric("SELECT 1 AS rate FROM t", "was")})
    with pytest.raises(CollectionError, match=r": /metrics/b/columns/value: the query has no column"):
        read(url, {"a": metric("SELECT rate FROM sales"), "b": metric("SELECT rate FROM sales", "was")})


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT abs(-9223372036854775808) AS rate", "observation_invalid:query_failed"),
        ("SELECT json_extract('{', '$') AS rate", "observation_invalid:query_failed"),
        ("SELECT CAST(x'ff' AS TEXT) AS rate", "observation_invalid:query_failed"),
        ("SELECT 1 / 0 AS rate", "observation_missing:empty_result"),
        ("SELECT rate FROM sales WHERE n < 0", "observation_missing:empty_result"),
        ("SELECT rate FROM sales UNION ALL SELECT rate FROM sales", "observation_invalid:multiple_series"),
        ("SELECT 9e999 AS rate", "observation_invalid:guardrail_value"),
        ("SELECT '0.1' AS rate", "observation_invalid:guardrail_value"),
    ],
)
def test_trouble_with_the_data_is_no_mistake_of_the_file(tmp_path: Path, query: str, problem: str) -> None:
    """Tomorrow's data may be better: the run holds."""
    reading = read_one(sqlite_file(tmp_path / "w.db", *TABLE), query)
    assert (code(reading), reading.value) == (problem, None)


def test_a_statement_is_interrupted_at_its_limit(tmp_path: Path) -> None:
    """Whether it works on the first row or on a later one; the next statement is asked as if nothing had been."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    counting, searching = ENDLESS.format("count(*) AS rate", ""), ENDLESS.format("i AS rate", " WHERE i IN (1, -1)")
    metrics = {"a": metric(counting), "b": metric(searching), "c": metric("SELECT rate FROM sales")}
    started = time.monotonic()
    first, second, third = read(url, metrics, timeout_seconds=0.2)
    assert 0.4 <= time.monotonic() - started < 2
    for reading in (first, second):
        assert (code(reading), reading.value) == ("timeout", None)
        assert reading.problem is not None
        assert reading.problem.detail == "no answer within 0.2 s"
    assert (third.value, third.problem) == (0.132, None)


def test_a_lock_is_waited_for_until_the_limit(tmp_path: Path) -> None:
    """Not for the five seconds that Python's module waits by itself."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    writer = sqlite3.connect(tmp_path / "w.db", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    reading = read_one(url, "SELECT rate FROM sales", timeout_seconds=0.2)
    assert 0.15 <= time.monotonic() - started < 2
    assert code(reading) == "timeout"
    writer.execute("ROLLBACK")
    assert read_one(url, "SELECT rate FROM sales").value == 0.132
    writer.close()


def test_the_deadline_ends_what_the_limit_would_allow(tmp_path: Path) -> None:
    """What was answered before it counts, what came after is not asked; the metrics are all there."""
    url = sqlite_file(tmp_path / "w.db", *TABLE)
    endless = ENDLESS.format("count(*) AS rate", "")
    metrics = {
        "a": metric("SELECT rate FROM sales"),
        "b": metric(endless),
        "c": metric("SELECT was AS rate FROM sales"),
    }
    started = time.monotonic()
    document = collected(url, metrics, deadline=0.4).document
    assert time.monotonic() - started < 2
    assert document["metrics"] == {"a": 0.132, "b": None, "c": None}
    kinds = {name: (stated["problem"] or {}).get("kind") for name, stated in document["observations"].items()}
    assert kinds == {"a": None, "b": "timeout", "c": "timeout"}


def test_the_same_text_is_asked_once(tmp_path: Path) -> None:
    """Two metrics of one text are of one row; `random()` would differ if it were asked twice."""
    url = sqlite_file(tmp_path / "w.db")
    query = "SELECT random() % 1000000 AS rate, random() % 1000000 AS was"
    metrics = {"a": metric(query), "b": metric(query, "was", baseline="rate"), "c": metric(query + " ")}
    one = reader(url, metrics)
    assert one.progress == (0, 2)
    one.read()
    assert one.progress == (2, 2)
    a, b, base, other = one.readings()
    assert a.value == base.value
    assert len({a.value, b.value, other.value}) == 3


def test_readings_before_anything_was_asked_are_all_late(tmp_path: Path) -> None:
    """The deadline may come first: each metric and side has a reading all the same."""
    one = reader(sqlite_file(tmp_path / "w.db"), {"a": metric("SELECT 1 AS rate", baseline="rate"), "b": metric("…")})
    late = one.readings()
    assert [(reading.metric, str(reading.side), code(reading)) for reading in late] == [
        ("a", "variant", "timeout"),
        ("a", "baseline", "timeout"),
        ("b", "variant", "timeout"),
    ]
    assert late[0].record["query"] == "SELECT 1 AS rate"


def test_kinds_and_booleans_of_sqlite(tmp_path: Path) -> None:
    """It has no booleans: 0 and 1 are read as the metric's kind says."""
    url = sqlite_file(tmp_path / "w.db")
    metrics = {
        "switch": metric("SELECT 1 = 1 AS rate", kind=Kind.BOOLEAN),
        "leaks": metric("SELECT 0 AS rate", kind=Kind.COUNT),
        "half": metric("SELECT 0.5 AS rate", kind=Kind.COUNT),
    }
    switch, leaks, half = read(url, metrics)
    assert switch.value is True
    assert (leaks.value, leaks.problem) == (0, None)
    assert code(half) == "observation_invalid:out_of_range"
