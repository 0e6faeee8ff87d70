"""Two policies at one stage, as the evaluator would ask them: the plans that it compiles, side by side."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.model.values import dataclass
from gatekeeper.review.diff.effects import level_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.model.policy import Policy
    from gatekeeper.review.diff.effects import Level


class Mode(StrEnum):
    """How a stage is asked: to remain there, to enter it from nowhere, or to enter it from another stage."""

    REMAIN = "remain"
    BEGIN = "begin"
    MOVE_ON = "move_on"


@dataclass(frozen=True)
class Place:
    """A stage of each policy that are held against each other, and how they are asked."""

    old: str
    new: str
    modes: tuple[Mode, ...]


class Sides:
    """One question to both policies but for the evidence.

    Attributes:
        old, new: the plans.
        mode: how the stage is asked.
        stage: its name, for consequences.
        asked_promotion: whether both ask statistics here.
        are_phased: whether both are `evidence_first`, where a hold that is found first hides a REJECT (SPEC 5.4).
    """

    def __init__(self, old: Policy, new: Policy, place: Place, mode: Mode) -> None:
        is_entering = mode is not Mode.REMAIN
        self.old = stage_plan(old, place.old, is_entering=is_entering)
        self.new = stage_plan(new, place.new, is_entering=is_entering)
        self.mode = mode
        self.stage = place.new
        self.asked_promotion = all(asks_promotion(plan) for plan in self.plans())
        self.are_phased = all(plan.evidence_first for plan in self.plans())

    def plans(self) -> tuple[StagePlan, StagePlan]:
        """Both."""
        return self.old, self.new

    def levels(self, code: str) -> tuple[Level, Level]:
        """What a reason code means to each."""
        return level_of(self.old.effect(code)), level_of(self.new.effect(code))


def asks_promotion(plan: StagePlan) -> bool:
    """Whether statistics of some primary are asked."""
    return plan.is_promotion_asked and bool(plan.promotion)


def places(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Place]:
    """The stages that two policies with these stages can both be asked about."""
    for stage in new:
        if stage in old:
            is_first = stage in {old[0], new[0]}
            modes = (Mode.REMAIN, Mode.BEGIN) if is_first else tuple(Mode)
            yield Place(stage, stage, modes)
