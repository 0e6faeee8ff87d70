"""What happens while a source takes its time: the run is read again, the source is not asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from gatekeeper.errors import RunRefusedError, TokenError
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.exchange import Expectation, Receipt
from gatekeeper.model.policy import LoadedPolicy
from gatekeeper.model.snapshot import Snapshot
from tests.doubles import ScriptedSource
from tests.orchestrator.collecting import collecting, healthy, meanwhile, rival
from tests.orchestrator.desk import Desk, at, policy


class ContendedLedger(NdjsonLedger):
    """Somebody else is first at the next *rivals* appends."""

    def __init__(self, desk: Desk, rivals: int) -> None:
        super().__init__(str(desk.path), clock=desk.clock)
        self.desk = desk
        self.rival = rival(desk)
        self.rivals = rivals

    def append(
        self,
        drafts: Sequence[Any],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Let a rival check first, and ten seconds pass."""
        if self.rivals:
            self.rivals -= 1
            assert not self.rival.check("DRY_RUN").is_recorded
            self.desk.clock.advance(10)
        return super().append(drafts, expect=expect, policies=policies, actor=actor)


def test_three_conflicts_ask_the_source_once(desk: Desk) -> None:
    """Reading the run again is cheap, collecting is not: the same snapshot is judged anew at each moment."""
    desk.walk("DRY_RUN")
    source = healthy(desk)
    desk.ledger = ContendedLedger(desk, 3)
    answer = desk.ask(collecting(desk, source, "DRY_RUN"))
    assert (answer.event["event_id"], source.calls) == ("r:DRY_RUN#5", 1)
    assert answer.event["metrics_snapshot"]["_meta"]["collected_at"] == at(0)
    assert answer.event["context"]["evaluated_at"] == at(30)


def test_the_moment_of_evaluation_is_after_that_of_collection(desk: Desk) -> None:
    """A source that takes seven seconds: its evidence is not from the future of the check that waited for it."""
    desk.policy = policy(missing_data_policy={"max_freshness_seconds": 5})
    answer = desk.ask(collecting(desk, meanwhile(desk, lambda: desk.clock.advance(7))))
    assert answer.event["metrics_snapshot"]["_meta"]["collected_at"] == at(7)
    assert (answer.verdict, answer.event["context"]["evaluated_at"]) == ("ACCEPT", at(7))


def test_nobody_waits_for_somebody_elses_collection(desk: Desk) -> None:
    """No lock is held meanwhile: another run's check is recorded while this one's source takes its time."""
    desk.walk("DRY_RUN")
    other = rival(desk)
    source = meanwhile(desk, lambda: other.walk("DRY_RUN", run_id="r2", variant_id="C"))
    assert desk.ask(collecting(desk, source)).event["event_id"] == "r:SHADOW"
    assert desk.decisions()[1:] == [("ACCEPT", "r2:DRY_RUN"), ("ACCEPT", "r:SHADOW")]


def test_two_collecting_pipelines_move_the_run_one_stage(desk: Desk) -> None:
    """The default stage is that of the first reading: overtaken, the call remains there and does not go on."""
    desk.walk("DRY_RUN")
    other = rival(desk)
    source = meanwhile(desk, other.check)
    answer = desk.ask(collecting(desk, source))
    assert answer.event["state_transition"] == {"from": "SHADOW", "to": "SHADOW"}
    assert (desk.run().stage, source.calls) == ("SHADOW", 1)


