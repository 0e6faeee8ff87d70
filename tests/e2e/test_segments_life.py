"""A log in segments with the installed command: sealed, archived, pruned, and believed all the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import HARMFUL, HEALTHY
from tests.e2e.retention import checkpointed, prune, segmented
from tests.ledger.segments import all_events, files_in_order, lose_state

pytestmark = pytest.mark.slow  # many processes


def test_a_segmented_log_reads_as_one(desk: Desk) -> None:
    """Every reader that is given the log reads its segments, archived ones too, with and without the state."""
    segmented(desk)
    events = all_events(desk.log)
    counts = desk.gate("replay", "--group-by", "verdict", "-o", "json").document["groups"]
    done = desk.gate("log", "archive", "-o", "json").document
    assert [Path(one["segment"]).suffix for one in done["segments"]] == [".zst", ".zst"]
    for _ in range(2):
        assert desk.gate("replay", "--group-by", "verdict", "-o", "json").document["groups"] == counts
        read = desk.gate("replay", *(f"--kind={kind}" for kind in {event["kind"] for event in events}), "-o", "ndjson")
        assert [json.loads(line) for line in read.out.split(b"\n")[:-1]] == events
        assert read.err == ""
        desk.assert_verifies()
        explained = desk.gate("explain", "bad:CANARY_25", "-o", "json")
        assert b'"verdict":"REJECT"' in explained.out
        history = desk.gate("status", "bad", "-o", "json").document
        assert (history["state"], history["stage"]) == ("STOPPED", "CANARY_10")
        assert [one["event_id"] for one in history["history"]][-1] == "bad:CANARY_25"
        lose_state(desk.log)
    assert desk.gate("log", "head", "-o", "json").document["seq"] == len(events)


def test_stat_counts_the_same_by_index_and_by_lines(desk: Desk) -> None:
    """Size, files, events, span, verdicts, kinds, chain: from the index where there is one, else by reading."""
    segmented(desk)
    desk.gate("log", "archive", "--compression", "gzip")
    events = all_events(desk.log)
    by_index = desk.gate("log", "stat", "-o", "json").document
    lose_state(desk.log)
    by_lines = desk.gate("log", "stat", "-o", "json").document
    assert (by_index.pop("counted_by"), by_lines.pop("counted_by")) == ("index", "lines")
    assert (by_index.pop("projection")["state"], by_lines.pop("projection")["state"]) == ("current", "none")
    assert by_index == by_lines
    assert by_index["events"] == len(events)
    assert by_index["size_bytes"] == sum(file.stat().st_size for file in files_in_order(desk.log))
    assert [one["kind"] for one in by_index["files"]] == ["sealed", "sealed", "live"]
    verdicts = [event["decision"]["verdict"] for event in events if event["kind"] == "decision"]
    assert by_index["verdicts"] == {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    kinds = [event["kind"] for event in events]
    assert by_index["kinds"] == {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    assert (by_index["first_ts"], by_index["last_ts"]) == (events[0]["ts"], events[-1]["ts"])
    chain = by_index["chain"]
    assert (chain["first_seq"], chain["last_seq"], chain["gaps"]) == (1, len(events), [])
    files_in_order(desk.log)[1].unlink()
    first, last = [event["seq"] for event in events if event["kind"] == "checkpoint"]
    gaps = desk.gate("log", "stat", "-o", "json").document["chain"]["gaps"]
    assert gaps == [{"from_seq": first, "to_seq": last - 1}]


@pytest.mark.parametrize("by", ["environment", "file", "option"])
def test_a_log_is_rotated_by_size_when_that_is_configured(by: str, desk: Desk) -> None:
    """By environment, by gatekeeper.toml as number and with a unit, by option; else never."""
    more: list[str] = []
    if by == "environment":
        desk.environment["GATEKEEPER_ROTATE_BYTES"] = "1k"
    elif by == "file":
        desk.write("gatekeeper.toml", "rotate_bytes = 1000\n")
    else:
        more = ["--rotate-bytes", "1kB"]
    desk.begin_at("CANARY_10", *more)
    assert desk.check(HEALTHY, *more).code == 0
    assert len(files_in_order(desk.log)) == 2
    desk.assert_verifies()


def test_a_size_that_is_none_is_wrong_usage(desk: Desk) -> None:
    """64 that names where it stands."""
    for value in ("0", "-5", "12 apples", "1TB", "1.5M"):
        done = desk.gate("log", "rotate", "--max-bytes", value)
        assert done.code == 64, done
    desk.environment["GATEKEEPER_ROTATE_BYTES"] = "lots"
    done = desk.check(HEALTHY)
    assert done.code == 64
    assert "GATEKEEPER_ROTATE_BYTES" in done.document["error"]["message"]


def test_a_pruned_log_goes_on_and_is_still_proven(desk: Desk, key: str) -> None:
    """Segments go; stopped stays stopped, the rest verifies, alone and against notes from before and after."""
    segmented(desk)
    assert desk.gate("log", "archive").code == 0
    note = checkpointed(desk, key)
    lines = desk.events()
    second = lines[0]["seq"]
    dry = prune(desk, str(second), note, "--dry-run", "-o", "json").document
    assert (dry["pruned"], len(dry["segments"])) == (False, 2)
    assert len(files_in_order(desk.log)) == 3
    done = prune(desk, str(second), note, "-o", "json").document
    assert (done["pruned"], done["first_seq"], done["last_seq"]) == (True, 1, second - 1)
    assert done["digest"] == lines[0]["prev"]
    assert [file.name for file in files_in_order(desk.log)] == ["decision.ndjson"]
    chain = desk.gate("log", "stat", "-o", "json").document["chain"]
    assert (chain["first_seq"], chain["pruned_to"], chain["gaps"]) == (second, second - 1, [])
    lose_state(desk.log)
    again = desk.check(HEALTHY, run="bad")
    assert (again.code, again.document["recorded"]) == (1, True)
    assert again.document["decision"]["reason_codes"] == [
        "guardrail_violation:error_rate",
        "budget_violation:error_rate",
    ]
    assert desk.check(HEALTHY).code == 0
    desk.assert_verifies()
    desk.assert_verifies("--checkpoint", note, "--public-key", "key.pub")
    later = checkpointed(desk, key)
    desk.assert_verifies("--checkpoint", later, "--public-key", "key.pub")
    proof = desk.gate("log", "prove", str(second))
    assert proof.code == 0, proof.err
    desk.write("proof", proof.out)
    event = desk.write("event", desk.log.read_bytes().split(b"\n")[0])
    checked = desk.gate("log", "check-proof", "proof", "--line", event, "--public-key", "key.pub")
    assert checked.code == 0, checked.err


def test_prune_in_steps_keeps_one_proof(desk: Desk, key: str) -> None:
    """First one segment, later the next: what is kept covers both, and nothing is left to prune then."""
    segmented(desk)
    checkpointed(desk, key)
    names = files_in_order(desk.log)
    first, second = (int(name.name.rpartition("-")[2]) for name in names[:2])
    assert prune(desk, str(first + 1)).code == 0
    assert not names[0].exists()
    assert prune(desk, str(second)).code == 0
    assert names[1].exists(), "its last event is not before that seq"
    assert prune(desk, str(second + 1)).code == 0
    assert not names[1].exists()
    assert prune(desk, str(second + 100)).out.startswith(b"nothing to prune")
    desk.assert_verifies("--checkpoint", "note", "--public-key", "key.pub")
    kept = json.loads((desk.log.parent / "decision.ndjson.pruned").read_bytes())
    assert (kept["first_seq"], kept["last_seq"]) == (1, second)
    assert kept["checkpoint"] == (desk.place / "note").read_text()


def test_prune_by_time(desk: Desk, key: str) -> None:
    """Only segments whose last event is before the time go."""
    segmented(desk)
    checkpointed(desk, key)
    events = all_events(desk.log)
    first_head = next(event for event in events if event["kind"] == "checkpoint")
    assert prune(desk, events[0]["ts"]).out.startswith(b"nothing to prune")
    assert prune(desk, "1d").out.startswith(b"nothing to prune")
    last = events[first_head["seq"] - 2]
    assert prune(desk, last["ts"]).out.startswith(b"nothing to prune"), "the bound itself is not before it"
    assert prune(desk, first_head["ts"], "note", "-o", "json").document["last_seq"] == last["seq"]


def test_what_no_checkpoint_covers_is_not_pruned(desk: Desk, key: str) -> None:
    """Too small, of another log, by another key, of a log that was changed since: 65, and every file stays."""
    segmented(desk)
    checkpointed(desk, key)
    (desk.place / "note").rename(desk.place / "small")
    (desk.log.parent / "decision.ndjson.checkpoint").unlink()
    assert desk.check(HEALTHY).code == 0
    assert desk.gate("log", "rotate").code == 0
    checkpointed(desk, key)
    files = files_in_order(desk.log)
    last = int(files[2].name.rpartition("-")[2])
    refusals = {"small": "covers the log up to seq"}
    desk.write("other", (desk.place / "note").read_text().replace("decision.ndjson", "other.ndjson"))
    refusals["other"] = ""
    for note, words in refusals.items():
        done = prune(desk, str(last + 1), note)
        assert (done.code, words in done.err) == (65, True), done.err
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(desk.place / "key2")], check=True)
    wrong = ["--checkpoint", "note", "--public-key", "key2.pub"]
    assert desk.gate("log", "prune", "--before", "9999", *wrong).code == 65
    assert desk.gate("log", "prune", "--before", "9999", "--checkpoint", "note").code == 64
    assert desk.gate("log", "prune", "--before", "soon", *wrong).code == 64
    content = files[0].read_bytes()
    files[0].write_bytes(content.replace(b'"error_rate":0.19', b'"error_rate":0.91'))
    assert files[0].read_bytes() != content
    assert prune(desk, str(last + 1)).code == 65
    files[0].write_bytes(content)
    assert files_in_order(desk.log) == files
    assert prune(desk, str(last + 1)).code == 0


def test_history_is_not_cut_where_no_head_vouches_for_it(desk: Desk, key: str) -> None:
    """The next file was begun by others, so it has no head: runs would begin anew."""
    desk.begin_at("CANARY_10", run="bad")
    assert desk.check(HARMFUL, run="bad").code == 1
    desk.log.rename(desk.log.parent / "decision.ndjson.1")
    desk.begin_at("CANARY_10")
    checkpointed(desk, key)
    done = prune(desk, "999")
    assert (done.code, "no sealed segment" in done.err) == (65, True), done.err
    count = len(desk.events(desk.log.parent / "decision.ndjson.1"))
    (desk.log.parent / "decision.ndjson.1").rename(desk.log.parent / f"decision.ndjson.{1:012d}-{count:012d}")
    done = prune(desk, "999")
    assert (done.code, "has no head" in done.err) == (65, True), done.err


def test_a_prune_cut_short_is_finished_by_the_next(desk: Desk, key: str) -> None:
    """Killed between two removals: what is left is a gap until somebody asks again."""
    segmented(desk)
    checkpointed(desk, key)
    second = files_in_order(desk.log)[1]
    content = second.read_bytes()
    assert prune(desk, "9999").code == 0
    second.write_bytes(content)
    done = prune(desk, "9999", "note", "-o", "json").document
    assert [Path(one).name for one in done["finished"]] == [second.name]
    assert not second.exists()
    desk.assert_verifies()


def test_a_pruned_log_that_was_cut_further_does_not_verify(desk: Desk, key: str) -> None:
    """The proof vouches for what was pruned and for nothing else."""
    segmented(desk)
    checkpointed(desk, key)
    assert prune(desk, "9999").code == 0
    whole = desk.log.read_bytes()
    desk.log.write_bytes(whole.split(b"\n", 1)[1])
    assert desk.gate("verify").code == 65
    desk.log.write_bytes(whole)
    kept = desk.log.parent / "decision.ndjson.pruned"
    kept.write_bytes(kept.read_bytes().replace(b'"digest":"sha256:', b'"digest":"sha256:0'))
    assert desk.gate("verify").code == 65
    kept.unlink()
    done = desk.gate("verify")
    assert (done.code, "missing at the beginning" in done.err) == (65, True)
