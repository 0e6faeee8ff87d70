from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import RunRefusedError
from tests.orchestrator.desk import Desk, policy


def test_a_job_that_is_triggered_twice_has_one_line(desk: Desk) -> None:
    """The same key with the same question returns the recorded ACCEPT, even when its evidence has grown old."""
    evidence = desk.evidence()
    first = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert first.event["idempotency_key"] == "job-1"
    desk.clock.advance(3600)
    again = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert (again.is_recorded, again.event) == (True, first.event)
    assert len(desk.events("decision")) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"stage": "DRY_RUN"},
        {"command": "run"},
        {"policy": policy(policy_version="2")},
        {"evidence": {"change_id": "CHG-2"}},
        {"metrics": {"errors": 0.005}},
        {"run_id": "r2", "experiment_id": "exp-2"},
    ],
)
def test_one_key_for_two_questions_is_refused(desk: Desk, other: dict[str, Any]) -> None:
    """Command, run, stage as given, policy, evidence given, snapshot: each makes another question."""
    evidence = desk.evidence(mark="same")
    desk.check(snapshot=evidence, idempotency_key="job-1")
    fields: dict[str, Any] = {"idempotency_key": "job-1", **other}
    if "metrics" in other:
        fields["snapshot"] = desk.evidence(mark="same", **fields.pop("metrics"))
    else:
        fields["snapshot"] = evidence
    error = desk.refused(**fields)
    assert isinstance(error, RunRefusedError)
    assert error.reason == "key_reused"
    assert "r:DRY_RUN" in error.message


def test_a_key_given_with_a_revision_is_another_question_without(desk: Desk) -> None:
    """The revision is part of a key's question as it was given."""
    evidence = desk.evidence()
    desk.check(snapshot=evidence, idempotency_key="job-1", revision="rev-a")
    error = desk.refused(snapshot=evidence, idempotency_key="job-1")
    assert isinstance(error, RunRefusedError)
    assert error.reason == "key_reused"


def test_a_known_key_asks_its_own_stage_and_never_the_default(desk: Desk) -> None:
    """Once the run is past the stage recorded with the key, the late retry is refused and moves nothing."""
    evidence = desk.evidence()
    desk.check(snapshot=evidence, idempotency_key="job-1")
    desk.walk("SHADOW")
    error = desk.refused(snapshot=evidence, idempotency_key="job-1")
    assert "stage DRY_RUN cannot be asked" in error.message


def test_a_known_key_of_a_held_run_is_asked_at_its_stage(desk: Desk) -> None:
    """(2) does not answer while HELD: the key of the current stage's ACCEPT is evaluated there, aside of the hold."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence()
    desk.check(snapshot=evidence, idempotency_key="job-1")
    desk.hold("CANARY_10")
    answer = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert (answer.is_recorded, answer.event["stage"]) == (False, "SHADOW")
    assert desk.run().state == "HELD"


def test_the_key_of_a_degrade_is_evaluated_again_at_its_stage(desk: Desk) -> None:
    """A DEGRADE is no answer to repeat; the retry is the next attempt of the same hold."""
    evidence = desk.evidence(errors=...)
    desk.check(snapshot=evidence, idempotency_key="job-1")
    again = desk.check(snapshot=evidence, idempotency_key="job-1")
    assert (again.is_recorded, again.event["attempt"], again.event["stage"]) == (False, 2, "DRY_RUN")


def test_keys_of_two_runs_do_not_answer_each_other(desk: Desk) -> None:
    """A key belongs to one question in the whole log: a new run with a used key is refused before it begins."""
    desk.check(idempotency_key="job-1")
    before = len(desk.events())
    desk.refused(idempotency_key="job-1", run_id="r2", variant_id="C")
    assert len(desk.events()) == before
    assert desk.ledger.view().run("r2") is None
