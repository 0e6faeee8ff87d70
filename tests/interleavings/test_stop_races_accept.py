from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.orchestrator import gate
from tests.interleavings.actors import Meanwhile, PausingLedger
from tests.orchestrator.desk import Desk


def stop(desk: Desk) -> None:
    """An SRE stops the run."""
    gate.stop("r", reason="incident 7", actor="sre", ledger=desk.open())


@pytest.mark.parametrize("metrics", [{}, {"errors": ...}, {"leaks": 1}])
def test_a_stop_beats_every_verdict_that_arrives_behind_it(desk: Desk, metrics: dict[str, Any]) -> None:
    """Decided before the stop, written after it: the stop is the answer and nothing moves."""
    desk.walk("DRY_RUN")
    answer = Meanwhile(desk, lambda: stop(desk)).ask(desk.question(metrics=metrics))
    assert (answer.verdict, answer.is_recorded, answer.event["event_id"]) == ("REJECT", True, "r:action#1")
    assert (desk.run().state, desk.run().stage) == ("STOPPED", "DRY_RUN")
    assert desk.decisions() == [("ACCEPT", "r:DRY_RUN")]


def test_a_stop_that_is_overtaken_by_an_accept_stops_all_the_same(desk: Desk) -> None:
    """The run moved while the stop was under way: read again, it is stopped at the stage it is in now."""
    desk.walk("DRY_RUN")
    ledger = PausingLedger(desk.open(), before_append=lambda: desk.check("SHADOW"))
    answer = gate.stop("r", reason="incident 7", actor="sre", ledger=ledger)
    assert (answer.event["stage"], answer.is_recorded) == ("SHADOW", False)
    assert (desk.run().state, desk.run().stage, desk.run().stopped_by) == ("STOPPED", "SHADOW", "r:action#1")


def test_a_stop_that_is_overtaken_by_a_reject_keeps_the_reject(desk: Desk) -> None:
    """What stopped the run first is its answer."""
    desk.walk("DRY_RUN")
    ledger = PausingLedger(desk.open(), before_append=lambda: desk.check(metrics={"leaks": 1}))
    answer = gate.stop("r", reason="incident 7", actor="sre", ledger=ledger)
    assert (answer.is_recorded, answer.event["event_id"]) == (True, "r:SHADOW")


def test_a_resume_that_is_overtaken_by_a_stop_is_refused(desk: Desk) -> None:
    """The hold ended with the stop: the token is looked at first, and names that event."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    error = Meanwhile(desk, lambda: stop(desk)).refused(desk.by_token(token))
    assert "r:action#1" in error.message
