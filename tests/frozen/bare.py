"""A JSON Schema without the words for people: what is kept of it and compared.

Descriptions, titles and examples may change at any time. A number's unit may not, so the words behind `Unit:` in a
description stay, as the keyword `unit`.
"""

from __future__ import annotations

import re
from typing import Any

MEMBERS = frozenset({"$defs", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value maps names to schemas."""
BRANCHES = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""
SINGLE = frozenset({
    "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
"""Keywords whose value is a schema."""

_FOR_PEOPLE = frozenset({"$comment", "$id", "$schema", "deprecated", "description", "examples", "title"})
_UNIT = re.compile(r"\bUnit: (.+?)\.?$")


def bare(schema: Any) -> Any:
    """The schema with what a validator reads, and units."""
    if not isinstance(schema, dict):
        return schema  # true or false
    made = {keyword: _value(keyword, value) for keyword, value in schema.items() if keyword not in _FOR_PEOPLE}
    unit = _UNIT.search(schema.get("description", ""))
    return {**made, "unit": unit[1]} if unit else made


def version_in(schema: dict[str, Any]) -> int:
    """The format's version, with which its `$id` ends: `urn:gatekeeper:schema:policy:1`."""
    return int(schema["$id"].rpartition(":")[2])


def _value(keyword: str, value: Any) -> Any:
    if keyword in MEMBERS:
        return {name: bare(member) for name, member in value.items()}
    if keyword in BRANCHES:
        return [bare(branch) for branch in value]
    return bare(value) if keyword in SINGLE else value
