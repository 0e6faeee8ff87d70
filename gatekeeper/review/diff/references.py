"""Evidence references, and the settings that decide what missing or old evidence means."""

from __future__ import annotations

from gatekeeper.evaluator.plan import APPROVAL
from gatekeeper.review.diff.effects import Effect, Level, level_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.evaluator.plan import StagePlan
    from gatekeeper.review.diff.effects import Consequences
    from gatekeeper.review.diff.sides import Sides

_MISSING = "observation_missing:required_metric"


def ask_references(sides: Sides, found: Consequences) -> None:
    """Hold the references that each policy requires, approval included, against each other."""
    old, new = (_levels(plan) for plan in sides.plans())
    for name in {**old, **new}:
        before, after = old.get(name, Level.PASS), new.get(name, Level.PASS)
        found.moved(f"evidence:{name}", None, f"a run without {name}", before, after)


def ask_settings(sides: Sides, found: Consequences) -> None:
    """What the absence of a metric means, and in which order troubles decide."""
    old, new = sides.plans()
    if old.asked_metrics and new.asked_metrics:
        before, after = sides.levels(_MISSING)
        found.moved("on_missing", None, "a metric that is not there", before, after)
    if old.evidence_first != new.evidence_first:
        effect = Effect.STOPS_LESS if new.evidence_first else Effect.STOPS_MORE
        becomes = "stopped, now holds" if new.evidence_first else "held, now stops"
        found.add(effect, "precedence", None, f"a violation behind a metric that is not there {becomes}")


def _levels(plan: StagePlan) -> dict[str, Level]:
    """What it means that a reference is not given; approval is no code that a setting decides."""
    names = [*plan.reference_names, *([APPROVAL] if plan.needs_approval else [])]
    return {name: level_of(plan.effect(f"evidence_missing:{name}")) for name in names}
