from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gatekeeper.errors import DocumentError, InputRefusedError, LogError
from gatekeeper.ledger.projection_view import ProjectionView
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator.question import Answer, Question
from gatekeeper.orchestrator.repeat import ask_stages, ask_until_decided, reevaluate, worst_verdict
from tests.orchestrator.desk import STAGES, Desk, policy


def wait(desk: Desk, read: Callable[[], Question], *, seconds: float = 600, interval: float = 60) -> Answer:
    """`--wait 10m --interval 60s` on a clock that moves when the program pauses."""
    return ask_until_decided(
        read,
        ledger=desk.ledger,
        clock=desk.clock,
        wait_seconds=seconds,
        interval_seconds=interval,
        pause=desk.clock.advance,
        on_hold=lambda _answer, _left, _refused: None,
    )


def test_waiting_ends_with_the_first_verdict(desk: Desk) -> None:
    """The source is read again each time; the stage stays that of the first ask and moves one step."""
    desk.walk("DRY_RUN")
    errors: list[Any] = [..., ..., 0.004]
    answer = wait(desk, lambda: desk.question(metrics={"errors": errors.pop(0)}))
    assert (answer.verdict, answer.event["event_id"]) == ("ACCEPT", "r:SHADOW#3")
    assert [event["attempt"] for event in desk.events("decision")[1:]] == [1, 2, 3]


def test_waiting_ends_when_the_time_is_up(desk: Desk) -> None:
    """DEGRADE after the last interval: asked at 0, 60 and 100 s and no further."""
    answer = wait(desk, lambda: desk.question(metrics={"errors": ...}), seconds=100)
    assert (answer.verdict, answer.event["attempt"]) == ("DEGRADE", 3)


def half_written() -> Question:
    """A reader that comes while the collector is still writing."""
    raise DocumentError("now.json:1:9: not JSON", remedy="write one JSON document")


def test_a_file_that_is_still_being_written_does_not_end_the_waiting(desk: Desk) -> None:
    """It is read again after the next interval, and counts as no attempt."""
    reads: list[Callable[[], Question]] = [
        lambda: desk.question(metrics={"errors": ...}),
        half_written,
        half_written,
        desk.question,
    ]
    answer = wait(desk, lambda: reads.pop(0)())  # noqa: PLW0108 - another reader each time
    assert (answer.verdict, answer.event["attempt"]) == ("ACCEPT", 2)


def test_evidence_that_stays_unreadable_is_refused_when_the_time_is_up(desk: Desk) -> None:
    """65 with the reason, as at the first ask; the hold stands."""
    reads: list[Callable[[], Question]] = [lambda: desk.question(metrics={"errors": ...})]
    with pytest.raises(DocumentError, match="not JSON"):
        wait(desk, lambda: (reads.pop(0) if reads else half_written)(), seconds=150)  # noqa: PLW0108 - likewise
    assert desk.run().state == "HELD"
    with pytest.raises(DocumentError):
        wait(desk, half_written)


def test_waiting_does_not_carry_its_key_to_other_evidence(desk: Desk) -> None:
    """New evidence is another question: only the first ask has the key, so the second is not refused."""
    errors: list[Any] = [..., 0.004]
    answer = wait(desk, lambda: desk.question(metrics={"errors": errors.pop(0)}, idempotency_key="job-1"))
    assert answer.verdict == "ACCEPT"
    assert [event.get("idempotency_key") for event in desk.events("decision")] == ["job-1", None]


def test_waiting_at_a_start_stage_goes_on(desk: Desk) -> None:
    """The run that this very call began is not refused to it at the second ask."""
    errors: list[Any] = [..., 0.004]
    answer = wait(desk, lambda: desk.question(metrics={"errors": errors.pop(0)}, start_stage="CANARY_10", reason="x"))
    assert (answer.verdict, answer.event["event_id"]) == ("ACCEPT", "r:CANARY_10#2")


def test_waiting_does_not_ask_the_next_stage_when_another_ends_the_hold(desk: Desk) -> None:
    """Somebody else resumes meanwhile: this call remains with its stage instead of entering the one behind it."""
    calls = 0

    def read() -> Question:
        nonlocal calls
        calls += 1
        if calls == 2:
            desk.check()
        return desk.question(metrics={"errors": ...} if calls == 1 else {})

    answer = wait(desk, read)
    assert answer.event["state_transition"] == {"from": "DRY_RUN", "to": "DRY_RUN"}
    assert desk.run().stage == "DRY_RUN"


def test_a_waiting_call_whose_stage_was_passed_records_only_harm(desk: Desk) -> None:
    """The run went on twice meanwhile: healthy evidence is 65 and not recorded."""
    calls = 0

    def read() -> Question:
        nonlocal calls
        calls += 1
        if calls == 2:
            desk.walk("DRY_RUN", "SHADOW")
        return desk.question(metrics={"errors": ...} if calls == 1 else {})

    with pytest.raises(InputRefusedError, match="has passed DRY_RUN"):
        wait(desk, read)
    assert desk.decisions()[-1] == ("ACCEPT", "r:SHADOW")


