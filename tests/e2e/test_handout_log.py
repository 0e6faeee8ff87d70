"""HO-12 with the installed command: killed within a write, and a state that is lost, behind or ahead."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY

pytestmark = pytest.mark.slow  # many processes

FOUNDING = b'{"seq": 1, "run_id": "r-41", "stage": "CANARY_10", "verdict": "ACCEPT"}\n'
TORN = b'{"seq": 2, "run_id": "r-41", "stage": "CANARY_25", "verd'


def test_ho_12_a_a_torn_last_line_is_kept_aside(desk: Desk) -> None:
    """The next entry stands on a line of its own, line 1 is there, the torn bytes are kept, and all of it is told."""
    desk.log.parent.mkdir()
    desk.log.write_bytes(FOUNDING + TORN)
    done = desk.check(HEALTHY, run="r-42")
    assert done.code == 0  # nothing that was promised is missing
    lines = desk.log.read_bytes().split(b"\n")
    assert lines[0] + b"\n" == FOUNDING
    assert lines.pop() == b""
    first = json.loads(lines[1])
    assert first["recovered"] == {"bytes": len(TORN), "sha256": hashlib.sha256(TORN).hexdigest()}
    assert first["prev"] == "sha256:" + hashlib.sha256(FOUNDING[:-1]).hexdigest()
    assert Path(f"{desk.log}.torn-1").read_bytes() == TORN
    assert f"{len(TORN)} bytes" in done.err
    replay = desk.gate("replay", "-o", "json")
    assert replay.code == 0
    assert [event["run_id"] for event in replay.document["events"]] == ["r-41", "r-42"]
    assert desk.gate("verify").code == 0


def test_ho_12_b_a_torn_line_between_good_ones_is_named(desk: Desk) -> None:
    """Every good entry is replayed, the damaged line's number is told, and verify does not pass it."""
    desk.log.parent.mkdir()
    good = b"".join(FOUNDING.replace(b'"seq": 1', b'"seq": %d' % number) for number in (3, 4, 5))
    desk.log.write_bytes(FOUNDING + TORN + b"\n" + good)
    replay = desk.gate("replay", "-o", "json")
    assert [event["seq"] for event in replay.document["events"]] == [1, 3, 4, 5]
    assert [line["line"] for line in replay.document["damaged"]] == [2]
    assert "decision.ndjson:2: damaged" in replay.err
    verify = desk.gate("verify", "-o", "json")
    assert verify.code == 65
    assert verify.document["first_wrong"]["line"] == 2
    held = desk.check(HEALTHY)
    assert held.verdict == (2, ["precondition_unknown:history_incomplete"], [])


def test_ho_12_c_a_tear_inside_a_character_is_kept_byte_by_byte(desk: Desk) -> None:
    """Bytes that are no UTF-8 are bytes all the same."""
    desk.begin_at("CANARY_10")
    torn = b'{"actor":"J\xc3'
    with desk.log.open("ab") as log:
        log.write(torn)
    assert desk.check(HEALTHY).code == 0
    assert Path(f"{desk.log}.torn-1").read_bytes() == torn
    assert desk.status() == ("ACTIVE", "CANARY_25")
    desk.assert_verifies()


def state_files(desk: Desk) -> list[Path]:
    """What the ledger keeps beside the log and can make anew."""
    return sorted(desk.log.parent.glob("decision.ndjson.db*"))


def emptied(desk: Desk) -> None:
    """0 bytes, as a crash leaves a file that was created and not written."""
    for path in state_files(desk):
        path.write_bytes(b"")


def halved(desk: Desk) -> None:
    """The first half."""
    for path in state_files(desk):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])


def garbled(desk: Desk) -> None:
    """Other bytes of the same length."""
    for path in state_files(desk):
        path.write_bytes(b"\xa5" * path.stat().st_size)


def lost(desk: Desk) -> None:
    """No state at all."""
    for path in state_files(desk):
        path.unlink()


@pytest.mark.parametrize("damage", [emptied, halved, garbled, lost])
def test_ho_12_d_a_damaged_state_does_not_start_the_run_anew(damage: Callable[[Desk], None], desk: Desk) -> None:
    """It is rebuilt from the log: the hold, its token and its attempts are as before."""
    token = desk.hold_at_canary_25()
    damage(desk)
    again = desk.check(BLIND)
    assert again.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"])
    assert again.document["resume"]["resume_token"] == token
    assert again.document["attempt"] == 2
    damage(desk)
    assert desk.status() == ("HELD", "CANARY_10")
    damage(desk)
    assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 0
    assert desk.status() == ("ACTIVE", "CANARY_25")
    desk.assert_verifies()


def test_ho_12_e_a_state_behind_its_log_catches_up(desk: Desk) -> None:
    """The entry is written, the state not yet: the run is where the log says."""
    desk.begin_at("CANARY_10")
    old = {path: path.read_bytes() for path in state_files(desk)}
    assert desk.check(HARMFUL).code == 1
    for path in state_files(desk):
        path.unlink()
    for path, data in old.items():
        path.write_bytes(data)
    done = desk.check(HEALTHY)
    assert (done.code, done.document["recorded"]) == (1, True)
    assert desk.status() == ("STOPPED", "CANARY_10")


def test_ho_12_e_a_state_ahead_of_its_log_does_not_go_back(desk: Desk) -> None:
    """The state saw a REJECT whose line is gone: the run stays stopped, the missing seq is named, seq goes on."""
    desk.begin_at("CANARY_10")
    whole = desk.log.read_bytes()
    assert desk.check(HARMFUL).code == 1
    desk.log.write_bytes(whole)
    done = desk.check(HEALTHY)
    assert (done.code, done.document["recorded"]) == (1, True)
    assert done.document["decision"]["reason_codes"] == [
        "guardrail_violation:error_rate",
        "budget_violation:error_rate",
    ]
    other = desk.check(HEALTHY, run="r-42")
    assert other.code == 0
    assert other.document["seq"] == 5  # policy 1, action 2, decision 3, REJECT 4
    assert "no longer holds seq 4" in done.err
    assert desk.gate("verify").code == 65  # the gap is told by whoever reads the file alone
