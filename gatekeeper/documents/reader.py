"""Pydantic at the boundary: does a document have the keys and types of its dataclass?

The `TypeAdapter` over the dataclass is the authority: it reads, and it alone refuses. Making one
costs more than all the rest of a check, so a document first meets a yes-or-no form of the same
dataclass on pydantic's engine, which is made in a hundredth of that time. A yes is final; what it
does not pass goes to the adapter. Tests hold the two together. Nothing else imports pydantic, but for
`documents.schema`, which prints what the adapter reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin

from gatekeeper.documents.shapes import hints_of
from gatekeeper.model.canonical import canonical_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import CoreSchema, SchemaValidator

STRICT: Any = {"strict": True, "extra": "forbid", "allow_inf_nan": False}
"""Pydantic's settings: nothing is converted, nothing is passed over."""


def type_errors(shape: type, document: Any) -> list[Any]:
    """Pydantic's list of what keeps *document* from being a value of *shape*; empty when nothing does.

    Args:
        shape: a dataclass whose fields are texts, numbers, booleans, enums of texts, `Any`, dataclasses, and
            `tuple` and `Mapping[str, …]` of these, each of them perhaps `| None`.
        document: a JSON value that has canonical bytes.
    """
    if quick_reader(shape).isinstance_python(document):
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
def quick_reader(shape: type) -> SchemaValidator:
    """Says yes to parsed JSON that the adapter reads, no to all else; null is no value but where anything is."""
    from pydantic_core import SchemaValidator

    return SchemaValidator(_schema(shape))


def _schema(shape: Any) -> CoreSchema:
    """The form of *shape*; each part is told to be strict, since a typed dict passes no setting on."""
    from pydantic_core import core_schema

    if shape is Any:
        return core_schema.any_schema()
    if shape is str:
        return core_schema.str_schema(strict=True)
    if shape is bool:
        return core_schema.bool_schema(strict=True)
    if shape is int:
        return core_schema.int_schema(strict=True)
    if shape is float:
        return core_schema.float_schema(strict=True, allow_inf_nan=False)
    if isinstance(shape, type) and issubclass(shape, StrEnum):
        return core_schema.literal_schema([member.value for member in shape])
    if isinstance(shape, type) and is_dataclass(shape):
        types = hints_of(shape)
        members = {
            field.name: core_schema.typed_dict_field(
                _schema(types[field.name]), required=field.default is MISSING and field.default_factory is MISSING
            )
            for field in fields(shape)
        }
        return core_schema.typed_dict_schema(members, strict=True, extra_behavior="forbid")
    inner = get_args(shape)
    if get_origin(shape) is Mapping:
        return core_schema.dict_schema(_schema(inner[0]), _schema(inner[1]), strict=True)
    if get_origin(shape) is tuple and len(set(inner) - {Ellipsis}) == 1:
        length = None if inner[-1] is Ellipsis else len(inner)
        return core_schema.list_schema(_schema(inner[0]), min_length=length, max_length=length, strict=True)
    raise TypeError(f"a document has no field of type {shape!r}")
