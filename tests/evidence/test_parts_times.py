from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatekeeper.evidence.reading import Reading
from gatekeeper.model.times import format_time
from tests.evidence.http_support import code
from tests.evidence.parts_support import collected, variant


def at(minute_second: str) -> str:
    """A moment shortly before NOW, which is 01:00:10."""
    return f"2026-02-18T00:{minute_second}Z"


def dated(folder: Path, meta: dict[str, Any], observation: dict[str, Any] | None = None) -> Reading:
    """The reading of one metric of a part with this `_meta`."""
    return variant(folder, {"metrics": {"rate": 1}, "observations": {"rate": observation or {}}, "_meta": meta})


def watermark(reading: Reading) -> str | None:
    """Minute and second of the watermark."""
    return None if reading.watermark is None else format_time(reading.watermark)[14:19]


def source(moment: str | None, *metrics: str) -> dict[str, Any]:
    """An entry of `sources`."""
    return {"name": "s", "watermark_event_time": moment, **({"metrics": list(metrics)} if metrics else {})}


COLLECTED = {"collected_at": at("59:50")}


@pytest.mark.parametrize(
    ("meta", "observation", "expected"),
    [
        ({"watermark_event_time": at("59:40")}, {}, "59:40"),
        ({"watermark_event_time": at("59:40")}, {"watermark_event_time": at("59:30")}, "59:30"),
        ({"watermark_event_time": at("59:30")}, {"watermark_event_time": at("59:40")}, "59:40"),
        ({"watermark_event_time": at("59:40"), "sources": [source(at("59:20"), "rate")]}, {}, "59:20"),
        ({"sources": [source(at("59:20"), "rate"), source(at("59:10"))]}, {}, "59:10"),
        ({"sources": [source(at("59:20"), "rate"), source(at("59:10"), "other")]}, {}, "59:20"),
        ({"sources": [source(at("59:20"), "rate")]}, {"watermark_event_time": at("59:10")}, "59:10"),
        ({"sources": [source(at("59:20"), "rate")]}, {"watermark_event_time": at("59:30")}, "59:20"),
    ],
)
def test_the_oldest_time_that_is_stated_for_a_metric_is_its_age(
    tmp_path: Path, meta: dict[str, Any], observation: dict[str, Any], expected: str
) -> None:
    """Its observation's and its sources'; with neither, the part's own."""
    reading = dated(tmp_path, {**COLLECTED, **meta}, observation)
    assert (watermark(reading), reading.problem) == (expected, None)


def test_a_time_beside_the_metrics_counts_as_well(tmp_path: Path) -> None:
    """The founding form has no `_meta`."""
    assert watermark(variant(tmp_path, {"metrics": {"rate": 1}, "watermark_event_time": at("59:40")})) == "59:40"


def test_a_part_that_lay_about_is_as_old_as_its_data(tmp_path: Path) -> None:
    """25 s of age were true when it was collected at 58:00; its newest event is of 57:35, whatever else it states."""
    meta = {"collected_at": at("58:00"), "freshness_seconds": 25}
    assert watermark(dated(tmp_path, meta)) == "57:35"
    assert watermark(dated(tmp_path, {**meta, "watermark_event_time": at("57:50")})) == "57:35"
    assert watermark(dated(tmp_path, {**meta, "watermark_event_time": at("57:10")})) == "57:10"


def test_an_age_without_a_time_of_collection_counts_from_now(tmp_path: Path) -> None:
    """The best that it can mean."""
    assert watermark(dated(tmp_path, {"freshness_seconds": 20})) == "59:50"


def test_no_event_is_newer_than_the_collection_that_found_it(tmp_path: Path) -> None:
    """An event of 59:55 in a part of 59:50 was stated by a clock that runs ahead."""
    assert watermark(dated(tmp_path, {**COLLECTED, "watermark_event_time": at("59:55")})) == "59:50"


@pytest.mark.parametrize(
    "meta",
    [
        {},
        COLLECTED,
        {**COLLECTED, "watermark_event_time": at("59:40"), "sources": [source(None, "rate")]},
        {**COLLECTED, "watermark_event_time": at("59:40"), "sources": [source(None)]},
        {**COLLECTED, "watermark_event_time": at("59:40"), "sources": [source(at("59:30")), source(None, "rate")]},
        {**COLLECTED, "watermark_event_time": at("59:40"), "sources": ["nightly"]},
        {**COLLECTED, "watermark_event_time": at("59:40"), "sources": "nightly"},
    ],
)
def test_a_metric_whose_source_states_no_time_is_undated_and_listed_so(tmp_path: Path, meta: dict[str, Any]) -> None:
    """`collected_at` says when somebody looked, not how old what he saw was."""
    reading = dated(tmp_path, meta)
    assert (reading.watermark, reading.problem) == (None, None)
    part = {"metrics": {"rate": 1}, "_meta": meta}
    (entry,) = collected(tmp_path, part, "rate").document["_meta"]["sources"]
    assert entry == {"name": "part", "watermark_event_time": None, "metrics": ["rate"]}


