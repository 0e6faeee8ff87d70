from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.model.decision import Action, Decision
from gatekeeper.model.hold import plan_hold, resume_token, waits_for
from gatekeeper.model.policy import HoldPolicy, OnDeadline, Policy
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import Hold

HELD_AT = "2026-02-18T01:00:00.000000Z"
MISSING, STALE = "observation_missing:guardrail_metric", "observation_stale:watermark_skew"
REFERENCE = "evidence_missing:change_id"
REJECT, ESCALATE = OnDeadline.REJECT, OnDeadline.ESCALATE


def plan(
    *codes: str,
    holds: dict[str, HoldPolicy] | None = None,
    actions: tuple[Action, ...] = (),
    hold: Hold | None = None,
    evaluated_at: str = HELD_AT,
    snapshot_digest: str = "sha256:1",
) -> dict[str, Any]:
    """The `resume` part for a DEGRADE with these codes under a policy with these holds."""
    decision = Decision(
        verdict=Verdict.DEGRADE,
        reason_codes=codes,
        missing=(),
        findings=(),
        notes=(),
        requested_actions=actions,
        next_actions=(),
    )
    return plan_hold(
        Policy("p", "1", holds=holds or {}),
        decision,
        run_id="r",
        stage="SHADOW",
        event_id="r:SHADOW",
        evaluated_at=evaluated_at,
        snapshot_digest=snapshot_digest,
        hold=hold,
        source=None,
    )


def held(**changes: Any) -> Hold:
    """An open hold at its third attempt."""
    fields: dict[str, Any] = {
        "token": "hold-abc",
        "stage": "SHADOW",
        "attempt": 3,
        "first_held_at": HELD_AT,
        "not_before": HELD_AT,
        "deadline_at": None,
        "on_deadline": None,
        "event_id": "r:SHADOW",
        "snapshot_digest": "sha256:1",
        "reason_codes": (),
        "missing": (),
        "document": {},
    }
    return Hold(**{**fields, **changes})


def test_a_category_that_the_policy_does_not_name() -> None:
    """Retry at once, escalate after half an hour, owner `owner`, no deadline."""
    resume = plan(MISSING, holds={"evidence_missing": HoldPolicy(retry_after_seconds=99, owners=("x",))})
    assert resume["next_evaluation"]["not_before"] == HELD_AT
    assert resume["escalate_at"] == "2026-02-18T01:30:00.000000Z"
    assert (resume["owners"], resume["deadline_at"], resume["on_deadline"]) == (["owner"], None, None)


def test_several_categories_take_the_longest_retry_and_the_shortest_rest() -> None:
    """Longest retry, shortest escalation, shortest deadline, owners in the order of the reasons, each once."""
    holds = {
        "observation_missing": HoldPolicy(300, 1200, ("sre", "data"), 7200, REJECT),
        "evidence_missing": HoldPolicy(60, 600, ("owner", "sre"), 3600, ESCALATE),
    }
    resume = plan(REFERENCE, MISSING, REFERENCE, holds=holds)
    assert resume["next_evaluation"]["not_before"] == "2026-02-18T01:05:00.000000Z"
    assert resume["escalate_at"] == "2026-02-18T01:10:00.000000Z"
    assert resume["deadline_at"] == "2026-02-18T02:00:00.000000Z"
    assert resume["on_deadline"] == "ESCALATE"
    assert resume["owners"] == ["owner", "sre", "data"]
    assert plan(MISSING, REFERENCE, holds=holds)["owners"] == ["sre", "data", "owner"]


def test_an_unnamed_category_counts_among_several() -> None:
    """Its half hour is shorter than the other's day, and its owner is asked too; it states no deadline."""
    holds = {"observation_missing": HoldPolicy(10, 86400, ("sre",), 3600, REJECT)}
    resume = plan(MISSING, STALE, holds=holds)
    assert resume["escalate_at"] == "2026-02-18T01:30:00.000000Z"
    assert (resume["owners"], resume["deadline_at"]) == (["sre", "owner"], "2026-02-18T02:00:00.000000Z")


