from __future__ import annotations

from typing import Any

import pytest

from tests.orchestrator.desk import STAGES, Desk, policy


def test_the_same_content_twice_is_the_same_question_and_not_the_next(desk: Desk) -> None:
    """A duplicated trigger: equal policy, snapshot and evidence return the last ACCEPT and append nothing."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence()
    first = desk.check(snapshot=evidence, evidence={"change_id": "CHG-1"})
    lines = desk.path.read_bytes()
    again = desk.check(snapshot=evidence, evidence={"change_id": "CHG-1"})
    assert (again.verdict, again.is_recorded, again.event) == ("ACCEPT", True, first.event)
    assert desk.path.read_bytes() == lines
    assert desk.run().stage == "SHADOW"


def test_the_same_content_at_the_last_stage_is_the_same_question(desk: Desk) -> None:
    """COMPLETED: the pipeline's last step, triggered twice, has one line."""
    desk.walk(*STAGES[:-1])
    evidence = desk.evidence()
    desk.check(snapshot=evidence)
    assert desk.check(snapshot=evidence).is_recorded
    assert len(desk.events("decision")) == 5


def test_another_snapshot_is_the_next_question(desk: Desk) -> None:
    """One changed value is another question: the next stage is asked."""
    desk.check(snapshot=desk.evidence(mark="same"))
    answer = desk.check(snapshot=desk.evidence(mark="same", errors=0.005))
    assert answer.event["stage"] == "SHADOW"


def test_the_same_content_under_another_stage_is_another_question(desk: Desk) -> None:
    """The stage is part of the question: with --stage the same snapshot may enter the next one."""
    evidence = desk.evidence()
    desk.check("DRY_RUN", snapshot=evidence)
    answer = desk.check("SHADOW", snapshot=evidence)
    assert (answer.is_recorded, answer.event["event_id"]) == (False, "r:SHADOW")


def test_evidence_is_compared_as_effective_for_the_run(desk: Desk) -> None:
    """A reference that an earlier check gave is in force: leaving it out or repeating it is the same question."""
    desk.check(evidence={"change_id": "CHG-1"})
    evidence = desk.evidence()
    desk.check(snapshot=evidence, evidence={"change_id": "CHG-1"})
    assert desk.check(snapshot=evidence).is_recorded
    answer = desk.check(snapshot=evidence, evidence={"change_id": "CHG-2"})
    assert (answer.is_recorded, answer.event["stage"]) == (False, "CANARY_10")


def test_an_older_accept_of_the_current_stage_is_found(desk: Desk) -> None:
    """Not only the last ACCEPT: any recorded one of the stage at which the run rests, asked by its stage."""
    evidence = desk.evidence()
    first = desk.check("DRY_RUN", snapshot=evidence)
    desk.check("DRY_RUN")
    assert desk.check("DRY_RUN", snapshot=evidence).event == first.event


def test_a_file_that_no_longer_changes_grows_stale(desk: Desk) -> None:
    """Within the freshness limit the recorded ACCEPT; a microsecond past it the snapshot is evaluated, as remaining."""
    evidence = desk.evidence()
    desk.check(snapshot=evidence)
    desk.clock.advance(120)
    assert desk.check(snapshot=evidence).is_recorded
    desk.clock.advance(0.000001)
    answer = desk.check(snapshot=evidence)
    assert (answer.verdict, answer.is_recorded) == ("DEGRADE", False)
    assert answer.event["state_transition"] == {"from": "DRY_RUN", "to": "DRY_RUN"}
    assert answer.event["decision"]["reason_codes"] == ["observation_stale:over_freshness_budget"]


def test_without_a_freshness_limit_the_answer_lasts(desk: Desk) -> None:
    """A policy that does not ask for age has no age at which the same question becomes another."""
    desk.policy = policy(missing_data_policy=None)
    evidence = desk.evidence()
    desk.check(snapshot=evidence)
    desk.clock.advance(86400)
    assert desk.check(snapshot=evidence).is_recorded


def test_a_degrade_is_always_evaluated_again(desk: Desk) -> None:
    """The same snapshot without the metric, three times: three attempts, each in the log."""
    evidence = desk.evidence(errors=...)
    answers = [desk.check(snapshot=evidence) for _ in range(3)]
    assert [answer.is_recorded for answer in answers] == [False, False, False]
    assert [event["attempt"] for event in desk.events("decision")] == [1, 2, 3]


def test_a_recorded_accept_is_not_repeated_while_the_run_is_held(desk: Desk) -> None:
    """(3) only while ACTIVE or COMPLETED: HELD on remaining, the ACCEPT of yesterday's file does not end the hold."""
    evidence = desk.evidence()
    desk.check("DRY_RUN", snapshot=evidence)
    desk.hold("DRY_RUN")
    answer = desk.check("DRY_RUN", snapshot=evidence)
    assert (answer.is_recorded, answer.event["event_id"]) == (False, "r:DRY_RUN#3")


def test_a_recorded_accept_is_not_repeated_once_the_run_has_gone_on(desk: Desk) -> None:
    """(3) only at the stage that the decision let the run into: behind it the call is refused, not told ACCEPT."""
    evidence = desk.evidence()
    desk.check("DRY_RUN", snapshot=evidence)
    desk.walk("SHADOW")
    assert "stage DRY_RUN cannot be asked" in desk.refused("DRY_RUN", snapshot=evidence).message


def test_an_accept_under_the_policy_before_is_no_answer_now(desk: Desk) -> None:
    """After an adoption the old file and the old snapshot are judged by the run's policy, which sees harm."""
    evidence = desk.evidence(errors=0.009)
    old = desk.policy
    desk.check("DRY_RUN", snapshot=evidence)
    strict = policy(policy_version="2", guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.005}])
    desk.check("DRY_RUN", policy=strict, adopt_reason="tighter")
    answer = desk.check("DRY_RUN", snapshot=evidence, policy=old)
    assert (answer.verdict, answer.is_recorded) == ("REJECT", False)


@pytest.mark.parametrize("verdict", ["ACCEPT", "DEGRADE", "REJECT"])
def test_a_dry_run_records_nothing(desk: Desk, verdict: str) -> None:
    """`--dry-run` evaluates and leaves log, state and holds as they are, whatever the verdict."""
    desk.walk("DRY_RUN")
    metrics: dict[str, dict[str, Any]] = {"ACCEPT": {}, "DEGRADE": {"errors": ...}, "REJECT": {"leaks": 1}}
    before = desk.path.read_bytes()
    answer = desk.check(metrics=metrics[verdict], dry_run=True)
    assert (answer.verdict, answer.is_dry_run) == (verdict, True)
    assert desk.path.read_bytes() == before
    assert desk.run().stage == "DRY_RUN"


def test_a_dry_run_that_is_refused_leaves_no_refusal(desk: Desk) -> None:
    """Evaluated, not recorded: that holds of being turned away too."""
    desk.walk("DRY_RUN")
    desk.refused("CANARY_50", dry_run=True)
    assert desk.events("refusal") == []
