"""Pydantic at the boundary: does a document have the keys and types of its dataclass?

The `TypeAdapter` over the dataclass is the authority: it reads, and it alone refuses. Making one
costs more than all the rest of a check, and so does importing pydantic, so a document first meets a
yes-or-no form of the same dataclass in plain Python. A yes is final; what it does not pass goes to the
adapter. Tests hold the two together. Nothing else imports pydantic, but for `documents.schema`, which
prints what the adapter reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from math import isfinite
from typing import Any, get_args, get_origin

from gatekeeper.documents.shapes import hints_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.document import is_unicode
from gatekeeper.model.values import is_value, required_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import TypeAdapter

    Reads = Callable[[Any], bool]

STRICT: Any = {"strict": True, "extra": "forbid", "allow_inf_nan": False}
"""Pydantic's settings: nothing is converted, nothing is passed over."""


def type_errors(shape: type, document: Any) -> list[Any]:
    """Pydantic's list of what keeps *document* from being a value of *shape*; empty when nothing does.

    Args:
        shape: a dataclass whose fields are texts, numbers, booleans, enums of texts, `Any`, dataclasses, and
            `tuple` and `Mapping[str, …]` of these, each of them perhaps `| None`.
        document: a JSON value that has canonical bytes.
    """
    if quick_reader(shape)(document):
        return []
    from pydantic import ValidationError

    try:
        adapter(shape).validate_json(canonical_bytes(document))
    except ValidationError as error:
        return list(error.errors(include_url=False, include_context=False))
    return []


@cache
def adapter(shape: type) -> TypeAdapter[Any]:
    """The reader of a dataclass.

    The union carries the settings: a plain dataclass takes those of what stands around it, so all
    nested ones are as strict, and the dataclasses know nothing of pydantic.
    """
    from pydantic import TypeAdapter

    optional: Any = shape | None
    return TypeAdapter(optional, config=STRICT)


@cache
def quick_reader(shape: Any) -> Reads:
    """Says yes to parsed JSON that the adapter surely reads; null is no value but where anything is."""
    if shape in _SINGLE:
        return _SINGLE[shape]
    if isinstance(shape, type) and issubclass(shape, StrEnum):
        words = frozenset(member.value for member in shape)
        return lambda value: type(value) is str and value in words
    if is_value(shape):
        return _object_reader(shape)
    inner = get_args(shape)
    if get_origin(shape) is Mapping and inner[0] is str:
        member = quick_reader(inner[1])
        return lambda value: (
            type(value) is dict and all(_is_text(key) and member(content) for key, content in value.items())
        )
    if get_origin(shape) is tuple and len(set(inner) - {Ellipsis}) == 1:
        length = None if inner[-1] is Ellipsis else len(inner)
        item = quick_reader(inner[0])
        return lambda value: type(value) is list and length in {None, len(value)} and all(map(item, value))
    raise TypeError(f"a document has no field of type {shape!r}")


def _object_reader(shape: type) -> Reads:
    members = {name: quick_reader(hint) for name, hint in hints_of(shape).items()}
    required = required_of(shape)

    def reads(value: Any) -> bool:
        return (
            type(value) is dict
            and required <= value.keys() <= members.keys()
            and all(members[key](content) for key, content in value.items())
        )

    return reads


def _is_text(value: Any) -> bool:
    return type(value) is str and is_unicode(value)


def _is_integer(value: Any) -> bool:
    return type(value) is int and -_LARGEST <= value <= _LARGEST


def _is_number(value: Any) -> bool:
    return isfinite(value) if type(value) is float else _is_integer(value)


_LARGEST = 2**53
_SINGLE: Mapping[Any, Reads] = {
    Any: lambda _: True,
    str: _is_text,
    bool: lambda value: type(value) is bool,
    int: _is_integer,
    float: _is_number,
}
