from __future__ import annotations

import pytest

from gatekeeper.errors import RunRefusedError
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.repeat import reevaluate
from tests.orchestrator.desk import STAGES, START, Desk, at

LATER = "2026-02-18T01:01:00.000000Z"


def test_a_simulated_run_is_judged_at_its_own_time(desk: Desk) -> None:
    """`--as-of` is the evaluation time, whatever the clock says, and stands on every event of the run."""
    evidence = desk.evidence()
    desk.clock.advance(86400)
    answer = desk.check(snapshot=evidence, as_of=LATER)
    assert (answer.verdict, answer.event["context"]["evaluated_at"], answer.event["as_of"]) == ("ACCEPT", LATER, LATER)
    assert answer.event["ts"] == at(86400)
    assert desk.run().stage_entered_at == LATER


def test_every_event_of_a_simulated_run_says_so(desk: Desk) -> None:
    """Actions and stops too; events of the real run beside it do not."""
    desk.check()
    desk.check(run_id="s1", as_of=START)
    desk.check(run_id="s2", as_of=START, supersede="s1", start_stage="CANARY_10", reason="x")
    gate.stop("s2", reason="x", actor="sre", ledger=desk.ledger)
    marked = [(event["event_id"], "as_of" in event) for event in desk.events() if event["kind"] != "policy"]
    assert marked == [
        ("r:DRY_RUN", False),
        ("s1:DRY_RUN", True),
        ("s1:action#1", True),
        ("s2:action#1", True),
        ("s2:CANARY_10", True),
        ("s2:action#2", True),
    ]


@pytest.mark.parametrize("is_simulated", [False, True])
def test_mixing_is_refused(desk: Desk, *, is_simulated: bool) -> None:
    """Simulated from the first decision or never, in check and in resume."""
    first, second = (START, None) if is_simulated else (None, START)
    token = desk.hold(as_of=first)
    error = desk.refused(as_of=second)
    assert isinstance(error, RunRefusedError)
    assert error.reason == "mixed_simulation"
    desk.refuses(desk.by_token(token, as_of=second))
    assert desk.resume(token, as_of=first).verdict == "ACCEPT"


def test_simulated_and_real_runs_do_not_count_for_each_other(desk: Desk) -> None:
    """A rehearsal neither blocks nor succeeds the real rollout, and the other way round."""
    desk.check()
    desk.check(run_id="s", as_of=START)
    assert desk.events("decision")[-1]["previous_run"] is None
    desk.refused(run_id="s2", as_of=START)
    desk.refused(run_id="r2")
    desk.refused(run_id="r2", supersede="s")


def test_a_simulated_successor_does_not_end_the_watch(desk: Desk) -> None:
    """COMPLETED and real: a rehearsal of the next rollout is no successor."""
    desk.walk(*STAGES)
    desk.check(run_id="s", as_of=START)
    assert desk.check().verdict == "ACCEPT"


def test_cron_leaves_simulated_holds_out(desk: Desk) -> None:
    """Without a time reevaluate asks real holds, with one the simulated ones."""
    desk.hold(run_id="s", as_of=START)
    desk.hold()
    arguments = {"ledger": desk.ledger, "clock": desk.clock, "read_source": None, "only_due": False, "actor": "cron"}
    assert [one.run.run_id for one in reevaluate(**arguments)] == ["r"]  # type: ignore[arg-type]
    assert [one.run.run_id for one in reevaluate(**arguments, as_of=LATER)] == ["s"]  # type: ignore[arg-type]
