from __future__ import annotations

import pytest

from gatekeeper.orchestrator.question import Answer
from tests.interleavings.actors import at_once, outcomes
from tests.orchestrator.desk import Desk


@pytest.mark.parametrize("stage", [None, "CANARY_10"])
def test_eight_checks_at_once_move_the_run_one_step(desk: Desk, stage: str | None) -> None:
    """Handout HO-14 a: eight snapshots, all healthy; one enters, the others remain, nobody enters the stage behind."""
    desk.walk("DRY_RUN", "SHADOW")
    answers = at_once(desk, [desk.question(stage, actor=f"ci-{n}") for n in range(8)])
    assert outcomes(answers) == ["ACCEPT"] * 8
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "CANARY_10")
    events = desk.events("decision")[2:]
    assert [event["event_id"] for event in events] == ["r:CANARY_10", *(f"r:CANARY_10#{n}" for n in range(2, 9))]
    assert [event["state_transition"]["from"] for event in events] == ["SHADOW"] + ["CANARY_10"] * 7


def test_eight_identical_checks_share_one_line(desk: Desk) -> None:
    """The same trigger eight times: one line, seven answers marked as recorded."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence()
    answers = at_once(desk, [desk.question(snapshot=evidence) for _ in range(8)])
    assert outcomes(answers) == ["ACCEPT"] + ["ACCEPT recorded"] * 7
    assert desk.decisions()[1:] == [("ACCEPT", "r:SHADOW")]


def test_eight_first_checks_of_one_run_begin_it_once(desk: Desk) -> None:
    """No run yet: one begins it, and its first event is one."""
    answers = at_once(desk, [desk.question() for _ in range(8)])
    assert outcomes(answers) == ["ACCEPT"] * 8
    assert desk.run().stage == "DRY_RUN"
    assert [event["kind"] for event in desk.events()].count("policy") == 1
    assert ["previous_run" in event for event in desk.events("decision")] == [True] + [False] * 7


def test_eight_uses_of_one_key_share_one_line(desk: Desk) -> None:
    """A job that is started eight times with its key."""
    evidence = desk.evidence()
    answers = at_once(desk, [desk.question(snapshot=evidence, idempotency_key="job-1") for _ in range(8)])
    assert outcomes(answers) == ["ACCEPT"] + ["ACCEPT recorded"] * 7


def test_one_key_for_two_questions_at_once_is_refused_to_one(desk: Desk) -> None:
    """Two runs, so no version conflict: the key itself is what was read and must still be free."""
    first = desk.question(idempotency_key="job-1")
    second = desk.question(idempotency_key="job-1", run_id="r2", variant_id="C")
    answers = at_once(desk, [first, second])
    assert outcomes(answers) == ["ACCEPT", "run.refused"]
    assert len(desk.events("decision")) == 1


def test_eight_runs_in_one_log_all_advance(desk: Desk) -> None:
    """Handout HO-14 c: lines of different runs do not disturb each other."""
    answers = at_once(desk, [desk.question(run_id=f"r{n}", variant_id=f"V{n}") for n in range(8)])
    assert outcomes(answers) == ["ACCEPT"] * 8
    assert len({event["event_id"] for event in desk.events()}) == len(desk.events()) == 9
    assert [event["seq"] for event in desk.events()] == list(range(1, 10))


def test_eight_starts_under_way_begin_one_rollout(desk: Desk) -> None:
    """`--start-stage` raced: the losers keep the stage that they asked and remain there."""
    questions = [desk.question(start_stage="CANARY_10", reason="x") for _ in range(8)]
    answers = at_once(desk, questions)
    assert outcomes(answers) == ["ACCEPT"] * 8
    assert all(isinstance(one, Answer) and one.event["stage"] == "CANARY_10" for one in answers)
    assert [event["action"]["name"] for event in desk.events("action")] == ["start-stage"]
