"""Holds: when waiting ends in a REJECT, for every mixture of reasons that a hold can have."""

from __future__ import annotations

from itertools import chain, combinations

from gatekeeper.model.canonical import number_text
from gatekeeper.model.hold import UNNAMED, deadline_of
from gatekeeper.model.policy import OnDeadline
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.model.times import MICROSECONDS
from gatekeeper.review.diff.effects import Effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.policy import Policy
    from gatekeeper.review.diff.effects import Consequences

NEVER = float("inf")


def ask_holds(old: Policy, new: Policy, found: Consequences) -> None:
    """A hold that ends in REJECT later, or never, stops less; only the mixtures with fewest reasons are told."""
    if old.holds == new.holds:
        return
    told: dict[Effect, int] = {}
    for categories in chain.from_iterable(combinations(HOLD_CATEGORIES, count) for count in range(1, 6)):
        before, after = rejects_after(old, categories), rejects_after(new, categories)
        if before == after:
            continue
        effect = Effect.STOPS_LESS if after > before else Effect.STOPS_MORE
        if told.setdefault(effect, len(categories)) == len(categories):
            rule = f"hold:{categories[0]}"
            what = " together with ".join(categories)
            found.add(effect, rule, None, f"a hold for {what} was rejected {_when(before)}, now {_when(after)}")


def rejects_after(policy: Policy, categories: tuple[str, ...]) -> float:
    """Seconds after which a hold with reasons of these categories is REJECT; infinite where it never is."""
    deadline, then = deadline_of([policy.holds.get(category, UNNAMED) for category in categories])
    if deadline is None or then != OnDeadline.REJECT:
        return NEVER
    return deadline / MICROSECONDS


def _when(seconds: float) -> str:
    return "never" if seconds == NEVER else f"after {number_text(seconds)} s"
