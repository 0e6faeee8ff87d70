from __future__ import annotations

from gatekeeper.errors import InputRefusedError
from tests.interleavings.actors import Meanwhile, at_once, outcomes
from tests.orchestrator.desk import STAGES, Desk


def live(desk: Desk) -> list[str]:
    """Ids of the runs that count for "one live run"."""
    return [run.run_id for run in desk.ledger.view().runs() if run.is_live]


def test_eight_run_ids_for_one_variant_at_once_leave_one_live(desk: Desk) -> None:
    """Eight pipelines begin eight runs of one variant: one begins, seven are refused and leave no run."""
    answers = at_once(desk, [desk.question(run_id=f"r{n}") for n in range(8)])
    assert outcomes(answers) == ["ACCEPT"] + ["input.refused"] * 7
    assert len(desk.ledger.view().runs()) == 1
    assert len(live(desk)) == 1


def test_a_run_that_began_meanwhile_is_named(desk: Desk) -> None:
    """The overtaken first check sees the live run when it reads again."""
    error = Meanwhile(desk, lambda: desk.walk("DRY_RUN", "SHADOW", run_id="r2")).refused(desk.question())
    assert isinstance(error, InputRefusedError)
    assert "run r2 " in error.message
    assert "ACTIVE at SHADOW" in error.message


def test_two_supersedes_at_once_leave_one_live(desk: Desk) -> None:
    """Both would replace `r`: one does, for the other `r` is no longer the live run."""
    desk.walk("DRY_RUN")
    answers = at_once(desk, [desk.question(run_id=f"r{n}", supersede="r") for n in (2, 3)])
    assert outcomes(answers) == ["ACCEPT", "input.refused"]
    assert len(live(desk)) == 1
    assert [event["action"]["name"] for event in desk.events("action")] == ["supersede"]


def test_a_supersede_overtaken_by_the_live_runs_reject_is_refused(desk: Desk) -> None:
    """`r` was stopped meanwhile: there is nothing to supersede, its REJECT stands as its answer."""
    desk.walk("DRY_RUN")
    Meanwhile(desk, lambda: desk.check(metrics={"leaks": 1})).refused(desk.question(run_id="r2", supersede="r"))
    assert desk.run().stopped_by == "r:SHADOW"


def test_a_check_overtaken_by_its_supersede_answers_superseded(desk: Desk) -> None:
    """An ACCEPT of the old run that arrives behind the supersede moves nothing."""
    desk.walk("DRY_RUN")
    answer = Meanwhile(desk, lambda: desk.check(run_id="r2", supersede="r")).ask(desk.question())
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)
    assert answer.event["decision"]["reason_codes"] == ["change_refused:superseded"]
    assert (desk.run().state, desk.run().stage) == ("STOPPED", "DRY_RUN")


def test_a_finished_rollout_does_not_become_live_behind_its_successors_back(desk: Desk) -> None:
    """Its watcher decided DEGRADE, the successor began first: HELD would be a second live run, so it is refused."""
    desk.walk(*STAGES)
    error = Meanwhile(desk, lambda: desk.check(run_id="r2")).refused(desk.question(metrics={"errors": ...}))
    assert "r2" in error.message
    assert live(desk) == ["r2"]
    assert desk.run().state == "COMPLETED"


def test_a_successor_does_not_begin_behind_a_new_hold(desk: Desk) -> None:
    """The other way round: the finished rollout was held meanwhile, so the first check of another id is refused."""
    desk.walk(*STAGES)
    Meanwhile(desk, desk.hold).refused(desk.question(run_id="r2"))
    assert live(desk) == ["r"]
