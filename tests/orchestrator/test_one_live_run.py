from __future__ import annotations

import pytest

from tests.orchestrator.desk import STAGES, Desk, policy


def test_a_second_run_of_a_live_variant_is_refused(desk: Desk) -> None:
    """A first check under another id: 65, naming the live run, its stage and its policy version; no trace."""
    desk.walk("DRY_RUN", "SHADOW")
    before = desk.path.read_bytes()
    error = desk.refused(run_id="r2", policy=policy(policy_version="2"))
    for words in ("run r ", "ACTIVE at SHADOW", "policy version 1"):
        assert words in error.message
    assert "--supersede r" in error.remedy
    assert desk.path.read_bytes() == before


def test_a_held_run_is_live_too(desk: Desk) -> None:
    """HELD counts: a hold is not left behind by starting anew under another id."""
    desk.hold()
    assert "HELD at no stage yet" in desk.refused(run_id="r2").message


def test_a_held_finished_rollout_is_live(desk: Desk) -> None:
    """COMPLETED + DEGRADE = HELD: a successor must wait or supersede it."""
    desk.walk(*STAGES)
    desk.hold()
    desk.refused(run_id="r2")


def test_another_variant_or_experiment_is_not_in_the_way(desk: Desk) -> None:
    """One live run per experiment and variant, not per log."""
    desk.check()
    desk.check(run_id="r2", variant_id="C")
    desk.check(run_id="r3", experiment_id="exp-2")
    assert len(desk.ledger.view().runs()) == 3


@pytest.mark.parametrize(
    ("metrics", "verdict"), [({}, "ACCEPT"), ({"errors": ...}, "DEGRADE"), ({"leaks": 1}, "REJECT")]
)
def test_supersede_stops_the_live_run_whatever_the_new_verdict(
    desk: Desk, metrics: dict[str, object], verdict: str
) -> None:
    """One step: the old run answers `superseded` from then on, and the new one has its own verdict."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    answer = desk.check(run_id="r2", supersede="r", metrics=metrics)
    assert answer.verdict == verdict
    ending, first = desk.events()[-2:]
    assert (ending["kind"], ending["action"]["name"], ending["run_id"]) == ("action", "supersede", "r")
    assert ending["decision"] == {
        "verdict": "REJECT",
        "reason_codes": ["change_refused:superseded"],
        "missing": [],
        "findings": [],
        "notes": [],
        "requested_actions": [],
        "next_actions": [],
    }
    assert (first["run_id"], first["previous_run"]) == ("r2", "r")
    assert desk.run("r").state == "STOPPED"
    stopped = desk.check()
    assert (stopped.verdict, stopped.is_recorded, stopped.event["event_id"]) == ("REJECT", True, "r:action#1")
    assert "r:action#1" in desk.refuses(desk.by_token(token)).message


@pytest.mark.parametrize("named", ["nobody", "r-other", "r-done"])
def test_only_the_live_run_of_the_slot_can_be_superseded(desk: Desk, named: str) -> None:
    """A run that does not exist, is of another variant or is finished: 65, and nothing is stopped."""
    desk.walk(*STAGES, run_id="r-done")
    desk.check(run_id="r-other", variant_id="C")
    desk.check()
    before = desk.path.read_bytes()
    desk.refused(run_id="r2", supersede=named)
    assert desk.path.read_bytes() == before


def test_supersede_without_a_live_run_is_refused(desk: Desk) -> None:
    """Nobody is live: superseding a stopped run would hide a typing mistake."""
    desk.check(metrics={"leaks": 1})
    assert "--supersede r" in desk.refused(run_id="r2", supersede="r").message


def test_the_pipeline_may_repeat_its_supersede(desk: Desk) -> None:
    """The new run's later checks carry the same option, which has been done; another name is refused."""
    desk.check()
    desk.check(run_id="r2", supersede="r")
    assert desk.check(run_id="r2", supersede="r").event["stage"] == "SHADOW"
    desk.refused(run_id="r2", supersede="r3")


def test_the_first_event_names_the_predecessor(desk: Desk) -> None:
    """`previous_run` stands on the first event and only there; null where there is none."""
    desk.check()
    desk.check(metrics={"leaks": 1})
    desk.check(run_id="r2")
    desk.check(run_id="r2")
    stated = [(event["event_id"], event.get("previous_run", "-")) for event in desk.events("decision")]
    assert stated == [("r:DRY_RUN", None), ("r:SHADOW", "-"), ("r2:DRY_RUN", "r"), ("r2:SHADOW", "-")]
    assert desk.run("r2").previous_run == "r"


def test_the_predecessor_stands_on_the_action_where_that_is_first(desk: Desk) -> None:
    """A rollout adopted under way begins with an action: that is the run's first event."""
    desk.check(metrics={"leaks": 1})
    desk.check(run_id="r2", start_stage="CANARY_10", reason="under way")
    first, second = [event for event in desk.events() if event.get("run_id") == "r2"]
    assert (first["kind"], first["previous_run"]) == ("action", "r")
    assert "previous_run" not in second


def test_a_finished_rollout_is_watched_until_its_successor_begins(desk: Desk) -> None:
    """COMPLETED: a check of it is answered; from the successor's first event on it is 65, naming the successor."""
    desk.walk(*STAGES)
    evidence = desk.evidence()
    desk.check(snapshot=evidence, idempotency_key="watch")
    desk.check(run_id="r2")
    error = desk.refused(snapshot=evidence, idempotency_key="watch")
    assert "r2" in error.message
    desk.check(run_id="r2", metrics={"leaks": 1})
    assert "r2" in desk.refused().message
    assert desk.run().state == "COMPLETED"


def test_a_stopped_predecessor_keeps_its_answer(desk: Desk) -> None:
    """Only a COMPLETED run is refused for having a successor; STOPPED goes on to answer REJECT."""
    desk.check(metrics={"leaks": 1})
    desk.check(run_id="r2")
    assert desk.check().is_recorded
