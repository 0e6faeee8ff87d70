"""Pydantic at the boundary: does a document have the keys and types of `model.policy`?

The `TypeAdapter` over the dataclasses is the authority: it reads, and it alone refuses. Making one
costs more than all the rest of a check, so a document first meets a yes-or-no form of the same
dataclasses on pydantic's engine, which is made in a hundredth of that time. A yes is final; what it
does not pass goes to the adapter. Tests hold the two together. Nothing else imports pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.policy import Policy
from gatekeeper.review.shapes import hints_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import CoreSchema, SchemaValidator

_STRICT: Any = {"strict": True, "extra": "forbid", "allow_inf_nan": False}


def type_errors(document: Any) -> list[Any]:
    """Pydantic's list of what keeps *document* from being a policy; empty when nothing does.

    Args:
        document: a JSON value that has canonical bytes.
    """
    if quick_reader().isinstance_python(document):
        return []
    from pydantic import ValidationError

    try:
        policy_adapter().validate_json(canonical_bytes(document))
    except ValidationError as error:
        return list(error.errors(include_url=False, include_context=False))
    return []


@cache
def policy_adapter() -> TypeAdapter[Policy | None]:
    """The reader of `Policy`.

    The union carries the settings: a plain dataclass takes those of what stands around it, so all
    nested ones are as strict, and the model knows nothing of pydantic.
    """
    from pydantic import TypeAdapter

    shape: Any = Policy | None
    return TypeAdapter(shape, config=_STRICT)


@cache
def quick_reader() -> SchemaValidator:
    """Says yes to parsed JSON that the adapter reads, no to all else; null is no value here."""
    from pydantic_core import SchemaValidator

    return SchemaValidator(_schema(Policy))


def _schema(shape: Any) -> CoreSchema:
    """The form of *shape*; each part is told to be strict, since a typed dict passes no setting on."""
    from pydantic_core import core_schema

    if shape is str:
        return core_schema.str_schema(strict=True)
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
    raise TypeError(f"a policy has no field of type {shape!r}")
