"""What may happen to a contract between two releases, and which of it breaks somebody."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """Who writes what the contract describes, and so who is hurt by which change."""

    INPUT = "input"
    """Others write it, gatekeeper reads it: what was allowed must stay allowed and mean the same."""
    OUTPUT = "output"
    """Gatekeeper writes it, others read it: what was promised must stay promised."""
    BOTH = "both"
    """Written by others and by gatekeeper."""


class Effect(StrEnum):
    """What a change does to the set of documents (or calls, or answers) that the contract allows."""

    ADDED = "added"
    """Something new that nobody has to use, or that readers were told to expect."""
    REMOVED = "removed"
    """A name that somebody uses or waits for is gone."""
    NARROWED = "narrowed"
    """Less is allowed than before."""
    WIDENED = "widened"
    """More is allowed than before."""
    CHANGED = "changed"
    """Another meaning; or nobody can tell whether more or less is allowed."""


_BREAKS = {
    Direction.INPUT: frozenset({Effect.REMOVED, Effect.NARROWED, Effect.CHANGED}),
    Direction.OUTPUT: frozenset({Effect.REMOVED, Effect.WIDENED, Effect.CHANGED}),
    Direction.BOTH: frozenset({Effect.REMOVED, Effect.NARROWED, Effect.WIDENED, Effect.CHANGED}),
}


@dataclass(frozen=True, order=True)
class Change:
    """One difference between a contract as it is kept and as it is now.

    Attributes:
        place: where, as a JSON Pointer into the contract.
        text: what, one line: `maximum 100, was 1000`.
        effect: what that does.
    """

    place: str
    text: str
    effect: Effect

    def is_break(self, direction: Direction) -> bool:
        """Whether somebody who relies on a contract of this direction is hurt."""
        return self.effect in _BREAKS[direction]

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.text} ({self.effect})"


def beneath(place: str, *names: str | int) -> str:
    """The pointer of what stands under *place* by these names."""
    escaped = (str(name).replace("~", "~0").replace("/", "~1") for name in names)
    return "/".join((place, *escaped))
