"""Canonical JSON for a process that writes many lines: by orjson, where that writes what RFC 8785 wants.

The library costs more to import than one line costs to encode, so a single check never comes here.
"""

from __future__ import annotations

import orjson

from gatekeeper.model.canonical import canonical_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)
_SIMPLE = frozenset({str, bool, type(None), int})  # orjson itself refuses an integer that is too large
_ENDS_OF_WHOLE_DOUBLES = (b".0,", b".0}", b".0]")  # RFC 8785 writes such a double as an integer
_FIRST_WITHOUT_EXPONENT = 1e-4
_FIRST_WITH_EXPONENT = 1e16


def bulk_canonical_bytes(value: object) -> bytes:
    """What `canonical_bytes` gives, sooner. Raises what that raises."""
    whole_doubles = _whole_doubles(value)
    if whole_doubles is None:
        return canonical_bytes(value)
    try:
        data = orjson.dumps(value, option=_OPTIONS)
    except (TypeError, ValueError):  # what it refuses, the other encoder names
        return canonical_bytes(value)
    if not data.isascii():  # the RFC sorts by UTF-16 code units, orjson does not
        return canonical_bytes(value)
    if not whole_doubles:
        return data
    found = {end: data.count(end) for end in _ENDS_OF_WHOLE_DOUBLES}
    if sum(found.values()) != whole_doubles:  # a text looks like the end of a double, or a double stands alone
        return canonical_bytes(value)
    for end, times in found.items():
        if times:
            data = data.replace(end, end[-1:])
    return data


def _whole_doubles(value: object) -> int | None:
    """How many doubles are whole numbers; None where a value may be written otherwise by orjson.

    That are doubles that are written with an exponent by one of the two, -0, NaN and the infinities, which
    orjson writes as null, and everything that is no plain JSON type.
    """
    count = 0
    waiting: list[Any] = [(value,)]
    while waiting:
        part = waiting.pop()
        for item in part.values() if type(part) is dict else part:
            kind = type(item)
            if kind in _SIMPLE:
                continue
            if kind is dict or kind is list or kind is tuple:
                waiting.append(item)
            elif kind is float:
                size = abs(item)
                if not _FIRST_WITHOUT_EXPONENT <= size < _FIRST_WITH_EXPONENT and repr(item) != "0.0":
                    return None
                count += item.is_integer()
            else:
                return None
    return count
