"""Reason codes: `category:detail`, and the verdict that each stands for. SPEC 5, one table.

A code is split at its first colon only, so a detail (a metric's name) may hold colons itself.
"""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The answer of a check; its exit code is 0, 1 or 2 and nothing else in the program has these."""

    ACCEPT = "ACCEPT"
    REJECT = "REJECT"
    DEGRADE = "DEGRADE"

    @property
    def exit_code(self) -> int:
        """0 ACCEPT, 1 REJECT, 2 DEGRADE."""
        return _EXIT_CODES[self]


_EXIT_CODES = {Verdict.ACCEPT: 0, Verdict.REJECT: 1, Verdict.DEGRADE: 2}


class Category(StrEnum):
    """The part of a reason code before its first colon."""

    CONSTRAINT_VIOLATION = "constraint_violation"
    GUARDRAIL_VIOLATION = "guardrail_violation"
    BUDGET_VIOLATION = "budget_violation"
    CHANGE_REFUSED = "change_refused"
    OBSERVATION_MISSING = "observation_missing"
    OBSERVATION_INVALID = "observation_invalid"
    OBSERVATION_STALE = "observation_stale"
    EVIDENCE_MISSING = "evidence_missing"
    PRECONDITION_UNKNOWN = "precondition_unknown"


HARM = frozenset({Category.CONSTRAINT_VIOLATION, Category.GUARDRAIL_VIOLATION, Category.BUDGET_VIOLATION})
"""Categories that show harm done to users."""

HOLD_CATEGORIES = (
    Category.OBSERVATION_MISSING,
    Category.OBSERVATION_INVALID,
    Category.OBSERVATION_STALE,
    Category.EVIDENCE_MISSING,
    Category.PRECONDITION_UNKNOWN,
)
"""Categories that a hold can have, and that a policy's `holds` may name."""


class Setting(StrEnum):
    """Which `on_*` key of a policy decides what a code means."""

    ON_MISSING = "on_missing"
    ON_MISSING_BASELINE = "on_missing_baseline"
    ON_STALE = "on_stale"
    EVIDENCE_ON_MISSING = "evidence.on_missing"
    ON_NOT_READY = "on_not_ready"


# code -> setting; what is not listed here is REJECT by category, or DEGRADE whatever a policy says
_BY_SETTING = {
    "observation_missing:required_metric": Setting.ON_MISSING,
    "observation_missing:constraint_metric": Setting.ON_MISSING,
    "observation_missing:guardrail_metric": Setting.ON_MISSING,
    "observation_missing:empty_result": Setting.ON_MISSING,
    "observation_missing:baseline_metric": Setting.ON_MISSING_BASELINE,
    "observation_missing:freshness_seconds": Setting.ON_STALE,
    "observation_stale:over_freshness_budget": Setting.ON_STALE,
    "observation_stale:watermark_skew": Setting.ON_STALE,
    "precondition_unknown:sample_size_not_reached": Setting.ON_NOT_READY,
    "precondition_unknown:significance_not_ready": Setting.ON_NOT_READY,
    "precondition_unknown:assignment_not_stable": Setting.ON_NOT_READY,
}

_REJECT_CATEGORIES = frozenset({*HARM, Category.CHANGE_REFUSED})
_ALWAYS_DEGRADE_EVIDENCE = frozenset({"evidence_missing:approval", "evidence_missing:partial_response"})


def split_code(code: str) -> tuple[str, str]:
    """`category`, `detail` of a reason code; the detail may hold colons."""
    category, _, detail = code.partition(":")
    return category, detail


def fixed_verdict(code: str) -> Verdict | Setting:
    """The verdict that *code* stands for, or the policy's setting that decides it.

    An unknown code is DEGRADE: what nobody can name lets no traffic in and rolls nothing back.
    """
    category, _ = split_code(code)
    if category in _REJECT_CATEGORIES:
        return Verdict.REJECT
    if category == Category.EVIDENCE_MISSING and code not in _ALWAYS_DEGRADE_EVIDENCE:
        return Setting.EVIDENCE_ON_MISSING
    return _BY_SETTING.get(code, Verdict.DEGRADE)


def is_observation_problem(code: object) -> bool:
    """Whether *code* may stand in `observations.<metric>.problem` (SPEC 4)."""
    if not isinstance(code, str):
        return False
    category, detail = split_code(code)
    if code in {"evidence_missing:partial_response", "precondition_unknown:variant_mapping_ambiguous"}:
        return True
    return bool(detail) and category in {
        Category.OBSERVATION_MISSING,
        Category.OBSERVATION_INVALID,
        Category.OBSERVATION_STALE,
    }
