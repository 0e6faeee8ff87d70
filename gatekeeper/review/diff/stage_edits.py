"""Edits of the list of stages: steps that are gone, and new ones.

A question about a stage that only one of the policies has is no question to the other. What matters is the way: with
a stage gone, a run takes a bigger step past one check; with a new one it takes a smaller step and one check more.
But a new stage also gives its share of users the change before the checks of the stage behind it were passed, so what
is not asked there is told.
"""

from __future__ import annotations

from gatekeeper.model.stages import is_exposed, stage_percent
from gatekeeper.review.diff.compare import compare
from gatekeeper.review.diff.edit import Edit, When
from gatekeeper.review.diff.effects import Consequence, Effect
from gatekeeper.review.diff.fields import SAID_BEFORE, shown
from gatekeeper.review.diff.sides import Mode, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.model.policy import LoadedPolicy


def stage_edits(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Edit]:
    """Each stage that one of the policies lacks."""
    before, after = old.policy.stages, new.policy.stages
    for place, stage in enumerate(after):
        if stage not in before:
            known = (_more(stage, after), *_asked_later(stage, old, new))
            yield Edit(f"stage:{stage}", f"/stages/{place}", None, stage, "none", stage, When.ADD, known=known)
    for place, stage in enumerate(before):
        if stage not in after:
            known = (_fewer(stage, before, after),)
            yield Edit(f"stage:{stage}", f"/stages/{place}", stage, None, stage, "none", When.REMOVE, known=known)
    if before == after and old.document.get("stages") != new.document.get("stages"):
        listed = [one.document.get("stages") for one in (old, new)]
        names = shown(list(after))
        yield Edit("stages", "/stages", listed[0], listed[1], names, names, why_neutral=SAID_BEFORE)


def stage_behind(stage: str, old: tuple[str, ...], new: tuple[str, ...]) -> str:
    """The first stage of both policies with at least as many users as *stage*; `ROLLOUT_100` if no other."""
    share = stage_percent(stage) or 0
    return next(name for name in old if name in new and is_exposed(name) and (stage_percent(name) or 0) >= share)


def _more(stage: str, stages: tuple[str, ...]) -> Consequence:
    place = stages.index(stage)
    where = f"between {stages[place - 1]} and {stages[place + 1]}" if place else f"before {stages[1]}"
    return Consequence(Effect.LETS_LESS, f"stage:{stage}", (stage,), f"one check more, {where}")


def _fewer(stage: str, before: tuple[str, ...], after: tuple[str, ...]) -> Consequence:
    place = before.index(stage)
    ahead = next((name for name in reversed(before[:place]) if name in after), None)
    behind = next(name for name in before[place:] if name in after)
    step = f"begins at {behind}" if ahead is None else f"goes from {ahead} to {behind}"
    return Consequence(Effect.LETS_MORE, f"stage:{stage}", (stage,), f"a run {step} without the check of {stage}")


def _asked_later(stage: str, old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Consequence]:
    """What the new policy asks at the stage behind, which alone led to so many users, and not at the new one."""
    if not is_exposed(stage):
        return
    behind = stage_behind(stage, old.policy.stages, new.policy.stages)
    place = Place(behind, stage, (Mode.BEGIN,))
    for one in compare(new.policy, new.policy, (place,)):
        if one.effect is Effect.LETS_MORE:
            share = shown(stage_percent(stage))
            example = f"{share} percent of users are reached without what {behind} asks: {one.example}"
            yield Consequence(one.effect, one.rule, (stage,), example)
