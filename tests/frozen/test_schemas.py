"""Each way in which a JSON Schema may change, and what the comparison says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frozen.bare import bare, version_in
from tests.frozen.changes import Effect
from tests.frozen.walk import compare_schemas

ADDED, REMOVED, NARROWED, WIDENED, CHANGED = Effect

Schema = dict[str, Any]


def effects(old: Schema, new: Schema, **known: Any) -> list[tuple[str, Effect]]:
    """Place and effect of each change."""
    return sorted((change.place, change.effect) for change in compare_schemas(old, new, **known))


def keyed(**properties: Any) -> Schema:
    """An object that takes these keys."""
    return {"type": "object", "properties": properties}


ONE_WAY: dict[str, tuple[Schema, Schema, str]] = {
    "a type": ({"type": ["string", "null"]}, {"type": "string"}, "/type"),
    "the fraction of numbers": ({"type": "number"}, {"type": "integer"}, "/type"),
    "any type": ({}, {"type": "string"}, "/type"),
    "a vocabulary": ({"type": "string"}, {"type": "string", "enum": ["a"]}, "/enum"),
    "a constant": ({}, {"const": 1}, "/enum"),
    "minimum": ({"minimum": 0}, {"minimum": 1}, "/minimum"),
    "minimum where none was": ({}, {"minimum": 0}, "/minimum"),
    "exclusiveMinimum": ({"minimum": 0}, {"exclusiveMinimum": 0}, "/minimum"),
    "maximum": ({"maximum": 1000}, {"maximum": 100}, "/maximum"),
    "maximum where none was": ({}, {"maximum": 9}, "/maximum"),
    "exclusiveMaximum": ({"maximum": 1}, {"exclusiveMaximum": 1}, "/maximum"),
    "minLength": ({}, {"minLength": 1}, "/minLength"),
    "maxLength": ({"maxLength": 64}, {"maxLength": 32}, "/maxLength"),
    "minItems": ({}, {"minItems": 1}, "/minItems"),
    "maxItems": ({}, {"maxItems": 2}, "/maxItems"),
    "minProperties": ({}, {"minProperties": 1}, "/minProperties"),
    "maxProperties": ({"maxProperties": 3}, {"maxProperties": 2}, "/maxProperties"),
    "minContains": ({"contains": {"const": 1}}, {"contains": {"const": 1}, "minContains": 2}, "/minContains"),
    "maxContains": ({"contains": {"const": 1}}, {"contains": {"const": 1}, "maxContains": 2}, "/maxContains"),
    "uniqueItems": ({}, {"uniqueItems": True}, "/uniqueItems"),
    "a pattern where none was": ({}, {"pattern": "^a"}, "/pattern"),
    "a format where none was": ({}, {"format": "date-time"}, "/format"),
    "a mandatory key": (keyed(a={}), {**keyed(a={}), "required": ["a"]}, "/required"),
    "other keys": (keyed(a={}), {**keyed(a={}), "additionalProperties": False}, "/additionalProperties"),
    "values of other keys": ({}, {"additionalProperties": {"type": "string"}}, "/additionalProperties/type"),
    "unevaluated keys": ({}, {"unevaluatedProperties": False}, "/unevaluatedProperties"),
    "names of keys": ({}, {"propertyNames": {"enum": ["a"]}}, "/propertyNames/enum"),
    "a key that another needs": ({}, {"dependentRequired": {"a": ["b"]}}, "/dependentRequired"),
    "what a key brings with it": (
        {},
        {"dependentSchemas": {"a": {"minProperties": 2}}},
        "/dependentSchemas/a/minProperties",
    ),
    "a key of a key": (keyed(a={}), keyed(a={"type": "string"}), "/properties/a/type"),
    "elements": ({"items": {}}, {"items": {"type": "string"}}, "/items/type"),
    "the second element": ({"prefixItems": [{}, {}]}, {"prefixItems": [{}, {"minimum": 0}]}, "/prefixItems/1/minimum"),
    "an element of its own": ({}, {"prefixItems": [{"type": "string"}]}, "/items/type"),
    "unevaluated elements": ({}, {"unevaluatedItems": False}, "/unevaluatedItems"),
    "an element that must be there": ({}, {"contains": {"const": 1}}, "/contains"),
    "what an element must be": ({"contains": {"type": "number"}}, {"contains": {"type": "integer"}}, "/contains/type"),
    "an alternative": ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}]}, "/anyOf/1"),
    "a choice": ({}, {"anyOf": [{"required": ["a"]}]}, "/anyOf"),
    "an exclusive choice": ({}, {"oneOf": [{"required": ["a"]}]}, "/oneOf"),
    "an alternative's own": (
        {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
        {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 8}]},
        "/anyOf/0/maxLength",
    ),
    "a further demand": ({}, {"allOf": [{"minimum": 0}]}, "/allOf/0"),
    "a demand's own": ({"allOf": [{"minimum": 0}]}, {"allOf": [{"minimum": 1}]}, "/allOf/0/minimum"),
    "an exception": ({}, {"not": {"const": 1}}, "/not"),
    "a larger exception": ({"not": {"minimum": 9}}, {"not": {"minimum": 8}}, "/not/minimum"),
    "a condition": ({}, {"if": {"const": 1}, "then": {"minimum": 0}}, "/if"),
    "its consequence": (
        {"if": {"minimum": 0}, "then": {}},
        {"if": {"minimum": 0}, "then": {"maximum": 9}},
        "/then/maximum",
    ),
    "its alternative": ({"if": {"minimum": 0}}, {"if": {"minimum": 0}, "else": {"minimum": -9}}, "/else/minimum"),
    "a key within a condition": (
        {"contains": keyed(a={"const": 1})},
        {"contains": keyed(a={"const": 1}, b={"const": 1})},
        "/contains/properties/b",
    ),
    "a known key of a branch": (
        {**keyed(a={}), "allOf": [keyed()]},
        {**keyed(a={}), "allOf": [keyed(a={"minItems": 1})]},
        "/allOf/0/properties/a",
    ),
    "a definition": (
        {"$defs": {"A": {"minimum": 0}}, "items": {"$ref": "#/$defs/A"}, "contains": {"$ref": "#/$defs/A"}},
        {"$defs": {"A": {"minimum": 1}}, "items": {"$ref": "#/$defs/A"}, "contains": {}},
        "/$defs/A/minimum",
    ),
    "what stands beside a reference": (
        {"$defs": {"A": {"minimum": 0}}, "items": {"$ref": "#/$defs/A"}},
        {"$defs": {"A": {"minimum": 0}}, "items": {"$ref": "#/$defs/A", "maximum": 9}},
        "/$defs/A/maximum",
    ),
    "what stands against a reference": (
        {"$defs": {"A": {"minimum": 0}}, "items": {"$ref": "#/$defs/A"}},
        {"$defs": {"A": {"minimum": 0}}, "items": {"$ref": "#/$defs/A", "minimum": 9}},
        "/items/allOf/0",
    ),
    "everything": ({"items": True}, {"items": False}, "/items"),
}
"""What is narrowed -> before, after, where."""


@pytest.mark.parametrize("case", ONE_WAY.values(), ids=ONE_WAY)
def test_less_that_is_allowed_is_narrowed_and_back_again_widened(case: tuple[Schema, Schema, str]) -> None:
    """Each keyword, both ways; a rule that is missing would let a break pass."""
    old, new, place = case
    there = effects(old, new)
    assert (place, NARROWED) in there
    assert {effect for _, effect in there} <= {NARROWED, WIDENED}
    back = {effect for _, effect in effects(new, old)}
    assert WIDENED in back
    assert back <= {NARROWED, WIDENED}


EITHER_WAY: dict[str, tuple[Schema, Schema, list[tuple[str, Effect]]]] = {
    "another type": ({"type": "string"}, {"type": "number"}, [("/type", CHANGED)]),
    "another pattern": ({"pattern": "^a"}, {"pattern": "^b"}, [("/pattern", CHANGED)]),
    "another divisor": ({"multipleOf": 2}, {"multipleOf": 3}, [("/multipleOf", CHANGED)]),
    "another default": ({"default": "DEGRADE"}, {"default": "REJECT"}, [("/default", CHANGED)]),
    "a default more": ({}, {"default": False}, [("/default", CHANGED)]),
    "a default less": ({"default": None}, {}, [("/default", CHANGED)]),
    "true for 1": ({"const": 1}, {"const": True}, [("/enum", REMOVED), ("/enum", WIDENED)]),
    "a word for another": ({"enum": ["a"]}, {"enum": ["b"]}, [("/enum", REMOVED), ("/enum", WIDENED)]),
    "a word less": ({"enum": ["a", "b"]}, {"enum": ["a"]}, [("/enum", REMOVED)]),
    "a word more": ({"const": "a"}, {"enum": ["a", "b"]}, [("/enum", WIDENED)]),
    "a key less": (keyed(a={}, b={}), keyed(a={}), [("/properties/b", REMOVED)]),
    "a key more": (keyed(a={}), keyed(a={}, b={}), [("/properties/b", ADDED)]),
    "a mandatory key more": (
        keyed(a={}),
        {**keyed(a={}, b={}), "required": ["b"]},
        [("/properties/b", ADDED), ("/required", NARROWED)],
    ),
    "a key that was one of many": (
        {"additionalProperties": {"type": "number"}},
        {"additionalProperties": {"type": "number"}, "properties": {"b": {"type": "integer"}}},
        [("/additionalProperties/type", NARROWED), ("/properties/b", ADDED)],
    ),
    "another condition": (
        {"if": {"minimum": 0}, "then": {}},
        {"if": {"minimum": 1}, "then": {}},
        [("/if", CHANGED)],
    ),
    "an exclusive branch more": (
        {"oneOf": [{"type": "string"}]},
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        [("/oneOf/1", CHANGED)],
    ),
    "an exclusive branch less": (
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}]},
        [("/oneOf/1", CHANGED)],
    ),
    "a pattern of keys": (
        {"patternProperties": {"^a": {}}},
        {"patternProperties": {"^b": {}}},
        [("/patternProperties/^a", CHANGED), ("/patternProperties/^b", CHANGED)],
    ),
    "a value behind a pattern of keys": (
        {"patternProperties": {"^a": {}}},
        {"patternProperties": {"^a": {"minimum": 0}}},
        [("/patternProperties/^a/minimum", NARROWED)],
    ),
    "a keyword that nobody knows": ({}, {"$dynamicRef": "#x"}, [("/$dynamicRef", CHANGED)]),
    "another unit": (
        {"description": "Age. Unit: seconds."},
        {"description": "Age. Unit: milliseconds."},
        [("/unit", CHANGED)],
    ),
    "a unit less": ({"description": "Age. Unit: seconds."}, {"description": "Age."}, [("/unit", CHANGED)]),
    "a unit that is told": ({"description": "Age."}, {"description": "Age. Unit: seconds."}, [("/unit", ADDED)]),
    "words for people": (
        {"title": "A", "description": "One.", "examples": [1], "$comment": "x", "deprecated": True},
        {"title": "B", "description": "Two.", "examples": [2]},
        [],
    ),
    "keys that are called like words for people": (
        keyed(title={"type": "string"}, description={"type": "string"}),
        keyed(title={"type": "string"}),
        [("/properties/description", REMOVED)],
    ),
    "order": (
        {"type": ["null", "string"], "enum": ["a", "b"], "required": ["x", "y"]},
        {"required": ["y", "x"], "enum": ["b", "a"], "type": ["string", "null"]},
        [],
    ),
    "a name of a definition": (
        {"$defs": {"A": {"type": "string"}}, "items": {"$ref": "#/$defs/A"}},
        {"$defs": {"B": {"type": "string"}}, "items": {"$ref": "#/$defs/B"}},
        [],
    ),
    "a definition that is put in place": (
        {"$defs": {"A": {"type": "string"}}, "items": {"$ref": "#/$defs/A"}},
        {"items": {"type": "string"}},
        [],
    ),
    "a definition that refers to itself": (
        {"$defs": {"A": keyed(a={"$ref": "#/$defs/A"}, b={})}, "$ref": "#/$defs/A"},
        {"$defs": {"A": keyed(a={"$ref": "#/$defs/A"})}, "$ref": "#/$defs/A"},
        [("/$defs/A/properties/b", REMOVED)],
    ),
}
"""What is changed -> before, after, what must be said."""


@pytest.mark.parametrize("case", EITHER_WAY.values(), ids=EITHER_WAY)
def test_a_change_that_is_neither_more_nor_less_is_named(
    case: tuple[Schema, Schema, list[tuple[str, Effect]]],
) -> None:
    """Another meaning breaks both readers and writers; words for people break nobody."""
    old, new, expected = case
    assert effects(bare(old), bare(new)) == sorted(expected)


def test_a_word_more_is_expected_where_readers_were_told() -> None:
    """And only there: a reader of verdicts knows all of them."""
    old = keyed(kind={"enum": ["a"]}, verdict={"enum": ["a"]})
    new = keyed(kind={"enum": ["a", "b"]}, verdict={"enum": ["a", "b"]})
    assert effects(old, new, open_words=frozenset({"/properties/kind"})) == [
        ("/properties/kind/enum", ADDED),
        ("/properties/verdict/enum", WIDENED),
    ]
    assert effects(new, old, open_words=frozenset({"/properties/kind"}))[0] == ("/properties/kind/enum", REMOVED)


def test_a_definition_that_others_name_must_keep_its_name() -> None:
    """`urn:…#/$defs/WellFormed` stands in collectors' tests."""
    old: Schema = {"$defs": {"A": {"minimum": 0}}, "anyOf": [{"$ref": "#/$defs/A"}, {}]}
    renamed: Schema = {"$defs": {"B": {"minimum": 0}}, "anyOf": [{"$ref": "#/$defs/B"}, {}]}
    assert effects(old, renamed, entries=("A",)) == [("/$defs/A", REMOVED)]
    unused: Schema = {"$defs": {"A": {"minimum": 1}}, "anyOf": [{}]}
    assert ("/$defs/A/minimum", NARROWED) in effects(old, unused, entries=("A",))
    assert effects({"$defs": {"A": {"minimum": 0}}}, {"$defs": {"A": {"minimum": 1}}}, entries=("A",)) == [
        ("/$defs/A/minimum", NARROWED)
    ]


def test_a_version_is_the_end_of_the_identifier() -> None:
    """A version that is read wrong would allow every break."""
    assert version_in({"$id": "urn:gatekeeper:schema:policy:12"}) == 12
