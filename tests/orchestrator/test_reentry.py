from __future__ import annotations

from dataclasses import replace

import pytest

from gatekeeper.errors import RunRefusedError
from gatekeeper.orchestrator.question import Question
from tests.orchestrator.desk import Desk, at


@pytest.mark.parametrize("door", ["resume", "check", "check with stage", "reevaluate"])
def test_every_door_continues_the_same_hold(desk: Desk, door: str) -> None:
    """The same token and `first_held_at`, one attempt more, whichever command asks."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    desk.clock.advance(300)
    evidence = desk.evidence(errors=...)
    questions: dict[str, Question] = {
        "resume": desk.by_token(token, snapshot=evidence),
        "check": desk.question(snapshot=evidence),
        "check with stage": desk.question("SHADOW", snapshot=evidence),
        "reevaluate": replace(desk.by_token(token, snapshot=evidence), command="reevaluate"),
    }
    answer = desk.ask(questions[door])
    resume, context = answer.event["resume"], answer.event["context"]
    assert answer.event["event_id"] == "r:SHADOW#2"
    assert (resume["resume_token"], resume["attempt"], resume["first_held_at"]) == (token, 2, at(0))
    assert (context["attempt"], context["first_held_at"], context["evaluated_at"]) == (2, at(0), at(300))
    assert desk.ask(replace(questions[door], snapshot=desk.evidence())).verdict == "ACCEPT"
    assert desk.run().ended_holds == {token: "r:SHADOW#3"}


def test_resume_asks_the_held_stage(desk: Desk) -> None:
    """A resumed hold on entering moves the run one step, into the held stage."""
    desk.walk("DRY_RUN", "SHADOW")
    token = desk.hold("CANARY_10")
    answer = desk.resume(token)
    assert answer.event["state_transition"] == {"from": "SHADOW", "to": "CANARY_10"}
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "CANARY_10")


@pytest.mark.parametrize("ending", ["ACCEPT", "REJECT"])
def test_a_spent_token_names_what_ended_its_hold(desk: Desk, ending: str) -> None:
    """Once ACCEPT or REJECT has ended the hold its token is 65 and says which event that was."""
    token = desk.hold()
    desk.check(metrics={"leaks": 1} if ending == "REJECT" else {})
    error = desk.refuses(desk.by_token(token))
    assert isinstance(error, RunRefusedError)
    assert error.reason == "token_spent"
    assert "r:DRY_RUN#2" in error.message
    assert "explain r:DRY_RUN#2" in error.remedy


def test_a_new_hold_has_a_new_token(desk: Desk) -> None:
    """The old token does not open the next hold of the same stage."""
    first = desk.hold("DRY_RUN")
    desk.check("DRY_RUN")
    second = desk.hold("DRY_RUN")
    assert first != second
    assert desk.run().hold is not None
    assert desk.run().hold.attempt == 1  # type: ignore[union-attr]
    desk.refuses(desk.by_token(first))


def test_tokens_of_two_runs_differ(desk: Desk) -> None:
    """A token names one hold of one run."""
    assert desk.hold() != desk.hold(run_id="r2", variant_id="C")


def test_a_token_does_not_carry_another_revision(desk: Desk) -> None:
    """Handout HO-11 c: rev-b resumes with rev-a's token on healthy evidence; refused, hold and token stand."""
    token = desk.hold(revision="rev-a")
    error = desk.refuses(desk.by_token(token, revision="rev-b"))
    assert isinstance(error, RunRefusedError)
    assert error.reason == "other_revision"
    assert "rev-a" in error.message
    assert "rev-b" in error.message
    refusal = desk.events("refusal")[0]["refusal"]
    assert (refusal["reason"], refusal["token"], refusal["revision"]) == ("other_revision", token, "rev-b")
    assert desk.resume(token, revision="rev-a").verdict == "ACCEPT"


def test_no_repetition_turns_a_hold_into_accept(desk: Desk) -> None:
    """Handout HO-15 a: the same old file every five minutes for a day stays DEGRADE and says that nothing changed."""
    desk.walk("DRY_RUN")
    evidence = desk.evidence(errors=...)
    for number in range(288):
        answer = desk.check(snapshot=evidence)
        assert answer.verdict == "DEGRADE"
        assert answer.event["resume"]["input_unchanged"] is (number > 0)
        desk.clock.advance(300)
    last = desk.events("decision")[-1]
    assert (last["attempt"], last["resume"]["first_held_at"]) == (288, at(0))
    assert last["decision"]["reason_codes"] == [
        "observation_stale:over_freshness_budget",
        "observation_missing:guardrail_metric",
    ]


def test_new_evidence_without_the_metric_stays_held_until_it_comes(desk: Desk) -> None:
    """Handout HO-15 b, c, d: 20 fresh snapshots without it, a restart in between, then one with it: one step."""
    desk.walk("DRY_RUN")
    for _ in range(20):
        desk.hold()
        desk.clock.advance(300)
        desk.ledger = Desk(desk.path, clock=desk.clock).ledger
    assert not desk.events("decision")[-1]["resume"]["input_unchanged"]
    answer = desk.check()
    assert (answer.verdict, answer.event["attempt"]) == ("ACCEPT", 21)
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "SHADOW")


def test_what_a_hold_stores(desk: Desk) -> None:
    """The event says what is missing, what is asked for, who owns it, what it waits for and when."""
    token = desk.hold()
    event = desk.events("decision")[0]
    assert event["decision"]["reason_codes"] == ["observation_missing:guardrail_metric"]
    assert event["decision"]["missing"] == ["errors"]
    actions = [
        {"name": "collect_metric", "params": {"metric": "errors"}},
        {"name": "rerun_gate_check", "params": {"stage": "DRY_RUN"}},
    ]
    assert event["decision"]["requested_actions"] == actions
    expected = {
        "resume_token": token,
        "requested_actions": actions,
        "attempt": 1,
        "first_held_at": at(0),
        "next_evaluation": {"not_before": at(0), "on": ["snapshot"]},
        "owners": ["owner"],
        "escalate_at": at(1800),
        "deadline_at": None,
    }
    assert {name: event["resume"][name] for name in expected} == expected
    hold = desk.run().hold
    assert hold is not None
    assert (hold.token, hold.attempt, hold.reason_codes, hold.missing) == (
        token,
        1,
        ("observation_missing:guardrail_metric",),
        ("errors",),
    )


@pytest.mark.parametrize("verdict", ["ACCEPT", "REJECT"])
def test_only_a_degrade_leaves_something_to_resume(desk: Desk, verdict: str) -> None:
    """`resume` is null on ACCEPT and REJECT."""
    assert desk.check(metrics={"leaks": int(verdict == "REJECT")}).event["resume"] is None
