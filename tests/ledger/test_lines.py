"""Bytes to lines to events: split at 0x0A only, every decoder of one mind, the chain checked link by link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.ledger import codec
from gatekeeper.ledger.chain import break_between
from gatekeeper.ledger.codec import BULK_BYTES, decoder_for, founding_decision, terminated_lines
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import decode

GENESIS = "sha256:" + "0" * 64

LINES = [
    b'{"a":1}',
    b'{"a":1}\r',
    b'{"a":NaN}',
    b'{"a":1e400}',
    b'{"a":123456789012345678901234567890}',
    b'{"a":"\\ud800"}',
    b'{"a":"\\ud83d\\ude00"}',
    b'{"a":1}{"b":2}',
    b'["a"]',
    b"\xef\xbb\xbf{}",
    b"{'a':1}",
    b"\xff",
    b"[" * 5000,
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_damaged_or_not_whatever_the_size_of_the_log(line: bytes) -> None:
    """Long logs are read with another parser than short ones: they must agree on what is damaged."""
    bulk = decoder_for(BULK_BYTES)
    assert (bulk(line) is None) == (decode(line) is None)


def test_half_a_character_is_damage() -> None:
    """A lone surrogate has no bytes: nothing could print it or take its digest; a whole pair is a character."""
    assert decode(b'{"a":"\\ud800"}') is None
    assert decode(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@given(parts=st.lists(st.binary(max_size=40), max_size=12), block=st.integers(min_value=1, max_value=17))
def test_lines_are_split_at_newlines_only(
    parts: list[bytes], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the block size and whatever bytes stand there, U+2028 included: offsets and bytes are exact."""
    data = "\u2028\x85".encode() + b"\n".join(parts)
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    before = codec.BLOCK_BYTES
    try:
        codec.BLOCK_BYTES = block
        found = list(terminated_lines(FileOps(), descriptor, start=0, end=len(data)))
    finally:
        codec.BLOCK_BYTES = before
        os.close(descriptor)
    assert [line for _, line in found] == data.split(b"\n")[:-1]
    assert all(data[offset : offset + len(line) + 1] == line + b"\n" for offset, line in found)


def test_each_break_of_the_chain_is_named() -> None:
    """Edited, left out, doubled, without a place: each is told apart."""
    digest = line_digest(b"two")

    def broken(seq: object, prev: str) -> str | None:
        return break_between({"kind": "decision", "seq": seq, "prev": prev}, seq=2, digest=digest)

    assert broken(3, digest) is None
    assert broken(3, GENESIS) == "(seq 3) does not hold the digest of the line before"
    assert broken(4, digest) == "follows a gap: seq 3 missing"
    assert broken(6, digest) == "follows a gap: seqs 3-5 missing"
    assert broken(2, digest) == "has seq 2, expected 3"
    assert broken(True, digest) == "has no seq, expected 3"


@pytest.mark.parametrize(
    "line",
    [
        {"run_id": "r", "stage": "S", "verdict": "REJECT"},
        {"run_id": "r", "stage": "S", "decision": "REJECT"},
        {"run_id": "r", "stage": "S", "decision": {"verdict": "REJECT"}},
    ],
)
def test_a_founding_line_states_its_verdict_in_three_ways(line: dict[str, object]) -> None:
    """At the top, as text, or in an object: each is the same decision."""
    found = founding_decision(line)
    assert (found["kind"], found["event_id"], found["decision"]["verdict"]) == ("decision", "r:S", "REJECT")
    assert found["decision"]["reason_codes"] == []


def test_a_founding_line_with_an_unknown_verdict_has_none() -> None:
    """What is no verdict is not taken for one."""
    assert founding_decision({"run_id": "r", "stage": "S", "verdict": "MAYBE"})["decision"]["verdict"] is None
    assert founding_decision({"verdict": ["REJECT"]})["decision"]["verdict"] is None


def test_a_log_longer_than_a_block_is_read_whole(tmp_path: Path) -> None:
    """One line longer than what is in memory at once."""
    path = tmp_path / "log"
    line = b"x" * (codec.BLOCK_BYTES * 2 + 5)
    path.write_bytes(line + b"\nshort\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found = list(terminated_lines(FileOps(), descriptor, start=0, end=len(line) + 7))
    finally:
        os.close(descriptor)
    assert [len(part) for _, part in found] == [len(line), 5]
