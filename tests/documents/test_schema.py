"""The schema that is printed promises what the reader takes, neither more nor less."""

from __future__ import annotations

from typing import Any

from gatekeeper.documents.schema import json_schema
from gatekeeper.model.policy import Policy
from tests.documents.sample import Leaf, Sample


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every object of a schema that lists properties."""
    members = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    here = [schema] if isinstance(schema, dict) and "properties" in schema else []
    return [*here, *(one for member in members for one in objects(member))]


def test_an_editor_refuses_the_keys_that_the_reader_refuses() -> None:
    """A schema that lets a misspelt key pass is worse than none."""
    for shape, count in ((Policy, 10), (Sample, 2)):
        schema = json_schema(shape)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert [one["additionalProperties"] for one in objects(schema)] == [False] * count


def test_an_editor_refuses_null_as_the_reader_does() -> None:
    """A field that may be left out is no field that may be blank."""
    assert "null" not in str(json_schema(Policy))
    assert "'default': None" not in str(json_schema(Policy))
    leaf = {"$ref": "#/$defs/Leaf"}
    sample = next(one for one in objects(json_schema(Sample)) if "leaf" in one["properties"])
    assert sample["properties"]["leaf"] == leaf
    assert sample["required"] == ["title", "number"]


def test_the_schema_of_a_small_dataclass_is_as_written_by_hand() -> None:
    """Types, defaults and what must be there, in the vocabulary of the draft."""
    schema = json_schema(Leaf)
    schema.pop("description")
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Leaf",
        "type": "object",
        "properties": {
            "name": {"title": "Name", "type": "string"},
            "count": {"title": "Count", "type": "integer", "default": 1},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
