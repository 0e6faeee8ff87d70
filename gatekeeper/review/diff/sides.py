"""Two policies at one stage, as the evaluator would ask them: the plans that it compiles, side by side."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.model.policy import OnTrouble
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
        hides: whether both are such that a hold found first can hide a REJECT: `evidence_first` asks no further
            (SPEC 5.4), and statistics that reject are not asked after safety has not passed (SPEC 5.5).
    """

    def __init__(self, old: Policy, new: Policy, place: Place, mode: Mode) -> None:
        is_entering = mode is not Mode.REMAIN
        self.old = stage_plan(old, place.old, is_entering=is_entering)
        self.new = stage_plan(new, place.new, is_entering=is_entering)
        self.mode = mode
        self.stage = place.new
        self.asked_promotion = all(asks_promotion(plan) for plan in self.plans())
        self.are_phased = all(plan.evidence_first for plan in self.plans())
        self.rejects_unready = self.asked_promotion and all(_rejects_unready(plan) for plan in self.plans())
        self.hides = self.are_phased or self.rejects_unready

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


def _rejects_unready(plan: StagePlan) -> bool:
    gate = plan.policy.promotion_gate
    return gate is not None and gate.on_not_ready is OnTrouble.REJECT
