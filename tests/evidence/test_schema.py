"""The JSON Schema says what the loader says, as far as a schema can."""

from __future__ import annotations

import json
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gatekeeper.evidence.collection import METRIC_SHAPES, SOURCE_SHAPES, Frame, SourceType
from gatekeeper.evidence.collection_file.schema import collection_schema
from tests.evidence.collections import EXAMPLE, FULL, refusal
from tests.review.documents import MISSING, changed

SCHEMA = collection_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

BROKEN: list[tuple[str, Any]] = [
    ("schema", "gatekeeper/collection/v2"),
    ("sources", {}),
    ("metrics", {}),
    ("sources", MISSING),
    ("windw", "5m"),
    ("window", 300),
    ("window", None),
    ("labels/track", "canary"),
    ("labels/track/variant", MISSING),
    ("evaluate_at/settle", 1),
    ("limits/parallelism", 1.5),
    ("sources/prom/type", "prom"),
    ("sources/prom/type", MISSING),
    ("sources/prom/dialect", "thanos"),
    ("sources/prom/headers/Authorization", 5),
    ("sources/prom/max_bytes", 5),
    ("sources/dwh/headers", {}),
    ("sources/part/url", "x"),
    ("sources/", {"type": "file", "path": "x"}),
    ("metrics/queue/source", MISSING),
    ("metrics/queue/pointer", MISSING),
    ("metrics/queue/query", "x"),
    ("metrics/queue/kind", "counter"),
    ("metrics/queue/range", [1]),
    ("metrics/queue/range", [1, "2"]),
    ("metrics/lift/columns/value", MISSING),
    ("metrics/lift/columns/val", "x"),
    ("metrics/error_ratio/bind", "no"),
    ("metrics/error_ratio/watermark", None),
    ("metrics/error_ratio/on_empty", {}),
]


@pytest.mark.parametrize("document", [json.loads(EXAMPLE), FULL])
def test_files_that_load_are_valid(document: dict[str, Any]) -> None:
    """The contract's example, and every key once."""
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


@pytest.mark.parametrize(("path", "value"), BROKEN)
def test_slips_of_keys_and_types_are_not_valid(path: str, value: Any) -> None:
    """What an editor should mark while the file is written; the loader refuses each as well."""
    spoilt = changed(FULL, path, value)
    assert not VALIDATOR.is_valid(spoilt)
    assert refusal(spoilt) != []


@pytest.mark.parametrize("shape", [Frame, *SOURCE_SHAPES.values(), *METRIC_SHAPES.values()])
def test_keys_and_defaults_of_the_schema_are_those_of_the_program(shape: type[Any]) -> None:
    """A default that only the schema states is filled in by editors, and another one by the program."""
    part = SCHEMA if shape is Frame else SCHEMA["$defs"][shape.__name__]
    assert list(part["properties"]) == [field.name for field in fields(shape)]
    for field in fields(shape):
        stated = part["properties"][field.name].get("default")
        if isinstance(field.default, (str, int, float)):
            assert stated == field.default
        is_mandatory = field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT
        assert (field.name in part["required"]) == is_mandatory


def test_every_source_says_its_own_type() -> None:
    """By it an editor knows which keys to offer."""
    types = {name: SCHEMA["$defs"][shape.__name__]["properties"]["type"] for name, shape in SOURCE_SHAPES.items()}
    assert {name: part["const"] for name, part in types.items()} == {kind: kind.value for kind in SourceType}
