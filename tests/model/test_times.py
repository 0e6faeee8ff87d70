from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.model.times import (
    MICROSECONDS,
    format_time,
    parse_duration,
    parse_time,
    require_time,
    seconds_to_microseconds,
)

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 - the zone is drawn beside it
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MOMENTS, ZONES)
def test_a_time_is_the_same_moment_in_every_zone(moment: datetime, zone: timezone) -> None:
    """Microseconds since 1970 do not depend on the zone in which the time is written."""
    written = moment.replace(tzinfo=zone)
    expected = (written - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert parse_time(written.isoformat()) == expected


@given(st.integers(0, 253_402_300_799 * MICROSECONDS))
def test_what_is_written_is_read_back(moment: int) -> None:
    """Six digits, UTC, and the order of texts is the order of times."""
    text = format_time(moment)
    assert (require_time(text), len(text), text[-1]) == (moment, 27, "Z")


def test_the_written_form() -> None:
    """As SPEC 7 shows it."""
    assert format_time(1_771_376_410_123_456) == "2026-02-18T01:00:10.123456Z"
    assert parse_time("2026-02-18T01:00:10.123456Z") == 1_771_376_410_123_456
    assert parse_time("2026-02-18T01:00:10Z") == parse_time("2026-02-18T02:00:10+01:00") == 1_771_376_410_000_000


@pytest.mark.parametrize(
    ("text", "fraction"),
    [("2026-02-18T01:00:10.1Z", 100_000), ("2026-02-18t01:00:10.1234567899z", 123_456), ("2026-02-18 01:00:10Z", 0)],
)
def test_forms_that_rfc3339_allows(text: str, fraction: int) -> None:
    """Small letters, a space, digits beyond microseconds (cut off)."""
    assert parse_time(text) == 1_771_376_410_000_000 + fraction


@pytest.mark.parametrize(
    "text",
    [
        None,
        0,
        1_771_376_410,
        True,
        [],
        "",
        "now",
        "2026-02-18",
        "2026-02-18T01:00:10",
        "2026-02-18T01:00Z",
        "2026-02-30T01:00:10Z",
        "2026-13-18T01:00:10Z",
        "2026-02-18T24:00:10Z",
        "2026-02-18T01:00:60Z",
        "2026-02-18T01:00:10.Z",
        "2026-02-18T01:00:10+0100",
        "2026-02-18T01:00:10+25:00",
        "20260218T010010Z",
        "2026-02-18T01:00:10Z ",
        " 2026-02-18T01:00:10Z",
        "2026-02-18T01:00:10Z\n",
        "\uff12026-02-18T01:00:10Z",
        "2026-02-18T01:00:10." + "1" * 60 + "Z",
        "0000-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_with_a_zone(text: object) -> None:
    """No guess: no zone, no time."""
    assert parse_time(text) is None


def test_a_time_that_the_program_wrote_must_parse() -> None:
    """Anything else is a bug, and said so."""
    with pytest.raises(ValueError, match="not an RFC 3339 time"):
        require_time("2026-02-18")


@pytest.mark.parametrize(
    ("seconds", "microseconds"),
    [
        (0, 0),
        (900, 900_000_000),
        (0.1, 100_000),
        (0.000001, 1),
        (0.0000019, 1),
        (1.1, 1_100_000),
        (86400.5, 86_400_500_000),
        (0.29, 290_000),
        (2.675, 2_675_000),
    ],
)
def test_stated_seconds_are_the_decimal_that_was_stated(seconds: float, microseconds: int) -> None:
    """0.29 s are 290,000 µs, not 289,999."""
    assert seconds_to_microseconds(seconds) == microseconds


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5m", 300_000),
        ("300s", 300_000),
        ("1h30m", 5_400_000),
        ("500ms", 500),
        ("1d", 86_400_000),
        ("1w", 604_800_000),
        ("1y", 31_536_000_000),
        ("1m1ms", 60_001),
        ("1y2w3d4h5m6s7ms", 33_019_506_007),
        ("05m", 300_000),
    ],
)
def test_durations_are_prometheus_durations(text: str, milliseconds: int) -> None:
    """Units in their order, each once; compared by length."""
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "5",
        "m",
        "0s",
        "0m0s",
        "-5m",
        "+5m",
        "1.5h",
        "5 m",
        "5m ",
        "5M",
        "1m1h",
        "1m1m",
        "\uff15m",
        "9" * 65 + "s",
        "5m\n",
    ],
)
def test_what_is_no_duration(text: object) -> None:
    """Zero is none, nor is another order or unit."""
    assert parse_duration(text) is None
