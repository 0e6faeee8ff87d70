"""Limits on time: the age of evidence and baseline, the lag between sources, windows, the wait in a stage.

Of these only what is let through is told. A stricter limit also turns a violation that old evidence shows from a
stop into a hold, and a laxer one the other way round, but the same harm shown by fresh evidence is judged as before.
"""

from __future__ import annotations

from gatekeeper.model.canonical import number_text
from gatekeeper.review.diff.budgets import budgets
from gatekeeper.review.diff.effects import Effect, Level
from gatekeeper.review.diff.sides import Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.review.diff.effects import Consequences
    from gatekeeper.review.diff.sides import Sides

_STALE = "observation_stale:over_freshness_budget"


def ask_times(sides: Sides, found: Consequences) -> None:
    """Hold every limit on time against the other policy's."""
    old, new = sides.plans()
    trouble = max(sides.levels(_STALE))
    _at_most(sides, found, "freshness", "evidence {} s old", (old.max_freshness_seconds, new.max_freshness_seconds))
    _at_most(sides, found, "skew", "a source {} s behind the newest", (old.max_skew_seconds, new.max_skew_seconds))
    limits = (old.max_baseline_age_seconds, new.max_baseline_age_seconds)
    if limits[0] != limits[1] and budgets(old) and budgets(new):
        _at_most(sides, found, "max_baseline_age_seconds", "a baseline {} s old", limits, trouble=Level.HOLD)
    _ask_dates_of_nothing(sides, found, trouble)
    before, after = sides.levels(_STALE)
    found.moved("on_stale", None, "evidence that is too old", before, after)
    if sides.mode is Mode.MOVE_ON:
        _ask_stage(sides, found)


def _at_most(
    sides: Sides,
    found: Consequences,
    rule: str,
    what: str,
    limits: tuple[float | None, float | None],
    *,
    trouble: Level | None = None,
) -> None:
    """A limit that must not be passed, None where there is none: a greater one lets more through."""
    old, new = limits
    if old == new:
        return
    of_old, of_new = (trouble, trouble) if trouble is not None else sides.levels(_STALE)
    if new is None or (old is not None and new > old):
        assert old is not None
        shown = number_text(new) if new is not None else f"more than {number_text(old)}"
        found.moved(rule, None, what.format(shown), of_old, Level.PASS)
    else:
        shown = number_text(old) if old is not None else f"more than {number_text(new)}"
        found.moved(rule, None, what.format(shown), Level.PASS, of_new)


def _ask_dates_of_nothing(sides: Sides, found: Consequences, trouble: Level) -> None:
    """Where no metric is asked, `_meta` must be fresh; once one is, its own watermark counts instead."""
    old, new = sides.plans()
    if sides.are_phased and set(old.asked_metrics) != set(new.asked_metrics):
        for effect in (Effect.STOPS_LESS, Effect.STOPS_MORE):
            found.add(effect, "freshness", sides.stage, "a metric with old evidence holds before other rules are asked")
    if bool(old.asked_metrics) == bool(new.asked_metrics):
        return
    what = "a snapshot whose own watermark is old, that of its metric is not,"
    if not old.asked_metrics and _dates(sides, old):
        found.moved("freshness", sides.stage, what, trouble, Level.PASS)
    if not new.asked_metrics and _dates(sides, new):
        found.moved("freshness", sides.stage, what, Level.PASS, trouble)


def _dates(sides: Sides, plan: StagePlan) -> bool:
    return plan.max_freshness_seconds is not None or (sides.mode is Mode.MOVE_ON and plan.has_stage_policy)


def _ask_stage(sides: Sides, found: Consequences) -> None:
    """The wait in the stage that is left, and the window that must lie within it."""
    old, new = (_wait(plan) for plan in sides.plans())
    if old != new:
        before, after = (Level.HOLD, Level.PASS) if new < old else (Level.PASS, Level.HOLD)
        what = f"moving on after {number_text(min(old, new))} s"
        found.moved("stage_wait", None, what, before, after)
    windowed = [Level.HOLD if _asks_window(plan) else Level.PASS for plan in sides.plans()]
    what = "a window that began before the stage was entered"
    found.moved("window", sides.stage, what, windowed[0], windowed[1])


def _wait(plan: StagePlan) -> float:
    return plan.min_stage_seconds or 0


def _asks_window(plan: StagePlan) -> bool:
    return plan.has_stage_policy and (bool(plan.window_metrics) or not plan.asked_metrics)
