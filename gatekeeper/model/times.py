"""Times and durations as integers of microseconds: exact, comparable, without a clock.

A time is RFC 3339 with a zone; a duration is Prometheus' notation (`5m`, `1h30m`, `500ms`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

MICROSECONDS = 1_000_000
"""Microseconds in a second."""

_LONGEST_TEXT = 64
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,30})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DURATION = re.compile(r"(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?", re.ASCII)
_UNIT_MILLISECONDS = (31_536_000_000, 604_800_000, 86_400_000, 3_600_000, 60_000, 1_000, 1)


def parse_time(text: object) -> int | None:
    """Microseconds since 1970 of an RFC 3339 time with a zone; None for anything else.

    Digits beyond microseconds are cut off. A leap second (`:60`) does not parse.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT:
        return None
    return _parse_time(text)


@lru_cache(maxsize=4096)  # one check meets the same few texts again and again
def _parse_time(text: str) -> int | None:
    if not _RFC3339.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.replace("t", "T").replace("z", "Z"))
    except ValueError:
        return None
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * MICROSECONDS + since.microseconds


def require_time(text: str) -> int:
    """`parse_time` for a time that the program itself wrote. Raises ValueError if it does not parse."""
    moment = parse_time(text)
    if moment is None:
        raise ValueError(f"not an RFC 3339 time with a zone: {text!r}")
    return moment


@lru_cache(maxsize=256)
def format_time(microseconds: int) -> str:
    """RFC 3339 in UTC with six digits: `2026-02-18T01:00:10.123456Z`."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def seconds_to_microseconds(seconds: float) -> int:
    """A stated number of seconds as microseconds, by the decimal number that its shortest text states."""
    if isinstance(seconds, int):
        return seconds * MICROSECONDS
    from decimal import Decimal

    return int(Decimal(repr(seconds)) * MICROSECONDS)


def parse_duration(text: object) -> int | None:
    """Milliseconds of a Prometheus duration greater than zero; None for anything else.

    Source: the duration grammar of Prometheus: units `y w d h m s ms`, in this order, each once.
    """
    if not isinstance(text, str) or not text or len(text) > _LONGEST_TEXT:
        return None
    return _parse_duration(text)


@lru_cache(maxsize=256)
def _parse_duration(text: str) -> int | None:
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    total = sum(int(count) * unit for count, unit in zip(match.groups(), _UNIT_MILLISECONDS, strict=True) if count)
    return total or None
