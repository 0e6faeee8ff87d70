"""SPEC 7 with the installed command: a log that was changed, cut, rotated or lost in parts."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.desk import GENESIS, Desk
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY

pytestmark = pytest.mark.slow  # many processes


def told_log(desk: Desk) -> list[bytes]:
    """A log of six lines: policy, action, ACCEPT, ACCEPT, DEGRADE, REJECT; without newlines."""
    desk.begin_at("CANARY_10")
    for metrics, code in ((HEALTHY, 0), (BLIND, 2), (HARMFUL, 1)):
        assert desk.check(metrics).code == code
    lines = desk.log.read_bytes().split(b"\n")[:-1]
    assert len(lines) == 6
    return lines


def rewrite(desk: Desk, lines: list[bytes]) -> None:
    """Another content, and no state."""
    desk.log.write_bytes(b"".join(line + b"\n" for line in lines))
    for path in desk.log.parent.glob("decision.ndjson.db*"):
        path.unlink()


def chained(lines: list[bytes]) -> list[bytes]:
    """The same lines with the chain mended, as a forger would."""
    mended, prev = [], GENESIS
    for line in lines:
        event = {**json.loads(line), "prev": prev}
        mended.append(json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
        prev = "sha256:" + hashlib.sha256(mended[-1]).hexdigest()
    return mended


def a_verdict_softened(lines: list[bytes]) -> list[bytes]:
    """A REJECT made an ACCEPT, the chain mended behind it."""
    lines = [*lines]
    lines[5] = lines[5].replace(b'"verdict":"REJECT"', b'"verdict":"ACCEPT"')
    return chained(lines)


def a_metric_softened(lines: list[bytes]) -> list[bytes]:
    """The evidence changed, the chain mended."""
    lines = [*lines]
    lines[5] = lines[5].replace(b'"error_rate":0.19', b'"error_rate":0.01')
    return chained(lines)


def a_byte_changed(lines: list[bytes]) -> list[bytes]:
    """One byte of an actor."""
    return [*lines[:3], lines[3].replace(b'"attempt":1', b'"attempt":2', 1), *lines[4:]]


def a_line_removed(lines: list[bytes]) -> list[bytes]:
    """The hold has gone."""
    return [*lines[:4], lines[5]]


def lines_swapped(lines: list[bytes]) -> list[bytes]:
    """Order is what `seq` and the chain say."""
    return [*lines[:3], lines[4], lines[3], lines[5]]


def a_line_doubled(lines: list[bytes]) -> list[bytes]:
    """The same event twice."""
    return [*lines[:4], lines[3], *lines[4:]]


def a_policy_changed(lines: list[bytes]) -> list[bytes]:
    """The recorded policy loosened, the chain mended."""
    return chained([lines[0].replace(b'"threshold":0.02', b'"threshold":0.99'), *lines[1:]])


FORGERIES: dict[Callable[[list[bytes]], list[bytes]], tuple[int, ...]] = {
    a_verdict_softened: (6,),
    a_metric_softened: (6,),
    a_byte_changed: (4,),
    a_line_removed: (5,),
    lines_swapped: (4, 5),
    a_line_doubled: (5,),
    a_policy_changed: (1,),
}
"""What was done -> the first line that may be blamed."""


@pytest.mark.parametrize("forge", FORGERIES)
def test_verify_names_the_first_line_that_differs(forge: Callable[[list[bytes]], list[bytes]], desk: Desk) -> None:
    """65 in every format; the place is file, line and what was expected and found."""
    lines = told_log(desk)
    desk.assert_verifies()
    rewrite(desk, forge(lines))
    done = desk.gate("verify", "-o", "json")
    assert done.code == 65
    assert done.document["ok"] is False
    assert done.document["first_wrong"]["line"] in FORGERIES[forge]
    assert f"decision.ndjson:{done.document['first_wrong']['line']}" in done.err
    for output in ("text", "markdown", "github"):
        assert desk.gate("verify", "-o", output).code == 65


def test_verify_from_a_later_event_skips_what_was_checked_before(desk: Desk) -> None:
    """`--from` begins behind the damage; the policies before it still count."""
    lines = told_log(desk)
    rewrite(desk, a_byte_changed(lines))
    assert desk.gate("verify", "--from", "6").code == 0
    assert desk.gate("verify", "--from", "4").code == 65
    assert desk.gate("verify", "--from", "7").code == 65  # there is no such event: nothing was checked


def test_a_program_of_somebody_else_can_follow_the_chain(desk: Desk) -> None:
    """`sha256sum` of a line without its newline is the next line's `prev`; `log head` is that of the last."""
    lines = told_log(desk)
    prev = GENESIS
    for line in lines:
        assert json.loads(line)["prev"] == prev
        printed = subprocess.run(["sha256sum"], input=line, capture_output=True, check=True).stdout
        prev = "sha256:" + printed.split()[0].decode()
    head = desk.gate("log", "head", "-o", "json").document
    assert (head["seq"], head["digest"]) == (6, prev)


