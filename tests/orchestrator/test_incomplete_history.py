from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.orchestrator import gate
from tests.orchestrator.desk import STAGES, Desk

INCOMPLETE = ["precondition_unknown:history_incomplete"]


def rewritten(desk: Desk, lines: list[bytes]) -> None:
    """Another file in the log's place, seen by a process that knows only that file."""
    desk.path.write_bytes(b"".join(line + b"\n" for line in lines))
    for beside in desk.path.parent.glob("decision.ndjson.db*"):
        beside.unlink()
    desk.ledger = NdjsonLedger(str(desk.path), clock=desk.clock)


def lines_of(desk: Desk) -> list[bytes]:
    """The log's lines."""
    return desk.path.read_bytes().splitlines()


def accept_gap(desk: Desk) -> None:
    """`log rebuild --accept-gap`."""
    gate.accept_gap(reason="the first part is in the archive", actor="sre", ledger=desk.ledger)


def test_a_run_that_crosses_a_damaged_line_is_held(desk: Desk) -> None:
    """Nobody knows what the damaged line said: healthy evidence holds until a person accepts the gap."""
    desk.walk("DRY_RUN", "SHADOW")
    lines = lines_of(desk)
    rewritten(desk, [*lines[:2], b'{"seq": 3, "run_id"', *lines[3:]])
    stage = desk.run().stage
    answer = desk.check()
    assert (answer.verdict, answer.event["decision"]["reason_codes"]) == ("DEGRADE", INCOMPLETE)
    assert desk.run().stage == stage
    assert desk.check().verdict == "DEGRADE"
    accept_gap(desk)
    assert desk.check().verdict == "ACCEPT"


@pytest.mark.parametrize("key", [None, "job-1"])
def test_a_recorded_accept_is_not_repeated_over_a_damaged_line(desk: Desk, key: str | None) -> None:
    """The line that nobody can read may have stopped the run behind it."""
    desk.walk("DRY_RUN")
    asked: dict[str, Any] = {"snapshot": desk.evidence(), "stage": "SHADOW", "idempotency_key": key}
    assert desk.check(**asked).verdict == "ACCEPT"
    rewritten(desk, [*lines_of(desk), b"damaged"])
    again = desk.check(**asked)
    assert (again.verdict, again.is_recorded) == ("DEGRADE", False)
    assert again.event["decision"]["reason_codes"] == INCOMPLETE


def test_harm_is_harm_whatever_the_history(desk: Desk) -> None:
    """An incomplete history holds back ACCEPT only."""
    desk.walk("DRY_RUN", "SHADOW")
    lines = lines_of(desk)
    rewritten(desk, [*lines[:2], b"damaged", *lines[3:]])
    assert desk.check(metrics={"leaks": 1}).verdict == "REJECT"


def test_an_unknown_run_is_held_where_the_beginning_is_missing(desk: Desk) -> None:
    """The readable part does not know `r9`, but the missing one may: held at every ask, until the gap is accepted."""
    desk.walk("DRY_RUN", "SHADOW")
    rewritten(desk, lines_of(desk)[2:])
    for attempt in (1, 2, 3):
        answer = desk.check(run_id="r9", variant_id="C")
        assert (answer.verdict, answer.event["attempt"]) == ("DEGRADE", attempt)
        assert answer.event["decision"]["reason_codes"] == INCOMPLETE
        assert answer.event["context"]["history"] == "incomplete"
    accept_gap(desk)
    assert desk.check(run_id="r9", variant_id="C").verdict == "ACCEPT"


def test_the_hold_of_an_unknown_run_outlives_a_rebuild(desk: Desk) -> None:
    """Folding the same log anew does not make the history complete."""
    desk.walk("DRY_RUN", "SHADOW")
    rewritten(desk, lines_of(desk)[2:])
    desk.check(run_id="r9", variant_id="C")
    rewritten(desk, lines_of(desk))
    assert desk.check(run_id="r9", variant_id="C").event["decision"]["reason_codes"] == INCOMPLETE


