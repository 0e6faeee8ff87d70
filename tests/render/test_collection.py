"""The table of `--verbose`: a person must see what was asked, how old it is and what is wrong with it."""

from __future__ import annotations

from typing import Any

from gatekeeper.render import load
from gatekeeper.render.collection import observations_page, problem_lines
from gatekeeper.render.page import Layout

SNAPSHOT: dict[str, Any] = {
    "metrics": {"errors": 0.0098, "ledger": None, "p95": None},
    "observations": {
        "errors": {
            "source": "prom",
            "query": 'sum(rate(http_requests_total{track="canary"}[5m]))',
            "value_text": "0.0098",
            "watermark_event_time": "2025-12-31T23:59:56.125000Z",
            "coverage_ratio": 0.95,
            "problem": None,
        },
        "ledger": {
            "source": "prom",
            "query": "sum(ledger)",
            "value_text": None,
            "problem": {"code": "observation_missing:empty_result", "detail": "no series"},
        },
        "p95": {
            "source": "prom",
            "query": "p95",
            "value_text": "NaN",
            "watermark_event_time": "2025-12-31T23:59:50.000000Z",
            "problem": {"code": "observation_invalid:guardrail_value", "detail": "not a finite number: nan"},
        },
    },
    "baseline": {
        "metrics": {"errors": 0.0101},
        "observations": {"errors": {"source": "prom", "query": "b", "value_text": "0.0101", "problem": None}},
        "_meta": {"collected_at": "2026-01-01T00:00:01.000000Z"},
    },
    "_meta": {
        "query_time": "2026-01-01T00:00:00.000000Z",
        "collected_at": "2026-01-01T00:00:01.000000Z",
        "window": "5m",
        "sources": [
            {"name": "prom", "watermark_event_time": "2025-12-31T23:59:56.125000Z", "metrics": ["errors"]},
            {"name": "dwh", "watermark_event_time": None, "metrics": ["lift", "sales"]},
        ],
    },
}


def rows(width: int = 160) -> list[str]:
    """The page as a wide terminal shows it, runs of spaces as one."""
    text = load("text").page(observations_page(SNAPSHOT), Layout(width))
    return [" ".join(line.split()) for line in text.splitlines()]


def test_each_observation_has_its_value_watermark_age_and_coverage() -> None:
    """Age is what no other gate shows: 00:00:01 - 23:59:56.125 = 4.9 s."""
    assert "errors variant 0.0098 2025-12-31T23:59:56Z 4.9 s 95 % -" in rows()
    assert "errors baseline 0.0101 - - - -" in rows()


def test_an_observation_with_a_problem_shows_it_with_the_query_to_mend() -> None:
    """The text that was no number, the code that the check will state, and why."""
    shown = rows()

    assert "p95 variant NaN 2025-12-31T23:59:50Z 11.0 s - observation_invalid:guardrail_value" in shown
    assert "not a finite number: nan <- p95" in shown
    assert "ledger variant - - - - observation_missing:empty_result" in shown
    assert "no series <- sum(ledger)" in shown
    assert shown[0] == "4 observations, 2 with a problem"


def test_sources_are_listed_with_the_oldest_first() -> None:
    """Whoever looks for the laggard finds it at the top; one without a time is worse than old."""
    shown = rows()

    assert shown.index("- dwh: - old (lift, sales)") < shown.index("- prom: 4.9 s old (errors)")


def test_each_trouble_is_told_once_with_all_that_it_hit() -> None:
    """What standard error says in a CI job; a source that is down is one trouble, not one for each metric."""
    assert problem_lines(SNAPSHOT) == [
        "observation_missing:empty_result: ledger: no series",
        "observation_invalid:guardrail_value: p95: not a finite number: nan",
    ]
    down = {"problem": {"code": "observation_missing:source_unavailable", "detail": "connection refused by p:9"}}
    snapshot = {"observations": {"a": down, "b": down}, "baseline": {"observations": {"a": down}}}
    assert problem_lines(snapshot) == [
        "observation_missing:source_unavailable: a, b, baseline.a: connection refused by p:9"
    ]


def test_a_trouble_of_thousands_is_still_a_line() -> None:
    """A source that feeds everything is down: its name and the first metrics say so."""
    down = {"problem": {"code": "c:d", "detail": "x"}}

    (line,) = problem_lines({"observations": {f"m{number:04}": down for number in range(3000)}})

    names = ", ".join(f"m{number:04}" for number in range(10))
    assert line == f"c:d: {names} and 2990 more: x"
    (line,) = problem_lines({"observations": {"m" * 5000: down}})
    assert line == f"c:d: {'m' * 100}...: x"


def test_a_long_trouble_is_told_in_full() -> None:
    """The end of a sentence is what says what to do."""
    detail = "x" * 300 + " end"
    snapshot = {"observations": {"a": {"problem": {"code": "c:d", "detail": detail}}}}

    assert problem_lines(snapshot) == [f"c:d: a: {detail}"]
    assert "end" in load("text").page(observations_page(snapshot), Layout(500))


def test_a_snapshot_without_observations_is_no_crash() -> None:
    """A collection of file parts may have nothing to show."""
    assert observations_page({"metrics": {}}).headline == "0 observations, 0 with a problem"