@pytest.mark.parametrize("fields", [{}, {"stage": "SHADOW"}, {"start_stage": "SHADOW", "reason": "x", "run_id": "n"}])
def test_a_run_that_passed_the_stage_meanwhile_records_only_harm(desk: Desk, fields: dict[str, Any]) -> None:
    """Two stages further when the evidence is there: healthy is 65 and not recorded, harm stops the run."""
    run_id = fields.get("run_id", "r")
    if run_id == "r":
        desk.walk("DRY_RUN")
    other, rest = rival(desk), {"run_id": run_id}

    def go_on() -> None:
        if run_id == "n":
            other.check(start_stage="SHADOW", reason="x", **rest)
        else:
            other.walk("SHADOW", **rest)
        other.walk("CANARY_10", **rest)

    fields = {"stage": None, **fields}
    question = collecting(desk, meanwhile(desk, go_on), **fields)
    with pytest.raises(RunRefusedError, match="has passed SHADOW meanwhile and is at CANARY_10"):
        desk.ask(question)
    last = desk.decisions()[-1]
    assert last == ("ACCEPT", f"{run_id}:CANARY_10")
    harm = meanwhile(desk, lambda: other.walk("CANARY_50", "ROLLOUT_100", **rest), leaks=1)
    answer = desk.ask(collecting(desk, harm, "CANARY_10", **rest))
    assert (answer.verdict, answer.event["stage"]) == ("REJECT", "ROLLOUT_100")


def test_a_run_that_is_stopped_meanwhile_answers_with_that(desk: Desk) -> None:
    """Healthy evidence that comes too late does not speak against the REJECT."""
    desk.walk("DRY_RUN")
    other = rival(desk)
    source = meanwhile(desk, lambda: other.check(metrics={"leaks": 1}))
    answer = desk.ask(collecting(desk, source))
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)


def test_a_hold_that_ends_meanwhile_is_not_redeemed(desk: Desk) -> None:
    """The token is looked at again with the evidence in hand."""
    token = desk.hold()
    other = rival(desk)
    source = meanwhile(desk, other.check)
    with pytest.raises(TokenError, match="has ended with event r:DRY_RUN#2"):
        desk.ask(desk.by_token(token, snapshot=None, evidence_source=source))
    assert desk.run().stage == "DRY_RUN"


@pytest.mark.parametrize("stage", [None, "DRY_RUN"])
def test_collected_evidence_that_is_the_same_again_is_the_same_question(desk: Desk, stage: str | None) -> None:
    """(3) after collecting: a source that stands still does not let the run into the next stage."""
    first = desk.check()
    source = ScriptedSource([lambda: Snapshot(first.event["metrics_snapshot"])])
    answer = desk.ask(collecting(desk, source, stage))
    assert (answer.is_recorded, answer.event, source.calls) == (True, first.event, 1)
    assert len(desk.events("decision")) == 1


def test_the_same_evidence_grown_old_while_it_was_collected_is_evaluated_as_remaining(desk: Desk) -> None:
    """Past the freshness limit it is no answer, and still not the next stage."""
    first = desk.check()
    desk.clock.advance(115)

    def collect() -> Snapshot:
        desk.clock.advance(6)
        return Snapshot(first.event["metrics_snapshot"])

    answer = desk.ask(collecting(desk, ScriptedSource([collect])))
    assert answer.event["state_transition"] == {"from": "DRY_RUN", "to": "DRY_RUN"}
    assert answer.event["decision"]["reason_codes"] == ["observation_stale:over_freshness_budget"]


def test_a_later_ask_of_a_waiting_call_keeps_its_stage_whatever_it_collects(desk: Desk) -> None:
    """`--wait` at SHADOW: the very evidence that others were let into CANARY_10 with does not make it that question."""
    desk.walk("DRY_RUN", "SHADOW")
    last = desk.check("CANARY_10")
    source = ScriptedSource([lambda: Snapshot(last.event["metrics_snapshot"])])
    with pytest.raises(RunRefusedError, match="has passed SHADOW"):
        desk.ask(collecting(desk, source), fixed_stage="SHADOW")


def test_the_same_evidence_is_compared_with_the_accept_of_the_first_reading(desk: Desk) -> None:
    """While it was collected somebody moved the run: the call meant the stage before, and moves nothing on."""
    first = desk.check()
    other = rival(desk)

    def collect() -> Snapshot:
        other.walk("SHADOW")
        return Snapshot(first.event["metrics_snapshot"])

    with pytest.raises(RunRefusedError, match="has passed DRY_RUN"):
        desk.ask(collecting(desk, ScriptedSource([collect])))
    assert desk.run().stage == "SHADOW"