def test_a_run_known_from_its_middle_gives_no_id_twice(desk: Desk) -> None:
    """The first decisions are gone; the next id goes on from the number that the last one states."""
    desk.walk("DRY_RUN")
    for _ in range(3):
        desk.check("DRY_RUN")
    rewritten(desk, lines_of(desk)[-1:])
    assert desk.check("DRY_RUN").event["event_id"] == "r:DRY_RUN#5"


def test_a_lost_projection_is_no_lost_run(desk: Desk) -> None:
    """Handout HO-12 d, e: the state beside the log is gone, the hold and its token are not."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    rewritten(desk, lines_of(desk))
    answer = desk.resume(token)
    assert (answer.verdict, answer.event["event_id"]) == ("ACCEPT", "r:SHADOW#2")


def test_half_a_state_file_is_no_lost_run(desk: Desk) -> None:
    """Handout HO-12 d: 0 bytes or half a file in the projection's place; the run neither starts anew nor advances."""
    desk.walk("DRY_RUN")
    token = desk.hold()
    before = desk.run()
    for content in (b"", b"half of a"):
        rewritten(desk, lines_of(desk))
        (desk.path.parent / "decision.ndjson.db").write_bytes(content)
        assert desk.run() == before
    assert desk.resume(token).verdict == "ACCEPT"


def test_a_founding_style_reject_is_not_forgotten(desk: Desk) -> None:
    """A line without `kind` that rejected the run: every check answers with it."""
    desk.path.parent.mkdir()
    desk.path.write_bytes(founding("REJECT", "CANARY_10"))
    answer = desk.check("CANARY_10")
    assert (answer.verdict, answer.is_recorded) == ("REJECT", True)
    assert desk.run().state == "STOPPED"


def test_a_founding_style_run_is_held_at_its_stage(desk: Desk) -> None:
    """It was let into SHADOW by another tool: it does not begin anew, and goes on only when a person agrees."""
    desk.path.parent.mkdir()
    desk.path.write_bytes(founding("ACCEPT", "SHADOW"))
    answer = desk.check(revision="rev-a", change_class="stateful_or_irreversible")
    assert answer.event["state_transition"] == {"from": "SHADOW", "to": "CANARY_10"}
    assert (answer.verdict, desk.run().state) == ("DEGRADE", "HELD")
    assert "precondition_unknown:history_incomplete" in answer.event["decision"]["reason_codes"]
    assert (desk.run().revision, desk.run().change_class, desk.run().policy_digest) == (
        "rev-a",
        "stateful_or_irreversible",
        desk.policy.digest,
    )
    accept_gap(desk)
    held = desk.check()
    assert held.event["decision"]["reason_codes"] == ["evidence_missing:approval"]


def test_a_founding_style_run_stays_begun_when_the_gap_is_accepted_first(desk: Desk) -> None:
    """Accepting the history before the first check does not send the run back to its beginning."""
    desk.path.parent.mkdir()
    desk.path.write_bytes(founding("ACCEPT", "SHADOW"))
    accept_gap(desk)
    assert desk.check().event["state_transition"] == {"from": "SHADOW", "to": "CANARY_10"}


def test_a_cut_log_does_not_let_a_run_start_anew(desk: Desk) -> None:
    """The log was rotated away: state stays, the numbers go on, and the run is still at its stage."""
    desk.walk(*STAGES[:3])
    desk.path.rename(desk.path.parent / "decision.ndjson.1")
    desk.ledger = NdjsonLedger(str(desk.path), clock=desk.clock)
    answer = desk.check()
    assert answer.event["state_transition"] == {"from": "CANARY_10", "to": "CANARY_50"}
    assert answer.event["seq"] == 5


def founding(verdict: str, stage: str) -> bytes:
    """One line as a founding-style driver wrote it."""
    line: dict[str, Any] = {
        "run_id": "r",
        "experiment_id": "exp",
        "variant_id": "B",
        "stage": stage,
        "verdict": verdict,
    }
    return json.dumps(line).encode() + b"\n"
