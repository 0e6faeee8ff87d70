"""The values that a document without problems states."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar, get_args, get_origin

from gatekeeper.documents.shapes import hints_of
from gatekeeper.model.values import is_value

Shape = TypeVar("Shape")


def build(shape: type[Shape], document: Mapping[str, Any]) -> Shape:
    """A value of the dataclass *shape*, as pydantic's adapter would make it, but without making one.

    Args:
        shape: a dataclass as `documents.reader` reads it.
        document: what `structural_problems` finds nothing in.
    """
    made: Shape = _value(shape, document)
    return made


def _value(shape: Any, value: Any) -> Any:
    inner = get_args(shape)
    if get_origin(shape) is Mapping:
        return {key: _value(inner[1], member) for key, member in value.items()}
    if get_origin(shape) is tuple:
        return tuple(_value(inner[0], member) for member in value)
    if is_value(shape):
        types = hints_of(shape)
        return shape(**{key: _value(types[key], member) for key, member in value.items()})
    return shape(value) if isinstance(shape, type) and issubclass(shape, StrEnum) else value
