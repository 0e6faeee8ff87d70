"""A log that is signed, for tests of what proves it."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.test_log_life import told_log
from tests.proof import oracle
from tests.proof.samples import PLAIN, PLAIN_LINE

ORIGIN = "gates.example.com/prod"
PUBLIC = base64.b64decode(PLAIN_LINE.split()[1])[-32:]
VKEY = oracle.vkey_of(ORIGIN, PUBLIC)


def tree_of(desk: Desk) -> oracle.Tree:
    """The tree over the lines of the log, by definition."""
    return oracle.Tree([sha256(line).digest() for line in desk.log.read_bytes().split(b"\n")[:-1]])


def sign(desk: Desk, *more: str, key: str = "key", **env: str) -> Done:
    """`log checkpoint` under the usual name."""
    return desk.gate("log", "checkpoint", "--key", key, "--origin", ORIGIN, *more, **env)


def against(desk: Desk, note: str, *more: str, public: str = "key.pub") -> Done:
    """`verify --checkpoint`."""
    return desk.gate("verify", "--checkpoint", note, "--public-key", public, *more)


def check(desk: Desk, proof: str, *more: str, public: str = "key.pub") -> Done:
    """`log check-proof` in json."""
    return desk.gate("log", "check-proof", proof, "--public-key", public, "-o", "json", *more)


def lines_of(desk: Desk) -> list[bytes]:
    """All lines of the log's files in the order of `seq`."""
    sealed = "for f in logs/decision.ndjson.0*; do case $f in *.gz) zcat $f ;; *[0-9]) cat $f ;; esac; done"
    done = desk.shell(f"({sealed}; cat logs/decision.ndjson)")
    assert done.code == 0, done.err
    return done.out.split(b"\n")[:-1]


@pytest.fixture
def told(desk: Desk) -> Desk:
    """A log of six events and the key's halves."""
    desk.write("key", PLAIN)
    desk.write("key.pub", PLAIN_LINE)
    told_log(desk)
    return desk


@pytest.fixture
def signed(told: Desk) -> Desk:
    """Its first checkpoint beside it."""
    assert sign(told).code == 0
    return told
