"""Keys and types: what the document holds that no policy can hold, each problem with its place.

Two passes look at one document: a plain one for what JSON readers bend silently (null, NaN, lone
surrogates), and pydantic's, whose list of errors becomes sentences here.
"""

from __future__ import annotations

import json

from gatekeeper.model.document import NotADouble, escape_pointer
from gatekeeper.model.snapshot import json_type
from gatekeeper.review.problem import Problem
from gatekeeper.review.shapes import describe, keys_at, suggestion, words_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_NUMBER = "a finite number that every reader of JSON keeps, integers up to 2^53-1"
_LONGEST_SHOWN = 60  # characters of a value in a message


def pointer_of(path: Sequence[str | int]) -> str:
    """JSON Pointer of a path of keys and indexes."""
    return "".join(f"/{escape_pointer(str(step))}" for step in path)


def shown(value: object) -> str:
    """The type and, for a scalar, the text of a value, on one line: `text "400"`."""
    kind = json_type(value)
    if value is None or isinstance(value, (list, dict)):
        return kind
    text = str(value) if isinstance(value, NotADouble) else json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return f"{kind} {text}"


def odd_value(path: Sequence[str | int], value: object, *, at_key: bool = False, too_deep: bool = False) -> Problem:
    """What is wrong with a value that no policy can hold anywhere, or with the name before it."""
    pointer = pointer_of(path)
    if at_key:
        return Problem("policy.bad_text", pointer, "the key holds half of a surrogate pair", at_key=True)
    if too_deep:
        return Problem("policy.too_deep", pointer, "nested too deeply")
    if value is None:
        return Problem("policy.null", pointer, f"found null; allowed: {describe(path)}, or leave the key out")
    if isinstance(value, NotADouble):
        return Problem("policy.not_a_number", pointer, f"found {shown(value)}; allowed: {_NUMBER}")
    return Problem("policy.bad_text", pointer, f"{shown(value)} holds half of a surrogate pair")


def from_pydantic(errors: Sequence[Mapping[str, Any]]) -> list[Problem]:
    """One problem for each error of pydantic (`ValidationError.errors()`)."""
    return [_translate(str(error["type"]), list(error["loc"]), error["input"]) for error in errors]


def _translate(kind: str, path: list[str | int], value: object) -> Problem:
    pointer = pointer_of(path)
    if kind == "unexpected_keyword_argument":
        keys = keys_at(path[:-1])
        message = f"unknown key; {suggestion(str(path[-1]), keys)}allowed: {', '.join(keys)}"
        return Problem("policy.unknown_key", pointer, message, at_key=True)
    if kind in {"too_short", "too_long"} or (kind == "missing" and isinstance(path[-1], int)):
        where = path[:-1] if kind == "missing" else path
        return Problem(
            "policy.wrong_length", pointer_of(where), f"found a list of another length; allowed: {describe(where)}"
        )
    if kind == "missing":
        return Problem("policy.missing_key", pointer, f"the key is missing; allowed: {describe(path)}")
    words = words_at(path)
    if words and isinstance(value, str):
        message = f"found {shown(value)}; {suggestion(value, words)}allowed: {describe(path)}"
        return Problem("policy.unknown_value", pointer, message)
    return Problem("policy.wrong_type", pointer, f"found {shown(value)}; allowed: {describe(path)}")