def test_run_asks_the_stages_until_one_does_not_pass(desk: Desk) -> None:
    """All stages in turn; the hold ends it, and the next call begins at the held stage."""
    errors: dict[str, Any] = {"CANARY_10": ...}

    def question(stage: str) -> Question:
        return desk.question(stage, command="run", metrics={"errors": errors.get(stage, 0.004)})

    def run() -> list[tuple[str, str]]:
        answers = ask_stages(question, "r", STAGES, ledger=desk.ledger, clock=desk.clock)
        return [(answer.event["stage"], answer.verdict.value) for answer in answers]

    assert run() == [("DRY_RUN", "ACCEPT"), ("SHADOW", "ACCEPT"), ("CANARY_10", "DEGRADE")]
    errors.clear()
    errors["CANARY_50"] = 0.4
    assert run() == [("CANARY_10", "ACCEPT"), ("CANARY_50", "REJECT")]
    assert run() == [("CANARY_50", "REJECT")]


def test_only_due_holds_are_asked(desk: Desk) -> None:
    """`--due`: from `not_before` on; without it every open hold, longest held first."""
    desk.policy = policy(holds={"observation_missing": {"retry_after_seconds": 300}})
    desk.hold(source={"file": "a"})
    desk.clock.advance(100)
    desk.hold(run_id="r2", variant_id="C", source={"file": "b"})
    desk.walk("DRY_RUN", run_id="r3", variant_id="D")

    def asked(*, only_due: bool) -> list[tuple[str, str | None]]:
        def read(source: object) -> Snapshot:
            return desk.evidence(errors=..., mark=str(source))

        outcomes = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=read, only_due=only_due, actor="cron")
        return [(one.run.run_id, one.answer.verdict.value if one.answer else None) for one in outcomes]

    assert asked(only_due=True) == []
    assert asked(only_due=False) == [("r", "DEGRADE"), ("r2", "DEGRADE")]
    desk.clock.advance(200)
    assert asked(only_due=True) == [("r", "DEGRADE")]
    desk.clock.advance(100)
    assert asked(only_due=True) == [("r", "DEGRADE"), ("r2", "DEGRADE")]


def test_one_hold_that_cannot_be_asked_does_not_hide_the_others(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy of the first is lost: its failure is told, and the second is asked all the same."""
    desk.hold(source={"file": "a"})
    lost = desk.policy.digest
    desk.policy = policy(policy_version="2")
    desk.hold(run_id="r2", variant_id="C", source={"file": "b"})
    known = ProjectionView.policy
    monkeypatch.setattr(ProjectionView, "policy", lambda view, digest: None if digest == lost else known(view, digest))
    outcomes = list(
        reevaluate(
            ledger=desk.ledger, clock=desk.clock, read_source=lambda _: desk.evidence(), only_due=False, actor="cron"
        )
    )
    assert [one.run.run_id for one in outcomes] == ["r", "r2"]
    assert isinstance(outcomes[0].failure, LogError)
    assert outcomes[1].answer is not None
    assert outcomes[1].answer.verdict == "ACCEPT"


def test_a_reevaluated_hold_ends_like_a_resumed_one(desk: Desk) -> None:
    """Its source is read, the recorded source stays with the hold, and healthy evidence moves the run."""
    source = {"kind": "file", "snapshot": "s.json", "baseline": None}
    token = desk.hold(source=source)
    seen: list[object] = []

    def read(given: object) -> Snapshot:
        seen.append(given)
        return desk.evidence(errors=... if len(seen) == 1 else 0.004)

    def once() -> list[Answer | None]:
        outcomes = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=read, only_due=True, actor="cron")
        return [one.answer for one in outcomes]

    once()
    assert desk.run().hold is not None
    (answer,) = once()
    assert answer is not None
    assert (answer.verdict, answer.event["actor"], seen) == ("ACCEPT", "cron", [source, source])
    assert desk.run().ended_holds == {token: "r:DRY_RUN#3"}


def test_a_hold_that_ends_meanwhile_does_not_stop_the_others(desk: Desk) -> None:
    """Somebody redeems the first hold while cron reads its file: named, and the second is asked all the same."""
    desk.hold(source={"file": "a"})
    desk.clock.advance(1)
    desk.hold(run_id="r2", variant_id="C", source={"file": "b"})

    def read(source: Any) -> Snapshot:
        if source == {"file": "a"}:
            desk.check()
        return desk.evidence()

    outcomes = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=read, only_due=False, actor="cron")
    told = [(one.run.run_id, one.problem, one.answer and one.answer.verdict) for one in outcomes]
    assert told[0][0] == "r"
    assert told[0][1] is not None
    assert told[0][1].startswith("ended meanwhile")
    assert told[1] == ("r2", None, "ACCEPT")


def test_the_worst_verdict_of_several() -> None:
    """REJECT over DEGRADE over ACCEPT; none of nothing."""
    accept, degrade, reject = Verdict.ACCEPT, Verdict.DEGRADE, Verdict.REJECT
    assert worst_verdict([accept, degrade, reject, degrade]) is reject
    assert worst_verdict([accept, degrade]) is degrade
    assert worst_verdict([accept]) is accept
    assert worst_verdict([]) is None


def test_a_fixed_stage_that_is_still_open_is_asked(desk: Desk) -> None:
    """A stage kept from the first ask is no reason to record only harm while the run has not passed it."""
    desk.walk("DRY_RUN")
    question = replace(desk.question(), stage=None)
    assert desk.ask(question, fixed_stage="SHADOW").event["event_id"] == "r:SHADOW"
