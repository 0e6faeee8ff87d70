"""What may stand at a place in a document, read from its dataclass, in words for messages.

The dataclasses are the only list of keys and types: a field added there is known here, "did you mean"
included.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from gatekeeper.model.values import is_value

_ONE = {str: "text", float: "a number", int: "an integer", bool: "true or false", Any: "any value"}
_MANY = {float: "numbers", int: "integers"}

# what authors write who know another tool; the difference of letters alone would not lead there
OTHER_SPELLINGS = {
    "increase": "up",
    "decrease": "down",
    "higher": "up",
    "lower": "down",
    "lte": "<=",
    "gte": ">=",
    "lt": "<",
    "gt": ">",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
}


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Field name -> type of a dataclass, without the `| None` that only says "may be absent"."""
    return {name: _without_none(hint) for name, hint in get_type_hints(kind).items()}


def shape_at(shape: Any, path: Sequence[str | int]) -> Any:
    """The type that the value at *path* in a value of type *shape* must have; None where there is no such place."""
    for step in path:
        if shape is Any:
            return Any
        if is_value(shape):
            shape = hints_of(shape).get(str(step))
        elif get_origin(shape) is Mapping:
            shape = get_args(shape)[1]
        elif get_origin(shape) is tuple:
            inner = get_args(shape)
            shape = inner[0] if inner[-1] is Ellipsis or not isinstance(step, int) else inner[min(step, len(inner) - 1)]
        else:
            return None
    return shape


def keys_of(shape: Any) -> tuple[str, ...]:
    """The keys that an object of this type may have, in the order of the dataclass."""
    return tuple(hints_of(shape)) if is_value(shape) else ()


def words_of(shape: Any) -> tuple[str, ...]:
    """The words that a value of this type may be; none where any text or something else is meant."""
    return tuple(member.value for member in shape) if isinstance(shape, type) and issubclass(shape, StrEnum) else ()


def describe(shape: Any) -> str:
    """What is allowed where *shape* is the type, as people say it."""
    words = words_of(shape)
    if words:
        return ", ".join(f'"{word}"' for word in words)
    if is_value(shape):
        return "an object with " + ", ".join(keys_of(shape))
    inner = get_args(shape)
    if get_origin(shape) is Mapping:
        return "an object of texts" if inner[1] is str else "an object"
    if get_origin(shape) is tuple:
        if inner[-1] is not Ellipsis:
            return "two numbers [low, high]"
        return "a list of objects" if is_value(inner[0]) else f"a list of {_MANY.get(inner[0], 'texts')}"
    return _ONE.get(shape, "no value")


def closest(word: str, options: Sequence[str]) -> str | None:
    """The option that *word* most likely meant, if any is near enough."""
    import difflib

    other = OTHER_SPELLINGS.get(word.strip().casefold())
    if other in options:
        return other
    by_fold = {option.casefold(): option for option in options}
    folded = word.strip().casefold()
    shuffled = [option for option in options if sorted(option) == sorted(folded)]  # `=<`
    if shuffled:
        return shuffled[0]
    near = difflib.get_close_matches(folded, list(by_fold), n=1, cutoff=0.6)
    return by_fold[near[0]] if near else None


def suggestion(word: str, options: Sequence[str]) -> str:
    """`did you mean "…"? ` or nothing."""
    near = closest(word, options)
    return f'did you mean "{near}"? ' if near is not None else ""


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in {Union, types.UnionType}:
        parts = [part for part in get_args(hint) if part is not type(None)]
        return parts[0] if len(parts) == 1 else hint
    return hint
