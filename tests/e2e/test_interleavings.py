"""SPEC 6, racing pipelines: another process acts between a call's decision and its append. No luck involved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.desk import LIMIT_SECONDS, RUN, Desk, Done
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, policy

pytestmark = pytest.mark.slow  # many processes

PAUSED = str(Path(__file__).with_name("paused.py"))


@contextmanager
def decided(desk: Desk, *argv: str) -> Iterator[list[Done]]:
    """The call has decided and does not append before the block ends; then what it answered is in the list."""
    barrier, release = os.pipe()
    process = subprocess.Popen(
        [sys.executable, PAUSED, str(barrier), *argv, "-o", "json"],
        bufsize=0,
        cwd=desk.place,
        env=desk.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[barrier],
    )
    os.close(barrier)
    assert process.stdout is not None
    assert process.stdout.readline() == b"decided\n"
    answers: list[Done] = []
    try:
        yield answers
    finally:
        os.close(release)
        out, err = process.communicate(timeout=LIMIT_SECONDS)
        answers.append(Done(process.returncode, out, err.decode()))


def verdicts(desk: Desk) -> list[str]:
    """Of all events that have one, in the order of the log."""
    return [event["decision"]["verdict"] for event in desk.events() if "decision" in event]


def test_a_reject_between_decision_and_append_wins(desk: Desk) -> None:
    """The ACCEPT was reached before the harm was known: it is decided again and gets the REJECT."""
    desk.begin_at("CANARY_10")
    with decided(desk, *desk.asking(HEALTHY)) as answers:
        assert desk.check(HARMFUL, "--stage", "CANARY_10").code == 1
    assert (answers[0].code, answers[0].document["recorded"]) == (1, True)
    assert verdicts(desk) == ["ACCEPT", "REJECT"]
    desk.assert_verifies()


def test_a_stop_between_decision_and_append_wins(desk: Desk) -> None:
    """A person's word, too."""
    desk.begin_at("CANARY_10")
    with decided(desk, *desk.asking(HEALTHY)) as answers:
        assert desk.gate("stop", RUN, "--reason", "tickets").code == 0
    assert answers[0].code == 1
    assert answers[0].document["decision"]["reason_codes"] == ["change_refused:stopped"]
    assert verdicts(desk) == ["ACCEPT", "REJECT"]


def test_a_harmful_call_is_recorded_though_the_run_has_moved_on(desk: Desk) -> None:
    """The run has passed the stage asked: decided again for the current stage, and only REJECT is recorded."""
    desk.begin_at("CANARY_10")
    with decided(desk, *desk.asking(HARMFUL)) as answers:
        for _ in range(2):
            assert desk.check(HEALTHY).code == 0
    assert answers[0].code == 1
    assert desk.status() == ("STOPPED", "CANARY_50")
    assert desk.events()[-1]["stage"] == "CANARY_50"
    desk.assert_verifies()


def test_a_late_accept_for_a_stage_that_was_passed_is_refused(desk: Desk) -> None:
    """65 and no ACCEPT in the log: evidence for CANARY_25 says nothing that the run needs at CANARY_50."""
    desk.begin_at("CANARY_10")
    with decided(desk, *desk.asking(HEALTHY)) as answers:
        for _ in range(2):
            assert desk.check(HEALTHY).code == 0
        before = verdicts(desk)
    assert answers[0].code == 65
    assert "CANARY_50" in answers[0].document["error"]["message"]
    assert verdicts(desk) == before
    assert desk.status() == ("ACTIVE", "CANARY_50")


def test_a_token_that_is_spent_between_decision_and_append_is_refused(desk: Desk) -> None:
    """Two redeems: the second finds the hold ended."""
    token = desk.hold_at_canary_25()
    with decided(desk, "resume", token, "--snapshot", desk.evidence()) as answers:
        assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 0
    assert answers[0].code == 65
    assert answers[0].document["error"]["code"] == "token.refused"
    assert desk.status() == ("ACTIVE", "CANARY_25")


def test_a_hold_that_stands_is_decided_again_and_let_go(desk: Desk) -> None:
    """Another attempt came in between and held: the redeem still commits, as the next attempt."""
    token = desk.hold_at_canary_25()
    with decided(desk, "resume", token, "--snapshot", desk.evidence()) as answers:
        assert desk.check(BLIND).code == 2
    assert answers[0].code == 0
    assert answers[0].document["attempt"] == 3
    assert desk.status() == ("ACTIVE", "CANARY_25")
    desk.assert_verifies()


def test_a_second_run_for_a_live_variant_is_refused_however_late(desk: Desk) -> None:
    """Both first checks saw no live run; one of them begins, the other is told which."""
    with decided(desk, *desk.asking(HEALTHY, run="r-42")) as answers:
        desk.begin_at("CANARY_10")
    assert answers[0].code == 65
    assert RUN in answers[0].document["error"]["message"]
    assert [event["run_id"] for event in desk.events() if "run_id" in event] == [RUN, RUN]


def test_a_policy_edited_between_decision_and_append_does_not_judge(desk: Desk) -> None:
    """What was read is what judged, and its digest is in the event."""
    desk.begin_at("CANARY_10")
    digest = desk.events()[0]["policy_digest"]
    with decided(desk, *desk.asking({**HEALTHY, "error_rate": 0.15})) as answers:
        document = policy()
        document["guardrails"][0] |= {"threshold": 0.2, "budget_delta": 0.2}
        desk.write("policy.json", document)
        assert desk.check(HEALTHY).code == 2
    assert answers[0].code == 1
    assert answers[0].document["policy_digest"] == digest
    desk.assert_verifies()


def test_one_idempotency_key_at_once_is_one_question(desk: Desk) -> None:
    """A job that was started twice, each with its own evidence: the second is another question."""
    desk.begin_at("CANARY_10")
    key = ("--idempotency-key", "job-7")
    with decided(desk, *desk.asking(HEALTHY, *key)) as answers:
        assert desk.check(HEALTHY, *key).code == 0
    assert answers[0].code == 65
    assert "job-7" in answers[0].document["error"]["message"]
    assert desk.status() == ("ACTIVE", "CANARY_25")
