"""`check --wait`, `run`, `reevaluate` and `stop` with real processes."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.e2e.desk import Desk, line_from
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, PROMOTED, policy, snapshot

pytestmark = pytest.mark.slow  # many processes

STAGES = ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100"]


def waiting(desk: Desk, *argv: str) -> subprocess.Popen[bytes]:
    """A check that has told its first hold and waits."""
    process = desk.start(*argv)
    line = line_from(process.stderr)
    while b"held at" not in line:
        line = line_from(process.stderr)
    return process


def test_wait_goes_on_as_soon_as_the_file_is_healthy(desk: Desk) -> None:
    """The file is replaced while the gate waits: 0, and the log tells the hold and its end."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    with waiting(desk, *desk.asking("now.json", "--wait", "5m", "--interval", "100ms", "-o", "json")) as process:
        desk.write("now.json", snapshot(HEALTHY, name="healthy"))
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    document = json.loads(out)  # one document, of the last ask
    assert document["stage"] == "CANARY_25"
    assert document["attempt"] >= 2
    assert desk.status() == ("ACTIVE", "CANARY_25")
    desk.assert_verifies()


def test_wait_stops_at_once_on_harm(desk: Desk) -> None:
    """Waiting is for holds; a REJECT is not waited out."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    with waiting(desk, *desk.asking("now.json", "--wait", "5m", "--interval", "100ms")) as process:
        desk.write("now.json", snapshot(HARMFUL))
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert desk.status() == ("STOPPED", "CANARY_10")


def test_wait_ends_with_a_hold_when_the_time_is_up(desk: Desk) -> None:
    """2, the attempts logged under one token."""
    desk.begin_at("CANARY_10")
    done = desk.check(BLIND, "--wait", "400ms", "--interval", "150ms")
    assert done.code == 2
    assert done.document["attempt"] >= 2
    tokens = {event["resume"]["resume_token"] for event in desk.events() if event.get("resume")}
    assert len(tokens) == 1


def test_wait_keeps_the_stage_that_it_first_asked(desk: Desk) -> None:
    """Another caller moves the run on meanwhile: the waiting one does not ask the stage behind it."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    with waiting(desk, *desk.asking("now.json", "--wait", "5m", "--interval", "1s", "-o", "json")) as process:
        assert desk.check(HEALTHY).code == 0
        desk.write("now.json", snapshot(HEALTHY, name="later"))
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["stage"] == "CANARY_25"
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert not any(event.get("stage") == "CANARY_50" for event in desk.events())


