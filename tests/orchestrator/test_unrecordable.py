from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from gatekeeper.errors import LogError, LogInDoubtError, StateUnreadableError
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.run import Run
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.question import Answer
from tests.orchestrator.desk import Desk, policy


class FullDisk(FileOps):
    """Takes no byte for the log itself; what stands beside it can be written."""

    def __init__(self, desk: Desk, *, cuts: bool = True, everywhere: bool = False) -> None:
        self.desk = desk
        self.cuts = cuts
        self.everywhere = everywhere

    def _is_log(self, descriptor: int) -> bool:
        return self.everywhere or os.path.samestat(os.fstat(descriptor), self.desk.path.stat())

    def write(self, descriptor: int, data: bytes) -> int:
        """Full; or half of it, where cutting fails too."""
        if self._is_log(descriptor):
            if not self.cuts:
                return super().write(descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)

    def truncate(self, descriptor: int, length: int) -> None:
        """Fails where it is to fail."""
        if not self.cuts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().truncate(descriptor, length)


def fill(desk: Desk, **how: bool) -> None:
    """From now on the disk is full for this desk."""
    desk.ledger = NdjsonLedger(str(desk.path), clock=desk.clock, ops=FullDisk(desk, **how))


def mend(desk: Desk) -> None:
    """There is room again; another process."""
    desk.ledger = NdjsonLedger(str(desk.path), clock=desk.clock)


@pytest.mark.parametrize(("verdict", "metrics"), [("ACCEPT", {}), ("DEGRADE", {"errors": ...})])
def test_no_accept_and_no_degrade_without_its_line(desk: Desk, verdict: str, metrics: dict[str, Any]) -> None:
    """Handout HO-13 a, c: 74, the message names the verdict that is not given, log and state are as they were."""
    desk.walk("DRY_RUN", "SHADOW")
    before, run = desk.path.read_bytes(), desk.run()
    fill(desk)
    with pytest.raises(LogError, match=f"{verdict} was reached and is not given") as caught:
        desk.check(metrics=metrics)
    assert caught.value.exit_code == 74
    assert "No space left" in caught.value.message
    assert desk.path.read_bytes() == before
    mend(desk)
    assert desk.run() == run
    assert desk.check().event["event_id"] == "r:CANARY_10"


def test_a_reject_is_given_without_its_line(desk: Desk) -> None:
    """Handout HO-13 b: exit 1, loudly not recorded, with `gatekeeper stop` named; the next call records it."""
    desk.walk("DRY_RUN", "SHADOW")
    before = desk.path.read_bytes()
    fill(desk)
    answer = desk.check(metrics={"leaks": 1})
    assert (answer.verdict, answer.is_unrecorded, answer.is_recorded) == ("REJECT", True, False)
    told = "\n".join(answer.warnings)
    for words in ("NOT RECORDED", "decision.ndjson.unrecorded", "gatekeeper stop r "):
        assert words in told
    assert desk.path.read_bytes() == before
    mend(desk)
    after = desk.check()
    assert (after.verdict, after.is_recorded, after.event["event_id"]) == ("REJECT", True, "r:CANARY_10")
    assert after.event["from_marker"] is True
    assert after.event["decision"] == answer.event["decision"]
    assert desk.run().state == "STOPPED"
    assert not (desk.path.parent / "decision.ndjson.unrecorded").exists()


def test_a_reject_without_a_marker_is_given_all_the_same(desk: Desk) -> None:
    """Not even the note can be written: REJECT, and the warning says so."""
    desk.walk("DRY_RUN")
    fill(desk, everywhere=True)
    answer = desk.check(metrics={"leaks": 1})
    assert (answer.verdict, answer.is_unrecorded) == ("REJECT", True)
    assert any("no marker could be left" in line for line in answer.warnings)


def test_a_recorded_marker_explains_itself(desk: Desk) -> None:
    """The REJECT of a run's very first check: its policy is in the log before it, as before any decision."""
    desk.check(run_id="other", variant_id="C")
    given = policy(policy_version="2")
    fill(desk)
    desk.check(policy=given, metrics={"leaks": 1})
    mend(desk)
    desk.policy = given
    assert desk.check().is_recorded
    assert [(event["kind"], event["policy_digest"]) for event in desk.events()[-2:]] == [
        ("policy", given.digest),
        ("decision", given.digest),
    ]