@pytest.mark.parametrize("order", [(MISSING, REFERENCE), (REFERENCE, MISSING)])
def test_of_two_equal_deadlines_reject_wins(order: tuple[str, str]) -> None:
    """`on_deadline` of the shortest; REJECT where equal, whatever the order."""
    holds = {
        "observation_missing": HoldPolicy(deadline_seconds=3600, on_deadline=ESCALATE),
        "evidence_missing": HoldPolicy(deadline_seconds=3600, on_deadline=REJECT),
    }
    assert plan(*order, holds=holds)["on_deadline"] == "REJECT"


def test_times_count_from_the_first_hold() -> None:
    """The fourth attempt, an hour later: the same start, the next number, the same token."""
    holds = {"observation_missing": HoldPolicy(300, 600, ("sre",), 7200.5, REJECT)}
    resume = plan(MISSING, holds=holds, hold=held(), evaluated_at="2026-02-18T02:00:00.000000Z")
    assert (resume["resume_token"], resume["attempt"], resume["first_held_at"]) == ("hold-abc", 4, HELD_AT)
    assert resume["next_evaluation"]["not_before"] == "2026-02-18T01:05:00.000000Z"
    assert resume["escalate_at"] == "2026-02-18T01:10:00.000000Z"
    assert resume["deadline_at"] == "2026-02-18T03:00:00.500000Z"


@pytest.mark.parametrize(
    ("retry", "not_before"), [(60, "2026-02-18T01:15:00.000000Z"), (3600, "2026-02-18T02:00:00.000000Z")]
)
def test_a_wait_is_not_asked_before_its_time(retry: float, not_before: str) -> None:
    """`not_before` is the later one of the retry and of the time that the decision itself asks to wait for."""
    wait = Action("wait_until", {"time": "2026-02-18T01:15:00.000000Z"})
    holds = {"precondition_unknown": HoldPolicy(retry_after_seconds=retry)}
    resume = plan("precondition_unknown:stage_wait_not_elapsed", holds=holds, actions=(wait,))
    assert resume["next_evaluation"] == {"not_before": not_before, "on": ["time"]}


def test_whether_the_input_changed_is_told() -> None:
    """Handout HO-15: the same snapshot as at the attempt before says so; a first attempt has none before."""
    assert plan(MISSING, hold=held())["input_unchanged"] is True
    assert plan(MISSING, hold=held(), snapshot_digest="sha256:2")["input_unchanged"] is False
    assert plan(MISSING)["input_unchanged"] is False


@pytest.mark.parametrize(
    ("code", "waits"),
    [
        (MISSING, "snapshot"),
        (STALE, "snapshot"),
        ("observation_invalid:out_of_range", "snapshot"),
        ("evidence_missing:partial_response", "snapshot"),
        ("precondition_unknown:sample_size_not_reached", "snapshot"),
        (REFERENCE, "evidence"),
        ("evidence_missing:ticket_link", "evidence"),
        ("evidence_missing:approval", "approval"),
        ("precondition_unknown:policy_changed", "approval"),
        ("precondition_unknown:history_incomplete", "approval"),
        ("precondition_unknown:stage_wait_not_elapsed", "time"),
    ],
)
def test_what_a_reason_waits_for(code: str, waits: str) -> None:
    """New evidence, a reference, a person, or time."""
    assert waits_for(code) == waits


def test_all_that_is_waited_for_is_named_once() -> None:
    """In one fixed order."""
    codes = ("precondition_unknown:stage_wait_not_elapsed", REFERENCE, "evidence_missing:approval", MISSING, STALE)
    assert plan(*codes)["next_evaluation"]["on"] == ["snapshot", "approval", "evidence", "time"]


def test_a_token_is_the_holds_and_nobody_elses() -> None:
    """The same for the same beginning, another for another run or event."""
    token = resume_token("r", "r:SHADOW")
    assert token == resume_token("r", "r:SHADOW") == plan(MISSING)["resume_token"]
    assert len({token, resume_token("r", "r:SHADOW#2"), resume_token("q", "r:SHADOW")}) == 3