def test_a_file_that_is_half_written_while_waiting_is_read_again(desk: Desk) -> None:
    """The collector is caught in the middle of a write: said on stderr, and the whole file is judged."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    with waiting(desk, *desk.asking("now.json", "--wait", "5m", "--interval", "100ms")) as process:
        desk.write("now.json", '{"metrics": {"error_')
        line = line_from(process.stderr)
        while b"not JSON" not in line:
            line = line_from(process.stderr)
        desk.write("now.json", snapshot(HEALTHY, name="whole"))
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert desk.status() == ("ACTIVE", "CANARY_25")


def test_wait_cannot_read_standard_input_again(desk: Desk) -> None:
    """Wrong usage, and so is a time that is set by hand."""
    for argv in (desk.asking("-", "--wait", "1m"), desk.asking(HEALTHY, "--wait", "1m", "--as-of", "snapshot")):
        assert desk.gate(*argv).code == 64
    assert not desk.log.exists()


RUN = ["run", "--policy", "policy.json", "--experiment", "checkout", "--variant", "B", "--run-id", "r-41"]


def lay_out(desk: Desk, *stages: str) -> None:
    """Healthy evidence for these stages."""
    (desk.place / "stages").mkdir(exist_ok=True)
    for stage in stages:
        promotion = PROMOTED if stage == "ROLLOUT_100" else None
        desk.write(f"stages/{stage}.json", snapshot(HEALTHY, name=stage, promotion=promotion))


def test_run_asks_all_stages_in_turn(desk: Desk) -> None:
    """Six files, six decisions, COMPLETED; the exit code is that of the last."""
    lay_out(desk, *STAGES)
    done = desk.gate(*RUN, "--snapshots", "stages", "-o", "json")
    assert done.code == 0, done
    assert [check["stage"] for check in done.document["checks"]] == STAGES
    assert desk.status() == ("COMPLETED", "ROLLOUT_100")
    desk.assert_verifies()


def test_run_on_a_held_run_begins_at_the_held_stage(desk: Desk) -> None:
    """It stops at the hold with 2, and goes on from there, not from the first stage."""
    lay_out(desk, *STAGES)
    desk.write("stages/CANARY_10.json", snapshot(BLIND))
    first = desk.gate(*RUN, "--snapshots", "stages", "-o", "json")
    assert first.code == 2
    assert [check["stage"] for check in first.document["checks"]] == STAGES[:3]
    desk.write("stages/CANARY_10.json", snapshot(HEALTHY, name="mended"))
    again = desk.gate(*RUN, "--snapshots", "stages", "-o", "json")
    assert again.code == 0
    assert [check["stage"] for check in again.document["checks"]] == STAGES[2:]
    assert desk.status() == ("COMPLETED", "ROLLOUT_100")


def test_run_names_the_stage_that_has_no_file(desk: Desk) -> None:
    """65; what came before is recorded and shown, in text and json alike."""
    lay_out(desk, "DRY_RUN", "SHADOW")
    done = desk.gate(*RUN, "--snapshots", "stages", "-o", "json")
    assert done.code == 65
    assert [check["stage"] for check in done.document["checks"]] == ["DRY_RUN", "SHADOW"]
    assert "CANARY_10.json" in done.document["error"]["message"]
    assert "CANARY_10.json" in done.err
    assert desk.status() == ("ACTIVE", "SHADOW")
    empty = desk.gate(*RUN, "--snapshots", "nowhere", "-o", "json")
    assert empty.code == 65
    assert "CANARY_10.json" in empty.document["error"]["message"]


def test_run_stops_at_a_reject(desk: Desk) -> None:
    """1; the stages behind it are not asked, and a second run gets the recorded REJECT."""
    lay_out(desk, *STAGES)
    desk.write("stages/SHADOW.json", snapshot(HARMFUL))
    for _ in range(2):
        assert desk.gate(*RUN, "--snapshots", "stages").code == 1
    assert [event["stage"] for event in desk.events() if event["kind"] == "decision"] == ["DRY_RUN", "SHADOW"]


def test_run_honours_the_wait_between_stages(desk: Desk) -> None:
    """With `min_stage_seconds` the second stage is held until its time; nothing hurries it."""
    desk.write("policy.json", policy(stage_policy={"min_stage_seconds": 3600}))
    lay_out(desk, *STAGES)
    done = desk.gate(*RUN, "--snapshots", "stages", "-o", "json")
    assert done.code == 2
    decision = done.document["checks"][-1]["decision"]
    assert "precondition_unknown:stage_wait_not_elapsed" in decision["reason_codes"]
    due = desk.gate("reevaluate", "--due", "-o", "json")
    assert due.document["holds"] == [] or due.code == 2
    assert desk.status() == ("HELD", "DRY_RUN")


def test_reevaluate_reads_the_recorded_file_again(desk: Desk) -> None:
    """Once the collector has mended the file, cron lets the run on; the working directory does not matter."""
    desk.begin_at("CANARY_10")
    desk.write("now.json", snapshot(BLIND))
    assert desk.gate(*desk.asking("now.json")).code == 2
    assert desk.gate("reevaluate").code == 2
    desk.write("now.json", snapshot(HEALTHY, name="mended"))
    (desk.place / "elsewhere").mkdir()
    elsewhere = Desk(desk.place / "elsewhere")
    done = elsewhere.gate("reevaluate", "--log", str(desk.log), "-o", "json")
    assert done.code == 0
    assert done.document["holds"][0]["verdict"] == "ACCEPT"
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert desk.gate("reevaluate").out == b"0 of 0 holds asked\nno hold to ask\n"
    desk.assert_verifies()


def test_a_hold_without_a_source_is_listed_and_counts_in_no_exit_code(desk: Desk) -> None:
    """Evidence from standard input, or a file that has gone: `needs evidence`, 0."""
    desk.begin_at("CANARY_10")
    assert desk.pipe(json.dumps(snapshot(BLIND)).encode(), *desk.asking("-")).code == 2
    done = desk.gate("reevaluate", "-o", "json")
    assert done.code == 0
    assert done.document["holds"][0]["problem"].startswith("needs evidence")
    listed = " ".join(desk.gate("reevaluate").out.decode().split())
    assert "needs evidence: what it was held on came from standard input" in listed
    desk.write("now.json", snapshot(BLIND))
    assert desk.gate(*desk.asking("now.json")).code == 2
    assert desk.gate("reevaluate").code == 2
    for spoil in ("unlink", "tear"):
        if spoil == "unlink":
            (desk.place / "now.json").unlink()
        else:
            desk.write("now.json", "{")
        gone = desk.gate("reevaluate", "-o", "json")
        assert gone.code == 0
        assert gone.document["holds"][0]["verdict"] is None
        assert "now.json" in gone.document["holds"][0]["problem"]
    assert desk.status() == ("HELD", "CANARY_10")


def test_due_leaves_holds_alone_whose_time_has_not_come(desk: Desk) -> None:
    """`--due` asks from `not_before` on, without it every hold is asked."""
    holds = {"observation_missing": {"retry_after_seconds": 3600}}
    desk.write("policy.json", policy(holds=holds))
    desk.begin_at("CANARY_10")
    assert desk.check(BLIND).code == 2
    not_due = desk.gate("reevaluate", "--due", "-o", "json")
    assert (not_due.code, not_due.document["holds"]) == (0, [])
    assert desk.gate("queue", "-o", "json").document["holds"][0]["due"] is False
    assert desk.gate("reevaluate").code == 2
    assert [event["kind"] for event in desk.events()].count("decision") == 3


def test_stop_ends_a_run_once(desk: Desk) -> None:
    """Idempotent; every later check, resume and reevaluate finds it stopped."""
    token = desk.hold_at_canary_25()
    first = desk.gate("stop", "r-41", "--reason", "tickets", "-o", "json")
    assert first.code == 0
    assert first.document["decision"]["reason_codes"] == ["change_refused:stopped"]
    size = desk.log.stat().st_size
    again = desk.gate("stop", "r-41", "--reason", "other", "-o", "json")
    assert (again.code, again.document["recorded"]) == (0, True)
    assert again.document["action"]["reason"] == "tickets"
    for metrics in (HEALTHY, HARMFUL, BLIND):
        done = desk.check(metrics)
        assert (done.code, done.document["recorded"]) == (1, True)
        assert done.document["decision"]["reason_codes"] == ["change_refused:stopped"]
    assert desk.log.stat().st_size == size
    assert desk.gate("resume", token, "--snapshot", desk.evidence()).code == 65
    assert desk.gate("reevaluate").code == 0
    desk.assert_verifies()


def test_an_idempotency_key_gets_one_answer(desk: Desk) -> None:
    """A CI job that runs twice: recorded; the same key with another question: 65 and a refusal."""
    desk.begin_at("CANARY_10")
    argv = desk.asking(HEALTHY, "--idempotency-key", "job-7", "-o", "json")
    first, again = desk.gate(*argv), desk.gate(*argv)
    assert (first.code, first.document["recorded"]) == (0, False)
    assert (again.code, again.document["recorded"]) == (0, True)
    other = desk.check(HARMFUL, "--idempotency-key", "job-7")
    assert other.code == 65
    assert "job-7" in other.document["error"]["message"]
    assert desk.status() == ("ACTIVE", "CANARY_25")
