"""Try every change of a policy on its golden cases."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.review.golden.judge import judge
from gatekeeper.review.load import load_policy
from gatekeeper.review.mutants.changes import changes_of
from gatekeeper.review.mutants.meaning import meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Final

    from gatekeeper.model.policy import LoadedPolicy, Policy
    from gatekeeper.review.golden.case import LoadedCase
    from gatekeeper.review.mutants.change import Change


class Survey:
    """What became of the changes of one policy.

    Attributes:
        path: the policy's file.
        noticed: how many changes made at least one case fail.
        unnoticed: those that made none fail.
        without_effect: how many leave the meaning of the policy as it is; they count neither way.
    """

    __slots__ = ("noticed", "path", "unnoticed", "without_effect")

    def __init__(self, path: str, *, noticed: int, unnoticed: Sequence[Change], without_effect: int) -> None:
        self.path: Final = path
        self.noticed: Final = noticed
        self.unnoticed: Final = unnoticed
        self.without_effect: Final = without_effect

    @property
    def counted(self) -> int:
        """Changes that a case could notice."""
        return self.noticed + len(self.unnoticed)

    @property
    def score(self) -> int:
        """Per cent of these that are noticed, rounded down; 100 where there is none."""
        return self.noticed * 100 // self.counted if self.counted else 100

    def to_dict(self) -> dict[str, Any]:
        """JSON form, without the places in the file."""
        return {
            "policy": self.path,
            "score": self.score,
            "counted": self.counted,
            "noticed": self.noticed,
            "without_effect": self.without_effect,
        }


def survey(path: str, loaded: LoadedPolicy, cases: Sequence[LoadedCase]) -> Survey:
    """Ask each of *cases*, all of which pass, under each change of its policy.

    Args:
        path: the policy's file, for the report.
        loaded: the policy.
        cases: those of this policy.
    """
    original = meaning(loaded.policy)
    noticed, without_effect = 0, 0
    unnoticed: list[Change] = []
    for change, policy in mutants_of(loaded):
        if not all(judge(case, policy).passes for case in cases):
            noticed += 1
        elif meaning(policy) == original:  # asked of these alone: what a case notices has an effect
            without_effect += 1
        else:
            unnoticed.append(change)
    return Survey(path, noticed=noticed, unnoticed=unnoticed, without_effect=without_effect)


def mutants_of(loaded: LoadedPolicy) -> Iterator[tuple[Change, Policy]]:
    """Every change of a policy that makes another policy, with that one; what does not load never judges anything."""
    for change in changes_of(loaded.document):
        try:
            policy = load_policy(canonical_bytes(change.applied(loaded.document)))
        except InputRefusedError:
            continue
        yield change, policy
