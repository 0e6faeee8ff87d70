"""What the limits of a stage's guardrails let through together: a normal form, in which dominated ones are gone."""

from __future__ import annotations

from decimal import Decimal

from gatekeeper.model.policy import Enforcement, Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatekeeper.model.policy import Guardrail

NEVER, ALWAYS = "never", "always"


class Limit:
    """One threshold or budget that is asked and enforced.

    Two limits of the same metric and range have the same trouble with evidence that cannot be judged; `kind` tells
    which code a violation has, and which trouble with the baseline there may be.

    Attributes:
        metric, range: as in the guardrail.
        kind: `threshold`, `budget_delta` or `budget_ratio`.
        side: `upper` where worse is up, else `lower`.
        bound: the number, or NEVER where no value within the range violates it, or ALWAYS where each does.
        is_open: whether a value equal to the bound violates it.
    """

    __slots__ = ("bound", "is_open", "kind", "metric", "range", "side")

    def __init__(self, guardrail: Guardrail, kind: str, number: float) -> None:
        self.metric = guardrail.metric
        self.range = guardrail.range
        self.kind = kind
        self.side = "upper" if guardrail.op.lower_is_better else "lower"
        self.bound: float | str = number
        self.is_open = kind == "threshold" and guardrail.op in {Operator.LT, Operator.GT}
        if guardrail.range is not None:
            self._cut(*guardrail.range)

    def _cut(self, low: float, high: float) -> None:
        """Say so where the range leaves nothing that violates, or nothing that does not."""
        bound = self.bound
        assert not isinstance(bound, str)
        if self.kind == "threshold":
            worst, best = (high, low) if self.side == "upper" else (low, high)
            if not self._is_violated_by(worst, bound):
                self.bound = NEVER
            elif self._is_violated_by(best, bound):
                self.bound = ALWAYS
        elif self.kind == "budget_delta" and Decimal(str(high)) - Decimal(str(low)) <= Decimal(str(bound)):
            self.bound = NEVER
        if isinstance(self.bound, str):
            self.side, self.is_open = "", False

    def _is_violated_by(self, value: float, bound: float) -> bool:
        if value == bound:
            return self.is_open
        return value > bound if self.side == "upper" else value < bound

    def key(self) -> tuple[object, ...]:
        """All of it; equal keys mean the same."""
        return self.metric, self.range, self.kind, self.side, self.bound, self.is_open

    def has_same_evidence(self, other: Limit) -> bool:
        """Whether both read the same value under the same conditions."""
        return self.metric == other.metric and self.range == other.range

    def is_within(self, other: Limit) -> bool:
        """Whether *other* has every trouble that this one has, with the same code."""
        if not self.has_same_evidence(other):
            return False
        if self.bound == NEVER and self.kind == "threshold":
            return True  # what is left is unusable evidence, which every limit of the metric reports alike
        if self.kind != other.kind:
            return False
        if self.bound == NEVER or other.bound == ALWAYS:
            return True
        if isinstance(self.bound, str) or isinstance(other.bound, str) or self.side != other.side:
            return False
        if self.bound == other.bound:
            return other.is_open or not self.is_open
        return (
            other.bound < self.bound if self.side == "upper" or self.kind != "threshold" else other.bound > self.bound
        )


def limits_of(guardrails: Iterable[Guardrail], stage: str) -> tuple[tuple[object, ...], ...]:
    """The limits that *guardrails* set at *stage*, without those that others make superfluous.

    A limit goes where an earlier one has all its troubles with the same code: reason codes are named once, at their
    first place. A later one does for it only if nothing with another code stands between the two.
    """
    kept = [
        Limit(guardrail, kind, number)
        for guardrail in guardrails
        if guardrail.enforcement is Enforcement.ENFORCE and (guardrail.stages is None or stage in guardrail.stages)
        for kind in ("threshold", "budget_delta", "budget_ratio")
        if (number := getattr(guardrail, kind)) is not None
    ]
    for one in reversed(kept[:]):
        place = kept.index(one)
        if any(one.is_within(other) for other in kept[:place]) or _is_within_a_later(one, kept[place + 1 :]):
            del kept[place]
    return tuple(one.key() for one in kept)


def _is_within_a_later(one: Limit, later: Sequence[Limit]) -> bool:
    for other in later:
        if one.is_within(other):
            return True
        # a threshold that never fires has only codes that every limit of its metric shares
        if not one.has_same_evidence(other) or (one.bound != NEVER and other.kind != one.kind):
            return False
    return False
