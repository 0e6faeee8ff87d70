"""`log checkpoint` and `verify --checkpoint`: what is signed, by whom, and what is not."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.e2e.desk import Desk
from tests.e2e.documents import HEALTHY
from tests.e2e.signing import ORIGIN, VKEY, against, sign, signed, told, tree_of
from tests.e2e.test_log_life import rewrite
from tests.proof import oracle
from tests.proof.samples import GO_SIGNER, GO_VKEY, LOCKED, LOCKED_LINE, PLAIN

pytestmark = pytest.mark.slow  # many processes

__all__ = ["signed", "told"]  # fixtures


def test_a_note_verifies_with_a_program_written_apart(told: Desk) -> None:
    """Printed and kept are the same bytes: origin, size, root, and a signature that stands."""
    done = sign(told)
    note = Path(f"{told.log}.checkpoint").read_bytes()
    assert (done.code, done.out) == (0, note)
    text = oracle.note_text(note, VKEY)
    assert text == f"{ORIGIN}\n6\n{base64.b64encode(tree_of(told).root()).decode()}\n".encode()
    assert f"signed up to seq 6 for the public key {VKEY}" in done.err
    document = sign(told, "-o", "json").document
    assert (document["size"], document["public_key"], document["note"]) == (6, VKEY, note.decode())
    assert bytes.fromhex(document["root"]) == tree_of(told).root()
    assert document["head"] == told.gate("log", "head", "-o", "json").document["digest"]


def test_nobody_elses_signature_counts(signed: Desk) -> None:
    """Another key, or a note whose text was changed: 65 before the log is read."""
    note = Path(f"{signed.log}.checkpoint")
    signed.write("other.pub", LOCKED_LINE)
    for done in (against(signed, str(note), public="other.pub"), against(signed, str(note), "--origin", "other")):
        assert (done.code, done.out) == (65, b"")
    note.write_bytes(note.read_bytes().replace(b"\n6\n", b"\n5\n"))
    done = against(signed, str(note))
    assert done.code == 65
    assert "is not one of this text" in done.err
    assert against(signed, "nowhere").code == 65
    assert signed.gate("verify", "--checkpoint", str(note)).code == 64  # a note that nobody checks proves nothing
    assert signed.gate("verify", "--public-key", "key.pub").code == 64


def test_an_encrypted_key_takes_its_passphrase_from_the_environment_only(told: Desk) -> None:
    """No argument that others see; missing is wrong usage with the variable's name, wrong is 65; it is never told."""
    told.write("locked", LOCKED)
    missing = sign(told, key="locked")
    assert (missing.code, "put its passphrase into GATEKEEPER_KEY_PASSPHRASE" in missing.err) == (64, True)
    wrong = sign(told, key="locked", GATEKEEPER_KEY_PASSPHRASE="open barley")
    assert wrong.code == 65
    done = sign(told, key="locked", GATEKEEPER_KEY_PASSPHRASE="open sesame")
    assert done.code == 0
    assert oracle.note_text(done.out, oracle.vkey_of(ORIGIN, base64.b64decode(LOCKED_LINE.split()[1])[-32:]))
    assert not any(word in one.err.encode() + one.out for one in (wrong, done) for word in (b"sesame", b"barley"))


def test_a_log_has_one_name_from_its_first_checkpoint_on(told: Desk) -> None:
    """The file's name where none is given; then what was signed before; a note key has its own."""
    first = told.gate("log", "checkpoint", "--key", "key", "--out", "a.txt")
    assert first.out.startswith(b"gatekeeper/decision.ndjson\n6\n")
    assert sign(told, "--out", "b.txt").out.startswith(ORIGIN.encode())
    told.check(HEALTHY, run="r-7")
    assert told.gate("log", "checkpoint", "--key", "key", "--out", "b.txt").out.startswith(ORIGIN.encode())
    told.write("go", GO_SIGNER)
    done = told.gate("log", "checkpoint", "--key", "go", "--out", "c.txt")
    assert oracle.note_text(done.out, GO_VKEY)
    assert sign(told, "--out", "d.txt", key="go").code == 65  # its name is another one


def test_a_checkpoint_replaces_nothing_but_one_of_its_own(signed: Desk) -> None:
    """Not the log, not a note of another key or log, not a file of somebody; and what stands there is kept."""
    signed.write("locked", LOCKED)
    for path, more in (
        (str(signed.log), ()),
        ("key.pub", ()),
        (f"{signed.log}.checkpoint", ("--origin", "gates.example.com/test")),
        (f"{signed.log}.checkpoint", ("--key", "locked")),
    ):
        before = (signed.place / path).read_bytes()
        done = sign(signed, "--out", path, *more, GATEKEEPER_KEY_PASSPHRASE="open sesame")
        assert done.code in {64, 65}, path  # 64: an option given twice
        assert (signed.place / path).read_bytes() == before
    done = signed.gate("log", "checkpoint", "--key", "key", "--origin", "gates.example.com/test")
    assert (done.code, "no checkpoint of this log by this key" in done.err) == (65, True)
    done = sign(signed, key="locked", GATEKEEPER_KEY_PASSPHRASE="open sesame")
    assert (done.code, "no checkpoint of this log by this key" in done.err) == (65, True)
    assert sign(signed, "--out", "no/such/place").code == 74


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: [*lines[:3], lines[3][:-9], *lines[4:]], "decision.ndjson:4: the line is damaged"),
        (lambda lines: [*lines[:3], b'{"run_id":"r","verdict":"ACCEPT"}', *lines[3:]], "decision.ndjson:4: the line"),
        (lambda lines: lines[2:], "decision.ndjson:1: its seq does not follow: expected 1, found 3"),
        (lambda lines: [*lines[:3], lines[3].replace(b'"actor":"', b'"actor":"x'), *lines[4:]], "ndjson:5: its prev"),
    ],
)  # fmt: skip
def test_a_chain_that_is_not_whole_is_not_vouched_for(damage: object, words: str, told: Desk) -> None:
    """65 with file and line, and no note."""
    assert callable(damage)
    rewrite(told, damage(told.log.read_bytes().split(b"\n")[:-1]))
    done = sign(told)
    assert (done.code, words in done.err) == (65, True), done.err
    assert not Path(f"{told.log}.checkpoint").exists()


def test_a_line_that_is_being_written_is_not_vouched_for(told: Desk) -> None:
    """The last line without its newline was promised to nobody; the lines before it are signed."""
    told.log.write_bytes(told.log.read_bytes() + b'{"seq":7')
    assert sign(told).out.startswith(f"{ORIGIN}\n6\n".encode())


def test_an_empty_or_absent_log_is_not_signed(desk: Desk) -> None:
    """A note over nothing would vouch for nothing."""
    desk.write("key", PLAIN)
    assert sign(desk).code == 74
    desk.log.parent.mkdir()
    desk.log.touch()
    assert sign(desk).code == 65


def test_the_note_beside_a_log_is_no_part_of_it(signed: Desk) -> None:
    """`logs/decision.ndjson*` means the log's files: not its checkpoint."""
    done = signed.gate("verify", "--log", "logs/decision.ndjson*", "-o", "json")
    assert (done.code, done.document["lines"]) == (0, 6)
