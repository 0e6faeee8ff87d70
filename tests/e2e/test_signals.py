"""SPEC 8: Ctrl-C is 130 and SIGTERM 143, wherever a command waits; neither is a verdict."""

from __future__ import annotations

import fcntl
import signal

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HEALTHY
from tests.e2e.site import site

pytestmark = pytest.mark.slow  # many processes

AT_THE_LOCK = """
import os
from gatekeeper.ledger.fsops import FileOps
lock = FileOps.lock
def told(self, descriptor):
    os.write(2, b"at the lock\\n")
    lock(self, descriptor)
FileOps.lock = told
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_waiting_has_its_own_code(number: signal.Signals, code: int, desk: Desk) -> None:
    """A cancelled job is neither a rollback nor a hold; what was recorded stands."""
    token = desk.hold_at_canary_25()
    waiting = (
        desk.asking(BLIND, "--wait", "1h", "--interval", "1h"),
        ["reevaluate", "--watch", "--interval", "1h"],
        ["replay", "--follow"],
    )
    for argv in waiting:
        with desk.start(*argv) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            # a check tells its hold on standard error, the others on standard output: then they wait
            assert (process.stderr if argv[0] == "check" else process.stdout).readline()
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
        assert process.returncode == code, argv
        assert b"what was recorded stands" in err
        assert b"Traceback" not in err
    assert desk.status() == ("HELD", "CANARY_10")
    assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 0
    desk.assert_verifies()


def test_a_signal_in_json_is_one_document(desk: Desk) -> None:
    """The caller that reads JSON can tell that it was cancelled."""
    desk.hold_at_canary_25()
    with desk.start(*desk.asking(BLIND, "--wait", "1h", "-o", "json")) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.terminate()
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 143
    assert b'"code": "terminated"' in out


def test_watching_and_following_are_no_single_json_document(desk: Desk) -> None:
    """Json is exactly one document, and these have no end: ndjson is named instead."""
    desk.begin_at("CANARY_10")
    for argv in (["reevaluate", "--watch"], ["replay", "--follow"]):
        done = desk.gate(*argv, "-o", "json")
        assert done.code == 64
        assert "ndjson" in done.document["error"]["remedy"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_check_that_waits_for_the_lock_can_be_cancelled(number: signal.Signals, code: int, desk: Desk) -> None:
    """Somebody holds the ledger's lock: the job is cancelled like any other, and nothing is recorded."""
    desk.begin_at("CANARY_10")
    before = desk.log.read_bytes()
    argv = desk.asking(HEALTHY)
    with open(f"{desk.log}.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with desk.start(*argv, PYTHONPATH=site(desk, AT_THE_LOCK)) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == b"at the lock\n"
            process.send_signal(number)
            process.communicate(timeout=30)
    assert process.returncode == code
    assert desk.log.read_bytes() == before
    assert desk.gate(*argv).code == 0
