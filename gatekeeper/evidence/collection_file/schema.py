"""JSON Schema of a collection file, for editors and for programs that write such a file.

A schema cannot look from a metric to the type of its source, so a metric may be of any type here. That, and what else
docs/schema/README.md lists, is asked when a file is loaded.
"""

from __future__ import annotations

from typing import Any

from gatekeeper.documents.schema import part, whole
from gatekeeper.evidence.collection import METRIC_SHAPES, SCHEMA, SOURCE_SHAPES, Frame
from gatekeeper.evidence.collection_file.schema_notes import NOTES


def collection_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a whole file."""
    definitions: dict[str, Any] = {}
    frame = part(Frame, NOTES, definitions)
    for kind, shape in SOURCE_SHAPES.items():
        source = definitions[shape.__name__] = part(shape, NOTES, definitions)
        source["properties"]["type"] = {
            "description": NOTES[shape.__name__]["type"]["description"],
            "const": kind.value,
        }
    del definitions["SourceType"]  # each source says its own
    for shape in METRIC_SHAPES.values():
        definitions[shape.__name__] = part(shape, NOTES, definitions)
    frame["properties"]["schema"].update({"const": SCHEMA})
    frame["properties"]["sources"].update(_named({"oneOf": [_reference(shape) for shape in SOURCE_SHAPES.values()]}))
    frame["properties"]["metrics"].update(_named({"anyOf": [_reference(shape) for shape in METRIC_SHAPES.values()]}))
    return whole(
        frame,
        definitions,
        identifier="urn:gatekeeper:schema:collection:1",
        title="gatekeeper collection file",
        description="Which sources are asked for which metrics.",
    )


def _reference(shape: type) -> dict[str, str]:
    return {"$ref": f"#/$defs/{shape.__name__}"}


def _named(member: dict[str, Any]) -> dict[str, Any]:
    """An object of at least one such member, each with a name that is not empty."""
    return {"type": "object", "minProperties": 1, "propertyNames": {"minLength": 1}, "additionalProperties": member}
