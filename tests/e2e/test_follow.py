"""`replay --follow` and `reevaluate --watch`: what comes is shown as it comes, until somebody has enough."""

from __future__ import annotations

import json
import signal

import pytest

from tests.e2e.desk import Desk, line_from
from tests.e2e.documents import BLIND, HEALTHY, snapshot

pytestmark = pytest.mark.slow  # many processes


def test_follow_shows_events_as_they_come(desk: Desk) -> None:
    """What is there first, then each new event, through a rotation of the log, in recorded bytes."""
    desk.begin_at("CANARY_10")
    with desk.start("replay", "--follow", "-o", "ndjson", "--verdict", "ACCEPT") as process:
        assert json.loads(line_from(process.stdout))["event_id"] == "r-41:CANARY_10"
        assert desk.check(HEALTHY).code == 0
        line = line_from(process.stdout)
        assert line in desk.log.read_bytes().splitlines(keepends=True)
        assert json.loads(line)["event_id"] == "r-41:CANARY_25"
        desk.log.rename(f"{desk.log}.1")
        assert desk.check(HEALTHY).code == 0
        assert json.loads(line_from(process.stdout))["event_id"] == "r-41:CANARY_50"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130


def test_follow_waits_for_a_log_that_is_not_there_yet(desk: Desk) -> None:
    """Started before the first check; a line of text per event."""
    with desk.start("replay", "--follow") as process:
        assert desk.check(HEALTHY).code == 0
        line = line_from(process.stdout)
        assert b"r-41" in line
        assert b"ACCEPT" in line
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143


def test_follow_of_a_folder_is_an_unreadable_log(desk: Desk) -> None:
    """74, no bug."""
    done = desk.gate("replay", "--follow", "--log", ".")
    assert done.code == 74
    assert "Is a directory" in done.err


def test_watch_asks_again_until_interrupted(desk: Desk) -> None:
    """A service in place of cron: the hold is asked in rounds, and let go when the file is healthy."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    assert desk.gate(*desk.asking("now.json")).code == 2
    with desk.start("reevaluate", "--watch", "--interval", "100ms", "-o", "ndjson") as process:
        assert json.loads(line_from(process.stdout))["verdict"] == "DEGRADE"
        desk.write("now.json", snapshot(HEALTHY, name="mended"))
        while (verdict := json.loads(line_from(process.stdout))["verdict"]) == "DEGRADE":
            pass
        assert verdict == "ACCEPT"
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143
    assert desk.status() == ("ACTIVE", "CANARY_25")


def test_follow_and_watch_end_when_their_reader_has_gone(desk: Desk) -> None:
    """Nobody reads any more: no error, and no process that goes on for ever."""
    desk.hold_at_canary_25()
    done = desk.shell("gatekeeper reevaluate --watch --interval 50ms | true; exit ${PIPESTATUS[0]}")
    assert (done.code, done.err) == (0, "")
    assert desk.shell("gatekeeper replay --follow | true; exit ${PIPESTATUS[0]}").code == 0
