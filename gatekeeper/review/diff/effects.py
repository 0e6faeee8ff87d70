"""In what way a verdict can turn out otherwise, and what that makes of a change.

Verdicts have an order: ACCEPT lets through, DEGRADE holds, REJECT stops and rolls back. A change is judged by the
questions (a snapshot and a context) that it moves along that order.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from gatekeeper.model.reasons import Verdict
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Level(IntEnum):
    """How far one trouble, or none, takes a check."""

    PASS = 0
    HOLD = 1
    STOP = 2


class Effect(StrEnum):
    """One way in which some question is answered otherwise."""

    LETS_MORE = "lets_more_through"
    STOPS_LESS = "stops_less"
    LETS_LESS = "lets_less_through"
    STOPS_MORE = "stops_more"


class Meaning(StrEnum):
    """What a change is for a reviewer, the most urgent first."""

    LOOSENED = "loosened"
    BOTH = "both"
    TIGHTENED = "tightened"
    NEUTRAL = "neutral"


LOOSENS = frozenset({Effect.LETS_MORE, Effect.STOPS_LESS})
TIGHTENS = frozenset({Effect.LETS_LESS, Effect.STOPS_MORE})


@dataclass(frozen=True)
class Consequence:
    """Something that turns out otherwise.

    Attributes:
        effect: in which way.
        rule: whose finding changes, named as in findings.
        stages: where; empty where it does not depend on the stage.
        example: evidence that shows it, with what became of it and what becomes of it now.
    """

    effect: Effect
    rule: str
    stages: tuple[str, ...]
    example: str


def effect_between(before: Level, after: Level) -> Effect | None:
    """What it is that evidence of level *before* has level *after* now."""
    if after < before:
        return Effect.LETS_MORE if after is Level.PASS else Effect.STOPS_LESS
    if after > before:
        return Effect.LETS_LESS if before is Level.PASS else Effect.STOPS_MORE
    return None


def level_of(verdict: Verdict) -> Level:
    """The level of what a reason code stands for."""
    return Level.STOP if verdict is Verdict.REJECT else Level.HOLD


def meaning_of(effects: Iterable[Effect]) -> Meaning:
    """What a change with these effects is."""
    found = set(effects)
    loosens, tightens = bool(found & LOOSENS), bool(found & TIGHTENS)
    if loosens and tightens:
        return Meaning.BOTH
    return Meaning.LOOSENED if loosens else Meaning.TIGHTENED if tightens else Meaning.NEUTRAL


class Consequences:
    """Consequences as they are found: of one effect on one rule the first example, and all stages."""

    def __init__(self) -> None:
        self._found: dict[tuple[Effect, str], tuple[str, dict[str, None]]] = {}

    def add(self, effect: Effect | None, rule: str, stage: str | None, example: str) -> None:
        """Note one; None as *effect* says that nothing turns out otherwise."""
        if effect is not None:
            _, stages = self._found.setdefault((effect, rule), (example, {}))
            stages.update({} if stage is None else {stage: None})

    def moved(self, rule: str, stage: str | None, what: str, before: Level, after: Level) -> None:
        """Note what becomes of the evidence *what*."""
        self.add(effect_between(before, after), rule, stage, f"{what} {_WAS[before]}, now {_IS[after]}")

    def all(self) -> tuple[Consequence, ...]:
        """Those found, what loosens first."""
        found = [
            Consequence(effect, rule, tuple(stages), example)
            for (effect, rule), (example, stages) in self._found.items()
        ]
        return tuple(sorted(found, key=lambda one: _ORDER[one.effect]))


_ORDER = {effect: place for place, effect in enumerate(Effect)}
_WAS = {Level.PASS: "passed", Level.HOLD: "held", Level.STOP: "stopped"}
_IS = {Level.PASS: "passes", Level.HOLD: "holds", Level.STOP: "stops"}
