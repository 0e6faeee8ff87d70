"""JSON Schemas (draft 2020-12): what a dataclass says of keys, types and defaults, with what people should know.

The dataclasses stay the only list of keys. A table of notes adds what they cannot say: descriptions, examples, bounds,
patterns. Editors complete and check with the result; `docs/schema` has it as files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from gatekeeper.documents.reader import adapter

if TYPE_CHECKING:
    from collections.abc import Mapping

    Note = Mapping[str, Any]
    Notes = Mapping[str, Mapping[str, Note]]

DIALECT = GenerateJsonSchema.schema_dialect


def json_schema(shape: type) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of what `documents.reader` reads as *shape*: unknown keys and null are refused.

    Rules beyond keys and types are not part of it.
    """
    schema = adapter(shape).json_schema(schema_generator=_WithoutNull)
    return {"$schema": DIALECT, **schema}


def part(shape: type, notes: Notes, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of one dataclass with its notes; what it refers to is added to *definitions*.

    Args:
        shape: the dataclass.
        notes: name of a class -> name of a field, or empty for the class itself -> keywords that are added.
        definitions: `$defs` of the whole.
    """
    schema = json_schema(shape)
    del schema["$schema"]
    for name, definition in schema.pop("$defs", {}).items():
        definitions.setdefault(name, _noted(definition, notes.get(name, {})))
    return _noted(schema, notes.get(shape.__name__, {}))


def whole(
    frame: Mapping[str, Any], definitions: Mapping[str, Any], *, identifier: str, title: str, description: str
) -> dict[str, Any]:
    """The schema of a file: *frame* with its name, and the definitions that it uses, in order."""
    return {
        "$schema": DIALECT,
        "$id": identifier,
        "title": title,
        "description": description,
        **{keyword: value for keyword, value in frame.items() if keyword not in {"title", "description"}},
        "$defs": dict(sorted(definitions.items())),
    }


def _noted(definition: Mapping[str, Any], notes: Mapping[str, Note]) -> dict[str, Any]:
    made = {"description": _first_paragraph(definition.get("description", "")), **_without_title(definition)}
    made["description"] = _first_paragraph(made["description"])
    made.update(notes.get("", {}))
    if "properties" in made:
        made["properties"] = {
            name: _merged(_without_title(member), notes.get(name, {})) for name, member in made["properties"].items()
        }
    return made


def _without_title(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without the key once more, in other letters."""
    return {keyword: value for keyword, value in schema.items() if keyword != "title"}


def _merged(schema: dict[str, Any], note: Note) -> dict[str, Any]:
    """The description first, as people read it; then what the dataclass says, then what the note adds."""
    merged = {"description": note["description"], **schema} if "description" in note else dict(schema)
    for keyword, value in note.items():
        stated = merged.get(keyword)
        merged[keyword] = {**stated, **value} if isinstance(stated, dict) and isinstance(value, dict) else value
    return merged


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


class _WithoutNull(GenerateJsonSchema):
    """A field that may be absent is no field that may be null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", made) is None:
            del made["default"]
        elif isinstance(default := made.get("default"), dict):  # what is absent in it is absent
            made["default"] = {key: value for key, value in default.items() if value is not None}
        return made
