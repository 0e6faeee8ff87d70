"""`log prove` and `log check-proof`, checked by a program written apart; segments, and what was pruned."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import HEALTHY
from tests.e2e.signing import ORIGIN, VKEY, against, check, lines_of, sign, signed, told, tree_of
from tests.e2e.test_log_life import rewrite
from tests.proof import oracle
from tests.proof.samples import PLAIN_LINE

pytestmark = pytest.mark.slow  # many processes

__all__ = ["signed", "told"]  # fixtures


def test_a_proof_of_each_line_verifies_with_a_program_written_apart(signed: Desk) -> None:
    """By seq; a line that is not the one, and a key that is not the log's, prove nothing."""
    lines = signed.log.read_bytes().split(b"\n")[:-1]
    for seq, line in enumerate(lines, 1):
        proof = signed.gate("log", "prove", str(seq)).out
        assert oracle.is_proven(proof, line, VKEY)
        assert not oracle.is_proven(proof, lines[seq % 6], VKEY)


def test_an_auditor_needs_one_file_and_the_key(signed: Desk) -> None:
    """The event's line travels in the proof; what it says is shown because it is proven."""
    event = signed.events()[3]
    done = signed.gate("log", "prove", event["event_id"], "--with-line", "--out", "proof.txt")
    assert (done.code, done.out[:17]) == (0, b"proof of line 4 o")
    signed.log.unlink()
    for public in ("key.pub", PLAIN_LINE.strip(), VKEY):
        found = check(signed, "proof.txt", public=public)
        assert (found.code, found.document["code"], found.document["seq"]) == (0, "proven", 4)
        assert found.document["event"] == event
    shown = signed.gate("log", "check-proof", "proof.txt", "--public-key", "key.pub")
    assert shown.out.startswith(f"proven: this is line 4 of the 6 that {ORIGIN} signed".encode())
    assert event["event_id"].encode() in shown.out
    assert check(signed, "proof.txt", "--origin", ORIGIN).code == 0
    for public in ("key.pub", VKEY):
        refused = check(signed, "proof.txt", "--origin", "gates.example.com/test", public=public)
        assert (refused.code, refused.document["code"]) == (65, "checkpoint_refused")


def test_a_line_from_elsewhere_is_checked_as_it_stands(signed: Desk) -> None:
    """From a file or standard input, as `replay -o ndjson` prints it; another line is not proven."""
    signed.write("proof.txt", signed.gate("log", "prove", "4").out)
    line = signed.gate("replay", "--verdict", "ACCEPT", "-o", "ndjson").out.splitlines(keepends=True)[1]
    assert json.loads(line)["seq"] == 4
    argv = ("log", "check-proof", "proof.txt", "--line", "-", "--public-key", "key.pub", "-o", "json")
    assert signed.pipe(line, *argv).document["proven"] is True
    changed = signed.pipe(line.replace(b"ACCEPT", b"REJECT"), *argv)
    assert (changed.code, changed.document["code"], changed.document["event"]) == (65, "line_not_proven", None)
    assert "not proven" in changed.err
    several = signed.pipe(line + line, *argv)
    assert (several.code, several.document["error"]["code"]) == (65, "proof.invalid")
    for more, code in (((), 64), (("--line", "nowhere"), 65)):
        assert check(signed, "proof.txt", *more).code == code
    assert signed.pipe(b"", "log", "check-proof", "-", "--line", "-", "--public-key", "key.pub").code == 64


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda proof: proof.replace(b"tlog-proof", b"tlog-prof"), "proof_malformed"),
        (lambda proof: proof.replace(b"\n6\n", b"\n7\n"), "checkpoint_refused"),
        (lambda proof: proof.replace(b"index 3", b"index 2"), "line_not_proven"),
        (lambda proof: proof.replace(b"index 3", b"index 6"), "leaf_not_covered"),
        (lambda proof: proof[:0], "proof_malformed"),
    ],
)
def test_a_proof_that_was_changed_proves_nothing(change: object, code: str, signed: Desk) -> None:
    """65, and at which step it failed."""
    assert callable(change)
    signed.write("proof.txt", change(signed.gate("log", "prove", "4").out))
    signed.write("line", signed.log.read_bytes().split(b"\n")[3])
    done = check(signed, "proof.txt", "--line", "line")
    assert (done.code, done.document["proven"], done.document["code"]) == (65, False, code)


