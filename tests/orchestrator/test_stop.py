from __future__ import annotations

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.question import Answer
from tests.orchestrator.desk import STAGES, Desk


def stop(desk: Desk, run_id: str = "r") -> Answer:
    """`gatekeeper stop`, and the answer's run is what the log tells."""
    answer = gate.stop(run_id, reason="incident 7", actor="sre", ledger=desk.ledger)
    assert answer.run == desk.run(run_id)
    return answer


@pytest.mark.parametrize("state", ["ACTIVE", "HELD", "COMPLETED"])
def test_a_run_can_be_stopped_in_every_state(desk: Desk, state: str) -> None:
    """The event carries the REJECT that is the run's answer from then on."""
    desk.walk(*(STAGES if state == "COMPLETED" else STAGES[:2]))
    token = desk.hold() if state == "HELD" else None
    assert desk.run().state == state
    stop(desk)
    event = desk.events()[-1]
    assert (event["kind"], event["action"]["name"], event["action"]["reason"], event["actor"]) == (
        "action",
        "stop",
        "incident 7",
        "sre",
    )
    assert event["decision"]["verdict"] == "REJECT"
    assert event["decision"]["reason_codes"] == ["change_refused:stopped"]
    answer = desk.check()
    assert (answer.verdict, answer.is_recorded, answer.event) == ("REJECT", True, event)
    assert desk.run().state == "STOPPED"
    assert desk.run().ended_holds == ({} if token is None else {token: "r:action#1"})


def test_a_stopped_run_keeps_what_stopped_it(desk: Desk) -> None:
    """Stopping twice: the first reason stands, nothing is appended."""
    desk.check(metrics={"leaks": 1})
    lines = desk.path.read_bytes()
    answer = stop(desk)
    assert (answer.is_recorded, answer.event["event_id"]) == (True, "r:DRY_RUN")
    assert desk.path.read_bytes() == lines


def test_an_unknown_run_cannot_be_stopped(desk: Desk) -> None:
    """65, and neither log nor run comes into being."""
    with pytest.raises(InputRefusedError, match="r9 is not in this log"):
        stop(desk, "r9")
    assert not desk.path.exists()


def test_a_stopped_variant_is_free_for_another_run(desk: Desk) -> None:
    """`stop` ends what "one live run" counts."""
    desk.check()
    stop(desk)
    assert desk.check(run_id="r2").event["previous_run"] == "r"
