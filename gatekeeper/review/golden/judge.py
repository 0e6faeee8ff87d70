"""Judge a case and compare: what was expected and is not so."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError
from gatekeeper.evaluator import evaluate
from gatekeeper.review.golden.case import EXPECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Final

    from gatekeeper.model.decision import Decision
    from gatekeeper.model.policy import Policy
    from gatekeeper.review.golden.case import LoadedCase


class Difference:
    """One key of the expectation that the decision does not meet, both values as JSON."""

    __slots__ = ("expected", "found", "key")

    def __init__(self, key: str, expected: Any, found: Any) -> None:
        self.key: Final = key
        self.expected: Final = expected
        self.found: Final = found

    def to_dict(self) -> dict[str, Any]:
        """`{"key", "expected", "found"}`."""
        return {"key": self.key, "expected": self.expected, "found": self.found}


class Result:
    """How one case came out.

    Attributes:
        case: the case.
        decision: the answer; None where the question cannot be asked of the policy any more.
        trouble: why it cannot, with what may be asked instead; empty with a decision.
        differences: in the order of `EXPECTED`.
    """

    __slots__ = ("case", "decision", "differences", "trouble")

    def __init__(
        self,
        case: LoadedCase,
        decision: Decision | None,
        differences: Sequence[Difference] = (),
        trouble: str = "",
    ) -> None:
        self.case: Final = case
        self.decision: Final = decision
        self.differences: Final = differences
        self.trouble: Final = trouble

    @property
    def passes(self) -> bool:
        """Whether all is as expected."""
        return self.decision is not None and not self.differences


def judge(case: LoadedCase, policy: Policy | None = None) -> Result:
    """Ask the case's question of its policy, or of *policy* in its place. Never raises."""
    try:
        decision = evaluate(policy or case.policy.policy, case.snapshot, case.context)
    except InputRefusedError as error:  # a stage that was taken out of the policy
        return Result(case, None, trouble=f"{error.message}; {error.remedy}")
    return Result(case, decision, differences_of(case.expect, decision))


def differences_of(expect: Mapping[str, Any], decision: Decision) -> list[Difference]:
    """Where *decision* is not as *expect* says."""
    found = answer_of(decision)
    return [
        Difference(key, expect[key], found[key])
        for key in EXPECTED
        if key in expect and not _is_met(key, expect[key], found[key])
    ]


def answer_of(decision: Decision) -> dict[str, Any]:
    """What a case may expect of a decision, as JSON: the keys of `EXPECTED`."""
    return {
        "verdict": decision.verdict.value,
        "reason_codes": list(decision.reason_codes),
        "missing": list(decision.missing),
        "requested_actions": [action.to_dict() for action in decision.requested_actions],
    }


def _is_met(key: str, expected: Any, found: Any) -> bool:
    if key != "requested_actions":
        return bool(expected == found)
    return len(expected) == len(found) and all(
        wanted["name"] == action["name"] and ("params" not in wanted or wanted["params"] == action["params"])
        for wanted, action in zip(expected, found, strict=True)
    )
