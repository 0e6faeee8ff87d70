"""Two versions of a JSON Schema, walked together keyword by keyword, references followed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tests.frozen import branches, keywords, objects
from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.words import as_json

Schema = dict[str, Any]

_NOTHING: Schema = {"not": {}}
_COMPARED = keywords.COMPARED | objects.COMPARED | branches.COMPARED


@dataclass(frozen=True)
class Side:
    """A part of a schema.

    Attributes:
        schema: the part; neither true nor false, and no reference.
        root: the whole that it belongs to.
        definitions: those of the whole, as text.
        place: JSON Pointer of the part in the whole.
        known: keys of the object that an enclosing part has described already.
    """

    schema: Schema
    root: Schema
    definitions: str
    place: str = ""
    known: frozenset[str] = frozenset()

    @property
    def keys(self) -> frozenset[str]:
        """All keys of the object that are described, here or around."""
        return self.known | frozenset(self.schema.get("properties", ()))

    def is_the_same_as(self, other: Side) -> bool:
        """Whether there is nothing to compare: they are equal, and so is what they refer to."""
        if self.schema == other.schema == {}:
            return True
        return self.definitions == other.definitions and as_json(self.schema) == as_json(other.schema)

    def inside(self, schema: Any, *names: str | int) -> Side:
        """What is said of a value inside this one."""
        return _resolved(replace(self, schema=schema, place=beneath(self.place, *names), known=frozenset()))

    def beside(self, schema: Any, *names: str | int) -> Side:
        """What else is said of the same value."""
        return _resolved(replace(self, schema=schema, place=beneath(self.place, *names), known=self.keys))


@dataclass
class Walk:
    """One comparison.

    Attributes:
        open_words: places whose vocabulary readers expect to grow.
        seen: pairs of parts that have been compared: a definition that is used twice is reported once.
    """

    open_words: frozenset[str] = frozenset()
    seen: set[tuple[str, str, frozenset[str], frozenset[str], bool]] = field(default_factory=set)

    def compare(self, old: Side, new: Side, *, is_condition: bool = False) -> Iterator[Change]:
        """Changes between two parts.

        Args:
            old, new: the parts.
            is_condition: they choose among values and describe none, so that a key more asks for more.
        """
        pair = (old.place, new.place, old.known, new.known, is_condition)
        if pair in self.seen or old.is_the_same_as(new):
            return
        self.seen.add(pair)
        if _NOTHING in (old.schema, new.schema):
            yield from _all_or_nothing(old, new)
            return
        gained = Effect.ADDED if old.place in self.open_words else Effect.WIDENED
        yield from keywords.compare_types(old.schema, new.schema, old.place)
        yield from keywords.compare_vocabulary(old.schema, new.schema, old.place, gained)
        yield from keywords.compare_limits(old.schema, new.schema, old.place)
        yield from keywords.compare_marks(old.schema, new.schema, old.place)
        yield from objects.compare_objects(self, old, new, is_condition=is_condition)
        yield from branches.compare_lists(self, old, new, is_condition=is_condition)
        yield from branches.compare_branches(self, old, new, is_condition=is_condition)
        for keyword in sorted({*old.schema, *new.schema} - _COMPARED):
            if as_json(old.schema.get(keyword)) != as_json(new.schema.get(keyword)):
                yield Change(beneath(old.place, keyword), "nobody compares this keyword", Effect.CHANGED)

    def probe(self, old: Side, new: Side, *, is_condition: bool = False) -> list[Change]:
        """The same changes, for a look at them only."""
        return list(Walk(self.open_words).compare(old, new, is_condition=is_condition))


def compare_schemas(
    old: Schema, new: Schema, *, open_words: frozenset[str] = frozenset(), entries: tuple[str, ...] = ()
) -> Iterator[Change]:
    """What differs between two schemas, each made bare.

    No decision procedure for all schemas, and it errs on one side: where it cannot tell more from less (another
    pattern, other branches), it says CHANGED, which breaks in every direction. Branches of `oneOf` are taken to exclude
    one another.

    Args:
        old, new: the whole schemas.
        open_words: JSON Pointers of parts whose vocabulary (`enum`, `const`) readers expect to grow.
        entries: names of definitions that others refer to by name.
    """
    walk = Walk(open_words)
    before, after = (_side(schema) for schema in (old, new))
    yield from walk.compare(before, after)
    for name in entries:
        if name in old.get("$defs", {}) and name not in new.get("$defs", {}):
            yield Change(beneath("/$defs", name), "taken out; others refer to it by name", Effect.REMOVED)
        elif name in old.get("$defs", {}):
            yield from walk.compare(*(side.inside({"$ref": f"#/$defs/{name}"}) for side in (before, after)))


def _side(schema: Schema) -> Side:
    """The whole, without its definitions: they are compared where they are referred to."""
    rest = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    return _resolved(Side(rest, schema, as_json(schema.get("$defs", {}))))


def _all_or_nothing(old: Side, new: Side) -> Iterator[Change]:
    if old.schema != new.schema:
        closed = new.schema == _NOTHING
        text = "nothing is allowed any more" if closed else "allowed now"
        yield Change(old.place, text, Effect.NARROWED if closed else Effect.WIDENED)


def _resolved(side: Side) -> Side:
    """With the definition instead of the reference to it, and what stands beside the reference."""
    schema: Any = side.schema
    if schema is True or schema is False:
        return replace(side, schema={} if schema else _NOTHING)
    if "$ref" not in schema:
        return side
    reference = schema["$ref"].removeprefix("#")
    rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    target = side.root["$defs"][reference.removeprefix("/$defs/")]
    if not rest:
        return _resolved(replace(side, schema=target, place=reference))
    if any(as_json(target[keyword]) != as_json(rest[keyword]) for keyword in rest.keys() & target.keys()):
        return replace(side, schema={**rest, "allOf": [*rest.get("allOf", ()), target]})
    return _resolved(replace(side, schema={**target, **rest}))
