"""Contracts that are tables: names, and for each its fields, every field with a rule of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

from tests.frozen.changes import Change, Effect, beneath
from tests.frozen.words import as_json, compare_words


class Rule(Enum):
    """How a field may change."""

    FIXED = auto()
    """Not at all."""
    WORDS = auto()
    """A list that may gain words: choices, flags."""
    CLOSED = auto()
    """A list whose words readers know, all of them: who may leave with an exit code."""
    DEMAND = auto()
    """A truth value that asks something of the caller: `required`."""
    DEMANDS = auto()
    """A list of what else must be given, or must not be: `requires`, `conflicts`."""
    ALTERNATIVES = auto()
    """A list of which one must be given; an empty one asks for nothing."""
    ABILITY = auto()
    """A truth value that promises something: `repeat`, `is_mended`."""
    NAME = auto()
    """A name, or null where there is none yet: `setting`."""


def compare_tables(
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
    rules: Mapping[str, Rule],
    place: str = "",
    *,
    gained: Effect = Effect.ADDED,
) -> Iterator[Change]:
    """What differs between two tables.

    Args:
        old, new: name -> field -> value.
        rules: field -> how it may change; a field that has no rule may not.
        place: where the tables stand.
        gained: what a new name does; one with a demand of its own narrows all the same.
    """
    for name in sorted({*old, *new}):
        where = beneath(place, name)
        if name not in new:
            yield Change(where, "taken out", Effect.REMOVED)
        elif name not in old:
            yield Change(where, "added", Effect.NARROWED if _demands(new[name], rules) else gained)
        else:
            yield from compare_fields(old[name], new[name], rules, where)


def compare_fields(
    old: Mapping[str, Any], new: Mapping[str, Any], rules: Mapping[str, Rule], place: str
) -> Iterator[Change]:
    """What differs between the fields behind one name."""
    for field in sorted({*old, *new}):
        where = beneath(place, field)
        if field not in new:
            yield Change(where, "is not stated any more", Effect.REMOVED)
        elif field not in old:
            yield Change(where, "was not kept before", Effect.ADDED)
        elif as_json(old[field]) != as_json(new[field]):
            yield from _compare(old[field], new[field], rules.get(field, Rule.FIXED), where)


def _demands(fields: Mapping[str, Any], rules: Mapping[str, Rule]) -> bool:
    return any(rule is Rule.DEMAND and fields.get(field) for field, rule in rules.items())


def _compare(old: Any, new: Any, rule: Rule, place: str) -> Iterator[Change]:
    text = f"{as_json(new)}, was {as_json(old)}"
    match rule:
        case Rule.WORDS:
            yield from compare_words(old, new, place, gained=Effect.ADDED)
        case Rule.CLOSED:
            yield from compare_words(old, new, place, gained=Effect.WIDENED)
        case Rule.DEMANDS:
            yield from compare_words(old, new, place, gained=Effect.NARROWED, lost=Effect.WIDENED)
        case Rule.ALTERNATIVES if old and new:
            yield from compare_words(old, new, place, gained=Effect.WIDENED)
        case Rule.ALTERNATIVES | Rule.DEMAND:
            yield Change(place, text, Effect.NARROWED if new else Effect.WIDENED)
        case Rule.ABILITY:
            yield Change(place, text, Effect.ADDED if new else Effect.REMOVED)
        case Rule.NAME if old is None:
            yield Change(place, text, Effect.ADDED)
        case _:
            yield Change(place, text, Effect.CHANGED)
