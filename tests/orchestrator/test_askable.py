from __future__ import annotations

import pytest

from tests.orchestrator.desk import STAGES, Desk, policy


def test_a_new_run_does_not_begin_in_the_middle(desk: Desk) -> None:
    """The first check asks the first stage; another one is refused and leaves no trace of an unknown run."""
    error = desk.refused("CANARY_10")
    assert "DRY_RUN" in error.message
    assert desk.events() == []
    assert desk.check().event["stage"] == "DRY_RUN"


def test_without_a_stage_an_active_run_is_asked_for_the_next(desk: Desk) -> None:
    """ACTIVE: the default is the next stage, all the way up, one step at a time."""
    assert [desk.check().event["state_transition"] for _ in STAGES] == [
        {"from": None, "to": "DRY_RUN"},
        {"from": "DRY_RUN", "to": "SHADOW"},
        {"from": "SHADOW", "to": "CANARY_10"},
        {"from": "CANARY_10", "to": "CANARY_50"},
        {"from": "CANARY_50", "to": "ROLLOUT_100"},
    ]
    assert desk.run().state == "COMPLETED"


@pytest.mark.parametrize("stage", ["DRY_RUN", "CANARY_50", "ROLLOUT_100"])
def test_an_active_run_neither_skips_a_stage_nor_goes_back(desk: Desk, stage: str) -> None:
    """ACTIVE at SHADOW: only CANARY_10 and SHADOW may be asked, and the refusal says so."""
    desk.walk("DRY_RUN", "SHADOW")
    error = desk.refused(stage)
    assert "is ACTIVE at SHADOW" in error.message
    assert error.remedy == "ask CANARY_10 or SHADOW"


def test_remaining_moves_nothing(desk: Desk) -> None:
    """ACTIVE: the current stage may be asked; its ACCEPT leaves stage and time of entry as they were."""
    desk.walk("DRY_RUN", "SHADOW")
    entered = desk.run().stage_entered_at
    desk.clock.advance(60)
    answer = desk.check("SHADOW")
    assert (answer.verdict, answer.event["event_id"]) == ("ACCEPT", "r:SHADOW#2")
    assert (desk.run().stage, desk.run().stage_entered_at) == ("SHADOW", entered)


def test_a_degrade_does_not_move_the_run(desk: Desk) -> None:
    """Only ACCEPT moves: a hold on entering leaves the run at the stage before, at no stage if it is the first."""
    desk.hold()
    assert (desk.run().state, desk.run().stage) == ("HELD", None)
    desk.check()
    desk.hold("SHADOW")
    assert (desk.run().state, desk.run().stage) == ("HELD", "DRY_RUN")


def test_a_held_run_is_asked_for_the_held_stage(desk: Desk) -> None:
    """HELD: the default is the stage that is held, whether it is entered or remained in."""
    desk.walk("DRY_RUN", "SHADOW")
    desk.hold("CANARY_10")
    assert desk.check().event["event_id"] == "r:CANARY_10#2"
    desk.hold("CANARY_10")
    assert desk.check().event["event_id"] == "r:CANARY_10#4"
    assert desk.run().stage == "CANARY_10"


def test_while_held_on_entering_nothing_further_may_be_asked(desk: Desk) -> None:
    """HELD on entering CANARY_10: CANARY_10 and SHADOW may be asked, nothing else."""
    desk.walk("DRY_RUN", "SHADOW")
    desk.hold("CANARY_10")
    error = desk.refused("CANARY_50")
    assert "is HELD at SHADOW" in error.message
    assert error.remedy == "ask CANARY_10 or SHADOW"


def test_while_held_on_remaining_the_next_stage_is_closed(desk: Desk) -> None:
    """HELD on remaining in SHADOW: only SHADOW may be asked."""
    desk.walk("DRY_RUN", "SHADOW")
    desk.hold("SHADOW")
    assert desk.refused("CANARY_10").remedy == "ask SHADOW"
    assert desk.refused("DRY_RUN").remedy == "ask SHADOW"
    assert desk.check("SHADOW").run == desk.run()
    assert desk.run().state == "ACTIVE"


@pytest.mark.parametrize(("metrics", "verdict"), [({}, "ACCEPT"), ({"errors": ...}, "DEGRADE")])
def test_an_aside_leaves_the_hold_as_it_is(desk: Desk, metrics: dict[str, object], verdict: str) -> None:
    """Held on entering CANARY_10, SHADOW asked aside: recorded, no attempt, and the hold's token is repeated."""
    desk.walk("DRY_RUN", "SHADOW")
    token = desk.hold("CANARY_10")
    held = desk.run()
    desk.clock.advance(10)
    answer = desk.check("SHADOW", metrics=metrics)
    assert answer.verdict == verdict
    assert answer.event["resume"]["resume_token"] == token
    assert answer.event["resume"] == desk.events("decision")[2]["resume"]
    assert answer.event["attempt"] == 0
    assert (desk.run().state, desk.run().stage, desk.run().hold) == ("HELD", "SHADOW", held.hold)
    assert desk.events("decision")[-1]["event_id"] == "r:SHADOW#2"
    assert desk.check().event["context"]["attempt"] == 2


def test_harm_seen_aside_stops_the_run(desk: Desk) -> None:
    """Held on entering CANARY_10, a REJECT of SHADOW stops all the same and ends the token."""
    desk.walk("DRY_RUN", "SHADOW")
    token = desk.hold("CANARY_10")
    answer = desk.check("SHADOW", metrics={"leaks": 1})
    assert (answer.verdict, desk.run().state) == ("REJECT", "STOPPED")
    assert answer.event["resume"] is None
    assert desk.run().ended_holds == {token: "r:SHADOW#2"}


def test_an_aside_applies_no_deadline(desk: Desk) -> None:
    """The hold's deadline is passed and would reject; a DEGRADE of the current stage does not know it."""
    desk.policy = policy(holds={"observation_missing": {"deadline_seconds": 60, "on_deadline": "REJECT"}})
    desk.walk("DRY_RUN", "SHADOW")
    desk.hold("CANARY_10")
    desk.hold("CANARY_10")
    desk.clock.advance(61)
    aside = desk.check("SHADOW", metrics={"errors": ...})
    assert (aside.verdict, aside.event["context"]["deadline_at"]) == ("DEGRADE", None)
    assert desk.check("CANARY_10", metrics={"errors": ...}).verdict == "REJECT"


def test_a_completed_run_is_still_watched(desk: Desk) -> None:
    """COMPLETED: the default and the only stage is the last; a DEGRADE holds it, ACCEPT completes it again."""
    desk.walk(*STAGES)
    assert desk.check().event["event_id"] == "r:ROLLOUT_100#2"
    assert desk.refused("CANARY_50").remedy == "ask ROLLOUT_100"
    desk.hold()
    assert (desk.run().state, desk.run().stage) == ("HELD", "ROLLOUT_100")
    assert desk.refused("CANARY_50").remedy == "ask ROLLOUT_100"
    desk.check()
    assert desk.run().state == "COMPLETED"
    assert desk.check(metrics={"errors": 0.02}).verdict == "REJECT"
    assert desk.run().state == "STOPPED"
