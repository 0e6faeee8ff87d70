from __future__ import annotations

from gatekeeper.errors import GatekeeperError, TokenError
from gatekeeper.orchestrator.question import Answer
from tests.interleavings.actors import at_once, outcomes
from tests.orchestrator.desk import Desk


def test_one_resume_token_redeemed_by_two_actors_moves_the_run_once(desk: Desk) -> None:
    """The loser re-reads, finds the hold ended, is told by which event, and decides nothing."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    answers = at_once(desk, [desk.by_token(token, actor=name) for name in ("pipeline", "cron")])
    assert outcomes(answers) == ["ACCEPT", "token.refused"]
    (error,) = [one for one in answers if isinstance(one, GatekeeperError)]
    assert isinstance(error, TokenError)
    assert "r:SHADOW#2" in error.message
    assert desk.decisions()[1:] == [("DEGRADE", "r:SHADOW"), ("ACCEPT", "r:SHADOW#2")]
    assert (desk.run().state, desk.run().stage) == ("ACTIVE", "SHADOW")


def test_two_redeems_without_the_metric_are_two_attempts(desk: Desk) -> None:
    """The hold still stands for the loser: it re-decides and becomes the next attempt, not a second second one."""
    token = desk.hold()
    answers = at_once(desk, [desk.by_token(token, metrics={"errors": ...}) for _ in range(2)])
    assert outcomes(answers) == ["DEGRADE", "DEGRADE"]
    assert [event["attempt"] for event in desk.events("decision")] == [1, 2, 3]
    assert {event["resume"]["resume_token"] for event in desk.events("decision")} == {token}


def test_a_redeem_that_finds_harm_wins_over_one_that_does_not(desk: Desk) -> None:
    """ACCEPT and REJECT redeem at once: either the REJECT ended the hold, or the loser's token is spent."""
    token = desk.hold()
    answers = at_once(desk, [desk.by_token(token), desk.by_token(token, metrics={"leaks": 1})])
    assert len([one for one in answers if isinstance(one, Answer)]) == 1
    assert len([one for one in answers if isinstance(one, TokenError)]) == 1
    assert len(desk.events("decision")) == 2
