from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import RunRefusedError
from tests.orchestrator.desk import Desk, policy


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"experiment_id": "exp-2"}, "other_experiment"),
        ({"variant_id": "C"}, "other_variant"),
        ({"revision": "rev-b"}, "other_revision"),
        ({"change_class": "stateful_or_irreversible"}, "other_change_class"),
    ],
)
@pytest.mark.parametrize("is_stopped", [False, True])
def test_fixed_values_come_before_everything(
    desk: Desk, other: dict[str, str], reason: str, *, is_stopped: bool
) -> None:
    """(0): another experiment, variant, revision or class is refused, both values named, on a STOPPED run too."""
    desk.check(revision="rev-a", metrics={"leaks": 1} if is_stopped else {})
    error = desk.refused(**{"revision": "rev-a", **other})
    assert isinstance(error, RunRefusedError)
    assert error.reason == reason
    assert next(iter(other.values())) in error.message
    assert {"exp", "B", "rev-a", "reversible"} & set(error.message.replace(",", " ").split())
    assert "--run-id" in error.remedy
    assert desk.events("refusal")[0]["refusal"]["reason"] == reason


def test_a_revision_that_was_never_stated_is_fixed_too(desk: Desk) -> None:
    """A run started without --revision does not become a run of one later; leaving the value out is no other value."""
    desk.check()
    assert "rev-a" in desk.refused(revision="rev-a").message
    desk.check(revision=None, change_class="reversible")


@pytest.mark.parametrize(
    "question",
    [
        {"stage": "CANARY_50"},
        {"stage": "ROLLOUT_100"},
        {"idempotency_key": "job-1"},
        {"idempotency_key": "new"},
        {"adopt_reason": "urgent", "policy": policy(policy_version="2")},
        {"start_stage": "CANARY_10", "reason": "late"},
        {"supersede": "nobody"},
        {"metrics": {"leaks": 5}},
    ],
)
def test_a_stopped_run_answers_everything_with_what_stopped_it(desk: Desk, question: dict[str, Any]) -> None:
    """(1): whatever the stage, key, policy or evidence, the stopping decision is the answer; nothing is appended."""
    desk.check(idempotency_key="job-1")
    stopping = desk.check(metrics={"leaks": 1})
    lines = desk.path.read_bytes()
    answer = desk.check(**{"policy": desk.policy, **question})
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)
    assert answer.event == stopping.event
    assert answer.event["event_id"] == "r:SHADOW"
    assert desk.path.read_bytes() == lines


def test_a_key_comes_before_the_same_question_and_the_stage(desk: Desk) -> None:
    """(2) before (4): a known key asks its own stage, not the default that comes after it."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence()
    first = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert first.event["stage"] == "SHADOW"
    again = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert again.is_recorded
    assert again.event == first.event
    assert desk.run().stage == "SHADOW"


def test_the_same_question_comes_before_the_stage(desk: Desk) -> None:
    """(3) before (4): --start-stage on a begun run is refused, but the very same question has its answer already."""
    evidence = desk.evidence()
    first = desk.check(start_stage="CANARY_10", reason="under way", snapshot=evidence)
    again = desk.check(start_stage="CANARY_10", reason="under way", snapshot=evidence)
    assert (again.is_recorded, again.event) == (True, first.event)
    assert "first check" in desk.refused(start_stage="CANARY_10", reason="under way").message


def test_a_retried_job_with_start_stage_and_key_is_answered(desk: Desk) -> None:
    """(2) before (4): the retry of the job that began the run gets that decision, not "has begun already"."""
    evidence = desk.evidence()
    fields: dict[str, Any] = {
        "start_stage": "CANARY_10",
        "reason": "under way",
        "snapshot": evidence,
        "idempotency_key": "job-1",
    }
    first = desk.check(**fields)
    desk.clock.advance(500)
    again = desk.check(**fields)
    assert (again.is_recorded, again.event) == (True, first.event)


def test_a_spent_token_is_refused_before_the_stopped_run_answers(desk: Desk) -> None:
    """Resume: the token is looked at before (1), so on a STOPPED run an ended hold is 65 and not exit 1."""
    token = desk.hold()
    desk.check(metrics={"leaks": 1})
    error = desk.refuses(desk.by_token(token))
    assert isinstance(error, RunRefusedError)
    assert error.reason == "token_spent"
    assert "r:DRY_RUN#2" in error.message


def test_a_spent_token_is_refused_before_fixed_values(desk: Desk) -> None:
    """Nothing else is asked of a token whose hold has ended, not even the revision."""
    token = desk.hold(revision="rev-a")
    desk.check(revision="rev-a")
    error = desk.refuses(desk.by_token(token, revision="rev-b"))
    assert isinstance(error, RunRefusedError)
    assert error.reason == "token_spent"


def test_an_unknown_token_is_refused_without_a_trace(desk: Desk) -> None:
    """A token that no hold ever had: 65, and no refusal event."""
    desk.hold()
    before = desk.path.read_bytes()
    desk.refuses(desk.by_token("hold-000000000000000000000000"))
    assert desk.path.read_bytes() == before
