"""Readings into one snapshot: what lags is charged for its lag, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evidence.assembly import Moment, assemble
from gatekeeper.evidence.collection import (
    Collection,
    EvaluateAt,
    FileSource,
    Kind,
    Limits,
    LoadedCollection,
    PrometheusSource,
    SourceType,
)
from gatekeeper.evidence.reading import Reading, ReadingProblem, Side, Unavailable, checked_value, unavailable
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.model.times import require_time

SECOND = 1_000_000
T0 = require_time("2026-01-01T00:00:00Z")
PROM = PrometheusSource(SourceType.PROMETHEUS, "http://p", scrape_interval_seconds=15)


def loaded(window: str | None = "5m") -> LoadedCollection:
    """Two sources: a Prometheus scraping every 15 s, and a file."""
    collection = Collection(
        sources={"prom": PROM, "bake": FileSource(SourceType.FILE, "bake.json")},
        metrics={},
        window=window,
        labels={},
        evaluate_at=EvaluateAt(),
        limits=Limits(),
    )
    return LoadedCollection(collection, {}, "sha256:c", "collection.json")


def taken(*readings: Reading, window: str | None = "5m") -> Snapshot:
    """Asked for T0, the last answer 2 s later."""
    return assemble(readings, loaded(window), Moment(T0 // 1000, T0 + 2 * SECOND), snapshot_id="s-1")


def reading(metric: str, age_seconds: float | None, *, source: str = "prom", **more: Any) -> Reading:
    """A sound reading of 1 whose newest sample lies so long before T0."""
    watermark = None if age_seconds is None else T0 - round(age_seconds * SECOND)
    return Reading(metric, Side.VARIANT, source, value=1, value_text="1", watermark=watermark, **more)


def sources(snapshot: Snapshot) -> dict[str, tuple[str | None, list[str]]]:
    """Name -> watermark and metrics of each listed source."""
    listed = snapshot.document["_meta"]["sources"]
    return {entry["name"]: (entry["watermark_event_time"], entry["metrics"]) for entry in listed}


def test_an_observation_states_what_it_knew() -> None:
    """Query, text, watermark and coverage are what a person needs after an incident."""
    snapshot = taken(reading("errors", 3.875, coverage_ratio=0.95, record={"query": "up", "endpoint": "http://p"}))

    assert snapshot.document["observations"] == {
        "errors": {
            "source": "prom",
            "query": "up",
            "endpoint": "http://p",
            "value_text": "1",
            "watermark_event_time": "2025-12-31T23:59:56.125000Z",
            "coverage_ratio": 0.95,
            "problem": None,
        }
    }


def test_the_times_of_a_snapshot_are_the_oldest_of_its_sources() -> None:
    """Evidence is as old as its oldest part; one source states its age for all."""
    meta = taken(reading("a", 4), reading("b", 10)).document["_meta"]

    assert meta == {
        "snapshot_id": "s-1",
        "collector_digest": "sha256:c",
        "query_time": "2026-01-01T00:00:00.000000Z",
        "collected_at": "2026-01-01T00:00:02.000000Z",
        "window": "5m",
        "watermark_event_time": "2025-12-31T23:59:50.000000Z",
        "freshness_seconds": 12,
        "sources": [
            {
                "name": "prom",
                "watermark_event_time": "2025-12-31T23:59:50.000000Z",
                "freshness_seconds": 12,
                "metrics": ["a", "b"],
            }
        ],
    }


def test_a_lagging_metric_does_not_make_fresh_ones_of_its_server_old() -> None:
    """Harm in fresh series would be hidden behind somebody else's stale ones; and skew inside a server is skew."""
    snapshot = taken(reading("errors", 4), reading("p95", 30), reading("ledger", 183), reading("billing", 183))

    assert sources(snapshot) == {
        "prom": ("2025-12-31T23:59:30.000000Z", ["errors", "p95"]),
        "prom/billing": ("2025-12-31T23:56:57.000000Z", ["billing", "ledger"]),
    }
    assert snapshot.document["_meta"]["watermark_event_time"] == "2025-12-31T23:56:57.000000Z"
    assert "freshness_seconds" not in snapshot.document["_meta"]


def test_a_lag_of_two_scrapes_is_no_lag() -> None:
    """Targets are scraped at different moments of one interval: 30 s at an interval of 15 s."""
    assert list(sources(taken(reading("a", 4), reading("b", 34)))) == ["prom"]
    assert list(sources(taken(reading("a", 4), reading("b", 34.001)))) == ["prom", "prom/b"]


def test_a_metric_with_a_problem_dates_nothing() -> None:
    """A dead series, ten minutes old, decides its own rules; the age of the others is their own."""
    stale = ReadingProblem("observation_stale:over_freshness_budget", "603.9 s old")

    snapshot = taken(reading("errors", 4), reading("dead", 603.875, problem=stale))

    assert sources(snapshot) == {"prom": ("2025-12-31T23:59:56.000000Z", ["errors"])}
    assert snapshot.document["observations"]["dead"]["problem"]["detail"] == "603.9 s old"
    assert snapshot.document["observations"]["dead"]["watermark_event_time"] == "2025-12-31T23:49:56.125000Z"


