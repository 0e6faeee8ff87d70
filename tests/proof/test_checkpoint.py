"""Checkpoints: the published forms, and a log that is not mistaken for another."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import ProofError
from gatekeeper.proof import merkle
from gatekeeper.proof.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint, sign_checkpoint
from gatekeeper.proof.note import VerifierKey, parse_vkey
from tests.proof import oracle
from tests.proof.samples import NOTE, ORIGIN, ROOT, SEED, VKEY, signing_key


def test_a_checkpoint_has_the_bytes_that_another_program_made() -> None:
    """Leaves to root to note, with a fixed key: each byte is given by the formats."""
    root = merkle.root(f'{{"seq":{number}}}'.encode() for number in range(3))
    key = signing_key(ORIGIN)
    assert (root, key.verifier.vkey) == (ROOT, VKEY)
    assert sign_checkpoint(Checkpoint(ORIGIN, 3, root), key) == NOTE
    assert open_checkpoint(NOTE, [parse_vkey(VKEY)]) == Checkpoint(ORIGIN, 3, root)


@given(st.integers(0, 10**18 - 1), st.binary(min_size=32, max_size=32))
def test_what_is_signed_here_verifies_there(size: int, root: bytes) -> None:
    """Any size, any root: the independent reader finds the three lines, and our reader what was signed."""
    note = sign_checkpoint(Checkpoint(ORIGIN, size, root), signing_key(ORIGIN))
    assert oracle.note_text(note, VKEY) == f"{ORIGIN}\n{size}\n{base64.b64encode(root).decode()}\n".encode()
    assert open_checkpoint(note, [parse_vkey(VKEY)], ORIGIN) == Checkpoint(ORIGIN, size, root)


def test_no_bit_of_a_checkpoint_may_change() -> None:
    """Size, root, name, signature: each bit."""
    keys = [parse_vkey(VKEY)]
    for place in range(len(NOTE) * 8):
        changed = bytearray(NOTE)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(ProofError):
            open_checkpoint(bytes(changed), keys)


def test_lines_that_others_added_are_kept() -> None:
    """Extensions are signed like the rest."""
    text = f"{ORIGIN}\n0\n{base64.b64encode(merkle.EMPTY_ROOT).decode()}\nsome extension\nanother one\n"
    found = open_checkpoint(oracle.signed(ORIGIN, SEED, text), [parse_vkey(VKEY)])
    assert found == Checkpoint(ORIGIN, 0, merkle.EMPTY_ROOT, ("some extension", "another one"))
    assert found.text() == text


def test_the_key_of_one_log_does_not_vouch_for_another() -> None:
    """Both keys are trusted, each for its own log; unless the caller names the log that it expects."""
    text = Checkpoint("log.example/b", 3, ROOT).text()
    note = oracle.signed(ORIGIN, SEED, text)
    keys = [parse_vkey(VKEY), VerifierKey("log.example/b", signing_key("b", bytes(32)).verifier.public)]
    with pytest.raises(ProofError, match=r"is of the log log\.example/b, but signed by gatekeeper\.example/prod only"):
        open_checkpoint(note, keys)
    with pytest.raises(ProofError, match=r"is of the log log\.example/b, not of gatekeeper\.example/prod"):
        open_checkpoint(note, keys, ORIGIN)
    assert open_checkpoint(note, keys, "log.example/b").size == 3


def test_the_log_and_a_witness_may_both_sign() -> None:
    """The log's own signature counts wherever it stands."""
    text = Checkpoint(ORIGIN, 3, ROOT).text()
    witness = signing_key("witness.example", bytes(32)).verifier
    second = oracle.signed("witness.example", bytes(32), text).splitlines(keepends=True)[-1]
    first = NOTE.splitlines(keepends=True)[-1]
    for lines in (first + second, second + first):
        assert open_checkpoint(text.encode() + b"\n" + lines, [witness, parse_vkey(VKEY)]).origin == ORIGIN


def test_a_log_is_signed_for_by_its_own_key_only() -> None:
    """A key under another name would make a checkpoint that nobody can open."""
    with pytest.raises(ProofError, match="does not sign for the log"):
        sign_checkpoint(Checkpoint("log.example/b", 3, ROOT), signing_key(ORIGIN))


@pytest.mark.parametrize(
    "change",
    [
        {"size": -1},
        {"size": 10**18},
        {"root": ROOT[:31]},
        {"root": b""},
        {"extensions": ("",)},
        {"extensions": ("two\nlines",)},
        {"extensions": ("a\ttab",)},
    ],
)
def test_a_checkpoint_that_cannot_be_read_again_is_not_signed(change: dict[str, object]) -> None:
    """A signature cannot be taken back."""
    with pytest.raises(ProofError):
        sign_checkpoint(replace(Checkpoint(ORIGIN, 3, ROOT), **change), signing_key(ORIGIN))  # type: ignore[arg-type]


ENCODED = base64.b64encode(ROOT).decode()
MALFORMED = {
    "nothing": "",
    "two lines": f"{ORIGIN}\n3\n",
    "no newline": f"{ORIGIN}\n3\n{ENCODED}",
    "an empty origin": f"\n3\n{ENCODED}\n",
    "an empty line after": f"{ORIGIN}\n3\n{ENCODED}\n\n",
    "an empty line between": f"{ORIGIN}\n3\n{ENCODED}\n\nextension\n",
    "a size with a zero before it": f"{ORIGIN}\n03\n{ENCODED}\n",
    "a size with a sign": f"{ORIGIN}\n+3\n{ENCODED}\n",
    "a negative size": f"{ORIGIN}\n-3\n{ENCODED}\n",
    "a size with a space": f"{ORIGIN}\n3 \n{ENCODED}\n",
    "a size in another script": f"{ORIGIN}\n\u0663\n{ENCODED}\n",
    "a size that goes on in another script": f"{ORIGIN}\n1\u0663\n{ENCODED}\n",
    "a size with an underscore": f"{ORIGIN}\n1_0\n{ENCODED}\n",
    "a size in hexadecimal": f"{ORIGIN}\n0x3\n{ENCODED}\n",
    "an endless size": f"{ORIGIN}\n{'9' * 5000}\n{ENCODED}\n",
    "a shorter root": f"{ORIGIN}\n3\n{base64.b64encode(ROOT[:31]).decode()}\n",
    "a longer root": f"{ORIGIN}\n3\n{base64.b64encode(ROOT + b'x').decode()}\n",
    "a root in hexadecimal": f"{ORIGIN}\n3\n{ROOT.hex()}\n",
    "a root with bits left over": f"{ORIGIN}\n3\n{ENCODED.replace('M=', 'N=')}\n",
    "a root without padding": f"{ORIGIN}\n3\n{ENCODED.rstrip('=')}\n",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_checkpoint_in_another_form_is_refused(case: str) -> None:
    """Signed or not: two readers could take it for two different trees."""
    with pytest.raises(ProofError):
        parse_checkpoint(MALFORMED[case])
    if MALFORMED[case].endswith("\n"):
        with pytest.raises(ProofError):
            open_checkpoint(oracle.signed(ORIGIN, SEED, MALFORMED[case]), [parse_vkey(VKEY)])
