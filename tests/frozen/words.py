"""Sets of words, of JSON values and of types: what is lost and what is gained between two of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tests.frozen.changes import Change, Effect


def as_json(value: Any) -> str:
    """What a value is told by, and compared by: to Python, 1 and true are equal."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def compare_words(
    old: Iterable[Any], new: Iterable[Any], place: str, *, gained: Effect, lost: Effect = Effect.REMOVED
) -> Iterator[Change]:
    """One change for each word that only one side has.

    Args:
        old, new: the words; any JSON values, their order does not count.
        place: where they stand.
        gained: what a new one does.
        lost: what the absence of an old one does.
    """
    before, after = _texts(old), _texts(new)
    yield from (Change(place, f"{text} taken out", lost) for text in before if text not in after)
    yield from (Change(place, f"{text} added", gained) for text in after if text not in before)


def _texts(values: Iterable[Any]) -> list[str]:
    """Each as JSON: 1 and true are two words, and so are "1" and 1."""
    return sorted({as_json(value) for value in values})
