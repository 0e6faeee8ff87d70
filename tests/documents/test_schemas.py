"""What all schemas owe their readers: valid by their dialect, described, with examples and defaults that are valid."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gatekeeper.cli.policy_schema import SCHEMAS, schema_text
from tests.docs.console import read

MADE = {name: make() for name, make in SCHEMAS.items()}


def properties(schema: Any) -> Iterator[tuple[str, Any]]:
    """Name and schema of every key that is listed anywhere."""
    if isinstance(schema, list):
        for inner in schema:
            yield from properties(inner)
    if not isinstance(schema, dict):
        return
    for keyword, inner in schema.items():
        if keyword in {"properties", "$defs"}:
            if keyword == "properties":
                yield from inner.items()
            yield from properties(list(inner.values()))
        elif keyword not in {"examples", "default", "enum", "const", "if"}:
            yield from properties(inner)


def listed(name: str) -> list[tuple[str, dict[str, Any]]]:
    """The keys of a format; without those that only refer to others in a condition."""
    conditions: tuple[Any, ...] = (False, {}, {"minItems": 1}, {"const": "enforce"})
    return [(key, part) for key, part in properties(MADE[name]) if part not in conditions and "contains" not in part]


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_committed_schema_is_what_the_program_prints(name: str) -> None:
    """An editor that reads an old one accepts keys that the program refuses."""
    committed = read(f"docs/schema/{name}.schema.json")
    assert committed.encode() == schema_text(MADE[name]), f"gatekeeper policy schema {name} > that file"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    """Valid by the dialect that it names, with a version; every reference leads somewhere, no definition is alone."""
    schema = MADE[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]
    assert re.fullmatch(rf"urn:gatekeeper:schema:{name}:\d+", schema["$id"])
    text = json.dumps(schema)
    assert set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', text)) == set(schema["$defs"])
    assert text.count('"$ref"') == text.count('"#/$defs/')


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described_for_people(name: str) -> None:
    """In sentences, without words of the source code; a number says its unit."""
    schema = MADE[name]
    for key, part in [*listed(name), *schema["$defs"].items()]:
        target = schema["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        words = part.get("description", target.get("description", ""))
        assert words.endswith("."), (key, words)
        assert not re.search(r"SPEC|None|Attributes|readers\.", words), (key, words)
    for key, part in listed(name):
        counts = {"seq", "v", "attempt", "looks", "version", "first_seq", "last_seq", "part"}
        kinds = part.get("type")
        if kinds in ("number", ["number", "null"]) or (kinds == "integer" and key not in counts):
            assert "Unit: " in part["description"], key


def _checked(name: str, part: dict[str, Any], value: Any) -> bool:
    whole = {key: inner for key, inner in MADE[name].items() if key in {"$schema", "$id", "$defs"}}
    return Draft202012Validator({**whole, **part}).is_valid(value)


@pytest.mark.parametrize("name", SCHEMAS)
def test_examples_and_defaults_are_valid_where_they_stand(name: str) -> None:
    """An editor offers them."""
    count = 0
    for key, part in [*listed(name), *MADE[name]["$defs"].items()]:
        for value in [*part.get("examples", []), *([part["default"]] if "default" in part else [])]:
            count += 1
            assert _checked(name, part, value), (key, value)
    assert count > 20


@pytest.mark.parametrize("name", SCHEMAS)
def test_patterns_are_of_every_dialect(name: str) -> None:
    """No class that two engines read differently, and every end is a real one."""
    patterns = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(MADE[name]))
    for pattern in map(json.loads, patterns):
        re.compile(pattern)
        assert not re.search(r"\\[dDwWbBAZz]|\(\?P|\(\?i|\\0", pattern), pattern
        assert "\\s" not in pattern.replace(r"[\s\S]", ""), pattern
        assert not pattern.endswith("$"), pattern
