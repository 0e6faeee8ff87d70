"""Rules that many keys of a collection file share: how large a number may be, that a text says something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeGuard

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.secrets import blanked
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.times import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_TIMEOUT_SECONDS = 600
"""For one connection or answer; as long as a whole collection may take."""
ONE_DAY_SECONDS = 86_400
"""Nothing is scraped less often, or settles more slowly."""
MOST_BYTES = 67_108_864
"""Of one JSON answer, 64 MiB: it is held in memory."""

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LONGEST_WINDOW = 3_153_600_000_000  # milliseconds of 100 years: beyond, its beginning would leave the calendar


def bound(
    part: Mapping[str, Any], pointer: str, key: str, *, least: float | None = None, most: float
) -> Iterator[Problem]:
    """A number is at least *least*, or above 0 where that is not given, and at most *most*."""
    value = part.get(key)
    if not is_number(value):
        return
    too_small = value <= 0 if least is None else value < least
    if too_small or value > most:
        allowed = f"above 0, at most {most}" if least is None else f"{least} to {most}"
        yield Problem("collection.out_of_bounds", f"{pointer}/{key}", f"found {value}; allowed: {allowed}")


def text(part: Mapping[str, Any], pointer: str, key: str) -> Iterator[Problem]:
    """A text is not blank."""
    value = part.get(key)
    if isinstance(value, str) and not value.strip():
        yield Problem("collection.empty_text", f"{pointer}/{key}", "found an empty text; allowed: any other text")


def duration(part: Mapping[str, Any], pointer: str, key: str) -> Iterator[Problem]:
    """A text is a Prometheus duration."""
    value = part.get(key)
    if not isinstance(value, str):
        return
    milliseconds = parse_duration(value)
    if milliseconds is None or milliseconds > _LONGEST_WINDOW:
        allowed = 'a Prometheus duration above 0, at most 100y, such as "5m" or "1h30m"'
        yield Problem("collection.bad_duration", f"{pointer}/{key}", f'found "{value[:60]}"; allowed: {allowed}')


def variables(part: Mapping[str, Any], pointer: str, key: str, *, replaced: bool = True) -> Iterator[Problem]:
    """A text names variables in the one form that is replaced; where none is *replaced*, it names none."""
    value = part.get(key)
    if isinstance(value, str) and "${" in (blanked(value, "x") if replaced else value):
        allowed = "${NAME} with letters, digits and _, no digit first" if replaced else "a text without ${…}"
        where = "no form of a variable" if replaced else "nothing is replaced here"
        message = f"the value (not shown) has ${{…}}, and {where}; allowed: {allowed}"
        yield Problem("collection.bad_variable", f"{pointer}/{escape_pointer(key)}", message)


def is_number(value: object) -> TypeGuard[float]:
    """Whether *value* is a number of JSON, which true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_label(name: str) -> bool:
    """Whether a label of this name can be bound into selectors."""
    return _LABEL.fullmatch(name) is not None and name != "__name__"
