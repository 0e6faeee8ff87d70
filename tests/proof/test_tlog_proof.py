"""Proofs for third parties: what one proves, and all that proves nothing."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import ProofError
from gatekeeper.proof import merkle
from gatekeeper.proof.checkpoint import Checkpoint, sign_checkpoint
from gatekeeper.proof.note import parse_vkey
from gatekeeper.proof.tlog_proof import TlogProof, check_proof, parse_proof
from tests.proof import oracle
from tests.proof.samples import ORIGIN, SEED, VKEY, signing_key

KEYS = [parse_vkey(VKEY)]
LINES = [f'{{"kind":"decision","seq":{seq}}}'.encode() for seq in range(1, 301)]
DIGESTS = [merkle.line_leaf(line) for line in LINES]
TREE = oracle.Tree(DIGESTS)


def proof_of(index: int, size: int, extra: bytes = b"") -> TlogProof:
    """A sound proof in the log of `LINES`."""
    note = sign_checkpoint(Checkpoint(ORIGIN, size, merkle.root(DIGESTS[:size])), signing_key(ORIGIN))
    hashes = merkle.inclusion_proof(map(merkle.leaf_hash, DIGESTS), index, size)
    return TlogProof(index, tuple(hashes), note, extra)


def test_the_file_has_the_form_of_the_specification() -> None:
    """Written by hand from the definition: lines, order, where the checkpoint begins."""
    a, b, c = DIGESTS[:3]
    ab = oracle.Tree([a, b]).root()
    checkpoint = oracle.signed(ORIGIN, SEED, f"{ORIGIN}\n3\n{base64.b64encode(TREE.root(3)).decode()}\n")
    expected = b"c2sp.org/tlog-proof@v1\nindex 2\n" + base64.b64encode(ab) + b"\n\n" + checkpoint
    assert proof_of(2, 3).encode() == expected
    assert parse_proof(expected) == proof_of(2, 3)
    with_extra = expected.replace(b"index", b"extra aGVsbG8=\nindex")
    assert proof_of(2, 3, b"hello").encode() == with_extra
    assert parse_proof(with_extra).extra == b"hello"
    assert merkle.leaf_hash(c) == TREE.mth(2, 3)


@given(st.integers(1, 300).flatmap(lambda size: st.tuples(st.integers(0, size - 1), st.just(size))))
def test_a_line_is_proven_here_and_there(place: tuple[int, int]) -> None:
    """Any line of any log; one newline at its end is no part of it; another line is not proven."""
    index, size = place
    data = proof_of(index, size).encode()
    outcome = check_proof(data, LINES[index], KEYS)
    assert (outcome.is_proven, outcome.code, outcome.index) == (True, "proven", index)
    assert outcome.checkpoint is not None
    assert outcome.checkpoint.size == size
    assert check_proof(data, LINES[index] + b"\n", KEYS, ORIGIN).is_proven
    assert oracle.is_proven(data, LINES[index], VKEY)
    for other in (LINES[index - 1], LINES[index] + b"\n\n", LINES[index] + b" ", b""):
        if other != LINES[index]:
            refused = check_proof(data, other, KEYS)
            assert (refused.is_proven, refused.code) == (False, "line_not_proven")
            assert not oracle.is_proven(data, other, VKEY)


@given(st.data())
def test_a_proof_of_another_program_is_taken(data: st.DataObject) -> None:
    """Everything made by the independent side: tree, path, note and file."""
    size = data.draw(st.integers(1, 300))
    index = data.draw(st.integers(0, size - 1))
    path = "".join(f"{base64.b64encode(sibling).decode()}\n" for sibling in TREE.path(index, 0, size))
    note = oracle.signed(ORIGIN, SEED, f"{ORIGIN}\n{size}\n{base64.b64encode(TREE.root(size)).decode()}\n")
    file = f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n".encode() + note
    assert check_proof(file, LINES[index], KEYS).is_proven


@pytest.mark.parametrize(("index", "size"), [(0, 1), (4, 7)])
def test_no_bit_of_proof_or_line_may_change(index: int, size: int) -> None:
    """Each bit of both: refused here as by the independent reader."""
    data, line = proof_of(index, size).encode(), LINES[index]
    for place in range(len(data) * 8):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        assert not check_proof(bytes(changed), line, KEYS).is_proven
        assert not oracle.is_proven(bytes(changed), line, VKEY)
    for place in range(len(line) * 8):
        changed = bytearray(line)
        changed[place // 8] ^= 1 << place % 8
        assert check_proof(data, bytes(changed), KEYS).code == "line_not_proven"


def test_a_way_to_a_root_that_nobody_signed_proves_nothing() -> None:
    """The path is right in each case; what is wrong is who vouches for the root."""
    good = proof_of(4, 7)
    root = base64.b64encode(TREE.root(7)).decode()
    text = f"{ORIGIN}\n7\n{root}\n"
    forged = {
        "unsigned": text.encode(),
        "an empty line and no signature": f"{text}\n".encode(),
        "somebody else under the log's name": oracle.signed(ORIGIN, bytes(32), text),
        "somebody else under their own name": oracle.signed("else.example", bytes(32), text),
        "the log's key id, a signature of nothing": text.encode()
        + b"\n"
        + oracle.signature_line(ORIGIN, KEYS[0].key_id, bytes(64)),
        "a signature of another tree": text.encode() + b"\n" + proof_of(4, 8).checkpoint.splitlines(keepends=True)[-1],
        "another log's name": oracle.signed(ORIGIN, SEED, text.replace("prod", "test")),
        "nothing": b"",
    }
    for case, checkpoint in forged.items():
        outcome = check_proof(replace(good, checkpoint=checkpoint).encode(), LINES[4], KEYS)
        assert (outcome.is_proven, outcome.code, outcome.checkpoint) == (False, "checkpoint_refused", None), case
        assert outcome.remedy
    for keys in ([], [parse_vkey(oracle.vkey_of("else.example", bytes(32)))]):
        assert check_proof(good.encode(), LINES[4], keys).code == "checkpoint_refused"
    assert check_proof(good.encode(), LINES[4], KEYS, "else.example").code == "checkpoint_refused"


def test_a_proof_is_of_one_place() -> None:
    """The same line under another index, or beyond the tree, is not proven."""
    good = proof_of(4, 7)
    for index in {*range(7)} - {4}:
        assert check_proof(replace(good, index=index).encode(), LINES[4], KEYS).code == "line_not_proven"
    outcome = check_proof(replace(good, index=7).encode(), LINES[4], KEYS)
    assert (outcome.code, outcome.message) == (
        "leaf_not_covered",
        "the checkpoint covers 7 lines, so there is no line with index 7",
    )


def test_nobody_can_prove_a_node_of_the_tree_as_a_line() -> None:
    """A shorter path to the same root, from an inner node: its hash is not that of any leaf."""
    good = proof_of(4, 8)
    inner = TREE.mth(4, 6)
    shorter = replace(good, hashes=good.hashes[1:], index=2)
    assert check_proof(shorter.encode(), inner, KEYS).code == "line_not_proven"
    assert check_proof(shorter.encode(), LINES[4], KEYS).code == "line_not_proven"


GOOD = proof_of(4, 7).encode()
MALFORMED = {
    "nothing": b"",
    "another version": GOOD.replace(b"@v1", b"@v2"),
    "no empty line": GOOD.replace(b"\n\n", b"\n"),
    "an empty line at once": b"\n\n" + GOOD,
    "carriage returns": GOOD.replace(b"\n", b"\r\n"),
    "the first line only": b"c2sp.org/tlog-proof@v1\n\n" + proof_of(0, 1).checkpoint,
    "no index": GOOD.replace(b"index 4\n", b""),
    "two indexes": GOOD.replace(b"index 4\n", b"index 4\nindex 4\n"),
    "an index with a zero before it": GOOD.replace(b"index 4", b"index 04"),
    "an index with a sign": GOOD.replace(b"index 4", b"index +4"),
    "a negative index": GOOD.replace(b"index 4", b"index -4"),
    "an index in hexadecimal": GOOD.replace(b"index 4", b"index 0x4"),
    "an endless index": GOOD.replace(b"index 4", b"index " + b"9" * 5000),
    "an index in another script": GOOD.replace(b"index 4", "index \u0664".encode()),
    "two spaces": GOOD.replace(b"index 4", b"index  4"),
    "an empty extra": GOOD.replace(b"index", b"extra \nindex"),
    "an extra that is no base64": GOOD.replace(b"index", b"extra !\nindex"),
    "an extra after the index": GOOD.replace(b"index 4\n", b"index 4\nextra aGVsbG8=\n"),
    "two extras": GOOD.replace(b"index", b"extra aGVsbG8=\nextra aGVsbG8=\nindex"),
    "a short hash": GOOD.replace(b"index 4\n", b"index 4\nAAAA\n"),
    "a hash with bits left over": GOOD.replace(b"=\n\n", b"\n\n", 1),
    "not UTF-8": GOOD.replace(b"index", b"\xff"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_proof_in_another_form_is_refused(case: str) -> None:
    """With the reason, and no exception: a bad proof is an answer."""
    with pytest.raises(ProofError):
        parse_proof(MALFORMED[case])
    outcome = check_proof(MALFORMED[case], LINES[4], KEYS)
    assert (outcome.code, outcome.is_proven) == ("proof_malformed", False)
    assert outcome.message
    assert outcome.remedy


@given(
    st.binary(max_size=300)
    | st.tuples(st.integers(0, len(GOOD)), st.binary(max_size=4)).map(
        lambda edit: GOOD[: edit[0]] + edit[1] + GOOD[edit[0] + len(edit[1]) :]
    )
)
def test_bytes_of_any_kind_have_an_outcome(data: bytes) -> None:
    """Whatever a third party is handed."""
    assert check_proof(data, LINES[4], KEYS).is_proven == (data == GOOD)
