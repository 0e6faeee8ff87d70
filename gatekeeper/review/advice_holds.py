"""Holds: who owns them, and whether their times leave room for one another."""

from __future__ import annotations

from gatekeeper.model.canonical import number_text
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.policy import OnDeadline
from gatekeeper.model.reasons import HOLD_CATEGORIES, Category
from gatekeeper.review.catalogue import remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.documents.problem import Problem
    from gatekeeper.model.policy import HoldPolicy, Policy

_OUTAGE = frozenset({Category.OBSERVATION_MISSING, Category.OBSERVATION_INVALID, Category.OBSERVATION_STALE})
"""Categories in which an outage of the monitoring holds."""


def hold_advice(policy: Policy, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Every remark about holds; *document* is their part of the policy as written."""
    unnamed = [category for category in HOLD_CATEGORIES if category not in policy.holds]
    if unnamed:
        message = f"holds of {', '.join(unnamed)} are due at once, escalate after 1800 s and belong to owner"
        yield remark("policy.hold_category_unnamed", "/holds", message)
    for category, hold in policy.holds.items():
        pointer, about = f"/holds/{escape_pointer(category)}", f"hold:{category}"
        if "owners" not in document[category]:
            message = f"holds of {category} belong to nobody by name"
            yield remark("policy.hold_without_owner", pointer, message, rule=about)
        for index, owner in enumerate(hold.owners):
            if owner in hold.owners[:index]:
                yield remark("policy.duplicate_entry", f"{pointer}/owners/{index}", f"{owner} stands twice", rule=about)
        yield from _times(hold, pointer, about)
        deadline = hold.deadline_seconds
        if deadline is not None and hold.on_deadline is OnDeadline.REJECT and category in _OUTAGE:
            message = f"an outage of {number_text(deadline)} s rolls a healthy release back"
            yield remark("policy.outage_rejects", f"{pointer}/on_deadline", message, rule=about)


def _times(hold: HoldPolicy, pointer: str, about: str) -> Iterator[Problem]:
    retry, escalate, deadline = hold.retry_after_seconds, hold.escalate_after_seconds, hold.deadline_seconds
    if deadline is not None and deadline <= retry:
        message = f"{_deadline_text(deadline)}, and the hold is first due after {number_text(retry)} s"
        yield remark("policy.deadline_before_retry", f"{pointer}/deadline_seconds", message, rule=about)
        return  # the other times are reckoned anew with it
    if deadline is not None and escalate >= deadline:
        message = f"{_deadline_text(deadline)}, and somebody is called after {number_text(escalate)} s"
        yield remark("policy.escalation_after_deadline", f"{pointer}/escalate_after_seconds", message, rule=about)
    if escalate < retry:
        due = f"the hold is first due after {number_text(retry)} s"
        message = f"somebody is called after {number_text(escalate)} s, and {due}"
        yield remark("policy.escalation_before_retry", f"{pointer}/escalate_after_seconds", message, rule=about)


def _deadline_text(seconds: float) -> str:
    return f"the deadline passes after {number_text(seconds)} s"
