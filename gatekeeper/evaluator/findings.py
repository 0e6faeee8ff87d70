"""What the rules hand on: findings, what hinders a rule, and the troubles that make a verdict.

A finding is built from a template of its fields, because most of them never vary for a policy: the
constructor of a frozen dataclass costs five times as much.
"""

from __future__ import annotations

from enum import IntEnum

from gatekeeper.model.decision import Finding, Outcome
from gatekeeper.model.reasons import Category, split_code
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.model.decision import Action

    Fields = dict[str, Any]
    Observed = float | str | bool | None


class Phase(IntEnum):
    """The order in which `evidence_first` asks (SPEC 5.4). `violations_first` does not use it."""

    CHANGE_CLASS = 0
    REQUIRED = 1
    FRESHNESS = 2
    SKEW = 3
    CONSTRAINTS = 4
    GUARDRAILS = 5
    REFERENCES = 6
    PROMOTION = 7


@dataclass(frozen=True)
class Hindrance:
    """Why evidence cannot be judged as it stands.

    Attributes:
        outcome, code: of the finding of each rule that it hinders.
        missing: entries for the decision's `missing`.
        remedy: the action that would end it, which takes the metric's name; None if there is none.
        phase: set where it decides later than its rule does (windows, SPEC 5.4).
        observed, limit: for the finding on times; seconds or a time.
        source: name of the source that is charged.
    """

    outcome: Outcome
    code: str
    missing: tuple[str, ...] = ()
    remedy: str | None = "collect_metric"
    phase: Phase | None = None
    observed: float | str | None = None
    limit: float | str | None = None
    source: str | None = None


class Trouble:
    """A finding that counts, with what the decision says about it besides its code."""

    __slots__ = ("actions", "code", "finding", "missing", "phase")

    def __init__(
        self,
        finding: Finding,
        code: str,
        phase: Phase,
        missing: tuple[str, ...] = (),
        actions: tuple[Action, ...] = (),
    ) -> None:
        self.finding = finding
        self.code = code
        self.phase = phase
        self.missing = missing
        self.actions = actions


_new = object.__new__
_set = object.__setattr__

_OUTCOMES = {
    Category.OBSERVATION_MISSING: Outcome.MISSING,
    Category.EVIDENCE_MISSING: Outcome.MISSING,
    Category.OBSERVATION_INVALID: Outcome.INVALID,
    Category.OBSERVATION_STALE: Outcome.STALE,
    Category.PRECONDITION_UNKNOWN: Outcome.NOT_READY,
}


def problem_hindrance(code: str, entry: str, remedy: str) -> Hindrance:
    """What a `problem` noted while collecting does to the rules of its metric."""
    return Hindrance(_OUTCOMES[Category(split_code(code)[0])], code, (entry,), remedy)


def template(rule: str, outcome: Outcome, **fields: Any) -> Fields:
    """All fields of a finding in their declared order, to be filled in by `measured` and `finding_of`."""
    finding = Finding(rule, outcome, **fields)
    return {name: getattr(finding, name) for name in Finding.__match_args__}


def measured(
    fields: Fields,
    observed: Observed,
    margin: float | None = None,
    source: str | None = None,
    baseline: float | None = None,
) -> Finding:
    """A finding from a template and what was measured. The hot path: positional, and one copy."""
    made = fields.copy()
    made["observed"] = observed
    made["margin"] = margin
    made["source"] = source
    made["baseline"] = baseline
    finding = _new(Finding)
    _set(finding, "__dict__", made)
    return finding


def finding_of(fields: Fields, **known: object) -> Finding:
    """A finding from a template and whatever else is known."""
    finding = _new(Finding)
    _set(finding, "__dict__", {**fields, **known})
    return finding
