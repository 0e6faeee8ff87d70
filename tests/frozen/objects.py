"""JSON Schema keywords that speak of an object's keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.words import compare_words

if TYPE_CHECKING:
    from tests.frozen.walk import Side, Walk

COMPARED = frozenset({
    "additionalProperties", "dependentRequired", "dependentSchemas", "patternProperties", "properties",
    "propertyNames", "required", "unevaluatedProperties",
})  # fmt: skip
"""What this module looks at."""

_OTHER_KEYS = ("additionalProperties", "unevaluatedProperties")


def compare_objects(walk: Walk, old: Side, new: Side, *, is_condition: bool) -> Iterator[Change]:
    """All of them."""
    yield from compare_words(
        old.schema.get("required", ()),
        new.schema.get("required", ()),
        beneath(old.place, "required"),
        gained=Effect.NARROWED,
        lost=Effect.WIDENED,
    )
    yield from _properties(walk, old, new, is_condition=is_condition)
    for keyword in _OTHER_KEYS:
        sides = (side.inside(side.schema.get(keyword, {}), keyword) for side in (old, new))
        yield from walk.compare(*sides, is_condition=is_condition)
    names = (side.inside(side.schema.get("propertyNames", {}), "propertyNames") for side in (old, new))
    yield from walk.compare(*names, is_condition=True)
    yield from _patterns(walk, old, new, is_condition=is_condition)
    yield from _dependents(walk, old, new)


def _properties(walk: Walk, old: Side, new: Side, *, is_condition: bool) -> Iterator[Change]:
    before, after = (side.schema.get("properties", {}) for side in (old, new))
    for name in sorted({*before, *after}):
        where = beneath(old.place, "properties", name)
        if name not in after:
            demand = is_condition or name in new.known
            yield Change(where, "taken out", Effect.WIDENED if demand else Effect.REMOVED)
        elif name not in before:
            demand = is_condition or name in old.known
            yield Change(where, "added", Effect.NARROWED if demand else Effect.ADDED)
            if old.schema.get("additionalProperties"):  # until now, such a key was one of many that are alike
                alike = old.inside(old.schema["additionalProperties"], "additionalProperties")
                yield from walk.compare(alike, new.inside(after[name], "properties", name))
        else:
            sides = (side.inside(side.schema["properties"][name], "properties", name) for side in (old, new))
            yield from walk.compare(*sides, is_condition=is_condition)


def _patterns(walk: Walk, old: Side, new: Side, *, is_condition: bool) -> Iterator[Change]:
    keyword = "patternProperties"
    before, after = (side.schema.get(keyword, {}) for side in (old, new))
    for pattern in sorted({*before, *after}):
        if pattern in before and pattern in after:
            sides = (side.inside(side.schema[keyword][pattern], keyword, pattern) for side in (old, new))
            yield from walk.compare(*sides, is_condition=is_condition)
        else:
            yield Change(beneath(old.place, keyword, pattern), "on one side only", Effect.CHANGED)


def _dependents(walk: Walk, old: Side, new: Side) -> Iterator[Change]:
    where = beneath(old.place, "dependentRequired")
    yield from compare_words(_needs(old), _needs(new), where, gained=Effect.NARROWED, lost=Effect.WIDENED)
    keyword = "dependentSchemas"
    for key in sorted({*old.schema.get(keyword, {}), *new.schema.get(keyword, {})}):
        yield from walk.compare(
            *(side.beside(side.schema.get(keyword, {}).get(key, {}), keyword, key) for side in (old, new))
        )


def _needs(side: Side) -> list[str]:
    needs = side.schema.get("dependentRequired", {})
    return [f"{key} needs {other}" for key, others in needs.items() for other in others]
