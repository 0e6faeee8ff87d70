"""What `policy backtest` answers."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.replay.backtest_tally import FLIPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.exchange import LogLine
    from gatekeeper.replay.backtest_tally import BacktestTally
    from gatekeeper.replay.holes import Gap

VERDICTS = ("ACCEPT", "DEGRADE", "REJECT")


@dataclass(frozen=True)
class BacktestReport:
    """The outcome.

    Attributes:
        tally: all that was counted.
        runs: how many runs the compared decisions belong to.
        diverging: number of a flip (from 1, in the order of FLIPS) -> runs whose first divergence it is.
        damaged: lines that hold no event, as far as was read.
        gaps: seqs that no line has, as far as was read.
        pruned_to: the last seq of those that were removed on purpose, if they may have been compared.
        other_ids: ids of policies in the log that were not asked for.
    """

    tally: BacktestTally
    runs: int
    diverging: Mapping[int, int]
    damaged: tuple[LogLine, ...]
    gaps: tuple[Gap, ...]
    pruned_to: int | None
    other_ids: tuple[str, ...]

    @property
    def compared(self) -> int:
        """Decisions that both policies answered."""
        return sum(self.tally.matrix.values())

    def flips(self, of: tuple[str, str] | None = None) -> int:
        """Decisions whose verdict differs: all of them, or those from one verdict to another."""
        if of is not None:
            return self.tally.matrix[of]
        return sum(self.tally.matrix[flip] for flip in FLIPS)

    def to_dict(self) -> dict[str, Any]:
        """JSON form; counts are of decisions where nothing else is said."""
        tally, matrix = self.tally, self.tally.matrix
        listed = [found.to_dict() for found in tally.divergences.values()]
        return {
            "decisions": tally.decisions,
            "compared": self.compared,
            "flipped": self.flips(),
            "first": tally.first,
            "last": tally.last,
            "matrix": {old: {new: matrix[old, new] for new in VERDICTS} for old in VERDICTS},
            "flips": [self._flip(flip) for flip in FLIPS if matrix[flip]],
            "other_reasons": tally.same_verdict.to_dict(),
            "holds": {
                "recorded": sum(matrix["DEGRADE", new] for new in VERDICTS),
                "now": sum(matrix[old, "DEGRADE"] for old in VERDICTS),
                "more": sum(matrix[old, "DEGRADE"] for old in VERDICTS if old != "DEGRADE"),
                "fewer": sum(matrix["DEGRADE", new] for new in VERDICTS if new != "DEGRADE"),
            },
            "runs": {
                "compared": self.runs,
                "diverging": sum(self.diverging.values()),
                "first_divergence": [
                    {"from": flip[0], "to": flip[1], "runs": self.diverging[number]}
                    for number, flip in enumerate(FLIPS, 1)
                    if number in self.diverging
                ],
                "listed": listed,
                "left_out": sum(self.diverging.values()) - len(listed),
            },
            "cannot_answer": {**tally.cannot_answer.to_dict(), "needs": _listed(tally.needs, "needs")},
            "not_repeated": tally.not_repeated.to_dict(),
            "not_comparable": _listed(tally.not_comparable, "why"),
            "unknown_policy": tally.unknown_policy.to_dict(),
            "simulated_left_out": tally.simulated,
            "damaged": [{"source": one.source, "line": one.number, "problem": one.problem} for one in self.damaged],
            "gaps": [gap.to_dict() for gap in self.gaps],
            "pruned_to": self.pruned_to,
        }

    def _flip(self, flip: tuple[str, str]) -> dict[str, Any]:
        rules = {rule: examples for (of, rule), examples in self.tally.rules.items() if of == flip}
        return {"from": flip[0], "to": flip[1], "count": self.tally.matrix[flip], "rules": _listed(rules, "rule")}


def _listed(found: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The most frequent first, then by name."""
    ordered = sorted(found.items(), key=lambda item: (-item[1].count, item[0]))
    return [{name: key, **examples.to_dict()} for key, examples in ordered]