def test_rebuild_folds_the_same_state_again(desk: Desk) -> None:
    """State is derived: thrown away and made anew, it is the same."""
    desk.hold_at_canary_25()
    before = [desk.gate(*argv, "-o", "json").out for argv in (["status"], ["status", "r-41"], ["queue"])]
    done = desk.gate("log", "rebuild", "-o", "json")
    assert (done.code, done.document["runs"], done.document["complete"]) == (0, 1, True)
    assert [desk.gate(*argv, "-o", "json").out for argv in (["status"], ["status", "r-41"], ["queue"])] == before


def test_a_run_that_crosses_a_damaged_line_is_held_until_a_person_accepts_it(desk: Desk) -> None:
    """`history_incomplete`; harm is still harm; `--accept-gap REASON` is an event, and the run goes on."""
    desk.begin_at("CANARY_10")
    assert desk.check(BLIND).code == 2
    lines = desk.log.read_bytes().split(b"\n")[:-1]
    rewrite(desk, [*lines[:3], lines[3][:100]])
    held = desk.check(HEALTHY)
    assert held.verdict == (2, ["precondition_unknown:history_incomplete"], [])
    assert "line 4 is damaged" in held.err
    unknown = desk.check(HEALTHY, "--experiment", "other", run="r-99")
    assert unknown.verdict == (2, ["precondition_unknown:history_incomplete"], [])
    plain = desk.gate("log", "rebuild", "-o", "json")
    assert (plain.code, plain.document["complete"]) == (0, False)
    assert "r-41" in plain.document["incomplete_runs"]
    done = desk.gate("log", "rebuild", "--accept-gap", "disk failure, INC-7", "--actor", "me", "-o", "json")
    assert (done.code, done.document["complete"], done.document["incomplete_runs"]) == (0, True, [])
    event = json.loads(desk.log.read_bytes().splitlines()[-1])
    assert (event["event_id"], event["action"]["name"]) == (done.document["accepted_by"], "accept-gap")
    assert (event["action"]["reason"], event["actor"]) == ("disk failure, INC-7", "me")
    assert desk.check(HEALTHY).code == 0
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert desk.gate("verify").code == 65  # the damage stays what it is


def test_a_log_that_lost_its_beginning_holds_whoever_it_does_not_know(desk: Desk) -> None:
    """Without its state, too: a new run id may be one that was stopped in the part that is missing."""
    lines = told_log(desk)
    rewrite(desk, lines[3:])
    assert desk.check(HEALTHY).code == 1  # the REJECT is in the part that is left
    done = desk.check(HEALTHY, "--experiment", "other", run="r-99")
    assert done.verdict == (2, ["precondition_unknown:history_incomplete"], [])
    assert desk.gate("verify").code == 65


def test_a_rotated_log_goes_on_as_one_chain(desk: Desk) -> None:
    """`mv` and nothing else: runs stay where they are, seq goes on, both files read as one, nothing starts anew."""
    token = desk.hold_at_canary_25()
    assert desk.check(HARMFUL, "--experiment", "other", "--start-stage", "SHADOW", "--reason", "x", run="r-9").code == 1
    last = desk.events()[-1]
    digest = "sha256:" + hashlib.sha256(desk.log.read_bytes().splitlines()[-1]).hexdigest()
    desk.log.rename(f"{desk.log}.1")
    stopped = desk.check(HEALTHY, "--experiment", "other", run="r-9")
    assert (stopped.code, stopped.document["event_id"]) == (1, "r-9:SHADOW")
    assert stopped.err == "", "nothing is missing"
    assert not desk.log.exists()
    done = desk.gate("resume", token, "--snapshot", desk.evidence(), "-o", "json")
    assert done.code == 0
    assert (done.document["seq"], done.document["prev"]) == (last["seq"] + 1, digest)
    assert "is a new file and goes on from seq" in done.err
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert desk.check(HEALTHY).document["seq"] == last["seq"] + 2
    desk.assert_verifies()
    desk.assert_verifies("--log", "logs/decision.ndjson.1", "--log", "logs/decision.ndjson")
    desk.assert_verifies("--log", "logs/decision.ndjson*")  # a pattern leaves the ledger's own files out
    both = desk.gate("replay", "--log", "logs/decision.ndjson*", "-o", "json").document
    assert [event["seq"] for event in both["events"]] == sorted(event["seq"] for event in both["events"])
    states = {
        run["run_id"]: run["state"]
        for run in desk.gate("status", "--log", "logs/*.ndjson*", "-o", "json").document["runs"]
    }
    assert states == {"r-41": "ACTIVE", "r-9": "STOPPED"}
    (desk.log.parent / "decision.ndjson.1").rename(desk.place / "elsewhere")
    assert desk.gate("verify").code == 65  # the new file alone does not vouch for its beginning


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_cut_log_never_lets_a_run_start_anew(kept: int, desk: Desk) -> None:
    """Whole lines are missing at the end, even all of them: the stopped run stays stopped, seq goes on."""
    lines = told_log(desk)
    desk.log.write_bytes(b"".join(line + b"\n" for line in lines[:kept]))
    done = desk.check(HEALTHY)
    assert (done.code, done.document["recorded"]) == (1, True)
    missing = f"seqs {kept + 1}-6"
    assert missing in done.err
    other = desk.check(HEALTHY, run="r-42")
    assert other.code == 0
    assert (other.document["seq"] >= 7, other.document["previous_run"]) == (True, "r-41")
    assert desk.status() == ("STOPPED", "CANARY_25")
    gap = desk.gate("verify", "-o", "json")
    assert gap.code == 65
    # folding what is left takes a person, who sees that it is not complete
    rebuilt = desk.gate("log", "rebuild", "-o", "json")
    assert rebuilt.document["complete"] is False


