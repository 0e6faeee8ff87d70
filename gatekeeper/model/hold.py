"""What a DEGRADE leaves behind: who owns the hold, when to ask again, when it ends (SPEC 6, re-entry)."""

from __future__ import annotations

from gatekeeper.model.canonical import digest
from gatekeeper.model.policy import HoldPolicy, OnDeadline
from gatekeeper.model.reasons import Category, split_code
from gatekeeper.model.times import format_time, require_time, seconds_to_microseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.model.decision import Decision
    from gatekeeper.model.policy import Policy
    from gatekeeper.model.run import Hold

UNNAMED = HoldPolicy()
"""How a category is held that the policy does not name: retry 0, escalate 1800, owner `owner`."""

_WAITS_FOR = ("snapshot", "approval", "evidence", "time")
_PERSON_CODES = {
    "evidence_missing:approval",
    "precondition_unknown:policy_changed",
    "precondition_unknown:history_incomplete",
}


def resume_token(run_id: str, event_id: str) -> str:
    """The name of the hold that *event_id* began. It names and grants nothing, so it is no secret."""
    return "hold-" + digest(["gatekeeper/hold", run_id, event_id]).removeprefix("sha256:")[:24]


def waits_for(code: str) -> str:
    """What a reason code waits for: `snapshot`, `approval` (a person), `evidence` or `time`."""
    category, _ = split_code(code)
    if code in _PERSON_CODES:
        return "approval"
    if code == "precondition_unknown:stage_wait_not_elapsed":
        return "time"
    if category == Category.EVIDENCE_MISSING and code != "evidence_missing:partial_response":
        return "evidence"
    return "snapshot"


def plan_hold(
    policy: Policy,
    decision: Decision,
    *,
    run_id: str,
    stage: str,
    event_id: str,
    evaluated_at: str,
    snapshot_digest: str,
    hold: Hold | None,
    source: dict[str, Any] | None,
) -> dict[str, Any]:
    """The `resume` part of a DEGRADE event: a new hold, or the next attempt of *hold*.

    Retry, escalation and deadline are seconds from `first_held_at`; several categories: the longest
    retry, the shortest escalation and deadline, owners in the order of the reason codes.
    """
    categories = list(dict.fromkeys(split_code(code)[0] for code in decision.reason_codes))
    rules = [policy.holds.get(category, UNNAMED) for category in categories] or [UNNAMED]
    first_held_at = hold.first_held_at if hold is not None else evaluated_at
    start = require_time(first_held_at)
    waits = {waits_for(code) for code in decision.reason_codes}
    not_before = start + max(seconds_to_microseconds(rule.retry_after_seconds) for rule in rules)
    for action in decision.requested_actions:
        if action.name == "wait_until":
            not_before = max(not_before, require_time(action.params["time"]))
    deadline, on_deadline = deadline_of(rules)
    return {
        "resume_token": hold.token if hold is not None else resume_token(run_id, event_id),
        "stage": stage,
        "attempt": hold.attempt + 1 if hold is not None else 1,
        "first_held_at": first_held_at,
        "requested_actions": [action.to_dict() for action in decision.requested_actions],
        "next_evaluation": {
            "not_before": format_time(not_before),
            "on": [word for word in _WAITS_FOR if word in waits],
        },
        "owners": list(dict.fromkeys(owner for rule in rules for owner in rule.owners)),
        "escalate_at": format_time(start + min(seconds_to_microseconds(rule.escalate_after_seconds) for rule in rules)),
        "deadline_at": None if deadline is None else format_time(start + deadline),
        "on_deadline": on_deadline,
        "input_unchanged": hold is not None and hold.snapshot_digest == snapshot_digest,
        "source": source,
    }


def deadline_of(rules: list[HoldPolicy]) -> tuple[int | None, str | None]:
    """Shortest deadline in microseconds and what it does; REJECT where two are equally short."""
    stated = [
        (seconds_to_microseconds(rule.deadline_seconds), rule.on_deadline is not OnDeadline.REJECT)
        for rule in rules
        if rule.deadline_seconds is not None
    ]
    if not stated:
        return None, None
    deadline, escalates = min(stated)
    return deadline, (OnDeadline.ESCALATE if escalates else OnDeadline.REJECT).value
