"""JSON Schema of a collection file, for editors and for programs that write such a file.

It states keys, types and defaults, as the dataclasses do. A schema cannot look from a metric to the type of its
source, so a metric may be of any type here; that, and the rules of `rules`, are asked when a file is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema import json_schema
from gatekeeper.evidence.collection import METRIC_SHAPES, SCHEMA, SOURCE_SHAPES, Frame

if TYPE_CHECKING:
    from collections.abc import Mapping


def collection_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a whole file."""
    definitions: dict[str, Any] = {}
    frame = _part(Frame, definitions)
    for kind, shape in SOURCE_SHAPES.items():
        source = definitions[shape.__name__] = _part(shape, definitions)
        source["properties"]["type"] = {"const": kind.value}
    del definitions["SourceType"]  # each source says its own
    for shape in METRIC_SHAPES.values():
        definitions[shape.__name__] = _part(shape, definitions)
    frame["properties"]["schema"] = {"const": SCHEMA, "default": SCHEMA}
    frame["properties"]["sources"] = _named({"oneOf": [_reference(shape) for shape in SOURCE_SHAPES.values()]})
    frame["properties"]["metrics"] = _named({"anyOf": [_reference(shape) for shape in METRIC_SHAPES.values()]})
    for definition in definitions.values():
        definition["description"] = _first_paragraph(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **frame,
        "title": "gatekeeper collection file",
        "description": "Which sources are asked for which metrics.",
        "$defs": dict(sorted(definitions.items())),
    }


def _part(shape: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of one dataclass; what it refers to is added to *definitions*."""
    schema = json_schema(shape)
    del schema["$schema"]
    definitions.update(schema.pop("$defs", {}))
    for member in schema["properties"].values():
        member.pop("title", None)  # the key once more, in other letters
    return schema


def _reference(shape: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{shape.__name__}"}


def _named(member: Mapping[str, Any]) -> dict[str, Any]:
    """An object of at least one such member, each with a name that is not empty."""
    return {"type": "object", "minProperties": 1, "propertyNames": {"minLength": 1}, "additionalProperties": member}


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
