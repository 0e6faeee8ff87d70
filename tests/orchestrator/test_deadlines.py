from __future__ import annotations

import pytest

from gatekeeper.errors import SnapshotError
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator.repeat import reevaluate
from tests.orchestrator.desk import Desk, at, policy

MISSING = "observation_missing:guardrail_metric"


def with_hold(desk: Desk, **hold: object) -> None:
    """The policy says something about holds for a missing observation."""
    desk.policy = policy(holds={"observation_missing": hold})


def test_a_deadline_binds_from_the_next_attempt_on(desk: Desk) -> None:
    """The first DEGRADE computes it; the second is the first that is asked with it."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    desk.hold()
    first = desk.events("decision")[0]
    assert (first["resume"]["deadline_at"], first["context"]["deadline_at"]) == (at(60), None)
    desk.clock.advance(30)
    desk.hold()
    second = desk.events("decision")[1]
    assert (second["context"]["deadline_at"], second["context"]["on_deadline"]) == (at(60), "REJECT")


@pytest.mark.parametrize(("seconds", "verdict"), [(59.999999, "DEGRADE"), (60, "REJECT")])
def test_the_check_at_the_deadline_rejects(desk: Desk, seconds: float, verdict: str) -> None:
    """A moment before, the hold goes on; from the deadline on its own DEGRADE becomes REJECT."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    desk.hold()
    desk.clock.advance(seconds)
    answer = desk.check(metrics={"errors": ...})
    assert answer.verdict == verdict
    if verdict == "REJECT":
        assert answer.event["decision"]["reason_codes"] == ["change_refused:deadline_passed"]
        assert desk.run().state == "STOPPED"


def test_a_passed_deadline_does_not_spoil_an_accept(desk: Desk) -> None:
    """Applied only if the check's own verdict is still DEGRADE."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    token = desk.hold()
    desk.clock.advance(3600)
    assert desk.resume(token).verdict == "ACCEPT"


def test_escalation_is_the_default_and_stays_held(desk: Desk) -> None:
    """ESCALATE: DEGRADE as before, and the decision says that the deadline has passed."""
    with_hold(desk, deadline_seconds=60)
    desk.hold()
    desk.clock.advance(61)
    answer = desk.check(metrics={"errors": ...})
    assert (answer.verdict, answer.event["context"]["on_deadline"]) == ("DEGRADE", "ESCALATE")
    assert any("deadline" in note for note in answer.event["decision"]["notes"])


def test_a_deadline_counts_from_the_first_hold_and_not_from_the_last_attempt(desk: Desk) -> None:
    """Attempts do not push it away."""
    with_hold(desk, deadline_seconds=60, retry_after_seconds=20, on_deadline="REJECT")
    desk.hold()
    for _ in range(2):
        desk.clock.advance(25)
        desk.hold()
        resume = desk.events("decision")[-1]["resume"]
        assert (resume["deadline_at"], resume["escalate_at"]) == (at(60), at(1800))
        assert resume["next_evaluation"]["not_before"] == at(20)
    desk.clock.advance(25)
    assert desk.check(metrics={"errors": ...}).verdict == "REJECT"


def test_each_attempt_computes_the_deadline_of_its_own_categories(desk: Desk) -> None:
    """First a reference is missing (300 s), then a metric (60 s): the shorter one binds from the third attempt on."""
    desk.policy = policy(
        evidence={"required": ["change_id"]},
        holds={
            "evidence_missing": {"deadline_seconds": 300, "on_deadline": "REJECT"},
            "observation_missing": {"deadline_seconds": 60, "on_deadline": "REJECT"},
        },
    )
    desk.check()
    desk.clock.advance(100)
    second = desk.check(metrics={"errors": ...}, evidence={"change_id": "CHG-1"})
    assert (second.verdict, second.event["context"]["deadline_at"]) == ("DEGRADE", at(300))
    assert second.event["resume"]["deadline_at"] == at(60)
    third = desk.check(metrics={"errors": ...})
    assert (third.verdict, third.event["context"]["deadline_at"]) == ("REJECT", at(60))


def test_a_hold_without_a_source_is_decided_on_its_last_snapshot_after_the_deadline(desk: Desk) -> None:
    """reevaluate: listed as `needs evidence` before the deadline, rejected by it afterwards, without any evidence."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    token = desk.hold(snapshot=desk.evidence(errors=...))
    ((verdict, problem),) = _reevaluated(desk)
    assert (verdict, str(problem).partition(": ")[0]) == (None, "needs evidence")
    assert "standard input" in str(problem), "it says why, and what to type"
    assert str(problem).endswith(f"gatekeeper resume {token} --snapshot FILE, or --collect FILE")
    desk.clock.advance(60)
    assert _reevaluated(desk) == [("REJECT", None)]
    assert desk.events("decision")[-1]["decision"]["reason_codes"] == ["change_refused:deadline_passed"]
    assert desk.events("decision")[-1]["metrics_snapshot"] == desk.events("decision")[0]["metrics_snapshot"]


def test_a_hold_whose_source_cannot_be_read_is_decided_on_its_last_snapshot_too(desk: Desk) -> None:
    """A file that has gone away does not keep a deadline from being applied."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    desk.hold(snapshot=desk.evidence(errors=...), source={"kind": "file", "snapshot": "gone.json", "baseline": None})
    assert _reevaluated(desk) == [(None, "needs evidence: gone")]
    desk.clock.advance(60)
    assert _reevaluated(desk) == [("REJECT", None)]


def test_two_holds_without_sources_are_both_decided(desk: Desk) -> None:
    """The answer to the first does not take away what the second is decided on."""
    with_hold(desk, deadline_seconds=60, on_deadline="REJECT")
    desk.hold()
    desk.hold(run_id="r2", variant_id="C")
    desk.clock.advance(60)
    assert _reevaluated(desk) == [("REJECT", None), ("REJECT", None)]


def _reevaluated(desk: Desk) -> list[tuple[str | None, str | None]]:
    def gone(_source: object) -> Snapshot:
        raise SnapshotError("gone", remedy="-")

    outcomes = reevaluate(ledger=desk.ledger, clock=desk.clock, read_source=gone, only_due=True, actor="cron")
    return [(None if one.answer is None else one.answer.verdict.value, one.problem) for one in outcomes]
