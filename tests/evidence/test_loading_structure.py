"""Keys and types: which class reads a source or a metric depends on a type, and every slip on the way says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evidence.collections import FULL, errors, refusal
from tests.review.documents import MISSING, changed, encoded

TYPES = 'allowed: "prometheus", "sql", "http", "file"'
NAMES = 'allowed: "prom", "svc", "dwh", "part"'
SQL_KEYS = "allowed for sql: type, url, connect_timeout_seconds, timeout_seconds"

SLIPS: list[tuple[str, Any, str, str]] = [
    ("sources/prom/type", "prom", "/sources/prom/type", f'found text "prom"; did you mean "prometheus"? {TYPES}'),
    ("sources/prom/type", "Prometeus", "/sources/prom/type", f'did you mean "prometheus"? {TYPES}'),
    ("sources/dwh/type", "postgres", "/sources/dwh/type", f'found text "postgres"; did you mean "sql"? {TYPES}'),
    ("sources/svc/type", "https", "/sources/svc/type", f'found text "https"; did you mean "http"? {TYPES}'),
    ("sources/svc/type", "csv", "/sources/svc/type", f'found text "csv"; {TYPES}'),
    ("sources/svc/type", 3, "/sources/svc/type", f"found a number 3; {TYPES}"),
    ("sources/svc/type", None, "/sources/svc/type", f"found null; {TYPES}"),
    ("sources/svc/type", MISSING, "/sources/svc/type", f"the key is missing; {TYPES}"),
    ("sources/svc", "https://svc", "/sources/svc", 'allowed: an object with "type" and what a source of that type has'),
    ("sources/svc", None, "/sources/svc", 'found null; allowed: an object with "type"'),
    ("metrics/queue/source", "scv", "/metrics/queue/source", f'found text "scv"; did you mean "svc"? {NAMES}'),
    ("metrics/queue/source", "warehouse", "/metrics/queue/source", f'found text "warehouse"; {NAMES}'),
    ("metrics/queue/source", ["svc"], "/metrics/queue/source", f"found a list; {NAMES}"),
    ("metrics/queue/source", MISSING, "/metrics/queue/source", f"the key is missing; {NAMES}"),
    ("metrics/queue", None, "/metrics/queue", 'found null; allowed: an object with "source"'),
    ("metrics/queue", [1], "/metrics/queue", 'found a list; allowed: an object with "source"'),
    (
        "sources/dwh/headers",
        {},
        "/sources/dwh/headers",
        f'"headers" belongs to prometheus and http sources; {SQL_KEYS}',
    ),
    ("sources/dwh/pointer", "/a", "/sources/dwh/pointer", f'"pointer" belongs to metrics of http sources; {SQL_KEYS}'),
    ("sources/dwh/trust_env", False, "/sources/dwh/trust_env", '"trust_env" is not supported'),
    ("sources/dwh/timout_seconds", 5, "/sources/dwh/timout_seconds", 'unknown key; did you mean "timeout_seconds"?'),
    (
        "metrics/lift/pointer",
        "/a",
        "/metrics/lift/pointer",
        '"pointer" belongs to metrics of http sources; allowed for',
    ),
    ("metrics/lift/bind", False, "/metrics/lift/bind", '"bind" belongs to metrics of prometheus sources'),
    ("metrics/queue/url", "x", "/metrics/queue/url", '"url" belongs to prometheus and sql and http sources'),
    (
        "metrics/queue/kind",
        "counter",
        "/metrics/queue/kind",
        'did you mean "count"? allowed: "number", "count", "boolean"',
    ),
    ("sources/prom/dialect", "victoria", "/sources/prom/dialect", 'did you mean "victoriametrics"?'),
    ("sources/prom/ca_file", None, "/sources/prom/ca_file", "found null; allowed: text, or leave the key out"),
    ("metrics/lift/columns/val", "x", "/metrics/lift/columns/val", 'unknown key; did you mean "value"?'),
    ("metrics/lift/columns/value", MISSING, "/metrics/lift/columns/value", "the key is missing; allowed: text"),
    ("metrics/queue/range", [1], "/metrics/queue/range", "allowed: two numbers [low, high]"),
    ("windw", "5m", "/windw", 'unknown key; did you mean "window"?'),
    ("limits/parallelism", 2.5, "/limits/parallelism", "found a number 2.5; allowed: an integer"),
    ("limits/parallelism", True, "/limits/parallelism", "found a boolean true; allowed: an integer"),
    ("labels", {"a": "b"}, "/labels/a", "allowed: an object with variant, baseline"),
]


@pytest.mark.parametrize(("path", "value", "pointer", "says"), SLIPS)
def test_a_slip_is_named_with_what_was_meant(path: str, value: Any, pointer: str, says: str) -> None:
    """One slip, one line: place, what was found, what is allowed."""
    lines = refusal(changed(FULL, path, value))
    assert len(lines) == 1
    assert lines[0].startswith("c.json:1:")
    assert f": {pointer}: " in lines[0]
    assert says in lines[0]


def test_what_reads_a_source_that_is_unknown_is_not_a_second_problem() -> None:
    """The metrics of a source without a type cannot be read; their own slips come with the next try."""
    spoilt = changed(changed(FULL, "sources/svc/type", "htp"), "metrics/queue/pionter", "/a")
    assert errors(spoilt) == [("/sources/svc/type", "unknown_value")]


def test_without_sources_the_metrics_are_not_accused() -> None:
    """A missing key is one problem, not one for each metric."""
    assert errors(changed(FULL, "sources", MISSING)) == [("/sources", "missing_key")]
    assert errors(changed(FULL, "sources", ["prom"])) == [("/sources", "wrong_type")]
    assert ("/metrics/queue/source", "unknown_source") in errors({**FULL, "sources": {}})


def test_what_stands_below_an_unknown_key_goes_with_its_key() -> None:
    """One problem for a part that should not be there at all."""
    data = encoded(changed(FULL, "sources/dwh/headers", {"a": None, "b": 7})).replace(b": 7", b": NaN")
    assert b"NaN" in data
    (line,) = refusal(data)
    assert '"headers" belongs to' in line


def test_null_and_numbers_that_are_none_are_named_in_a_source() -> None:
    """The frame lets anything stand in a source; the class of the source does not."""
    spoilt = changed(changed(FULL, "sources/svc/ca_file", None), "sources/svc/max_bytes", 12345)
    data = encoded(spoilt).replace(b"12345", b"1e400")
    places = [line.split(": ")[1] for line in refusal(data)]
    assert places == ["/sources/svc/ca_file", "/sources/svc/max_bytes"]


def test_a_problem_stands_where_the_file_has_it() -> None:
    """Line and column of the key, counted by hand."""
    text = '{"sources": {"s": {"type": "http",\n  "url": "https://x", "pointer": "/a"}},\n'
    text += ' "metrics": {"m": {"source": "s",\n  "pointer": "a"}}}'
    assert [line.partition(": ")[0] for line in refusal(text.encode())] == ["c.json:2:23", "c.json:4:14"]


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("a/b", "/metrics/a~1b/pointr"),
        ("a~b", "/metrics/a~0b/pointr"),
        ("a b", "/metrics/a b/pointr"),
        ("ä", "/metrics/ä/pointr"),
        ("", "/metrics//pointr"),
        ("\x1b[2J", r"/metrics/\x1b[2J/pointr"),
    ],
)
def test_names_of_any_text_are_pointed_at(name: str, pointer: str) -> None:
    """Metric names are any text; the line stays one line and moves no cursor."""
    line = refusal({**FULL, "metrics": {name: {"source": "svc", "pointr": "/a", "pointer": "/a"}}})[-1]
    assert f": {pointer}: " in line
    assert line.isprintable()
