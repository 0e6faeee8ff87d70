"""JSON Schema keywords that hold other schemas: lists, choices, conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.words import as_json

if TYPE_CHECKING:
    from tests.frozen.walk import Side, Walk

COMPARED = frozenset({
    "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf", "prefixItems", "then",
    "unevaluatedItems",
})  # fmt: skip
"""What this module looks at."""

_FLIPPED = {Effect.NARROWED: Effect.WIDENED, Effect.WIDENED: Effect.NARROWED}
_ONE_MORE = {"allOf": Effect.NARROWED, "anyOf": Effect.WIDENED, "oneOf": Effect.CHANGED}
_ONE_LESS = {"allOf": Effect.WIDENED, "anyOf": Effect.NARROWED, "oneOf": Effect.CHANGED}


def compare_lists(walk: Walk, old: Side, new: Side, *, is_condition: bool) -> Iterator[Change]:
    """What stands in a list: `items`, `prefixItems`, `contains`."""
    for keyword in ("items", "unevaluatedItems"):
        sides = (side.inside(side.schema.get(keyword, {}), keyword) for side in (old, new))
        yield from walk.compare(*sides, is_condition=is_condition)
    for index in range(max(len(side.schema.get("prefixItems", ())) for side in (old, new))):
        yield from walk.compare(_at(old, index), _at(new, index), is_condition=is_condition)
    yield from _contained(walk, old, new)


def compare_branches(walk: Walk, old: Side, new: Side, *, is_condition: bool) -> Iterator[Change]:
    """What else is said of the same value: `allOf`, `anyOf`, `oneOf`, `not`, `if`."""
    for keyword in _ONE_MORE:
        if (keyword in old.schema) != (keyword in new.schema) and keyword != "allOf":
            gone = keyword in old.schema
            text = "the choice is gone" if gone else "a choice where there was none"
            yield Change(beneath(old.place, keyword), text, Effect.WIDENED if gone else Effect.NARROWED)
        else:
            yield from _choices(walk, old, new, keyword, is_condition=is_condition)
    yield from _negation(walk, old, new)
    yield from _conditions(walk, old, new)


def _at(side: Side, index: int) -> Side:
    """What is said of the list's element with this index."""
    stated: list[Any] = side.schema.get("prefixItems", [])
    if index < len(stated):
        return side.inside(stated[index], "prefixItems", index)
    return side.inside(side.schema.get("items", {}), "items")


def _contained(walk: Walk, old: Side, new: Side) -> Iterator[Change]:
    if "contains" in old.schema and "contains" in new.schema:
        sides = (side.inside(side.schema["contains"], "contains") for side in (old, new))
        yield from walk.compare(*sides, is_condition=True)
    else:
        yield from _asked(old, new, "contains")


def _asked(old: Side, new: Side, keyword: str) -> Iterator[Change]:
    """A keyword that is a demand by being there, on one side at most."""
    if (keyword in old.schema) != (keyword in new.schema):
        gone = keyword in old.schema
        text = "not asked any more" if gone else "asked now"
        yield Change(beneath(old.place, keyword), text, Effect.WIDENED if gone else Effect.NARROWED)


def _choices(walk: Walk, old: Side, new: Side, keyword: str, *, is_condition: bool) -> Iterator[Change]:
    """Branches are paired, the alike ones first; any pairing is sound, a good one says less."""
    before, waiting = _branches(old, keyword), _branches(new, keyword)
    texts = [text for text, _ in waiting]
    for text, branch in sorted(before, key=lambda one: one[0] not in texts):
        if not waiting:
            yield Change(branch.place, "taken out", _ONE_LESS[keyword])
            continue
        partner = next((one for one in waiting if one[0] == text), waiting[0])
        if partner[0] != text and len(waiting) > 1:
            partner = min(waiting, key=lambda one: _distance(walk.probe(branch, one[1], is_condition=is_condition)))
        waiting.remove(partner)
        yield from walk.compare(branch, partner[1], is_condition=is_condition)
    for _, branch in waiting:
        yield Change(branch.place, "added", _ONE_MORE[keyword])


def _branches(side: Side, keyword: str) -> list[tuple[str, Side]]:
    """Each with its text, references as they stand."""
    stated = side.schema.get(keyword, ())
    return [(as_json(branch), side.beside(branch, keyword, index)) for index, branch in enumerate(stated)]


def _distance(changes: list[Change]) -> int:
    return sum(change.effect is not Effect.ADDED for change in changes)


def _negation(walk: Walk, old: Side, new: Side) -> Iterator[Change]:
    """What is refused: where more of it is allowed, less is allowed of the whole."""
    if "not" in old.schema and "not" in new.schema:
        inner = walk.probe(*(side.beside(side.schema["not"], "not") for side in (old, new)), is_condition=True)
        yield from (replace(change, effect=_FLIPPED.get(change.effect, change.effect)) for change in inner)
    else:
        yield from _asked(old, new, "not")


def _conditions(walk: Walk, old: Side, new: Side) -> Iterator[Change]:
    if not ("if" in old.schema and "if" in new.schema):
        yield from _asked(old, new, "if")
        return
    if walk.probe(*(side.beside(side.schema["if"], "if") for side in (old, new)), is_condition=True):
        yield Change(beneath(old.place, "if"), "another condition", Effect.CHANGED)
    for keyword in ("then", "else"):
        yield from walk.compare(*(side.beside(side.schema.get(keyword, {}), keyword) for side in (old, new)))