def test_another_log_in_its_place_is_not_taken_for_it(desk: Desk) -> None:
    """A fork (a restored backup that went on elsewhere): state unreadable, harm still stops, the remedy is named."""
    lines = told_log(desk)
    other = [*lines[:5], lines[5].replace(b'"actor":"', b'"actor":"x', 1)]
    desk.log.write_bytes(b"".join(line + b"\n" for line in other))
    done = desk.check(HEALTHY)
    assert done.code == 74
    assert "another history" in done.document["error"]["message"]
    assert "log rebuild" in done.document["error"]["remedy"]
    assert desk.check(HARMFUL).code == 1


def test_readers_name_a_log_that_is_not_there(desk: Desk) -> None:
    """A mistyped path is no empty log, and a pattern that fits nothing is no success."""
    pattern, taken_in = ["verify", "--log", "nowhere/*.ndjson"], ["log", "import", "nowhere.ndjson"]
    for argv in (["verify"], ["replay"], ["log", "head"], pattern, taken_in):
        done = desk.gate(*argv)
        assert done.code == 74, argv
        assert "remedy: check the path of the log" in done.err
    assert not desk.log.parent.exists()


def test_lines_of_a_founding_driver_are_read_and_listed(desk: Desk) -> None:
    """Without `kind`: decisions for readers, unchained for verify; a REJECT among them stops its run for good."""
    desk.log.parent.mkdir()
    desk.log.write_bytes(
        b'{"run_id": "r-41", "stage": "CANARY_10", "verdict": "REJECT", "reason_codes": ["guardrail_violation:m"]}\r\n'
        b"\n"
        b'{"run_id": "r-7", "stage": "CANARY_10", "decision": "ACCEPT"}\n'
    )
    assert [event["run_id"] for event in desk.gate("replay", "-o", "json").document["events"]] == ["r-41", "r-7"]
    assert desk.gate("replay", "--verdict", "REJECT", "-o", "json").document["count"] == 1
    report = desk.gate("verify", "-o", "json")
    assert (report.code, report.document["unchained_count"]) == (0, 2)
    done = desk.check(HEALTHY)
    assert done.code == 1
    assert done.document["decision"]["reason_codes"] == ["guardrail_violation:m"]
    assert desk.status()[0] == "STOPPED"


def test_the_logs_own_folder_may_be_read_only_for_readers(desk: Desk) -> None:
    """`replay`, `verify` and `log head` write nothing, not even a lock."""
    desk.begin_at("CANARY_10")
    copy = desk.place / "copy.ndjson"
    copy.write_bytes(desk.log.read_bytes())
    for argv in (["replay"], ["verify"], ["log", "head"]):
        assert desk.gate(*argv, "--log", "copy.ndjson").code == 0
    assert [path.name for path in Path(desk.place).glob("copy.ndjson*")] == ["copy.ndjson"]


def test_status_over_several_files_folds_them_as_the_ledger_does(desk: Desk) -> None:
    """Founding REJECTs, gaps and lines that are no event: named with their file, and no bug of ours."""
    lines = told_log(desk)
    desk.write("a.ndjson", b"".join(line + b"\n" for line in lines[:3]))
    desk.write("b.ndjson", b"".join(line + b"\n" for line in lines[4:]) + b'{"kind":"decision","run_id":"x","seq":7}\n')
    desk.write("c.ndjson", b'{"run_id":"r-7","stage":"CANARY_10","verdict":"REJECT"}\n{"torn')
    done = desk.gate("status", "--log", "a.ndjson", "--log", "b.ndjson", "--log", "c.ndjson", "-o", "json")
    assert done.code == 0
    states = {run["run_id"]: run["state"] for run in done.document["runs"]}
    assert (states["r-41"], states["r-7"]) == ("STOPPED", "STOPPED")
    assert "b.ndjson: line 1 follows a gap: seq 4 missing" in done.err
    assert "b.ndjson: line 3" in done.err
    assert "c.ndjson:2: unfinished line" in done.err
    assert desk.gate("queue", "--log", "?.ndjson", "-o", "json").document["holds"] == []
    assert sorted(path.name for path in desk.place.glob("?.ndjson*")) == ["a.ndjson", "b.ndjson", "c.ndjson"]
