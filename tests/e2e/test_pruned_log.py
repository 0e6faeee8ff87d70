"""A part of the log that was removed on purpose, taken for damage; or damage taken for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import HEALTHY
from tests.e2e.retention import checkpointed, prune, segmented
from tests.ledger.segments import files_in_order, lose_state

pytestmark = pytest.mark.slow  # many processes

ALARMS = ("lacks seq", "are missing", "missing from the log", "missing  ", "damaged line", "a gap", "no longer holds")


@pytest.fixture
def pruned(desk: Desk, key: str) -> tuple[Desk, int, str]:
    """A log whose first two segments were pruned; the last seq of those, and the line that tells of it."""
    segmented(desk)
    checkpointed(desk, key)
    size = desk.gate("log", "head", "-o", "json").document["seq"]
    assert prune(desk, "9999").code == 0
    last = desk.events()[0]["seq"] - 1
    date = json.loads((desk.log.parent / "decision.ndjson.pruned").read_bytes())["pruned_at"][:10]
    return desk, last, f"gatekeeper: seq 1 to {last} were pruned on {date}, under a signed checkpoint of {size} lines\n"


def nothing(_path: Path) -> None:
    """The state stays as it is."""


@pytest.mark.parametrize("to_state", [nothing, lose_state])
def test_no_reader_takes_the_pruned_part_for_missing(
    to_state: Callable[[Path], None], pruned: tuple[Desk, int, str]
) -> None:
    """With the state of before the prune, and with none: one calm line, and only where the answer may lie there."""
    desk, _, words = pruned
    told = {
        ("replay",): words,
        ("replay", "--group-by", "verdict"): words,
        ("replay", "-o", "ndjson"): words,
        ("replay", "--run", "bad", "-o", "json"): words,
        ("replay", "--log", "logs/decision.ndjson*"): words,
        ("replay", "--since", desk.events()[-1]["ts"]): "",
        ("replay", "--limit", "1"): words,
        ("verify",): words,
        ("verify", "--chain-only"): words,
        ("status",): "",
        ("status", "bad"): "",
        ("status", "--log", "logs/decision.ndjson*"): "",
        ("queue",): "",
        ("log", "head"): "",
        ("log", "stat"): "",
        ("log", "metrics"): "",
        ("explain", str(desk.events()[-1]["seq"])): "",
        ("policy", "backtest", "policy.json"): words,
        ("policy", "backtest", "policy.json", "-o", "json"): words,
        ("policy", "backtest", "policy.json", "--since", desk.events()[-1]["ts"]): "",
        ("policy", "suggest-cases"): words + "gatekeeper: there is no policies/golden yet: nothing has a case\n",
    }
    for command, expected in told.items():
        to_state(desk.log)
        done = desk.gate(*command)
        assert (done.code, done.err) == (0, expected), command
        assert not any(alarm in done.out.decode() for alarm in ALARMS), command
    to_state(desk.log)
    done = desk.gate("log", "rebuild", "-o", "json")
    assert (done.code, done.err, done.document["complete"]) == (0, "", True)


def test_stat_tells_what_was_pruned_when_and_under_what(pruned: tuple[Desk, int, str]) -> None:
    """In words and for machines; a log that is whole again has no pruned part."""
    desk, last, words = pruned
    line = next(line for line in desk.gate("log", "stat").out.decode().split("\n") if line.strip().startswith("pruned"))
    assert " ".join(line.split()) == "pruned " + words[len("gatekeeper: ") :].strip().replace(" were pruned", "")
    chain = desk.gate("log", "stat", "-o", "json").document["chain"]
    kept = json.loads((desk.log.parent / "decision.ndjson.pruned").read_bytes())
    assert (chain["pruned_to"], chain["pruned_at"], chain["gaps"]) == (last, kept["pruned_at"], [])
    assert chain["pruned_under"] == int(kept["checkpoint"].split("\n")[1])


def test_replay_tells_machines_how_far_the_pruned_part_reaches(pruned: tuple[Desk, int, str]) -> None:
    """`pruned_to` where it may have held a part of the answer, else null; it is never one of the gaps."""
    desk, last, _ = pruned
    for since, expected in (("2020-01-01T00:00:00Z", last), (desk.events()[-1]["ts"], None)):
        for to_state in (nothing, lose_state):
            to_state(desk.log)
            document = desk.gate("replay", "--since", since, "-o", "json").document
            assert (document["gaps"], document["pruned_to"]) == ([], expected)


def test_what_is_lost_behind_the_pruned_part_is_still_missing(desk: Desk, key: str) -> None:
    """The proof covers what was pruned, and nothing that somebody has removed besides."""
    segmented(desk)
    checkpointed(desk, key)
    files = files_in_order(desk.log)
    first, second = (int(file.name.rpartition("-")[2]) for file in files[:2])
    assert prune(desk, str(first + 1)).code == 0
    files[1].unlink()
    lacking = f"gatekeeper: the log lacks seq {first + 1} to {second}\n"
    for to_state in (nothing, lose_state):
        to_state(desk.log)
        done = desk.gate("replay", "-o", "json")
        assert done.document["gaps"] == [{"from_seq": first + 1, "to_seq": second}]
        assert done.err.endswith(lacking)
        assert f"seq 1 to {first} were pruned" in done.err
    assert desk.gate("log", "stat", "-o", "json").document["chain"]["gaps"] == [
        {"from_seq": first + 1, "to_seq": second}
    ]
    done = desk.gate("verify", "-o", "json")
    assert done.code == 65
    assert [one["what"] for one in done.document["problems"]] == [f"seq {first + 1} to {second} are missing"]


def test_a_note_of_another_history_prunes_nothing(desk: Desk, key: str) -> None:
    """As long, by the same key, of a log of the same name, and its chain is whole: only its root is another."""
    segmented(desk)
    desk.log.parent.rename(desk.place / "other")
    note = desk.gate("log", "checkpoint", "--key", key, "--log", "other/decision.ndjson", "--out", "note")
    assert note.code == 0, note.err
    segmented(desk)
    desk.assert_verifies()
    files = files_in_order(desk.log)
    done = prune(desk, "9999")
    assert (done.code, "have another root" in done.err) == (65, True), done.err
    assert files_in_order(desk.log) == files
    assert not (desk.log.parent / "decision.ndjson.pruned").exists()


def test_a_log_that_was_cut_after_it_was_signed_is_not_pruned(desk: Desk, key: str) -> None:
    """What would go is covered, but the log is not the one that was signed: that must be looked into first."""
    segmented(desk)
    checkpointed(desk, key)
    files = files_in_order(desk.log)
    desk.log.write_bytes(desk.log.read_bytes()[:-1].rpartition(b"\n")[0] + b"\n")
    lose_state(desk.log)
    done = prune(desk, "9999")
    assert (done.code, "have another root" in done.err) == (65, True), done.err
    assert files_in_order(desk.log) == files


@pytest.mark.parametrize("cut_short", [True, False])
def test_a_log_of_which_a_pruned_part_is_there_still_verifies(
    cut_short: bool, desk: Desk, key: str, tmp_path: Path
) -> None:
    """A prune was killed between two removals, or one of two files was brought back: no gap, and no alarm."""
    segmented(desk)
    note = checkpointed(desk, key)
    files = files_in_order(desk.log)
    kept = shutil.copy(files[1 if cut_short else 0], tmp_path / "kept")
    last = int(files[1].name.rpartition("-")[2])
    assert prune(desk, "9999").code == 0
    shutil.copy(kept, files[1 if cut_short else 0])
    words = f"gatekeeper: seq 1 to {last} were pruned on "
    for to_state in (nothing, lose_state):
        to_state(desk.log)
        done = desk.gate("replay", "-o", "json")
        assert (done.document["gaps"], done.document["pruned_to"]) == ([], last)
        assert done.err.startswith(words)
        assert done.err.count("\n") == 1
        chain = desk.gate("log", "stat", "-o", "json").document["chain"]
        assert (chain["gaps"], chain["pruned_to"]) == ([], last)
    done = desk.gate("verify", "--checkpoint", note, "--public-key", "key.pub")
    assert (done.code, done.err.startswith(words), done.err.count("\n")) == (0, True, 1), done.err
    assert desk.gate("log", "checkpoint", "--key", key).code == 0
    assert desk.gate("log", "prove", str(last + 1)).code == 0


def test_a_log_that_is_whole_again_is_read_from_its_beginning(desk: Desk, key: str, tmp_path: Path) -> None:
    """All that was pruned was brought back: it is verified like the rest, and nobody is told of a prune."""
    segmented(desk)
    note = checkpointed(desk, key)
    files = files_in_order(desk.log)[:2]
    kept = [shutil.copy(file, tmp_path / file.name) for file in files]
    lines = desk.gate("verify", "-o", "json").document["lines"]
    assert prune(desk, "9999").code == 0
    for file, copy in zip(files, kept, strict=True):
        shutil.copy(copy, file)
    lose_state(desk.log)
    done = desk.gate("verify", "--checkpoint", note, "--public-key", "key.pub", "-o", "json")
    assert (done.code, done.err, done.document["lines"]) == (0, "", lines)
    assert desk.gate("replay").err == ""
    assert desk.gate("log", "stat", "-o", "json").document["chain"]["pruned_to"] is None
    files[0].write_bytes(files[0].read_bytes().replace(b'"error_rate":0.19', b'"error_rate":0.91'))
    assert desk.gate("verify").code == 65, "what was brought back is believed no more than the rest"
    first, _, rest = desk.log.read_bytes().partition(b"\n")
    desk.log.write_bytes(first + b"\n" + rest.partition(b"\n")[2])
    chain = desk.gate("log", "stat", "-o", "json").document["chain"]
    lost = json.loads(first)["seq"] + 1
    assert (chain["pruned_to"], chain["gaps"]) == (None, [{"from_seq": lost, "to_seq": lost}])


def test_a_state_of_before_the_prune_does_not_miss_what_was_pruned(pruned: tuple[Desk, int, str]) -> None:
    """Somebody has put a blank line into the live file, so that all of it is compared with the state again."""
    desk, _, _ = pruned
    last = desk.events()[-1]["ts"]
    desk.log.write_bytes(b"\n" + desk.log.read_bytes())
    for command in (("status",), ("queue",), ("replay", "--since", last)):
        done = desk.gate(*command)
        assert (done.code, done.err) == (0, ""), command


def test_a_proof_that_is_not_as_it_was_written_vouches_for_nothing(pruned: tuple[Desk, int, str]) -> None:
    """Neither a changed one nor one that goes beyond its own checkpoint: what it stood for is missing."""
    desk, last, _ = pruned
    kept = desk.log.parent / "decision.ndjson.pruned"
    whole = json.loads(kept.read_bytes())
    size = int(whole["checkpoint"].split("\n")[1])
    for change in ({"last_seq": size + 1}, {"pruned_at": "today"}, {"checkpoint": "none"}, {"first_seq": 2}, {"v": 2}):
        kept.write_text(json.dumps({**whole, **change}))
        done = desk.gate("replay", "-o", "json")
        assert (done.code, done.document["gaps"]) == (0, [{"from_seq": 1, "to_seq": last}]), change
        assert "is not as it was written" in done.err
        assert desk.gate("verify").code == 65
        assert desk.check(HEALTHY).code in {0, 2}, "the gate itself does not need the proof"
