"""JSON Schema of a dataclass, for editors and for programs that write such a file."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from gatekeeper.documents.reader import adapter


def json_schema(shape: type) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `documents.reader` reads as *shape*: unknown keys and null are refused.

    Rules beyond keys and types are not part of it.
    """
    schema = adapter(shape).json_schema(schema_generator=_WithoutNull)
    return {"$schema": _WithoutNull.schema_dialect, **schema}


class _WithoutNull(GenerateJsonSchema):
    """A field that may be absent is no field that may be null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", made) is None:
            del made["default"]
        return made