def test_a_marker_supersedes_too(desk: Desk) -> None:
    """The new run's REJECT could not be written together with the end of the live one: both are recorded later."""
    desk.walk("DRY_RUN")
    fill(desk)
    desk.check(run_id="r2", supersede="r", metrics={"leaks": 1})
    mend(desk)
    assert {run.run_id: run.state.value for run in desk.ledger.view().runs()} == {"r": "STOPPED", "r2": "STOPPED"}


def test_a_line_in_doubt_is_told(desk: Desk) -> None:
    """Cutting off fails too: 74, and the message says when the event counts as recorded."""
    desk.walk("DRY_RUN")
    fill(desk, cuts=False)
    with pytest.raises(LogInDoubtError, match="counts as recorded if its line is whole"):
        desk.check()
    mend(desk)
    assert desk.check().event["event_id"] == "r:SHADOW"


def test_a_folder_in_the_logs_place_lets_nothing_through(desk: Desk) -> None:
    """Handout HO-13: the state cannot be read at all; healthy and incomplete evidence are 74, harm is exit 1."""
    desk.path.mkdir(parents=True)
    for metrics in ({}, {"errors": ...}):
        with pytest.raises(StateUnreadableError) as caught:
            desk.check(metrics=metrics)
        assert caught.value.exit_code == 74
    answer = desk.check(metrics={"errors": 0.19})
    assert (answer.verdict, answer.is_unrecorded, answer.run) == ("REJECT", True, None)
    assert answer.event["decision"]["reason_codes"] == ["guardrail_violation:errors"]


def test_only_safety_is_asked_without_state(desk: Desk) -> None:
    """What a policy rejects for want of evidence, and old evidence of harm, are 74: nothing shows harm."""
    desk.path.mkdir(parents=True)
    desk.policy = policy(
        missing_data_policy={"on_missing": "REJECT", "max_freshness_seconds": 120},
        evidence={"required": ["change_id"], "on_missing": "REJECT"},
    )
    old = desk.evidence(errors=0.19)
    for snapshot in (desk.evidence(), desk.evidence(errors=...)):
        with pytest.raises(StateUnreadableError):
            desk.check(snapshot=snapshot)
    desk.clock.advance(121)
    with pytest.raises(StateUnreadableError):
        desk.check(snapshot=old)


def test_without_state_a_rule_of_another_stage_is_not_asked(desk: Desk) -> None:
    """The stage is the one given; without one, harm at any stage of the policy counts."""
    desk.path.mkdir(parents=True)
    late = {"metric": "errors", "op": "<=", "threshold": 0.01, "stages": ["ROLLOUT_100"]}
    desk.policy = policy(guardrails=[late])
    with pytest.raises(StateUnreadableError):
        desk.check("SHADOW", metrics={"errors": 0.19})
    assert desk.check(metrics={"errors": 0.19}).verdict == "REJECT"


def test_resume_and_dry_run_have_no_answer_without_state(desk: Desk) -> None:
    """A token's policy is in the log that cannot be read; and what is not to be recorded leaves no marker."""
    desk.path.mkdir(parents=True)
    with pytest.raises(StateUnreadableError):
        desk.resume("hold-000000000000000000000000", metrics={"errors": 0.19})
    with pytest.raises(StateUnreadableError):
        desk.check(metrics={"errors": 0.19}, dry_run=True)
    assert not (desk.path.parent / "decision.ndjson.unrecorded").exists()


def test_a_reject_given_without_state_is_recorded_when_the_log_is_back(desk: Desk) -> None:
    """The marker becomes the REJECT of the run that the log then knows, at its own next number."""
    desk.walk("DRY_RUN", "SHADOW")
    aside = desk.path.with_name("kept")
    desk.path.rename(aside)
    desk.path.mkdir()
    mend(desk)
    answer: Answer = desk.check("SHADOW", metrics={"leaks": 1})
    assert answer.is_unrecorded
    desk.path.rmdir()
    aside.rename(desk.path)
    mend(desk)
    run: Run = desk.run()
    assert (run.state, run.stopped_by) == ("STOPPED", "r:SHADOW#2")


def test_a_stop_that_cannot_be_written_says_so(desk: Desk) -> None:
    """74 and not a silent success: the run goes on until the stop is in the log."""
    desk.walk("DRY_RUN")
    fill(desk)
    with pytest.raises(LogError) as caught:
        gate.stop("r", reason="x", actor="sre", ledger=desk.ledger)
    assert caught.value.exit_code == 74
    mend(desk)
    assert desk.run().state == "ACTIVE"
