"""JSON Schema keywords that speak of one value: types, vocabularies, limits, patterns, defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.words import as_json, compare_words

_TYPES = frozenset({"array", "boolean", "fraction", "integer", "null", "object", "string"})
_LOWER = {"minContains": 1, "minItems": 0, "minLength": 0, "minProperties": 0}
_UPPER = ("maxContains", "maxItems", "maxLength", "maxProperties")
_OPAQUE = ("contentEncoding", "contentMediaType", "format", "multipleOf", "pattern")
"""Keywords of which nobody can tell which of two values allows more."""
_FIXED = ("default",)
"""Keywords that allow nothing and forbid nothing, and mean something else with another value."""

COMPARED = frozenset({
    *_LOWER, *_UPPER, *_OPAQUE, *_FIXED,
    "const", "enum", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "type", "uniqueItems", "unit",
})  # fmt: skip
"""What this module looks at."""

Schema = Mapping[str, Any]


def compare_types(old: Schema, new: Schema, place: str) -> Iterator[Change]:
    """`type`: absent, every type; an integer is a number."""
    before, after = _types(old), _types(new)
    if before == after:
        return
    text = f"{as_json(new.get('type', 'any'))}, was {as_json(old.get('type', 'any'))}"
    effect = Effect.NARROWED if after < before else Effect.WIDENED if after > before else Effect.CHANGED
    yield Change(beneath(place, "type"), text, effect)


def compare_vocabulary(old: Schema, new: Schema, place: str, gained: Effect) -> Iterator[Change]:
    """`enum` and `const`; *gained* is what a new word does."""
    before, after = _words(old), _words(new)
    where = beneath(place, "enum")
    if before is None and after is not None:
        yield Change(where, f"only {as_json(after)}", Effect.NARROWED)
    elif after is None and before is not None:
        yield Change(where, f"not only {as_json(before)}", Effect.WIDENED)
    elif before is not None and after is not None:
        yield from compare_words(before, after, where, gained=gained)


def compare_limits(old: Schema, new: Schema, place: str) -> Iterator[Change]:
    """Bounds of numbers and lengths, and `uniqueItems`."""
    limits = {
        "minimum": (_least(old), _least(new)),
        "maximum": (_greatest(new), _greatest(old)),
        "uniqueItems": (bool(old.get("uniqueItems")), bool(new.get("uniqueItems"))),
        **{name: (old.get(name, default), new.get(name, default)) for name, default in _LOWER.items()},
        **{name: (new.get(name, inf), old.get(name, inf)) for name in _UPPER},
    }
    for name, (less, more) in limits.items():
        if less != more:
            text = f"{_shown(new, name)}, was {_shown(old, name)}"
            yield Change(beneath(place, name), text, Effect.NARROWED if more > less else Effect.WIDENED)


def compare_marks(old: Schema, new: Schema, place: str) -> Iterator[Change]:
    """Keywords that are equal or are not: patterns, defaults, units."""
    for name in sorted({*old, *new} & {*_OPAQUE, *_FIXED, "unit"}):
        if as_json(old.get(name)) == as_json(new.get(name)) and (name in old) == (name in new):
            continue
        effect = Effect.CHANGED
        if name in _OPAQUE and (name in old) != (name in new):
            effect = Effect.NARROWED if name in new else Effect.WIDENED
        elif name == "unit" and name not in old:
            effect = Effect.ADDED
        yield Change(beneath(place, name), f"{_shown(new, name)}, was {_shown(old, name)}", effect)


def _types(schema: Schema) -> frozenset[str]:
    stated = schema.get("type", _TYPES)
    types = {stated} if isinstance(stated, str) else set(stated)
    return frozenset(types - {"number"} | ({"integer", "fraction"} if "number" in types else set()))


def _words(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    words: list[Any] | None = schema.get("enum")
    return words


def _least(schema: Schema) -> tuple[float, int]:
    """The larger of the two bounds; the exclusive one is the stricter where they are equal."""
    return max((schema.get("minimum", -inf), 0), (schema.get("exclusiveMinimum", -inf), 1))


def _greatest(schema: Schema) -> tuple[float, int]:
    return min((schema.get("maximum", inf), 0), (schema.get("exclusiveMaximum", inf), -1))


def _shown(schema: Schema, name: str) -> str:
    names = {"minimum": ("minimum", "exclusiveMinimum"), "maximum": ("maximum", "exclusiveMaximum")}.get(name, (name,))
    stated = [f"{one} {as_json(schema[one])}" for one in names if one in schema]
    return " and ".join(stated) or f"no {name}"
