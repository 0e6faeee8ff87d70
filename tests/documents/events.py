"""Events against their schema: valid, and every field described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from gatekeeper.cli.policy_schema import SCHEMAS

SCHEMA = SCHEMAS["event"]()
VALIDATOR = Draft202012Validator(SCHEMA)


def undescribed(event: dict[str, Any]) -> set[str]:
    """Paths of fields that the schema has no words for; open objects (snapshot, policy, params) are not looked into."""
    kind = f"{event['kind'].capitalize()}Event"
    return set(_undescribed([SCHEMA, SCHEMA["$defs"][kind]], event, ""))


def _undescribed(schemas: list[dict[str, Any]], value: Any, path: str) -> Iterator[str]:
    schemas = [inner for schema in schemas for inner in _alternatives(schema)]
    if isinstance(value, list):
        items = [schema["items"] for schema in schemas if "items" in schema]
        for inner in value if items else ():
            yield from _undescribed(items, inner, f"{path}/*")
    if not isinstance(value, dict):
        return
    named = [schema["properties"] for schema in schemas if "properties" in schema]
    for key, inner in value.items() if named else ():
        found = [properties[key] for properties in named if key in properties]
        if not found:
            yield f"{path}/{key}"
        yield from _undescribed(found, inner, f"{path}/{key}")


def _alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema, what it refers to, and what it may be."""
    yield schema
    if "$ref" in schema:
        yield from _alternatives(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    for inner in schema.get("anyOf", ()):
        yield from _alternatives(inner)
