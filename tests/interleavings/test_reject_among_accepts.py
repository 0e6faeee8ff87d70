from __future__ import annotations

import pytest

from tests.interleavings.actors import Meanwhile, at_once, one_after_the_other, outcomes
from tests.orchestrator.desk import Desk, policy

HARM = {"leaks": 3}


def test_a_reject_among_eight_wins_for_good(desk: Desk) -> None:
    """Handout HO-14 b: seven healthy, one with harm, in whatever order they commit: the run ends rejected."""
    desk.walk("DRY_RUN", "SHADOW")
    answers = at_once(desk, [desk.question(metrics=HARM if n == 3 else {}) for n in range(8)])
    assert "REJECT" in outcomes(answers)
    assert desk.run().state == "STOPPED"
    assert desk.decisions()[-1][0] == "REJECT"
    assert desk.check().verdict == "REJECT"


@pytest.mark.parametrize("place", range(5))
def test_the_reject_wins_in_every_order(desk: Desk, place: int) -> None:
    """All five have read before any appends; the REJECT commits as number *place*, those behind it answer REJECT."""
    desk.walk("DRY_RUN", "SHADOW")
    questions = [desk.question(metrics=HARM if n == place else {}) for n in range(5)]
    told = [outcomes([one])[0] for one in one_after_the_other(desk, questions)]
    assert told == ["ACCEPT"] * place + ["REJECT"] + ["REJECT recorded"] * (4 - place)
    assert desk.run().state == "STOPPED"
    assert desk.run().stage == ("SHADOW" if place == 0 else "CANARY_10")


def test_harm_counts_although_the_run_has_passed_the_stage(desk: Desk) -> None:
    """Decided for SHADOW while others moved to CANARY_10 and CANARY_50: re-decided there, and the REJECT stands."""
    desk.walk("DRY_RUN")
    answer = Meanwhile(desk, lambda: desk.walk("SHADOW", "CANARY_10", "CANARY_50")).ask(desk.question(metrics=HARM))
    assert (answer.verdict, answer.event["stage"]) == ("REJECT", "CANARY_50")
    assert answer.event["state_transition"] == {"from": "CANARY_50", "to": "CANARY_50"}
    assert desk.run().state == "STOPPED"


@pytest.mark.parametrize("metrics", [{}, {"errors": ...}])
def test_all_else_is_refused_once_the_run_has_passed_the_stage(desk: Desk, metrics: dict[str, object]) -> None:
    """ACCEPT and DEGRADE of a call whose stage was passed are 65; the run stays ACTIVE and no decision is recorded."""
    desk.walk("DRY_RUN")
    error = Meanwhile(desk, lambda: desk.walk("SHADOW", "CANARY_10")).refused(desk.question(metrics=metrics))
    assert "has passed SHADOW" in error.message
    assert "CANARY_10" in error.message
    assert desk.decisions()[-1] == ("ACCEPT", "r:CANARY_10")
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "CANARY_10")


def test_a_rule_of_the_passed_stage_rejects_nobody(desk: Desk) -> None:
    """Re-decided for the current stage, whose rules are asked and not those of the stage behind it."""
    early = {"metric": "queue", "op": "<=", "threshold": 5, "stages": ["SHADOW"]}
    desk.policy = policy(guardrails=[{"metric": "errors", "op": "<=", "threshold": 0.01}, early])
    desk.walk("DRY_RUN", metrics={"queue": 1})
    late = Meanwhile(desk, lambda: desk.walk("SHADOW", "CANARY_10", metrics={"queue": 1}))
    late.refused(desk.question(metrics={"queue": 50}))
    assert desk.run().state == "ACTIVE"


def test_an_accept_behind_a_reject_moves_nothing(desk: Desk) -> None:
    """The ACCEPT was decided before the REJECT was recorded and arrives after it."""
    desk.walk("DRY_RUN")
    answer = Meanwhile(desk, lambda: desk.check(metrics=HARM)).ask(desk.question())
    assert (answer.verdict, answer.is_recorded, answer.event["event_id"]) == ("REJECT", True, "r:SHADOW")
    assert desk.run().stage == "DRY_RUN"
