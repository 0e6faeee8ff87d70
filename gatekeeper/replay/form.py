"""Is a line written as RFC 8785 wants: answered on its bytes where that is sure, else by writing it again."""

from __future__ import annotations

import re

import orjson

from gatekeeper.errors import CanonicalError
from gatekeeper.model.canonical import canonical_bytes, digest_bytes
from gatekeeper.replay.report import Difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_WHOLE = re.compile(rb"[.]0[,}\]]")
_EXPONENT = re.compile(rb"e(?=[-+0-9])[-+]?[0-9]+[,}\]]")
_EXCERPT_BYTES = 40


def is_canonical(event: Mapping[str, Any], line: bytes) -> bool:
    """Whether *line*, which holds *event*, is surely canonical; False means that it takes a closer look.

    orjson sorts keys, leaves spaces out, and writes text as the RFC wants. Among ASCII texts it differs in
    two kinds of numbers only: doubles without a fraction (`1.0`) and those that it writes with an exponent.
    A line that it writes alike and that shows neither is what the RFC wants.
    """
    if not line.isascii() or _WHOLE.search(line) is not None or _EXPONENT.search(line) is not None:
        return False
    try:
        return orjson.dumps(event, option=_OPTIONS) == line
    except TypeError:  # an integer that readers would round
        return False


def part_digest(value: object) -> str:
    """Digest of a value that stands in a line of which `is_canonical` is True."""
    return digest_bytes(orjson.dumps(value, option=_OPTIONS))


def form_difference(event: Mapping[str, Any], line: bytes) -> Difference | None:
    """Where the bytes differ from the canonical form of the object that they hold."""
    what = "the line is not canonical JSON (RFC 8785)"
    try:
        expected = canonical_bytes(event)
    except CanonicalError as error:
        return Difference("canonical", what, None, error.message)
    if expected == line:
        return None
    at = next((index for index, (a, b) in enumerate(zip(expected, line, strict=False)) if a != b), None)
    start = min(len(expected), len(line)) if at is None else at
    return Difference("canonical", f"{what}, byte {start + 1}", _excerpt(expected, start), _excerpt(line, start))


def _excerpt(data: bytes, start: int) -> str:
    return data[start : start + _EXCERPT_BYTES].decode("utf-8", "replace")