def test_a_proof_is_made_of_the_log_that_was_signed_only(signed: Desk) -> None:
    """Not of an event that the note does not cover, nor of one that is not there, nor of a log that was rewritten."""
    signed.check(HEALTHY, run="r-7")
    later = signed.gate("log", "prove", str(len(signed.events())))
    assert (later.code, "the checkpoint covers 6" in later.err) == (65, True)
    unknown = signed.gate("log", "prove", "r-41:CANARY_2")
    assert (unknown.code, "did you mean" in unknown.err) == (65, True)
    assert signed.gate("log", "prove", "4", "--checkpoint", "nowhere").code == 65
    lines = signed.log.read_bytes().split(b"\n")[:-1]
    rewrite(signed, [*lines[:5], lines[5].replace(b'"actor":"', b'"actor":"x'), *lines[6:]])
    changed = signed.gate("log", "prove", "4")
    assert (changed.code, "rewritten" in changed.err) == (65, True)


def test_a_line_that_stands_elsewhere_than_it_says_is_not_proven(told: Desk) -> None:
    """Somebody signed lines in another order: the way would lead from another line to the root."""
    lines = told.log.read_bytes().split(b"\n")[:-1]
    rewrite(told, [*lines[:3], lines[4], lines[3], lines[5]])
    root = base64.b64encode(tree_of(told).root()).decode()
    told.write("note.txt", oracle.signed(ORIGIN, bytes(32), f"{ORIGIN}\n6\n{root}\n"))
    assert told.gate("log", "prove", "3", "--checkpoint", "note.txt").code == 0
    done = told.gate("log", "prove", "4", "--checkpoint", "note.txt")
    assert (done.code, "is not line 4 of the log" in done.err) == (65, True)


def test_a_log_in_segments_is_signed_as_one(signed: Desk) -> None:
    """Rotated, archived, gone on with: the same lines, the same tree; the old note is of its beginning."""
    for argv in (["log", "rotate"], ["log", "archive", "--compression", "gzip"]):
        assert signed.gate(*argv).code == 0
    signed.check(HEALTHY, run="r-7")
    assert signed.gate("log", "rotate").code == 0
    lines = lines_of(signed)
    done = sign(signed, "--out", "note.txt", "-o", "json")
    assert (done.code, done.document["size"]) == (0, len(lines))
    tree = oracle.Tree([sha256(line).digest() for line in lines])
    assert bytes.fromhex(done.document["root"]) == tree.root()
    assert against(signed, "note.txt", "--checkpoint", f"{signed.log}.checkpoint").code == 0
    proof = signed.gate("log", "prove", "4", "--checkpoint", "note.txt").out
    assert oracle.is_proven(proof, lines[3], VKEY)


def test_a_pruned_log_is_signed_and_proven_on(signed: Desk) -> None:
    """What is kept of the removed lines stands for them: the root is that of all lines ever."""
    assert signed.gate("log", "rotate").code == 0
    lines = lines_of(signed)
    assert sign(signed, "--out", "note.txt").code == 0
    pruned = signed.gate("log", "prune", "--before", "7", "--checkpoint", "note.txt", "--public-key", "key.pub")
    assert (pruned.code, len(list(signed.log.parent.glob("decision.ndjson.0*")))) == (0, 0), pruned.err
    signed.check(HEALTHY, run="r-7")
    lines += signed.log.read_bytes().split(b"\n")[len(lines) - 6 : -1]
    first = Path(f"{signed.log}.checkpoint")
    older = sign(signed)
    assert (older.code, first.read_bytes()) == (0, older.out)  # it ends where the log was pruned
    done = sign(signed, "-o", "json")
    assert (done.code, done.document["size"]) == (0, len(lines)), done.err
    assert bytes.fromhex(done.document["root"]) == oracle.Tree([sha256(line).digest() for line in lines]).root()
    for note in ("note.txt", str(first)):
        assert against(signed, note).code == 0, against(signed, note).err
    assert oracle.is_proven(signed.gate("log", "prove", str(len(lines))).out, lines[-1], VKEY)
    assert signed.gate("log", "prove", "4").code == 65
    rewrite(signed, [lines[6].replace(b'"actor":"', b'"actor":"x'), *lines[7:]])
    assert against(signed, "note.txt", "-o", "json").document["checkpoints"][0]["code"] == "rewritten"


def test_a_note_that_ends_before_a_pruned_part_does_is_not_believed(told: Desk) -> None:
    """Nobody can compare it any more; the note with which the log was pruned takes its place."""
    lines = lines_of(told)
    rewrite(told, lines[:4])
    assert sign(told).code == 0
    rewrite(told, lines)
    assert told.gate("log", "rotate").code == 0
    note = sign(told, "--out", "note.txt").out
    assert told.gate("log", "prune", "--before", "7", "--checkpoint", "note.txt", "--public-key", "key.pub").code == 0
    done = sign(told)
    assert (done.code, "put the newer note in its place" in done.err) == (65, True)
    found = against(told, f"{told.log}.checkpoint", "-o", "json")
    assert (found.code, found.document["checkpoints"][0]["code"]) == (65, "pruned")
    Path(f"{told.log}.checkpoint").write_bytes(note)
    assert sign(told).code == 0
