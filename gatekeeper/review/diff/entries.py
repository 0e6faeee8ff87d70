"""Which entry of the old policy became which one of the new, where a list is not kept in order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Pairs = list[tuple[int, int]]


def align(
    old: Sequence[Any], new: Sequence[Any], *likenesses: Callable[[Any], object]
) -> tuple[Pairs, list[int], list[int]]:
    """Places of entries that belong together, of those that are gone, and of those that are new.

    Args:
        old, new: the lists.
        likenesses: what must be equal for two entries to belong together, the strictest first. Of several alike, the
            first belongs to the first.
    """
    left, right = list(range(len(old))), list(range(len(new)))
    pairs: Pairs = []
    for likeness in (lambda entry: entry, *likenesses):
        for place in list(left):
            for other in right:
                if likeness(old[place]) == likeness(new[other]):
                    pairs.append((place, other))
                    left.remove(place)
                    right.remove(other)
                    break
    return sorted(pairs, key=lambda pair: pair[1]), left, right


def are_reordered(pairs: Pairs) -> bool:
    """Whether entries that stayed stand in another order."""
    places = [place for place, _ in pairs]
    return places != sorted(places)
