"""The promotion gate: which statistics are asked of which primary, and how much they must show."""

from __future__ import annotations

from gatekeeper.model.canonical import number_text
from gatekeeper.review.diff.effects import Level
from gatekeeper.review.diff.sides import Mode, asks_promotion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.rules import PromotionPlan
    from gatekeeper.review.diff.effects import Consequences
    from gatekeeper.review.diff.sides import Sides

    Both = tuple[Level, Level]

_NOT_READY = "precondition_unknown:significance_not_ready"
_PARTS = (
    ("sample_size", "sample_size_limit", "a sample of {}"),
    ("ci_bound", "bound_limit", "a confidence bound of {}"),
    ("min_lift", "lift_limit", "an effect of {}"),
)


def ask_statistics(sides: Sides, found: Consequences) -> None:
    """Hold the promotion gates against each other on entering a stage."""
    if sides.mode is Mode.REMAIN:
        return
    levels = sides.levels(_NOT_READY)
    old, new = (
        {primary.metric: primary for primary in plan.promotion} if asks_promotion(plan) else {}
        for plan in sides.plans()
    )
    for metric in {**old, **new}:
        before, after = old.get(metric), new.get(metric)
        rule = f"promotion:{metric}"
        if after is None:
            found.moved(rule, sides.stage, f"{metric} without statistics", levels[0], Level.PASS)
        elif before is None:
            found.moved(rule, sides.stage, f"{metric} without statistics", Level.PASS, levels[1])
        else:
            _ask_parts(sides, before, after, levels, found)
    if sides.asked_promotion:
        found.moved("on_not_ready", None, "statistics that are not ready", *levels)
    _ask_flat_form(sides, old, new, levels, found)


def _ask_parts(sides: Sides, old: PromotionPlan, new: PromotionPlan, levels: Both, found: Consequences) -> None:
    rule = f"promotion:{old.metric}"
    for part, limit, what in _PARTS:
        before, after = getattr(old, limit), getattr(new, limit)
        if before == after:
            continue
        name = f"{rule}:{part}"
        if after is None or (before is not None and after < before):
            shown = what.format(number_text(after) if after is not None else "any size")
            found.moved(name, sides.stage, f"{old.metric} with {shown}", levels[0], Level.PASS)
        else:
            shown = what.format(number_text(before) if before is not None else "any size")
            found.moved(name, sides.stage, f"{old.metric} with {shown}", Level.PASS, levels[1])
    if old.is_up != new.is_up:
        what = f"{old.metric} moving {{}}"
        if _asks_effect(old):
            found.moved(rule, sides.stage, what.format("down" if old.is_up else "up"), levels[0], Level.PASS)
        if _asks_effect(new):
            found.moved(rule, sides.stage, what.format("up" if old.is_up else "down"), Level.PASS, levels[1])


def _asks_effect(primary: PromotionPlan) -> bool:
    return primary.bound_limit is not None or primary.lift_limit is not None


def _ask_flat_form(
    sides: Sides,
    old: dict[str, PromotionPlan],
    new: dict[str, PromotionPlan],
    levels: Both,
    found: Consequences,
) -> None:
    """`promotion` as one flat object is read only where there is one primary (SPEC 4).

    A gate that asks for nothing but a stable assignment is content where it reads nothing.
    """
    for metric in old.keys() & new.keys():
        what = f"{metric} with an unstable assignment stated in a flat promotion part"
        if len(old) == 1 and len(new) > 1 and not _asks_anything(new[metric]):
            found.moved(f"promotion:{metric}:assignment_stable", sides.stage, what, levels[0], Level.PASS)
        if len(new) == 1 and len(old) > 1 and not _asks_anything(old[metric]):
            found.moved(f"promotion:{metric}:assignment_stable", sides.stage, what, Level.PASS, levels[1])


def _asks_anything(primary: PromotionPlan) -> bool:
    return primary.sample_size_limit is not None or _asks_effect(primary)
