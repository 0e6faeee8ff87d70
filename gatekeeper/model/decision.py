"""What a check answers: verdict, reason codes, findings and typed actions."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.model.reasons import Verdict
from gatekeeper.model.values import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVALUATOR = "gatekeeper/1"
"""Name and version of the rules; a rule whose meaning changes gets a new version."""


class Outcome(StrEnum):
    """How one rule came out. Only PASS is a pass."""

    PASS = "PASS"  # noqa: S105 - not a password
    VIOLATED = "VIOLATED"
    MISSING = "MISSING"
    INVALID = "INVALID"
    STALE = "STALE"
    NOT_READY = "NOT_READY"
    NOT_EVALUATED = "NOT_EVALUATED"
    OBSERVED = "OBSERVED"


@dataclass(frozen=True)
class Finding:
    """The outcome of one rule in one check.

    `observed`, `limit`, `baseline` and `margin` are in the metric's own unit (seconds for times);
    a positive `margin` is the distance still left on the healthy side.
    """

    rule: str
    outcome: Outcome
    code: str | None = None
    metric: str | None = None
    observed: float | str | bool | None = None
    op: str | None = None
    limit: float | str | bool | None = None
    baseline: float | None = None
    margin: float | None = None
    source: str | None = None
    would_be: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Every field, as logged."""
        return {**self.__dict__, "outcome": self.outcome.value}


@dataclass(frozen=True)
class Action:
    """Something that a person or the pipeline does; gatekeeper states it and never carries it out."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """`{"name", "params"}`."""
        return {"name": self.name, "params": dict(self.params)}


@dataclass(frozen=True)
class Decision:
    """The answer to one check, complete: `to_dict` is what the log holds."""

    verdict: Verdict
    reason_codes: tuple[str, ...]
    missing: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    requested_actions: tuple[Action, ...] = ()
    next_actions: tuple[Action, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as logged in an event."""
        return {
            "verdict": self.verdict.value,
            "reason_codes": list(self.reason_codes),
            "missing": list(self.missing),
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
            "requested_actions": [action.to_dict() for action in self.requested_actions],
            "next_actions": [action.to_dict() for action in self.next_actions],
        }