def test_the_window_of_an_undated_part_begins_where_the_part_says(tmp_path: Path) -> None:
    """Collected at 30:00, its window begins before a stage of 40:00: the collection's own time must not hide it."""
    part = {"metrics": {"rate": 1}, "_meta": {"collected_at": at("30:00"), "window": "5m"}}
    document = collected(tmp_path, part, "rate").document
    assert document["observations"]["rate"]["watermark_event_time"] == "2026-02-18T00:30:00.000000Z"
    assert "watermark_event_time" not in document["_meta"]


@pytest.mark.parametrize(
    ("meta", "observation", "problem"),
    [
        ({"collected_at": "2026-02-18T01:00:16Z"}, {}, "collected_at"),
        ({"collected_at": "2026-02-18T00:59:50"}, {}, "collected_at"),
        ({"collected_at": 1771376380}, {}, "collected_at"),
        ({"collected_at": "0001-01-01T00:00:00+14:00"}, {}, "collected_at"),
        ({"watermark_event_time": "2026-02-18T01:00:16Z"}, {}, "watermark_event_time"),
        ({"watermark_event_time": "yesterday"}, {}, "watermark_event_time"),
        ({"watermark_event_time": at("59:40")}, {"watermark_event_time": "soon"}, "watermark_event_time"),
        ({"sources": [source("2026-02-18T01:00:16Z", "rate")]}, {}, "watermark_event_time"),
        ({"sources": [source("2026-02-18T01:00:16Z")]}, {}, "watermark_event_time"),
        ({"freshness_seconds": -1}, {}, "freshness_seconds"),
        ({"freshness_seconds": "25"}, {}, "freshness_seconds"),
        ({"freshness_seconds": True}, {}, "freshness_seconds"),
    ],
)
def test_a_time_that_is_none_or_lies_ahead_is_invalid_evidence(
    tmp_path: Path, meta: dict[str, Any], observation: dict[str, Any], problem: str
) -> None:
    """More than 5 s ahead is no difference between two clocks; the value beside it is kept for the record."""
    reading = dated(tmp_path, {**COLLECTED, **meta}, observation)
    assert (reading.value, code(reading)) == (1, f"observation_invalid:{problem}")


def test_a_window_that_is_no_duration_is_none(tmp_path: Path) -> None:
    """As where the part is given directly: nobody can tell where it began."""
    reading = dated(tmp_path, {**COLLECTED, "window": "5 minutes"})
    assert (reading.value, code(reading)) == (1, "observation_missing:window")


@pytest.mark.parametrize("name", ["collected_at", "watermark_event_time"])
def test_five_seconds_ahead_are_two_clocks(tmp_path: Path, name: str) -> None:
    """NOW is 01:00:10."""
    assert dated(tmp_path, {name: "2026-02-18T01:00:15Z"}).problem is None


def test_the_time_of_a_source_of_other_metrics_is_not_this_ones_trouble(tmp_path: Path) -> None:
    """It is charged to whom it lists."""
    meta = {**COLLECTED, "watermark_event_time": at("59:40"), "sources": [source("soon", "other")]}
    assert dated(tmp_path, meta).problem is None


def test_what_went_wrong_comes_before_when_it_was(tmp_path: Path) -> None:
    """One problem is stated, and the value's is the graver one."""
    observation = {"problem": {"code": "observation_invalid:multiple_series", "detail": "3"}}
    reading = dated(tmp_path, {"collected_at": "soon"}, observation)
    assert code(reading) == "observation_invalid:multiple_series"


@pytest.mark.parametrize(("stated", "window"), [("5m", 300_000), ("1h30m", 5_400_000), (None, None)])
def test_the_window_of_a_part_is_the_window_of_its_values(
    tmp_path: Path, stated: str | None, window: int | None
) -> None:
    """Milliseconds."""
    assert dated(tmp_path, {**COLLECTED, "window": stated}).window_milliseconds == window


def test_a_window_that_is_longer_than_the_collections_is_seen_in_the_snapshot(tmp_path: Path) -> None:
    """A nightly number looks back over a day, whatever the other sources do."""
    part = {"metrics": {"rate": 1}, "_meta": {**COLLECTED, "window": "24h"}}
    assert collected(tmp_path, part, "rate", window="5m").document["_meta"]["window"] == "1440m"
