"""What is counted in a backtest: for a range of the log, and put together in the order of the log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Flip = tuple[str, str]

FLIPS: tuple[Flip, ...] = (
    ("REJECT", "ACCEPT"),
    ("DEGRADE", "ACCEPT"),
    ("REJECT", "DEGRADE"),
    ("ACCEPT", "REJECT"),
    ("DEGRADE", "REJECT"),
    ("ACCEPT", "DEGRADE"),
)
"""Recorded verdict and the other policy's: what lets more through comes first."""

MOST_EXAMPLES = 3
"""Events that are named for each rule, and for all else that is counted."""

MOST_RUNS = 100
"""Runs whose first divergence is told; all are counted."""


class Examples:
    """How many events there are, and the ids of the first."""

    __slots__ = ("count", "events")

    def __init__(self) -> None:
        self.count = 0
        self.events: list[str] = []

    def add(self, event_id: str) -> None:
        """One more."""
        self.count += 1
        if len(self.events) < MOST_EXAMPLES:
            self.events.append(event_id)

    def adopt(self, later: Examples) -> None:
        """Those of the lines behind."""
        self.count += later.count
        self.events += later.events[: MOST_EXAMPLES - len(self.events)]

    def to_dict(self) -> dict[str, Any]:
        """`{"count", "events"}`."""
        return {"count": self.count, "events": list(self.events)}


@dataclass(frozen=True)
class Divergence:
    """The first decision of a run that the other policy would have made otherwise.

    Attributes:
        flip: recorded verdict, the other policy's.
        rules: those that make the difference.
    """

    run_id: str
    event_id: str
    seq: int | None
    ts: str | None
    stage: str | None
    flip: Flip
    rules: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON form, `from` and `to` for the flip."""
        return {
            "run_id": self.run_id,
            "event_id": self.event_id,
            "seq": self.seq,
            "ts": self.ts,
            "stage": self.stage,
            "from": self.flip[0],
            "to": self.flip[1],
            "rules": list(self.rules),
        }


class BacktestTally:
    """Of the decisions of one range; picklable, and no longer for a longer log.

    Attributes:
        decisions: all that were looked at; each is one of the following.
        matrix: recorded verdict and the other policy's -> those that were compared.
        cannot_answer: those for which the other policy lacks something; `needs`: what it lacks.
        not_repeated: those that today's evaluator does not repeat with their own policy.
        not_comparable: why -> how many were not judged again.
        simulated: of simulated runs, left out of all else.
        same_verdict: of those compared, with the same verdict for other reasons.
        unknown_policy: of those compared, not repeated first because their own policy is not in what was read.
        rules: flip and rule -> those where it makes the difference.
        first, last: `ts` of the first and last decision compared.
        runs: hash of each run that was compared, in order -> 1 + index in FLIPS of its first divergence, 0 for none.
        divergences: the first MOST_RUNS of these, by run.
    """

    def __init__(self) -> None:
        self.decisions = self.simulated = 0
        self.matrix: Counter[Flip] = Counter()
        self.cannot_answer = Examples()
        self.needs: dict[str, Examples] = {}
        self.not_repeated = Examples()
        self.not_comparable: dict[str, Examples] = {}
        self.same_verdict = Examples()
        self.unknown_policy = Examples()
        self.rules: dict[tuple[Flip, str], Examples] = {}
        self.first: str | None = None
        self.last: str | None = None
        self.runs: dict[int, int] = {}
        self.divergences: dict[str, Divergence] = {}

    def see(self, ts: str | None) -> None:
        """A decision was compared at this time."""
        self.first = self.first or ts
        self.last = ts or self.last

    def diverge(self, found: Divergence) -> None:
        """A decision of a run flipped."""
        if len(self.divergences) < MOST_RUNS:
            self.divergences.setdefault(found.run_id, found)

    def adopt(self, later: BacktestTally) -> None:
        """Add what was found in the lines behind; the runs' hashes are left to the caller."""
        self.decisions += later.decisions
        self.simulated += later.simulated
        self.matrix.update(later.matrix)
        for mine, theirs in (
            (self.cannot_answer, later.cannot_answer),
            (self.not_repeated, later.not_repeated),
            (self.same_verdict, later.same_verdict),
            (self.unknown_policy, later.unknown_policy),
        ):
            mine.adopt(theirs)
        _adopt(self.needs, later.needs)
        _adopt(self.not_comparable, later.not_comparable)
        _adopt(self.rules, later.rules)
        self.first = self.first or later.first
        self.last = later.last or self.last
        for found in later.divergences.values():
            self.diverge(found)


def note(found: dict[Any, Examples], key: Any, event_id: str) -> None:
    """One more event under *key*."""
    examples = found.get(key)
    if examples is None:
        examples = found[key] = Examples()
    examples.add(event_id)


def _adopt(mine: dict[Any, Examples], later: Mapping[Any, Examples]) -> None:
    for key, examples in later.items():
        known = mine.get(key)
        if known is None:
            mine[key] = examples
        else:
            known.adopt(examples)
