"""The comparison against a validator of its own: a document that comes to be refused was announced."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.frozen.changes import Effect
from tests.frozen.walk import compare_schemas

ADDED, REMOVED, NARROWED, WIDENED, CHANGED = Effect
KEYS = ("a", "b", "c")
WORDS = ("a", "b", 1, 2.5, None, False, True)
LEAVES: tuple[Any, ...] = ({}, True, False, {"type": "string"}, {"type": "number"}, {"const": 1})

Schema = dict[str, Any]

pytestmark = pytest.mark.slow


def few(strategy: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[list[Any]]:
    """One or two of them."""
    return st.lists(strategy, min_size=1, max_size=most)


def keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Keyword -> what may stand behind it; objects close themselves, so that a key more is never one less."""
    small, mapping = st.integers(0, 3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=2)
    return {
        "type": few(st.sampled_from(("array", "boolean", "integer", "null", "number", "object", "string")), 4).map(
            lambda types: sorted(set(types))
        ),
        "enum": few(st.sampled_from(WORDS), 4),
        "const": st.sampled_from(WORDS),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), small),
        **dict.fromkeys(("minLength", "minItems", "minProperties", "maxLength", "maxItems", "maxProperties"), small),
        "uniqueItems": st.booleans(),
        "pattern": st.sampled_from(("^a", "b$")),
        "required": few(st.sampled_from(KEYS)).map(lambda keys: sorted(set(keys))),
        "properties": mapping,
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(st.sampled_from(KEYS), few(st.sampled_from(KEYS)), max_size=1),
        "dependentSchemas": mapping,
        "items": inner,
        "prefixItems": few(inner),
        "contains": inner,
        "anyOf": few(inner, 3),
        "allOf": few(inner),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.sampled_from(("#/$defs/A", "#/$defs/B")),
    }


@cache
def known_at(depth: int, *, definitions: bool = True) -> dict[str, st.SearchStrategy[Any]]:
    """Keyword -> what may stand behind it, so many levels below; made once, which takes longer than a draw."""
    known = keywords(parts(depth, definitions=definitions))
    if not definitions:
        del known["$ref"]
    return known


@cache
def parts(depth: int = 2, *, definitions: bool = True) -> st.SearchStrategy[Schema | bool]:
    """A schema with up to four keywords."""
    return _parts(depth, definitions=definitions) if depth else st.sampled_from(LEAVES)


@st.composite
def _parts(draw: st.DrawFn, depth: int, *, definitions: bool) -> Schema | bool:
    known = known_at(depth - 1, definitions=definitions)
    chosen = draw(st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True))
    schema = {keyword: draw(known[keyword]) for keyword in chosen}
    if "properties" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


@st.composite
def edited(draw: st.DrawFn, schema: Any, depth: int = 2) -> Any:
    """The schema with a few keywords taken out, added or drawn anew."""
    if not isinstance(schema, dict) or draw(st.integers(0, 9)) == 0:
        return draw(parts(max(depth, 0)))
    made = dict(schema)
    known = known_at(max(depth - 1, 0))
    for keyword in sorted(schema):
        fate = draw(st.sampled_from(("keep", "keep", "keep", "go", "edit", "edit", "new")))
        if fate == "go" and not (keyword == "additionalProperties" and "properties" in schema):
            del made[keyword]
        elif fate == "new":
            made[keyword] = draw(known[keyword])
        elif fate == "edit" and isinstance(schema[keyword], dict) and keyword != "dependentRequired":
            if keyword in {"properties", "dependentSchemas"}:
                made[keyword] = {name: draw(edited(value, depth - 1)) for name, value in schema[keyword].items()}
            else:
                made[keyword] = draw(edited(schema[keyword], depth - 1))
        elif fate == "edit" and keyword in {"anyOf", "allOf", "prefixItems"}:
            made[keyword] = [draw(edited(value, depth - 1)) for value in schema[keyword]]
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """A schema and a later version of it."""
    old, first, second = draw(parts()), draw(parts(1, definitions=False)), draw(parts(1, definitions=False))
    root = old if isinstance(old, dict) else {"allOf": [old]}
    later = draw(edited(root))
    definitions = {"A": first, "B": second}
    changed = {"A": draw(st.just(first) | parts(1, definitions=False)), "B": second}
    return (
        {**root, "$defs": definitions},
        {**(later if isinstance(later, dict) else {"allOf": [later]}), "$defs": changed},
    )


documents = st.recursive(
    st.sampled_from([None, False, True, 0, 1, 2, 2.5, -1, "", "a", "b", "ab", "xyzzy"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=4,
)


def _says(schema: Schema, document: Any) -> bool:
    return bool(Draft202012Validator(schema).is_valid(document))


@settings(max_examples=400, deadline=None)
@given(pairs(), st.lists(documents, min_size=8, max_size=16))
@example(({"anyOf": [{"const": 1}, {"const": 2.5}]}, {"anyOf": [{"const": 1}]}), [2.5])
@example(({"not": {"enum": [1]}}, {"not": {"enum": [1, 2.5]}}), [2.5])
def test_what_was_allowed_stays_allowed_unless_a_change_for_the_worse_is_named(
    versions: tuple[Schema, Schema], given_documents: list[Any]
) -> None:
    """A writer of the old form is never hurt by what the comparison calls harmless for an input."""
    old, new = versions
    found = {change.effect for change in compare_schemas(old, new)}
    assume(not found & {REMOVED, NARROWED, CHANGED})
    for document in given_documents:
        assert _says(new, document) or not _says(old, document)


@settings(max_examples=400, deadline=None)
@given(pairs(), st.lists(documents, min_size=8, max_size=16))
@example(({"not": {"enum": [1, 2.5]}}, {"not": {"enum": [1]}}), [2.5])
def test_what_is_allowed_was_allowed_unless_a_change_for_the_worse_is_named(
    versions: tuple[Schema, Schema], given_documents: list[Any]
) -> None:
    """A reader of the old form never meets what the comparison calls harmless for an output."""
    old, new = versions
    found = {change.effect for change in compare_schemas(old, new)}
    assume(not found & {ADDED, REMOVED, WIDENED, CHANGED})
    for document in given_documents:
        assert _says(old, document) or not _says(new, document)
