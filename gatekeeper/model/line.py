"""A line of a log as bytes: what is an event, what is damaged. One rule for the ledger and for all readers."""

from __future__ import annotations

import json
import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_SEQ = b'"seq":'
_DIGITS = re.compile(rb"\s*(\d{1,16})\s*[,}]")


def is_blank(line: bytes) -> bool:
    """Whether readers pass over the line: nothing in it but space."""
    return not line or line.isspace()


def is_chained(event: Mapping[str, Any]) -> bool:
    """Whether the event has a place in the chain; a founding-style line has no `kind`."""
    return "kind" in event


def stated_seq(line: bytes) -> int | None:
    """The `seq` read off a line's bytes, for readers that do not parse it; None where it shows none.

    In a canonical event the last key `seq` is the event's own: no object behind it holds that key, and
    text holds no bare quote.
    """
    found = line.rfind(_SEQ)
    match = _DIGITS.match(line, found + len(_SEQ)) if found >= 0 else None
    return None if match is None else int(match[1])


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


_decode_text = json.JSONDecoder(parse_constant=_refuse_constant).decode


def decode(line: bytes) -> dict[str, Any] | None:
    """The JSON object on a line; None when the line is damaged. A carriage return at the end is no damage."""
    try:
        value = _decode_text(line.decode("utf-8"))
        if b"\\ud" in line or b"\\uD" in line:  # half a character has no bytes: nothing could hold or digest it
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@cache
def bulk_decoder() -> Callable[[bytes], dict[str, Any] | None]:
    """`decode` by orjson, whose import repays itself over many lines; the answers are the same."""
    import orjson

    def decode_bulk(line: bytes) -> dict[str, Any] | None:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            return decode(line)  # the two must never disagree about what is damaged
        return value if isinstance(value, dict) else None

    return decode_bulk