def test_a_source_that_states_no_time_is_listed_without_one() -> None:
    """Left out, it would count as fresh by the other source's watermark."""
    snapshot = taken(reading("errors", 4), reading("lift", None, source="bake"))

    assert sources(snapshot) == {"prom": ("2025-12-31T23:59:56.000000Z", ["errors"]), "bake": (None, ["lift"])}
    assert "freshness_seconds" not in snapshot.document["_meta"]


def test_a_source_that_is_down_is_named_by_its_observations() -> None:
    """Its problem decides; it must not be charged once more for having no watermark."""
    down = unavailable(Unavailable.UNREACHABLE, "connection refused by 127.0.0.1:9")

    document = taken(Reading("errors", Side.VARIANT, "prom", problem=down)).document

    assert document["_meta"]["sources"] == []
    assert "watermark_event_time" not in document["_meta"]
    assert document["metrics"] == {"errors": None}
    assert document["observations"]["errors"]["problem"] == {
        "code": "observation_missing:source_unavailable",
        "detail": "connection refused by 127.0.0.1:9",
        "kind": "unreachable",
    }


@pytest.mark.parametrize(
    ("stated", "longest", "window"),
    [
        ("5m", 300_000, "5m"),
        ("5m", None, "5m"),
        ("5m", 900_000, "15m"),  # a window that began before the stage must not look younger than it is
        (None, 90_000, "90s"),
        (None, 1_500, "1500ms"),
        (None, None, None),
    ],
)
def test_the_window_is_the_longest_that_a_value_looks_back_over(
    stated: str | None, longest: int | None, window: str | None
) -> None:
    """`window_before_stage` reckons with it: a shorter one would let old traffic judge a new stage."""
    snapshot = taken(reading("a", 4), reading("b", 4, window_milliseconds=longest), window=stated)

    assert snapshot.document["_meta"].get("window") == window


def test_statistics_fill_the_promotion_part() -> None:
    """The promotion gate reads them there."""
    document = taken(reading("lift", 4, statistics={"sample_size": 10, "ci_low": 0.1}), reading("errors", 4)).document

    assert document["promotion"] == {"lift": {"sample_size": 10, "ci_low": 0.1}}


def test_the_baseline_is_a_part_with_times_of_its_own() -> None:
    """Budgets compare with it; its problems are its own."""
    empty = ReadingProblem("observation_missing:empty_result", "no series")
    document = taken(
        reading("errors", 4),
        Reading("errors", Side.BASELINE, "prom", value=0.5, value_text="0.5", watermark=T0 - 9 * SECOND),
        Reading("p95", Side.BASELINE, "prom", problem=empty),
    ).document

    assert document["metrics"] == {"errors": 1}
    assert document["baseline"]["metrics"] == {"errors": 0.5, "p95": None}
    assert document["baseline"]["observations"]["p95"]["problem"]["code"] == "observation_missing:empty_result"
    assert document["baseline"]["_meta"]["watermark_event_time"] == "2025-12-31T23:59:51.000000Z"
    assert document["baseline"]["_meta"]["window"] == document["_meta"]["window"] == "5m"


def test_without_a_baseline_there_is_no_baseline_part() -> None:
    """An empty part would be a baseline that lacks everything."""
    assert "baseline" not in taken(reading("errors", 4)).document


@pytest.mark.parametrize(
    ("number", "kind", "side", "value", "code"),
    [
        (0.5, Kind.NUMBER, Side.VARIANT, 0.5, None),
        (float("nan"), Kind.NUMBER, Side.VARIANT, None, "observation_invalid:guardrail_value"),
        (float("inf"), Kind.NUMBER, Side.BASELINE, None, "observation_invalid:baseline_value"),
        (float(2**53), Kind.NUMBER, Side.VARIANT, None, "observation_invalid:guardrail_value"),
        (float("nan"), Kind.BOOLEAN, Side.VARIANT, None, "observation_invalid:constraint_value"),
        (0.0, Kind.BOOLEAN, Side.VARIANT, False, None),
        (1.0, Kind.BOOLEAN, Side.VARIANT, True, None),
        (0.5, Kind.BOOLEAN, Side.VARIANT, None, "observation_invalid:constraint_value"),
        (2.0, Kind.BOOLEAN, Side.BASELINE, None, "observation_invalid:baseline_value"),
        (7.0, Kind.COUNT, Side.VARIANT, 7, None),
        (-1.0, Kind.COUNT, Side.VARIANT, -1, "observation_invalid:out_of_range"),
        (279.5, Kind.COUNT, Side.VARIANT, 279.5, "observation_invalid:out_of_range"),
    ],
)
def test_a_number_that_is_no_value_of_its_kind_is_none(
    number: float, kind: Kind, side: Side, value: object, code: str | None
) -> None:
    """NaN compares false with every limit, and 0.5 is neither false nor true."""
    found, problem = checked_value(number, kind=kind, bounds=None, side=side)

    assert (found, type(found)) == (value, type(value))
    assert (problem.code if problem else None) == code


@pytest.mark.parametrize(("number", "is_inside"), [(0, True), (1, True), (-0.001, False), (97.3, False)])
def test_bounds_are_inclusive_and_nothing_is_clamped(number: float, is_inside: bool) -> None:
    """97.3 percent in place of 0.973 is a mistake of the writer, not a very good ratio."""
    found, problem = checked_value(number, kind=Kind.NUMBER, bounds=(0, 1), side=Side.VARIANT)

    assert found == number
    assert (problem is None) == is_inside
    assert is_inside or (problem is not None and problem.code == "observation_invalid:out_of_range")
