"""All that turns out otherwise between two policies, at the stages that both can be asked about.

A check is ACCEPT if and only if no rule has a trouble (whatever `on_*` keys and precedence say), so a policy is the
conjunction of what its rules ask. Each step below tells every part of one policy's conjunction that the other's does
not imply. A step may overlook that rules of another step imply it: then more is told than turns out, never less.
"""

from __future__ import annotations

from gatekeeper.review.diff.budgets import ask_budgets
from gatekeeper.review.diff.effects import Consequences
from gatekeeper.review.diff.metric_values import ask_values
from gatekeeper.review.diff.references import ask_references, ask_settings
from gatekeeper.review.diff.sides import Sides
from gatekeeper.review.diff.statistics import ask_statistics
from gatekeeper.review.diff.times import ask_times
from gatekeeper.review.diff.waiting import ask_holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.model.policy import Policy
    from gatekeeper.review.diff.effects import Consequence
    from gatekeeper.review.diff.sides import Place

_STEPS = (ask_values, ask_budgets, ask_times, ask_references, ask_statistics, ask_settings)


def compare(old: Policy, new: Policy, places: Iterable[Place]) -> tuple[Consequence, ...]:
    """What turns out otherwise under *new*, the loosening first.

    Args:
        old, new: the policies, or what stands between two of them on the way from one to the other.
        places: the stages that are held against each other.
    """
    found = Consequences()
    for place in places:
        for mode in place.modes:
            sides = Sides(old, new, place, mode)
            for step in _STEPS:
                step(sides, found)
    ask_holds(old, new, found)
    return found.all()
