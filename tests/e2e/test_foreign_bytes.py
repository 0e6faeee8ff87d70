"""Arguments and paths that are no UTF-8: Python hands them on as lone surrogates, which no event can hold."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.desk import COMMAND, Desk, Done
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, Document, snapshot, text

pytestmark = pytest.mark.slow

ODD = b"h\xff"


def gate(desk: Desk, *argv: str | bytes) -> Done:
    """Call the command with bytes among its arguments."""
    words = [os.fsencode(word) for word in (*COMMAND, *argv)]
    done = subprocess.run(words, cwd=desk.place, env=desk.env(), capture_output=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.parametrize("option", ["--actor", "--evidence", "--revision", "--idempotency-key", "--run-id", "--stage"])
def test_words_that_are_no_utf8_are_wrong_usage(option: str, desk: Desk) -> None:
    """64 naming the option: neither a bug nor refused evidence, and nothing is recorded."""
    done = gate(desk, *desk.asking(HEALTHY), option, ODD)
    assert (done.code, done.out) == (64, b"")
    assert option in done.err
    assert not desk.log.exists()


@pytest.mark.parametrize("argv", [["resume", ODD, "--snapshot", "x"], ["stop", ODD, "--reason", "x"], ["explain", ODD]])
def test_names_that_are_no_utf8_are_wrong_usage(argv: list[str | bytes], desk: Desk) -> None:
    """A look-up of them would fail inside the database."""
    desk.begin_at("CANARY_10")
    assert gate(desk, *argv).code == 64
    assert gate(desk, "replay", "--run", ODD).code == 64


@pytest.mark.parametrize(("metrics", "code"), [(HEALTHY, 0), (BLIND, 2), (HARMFUL, 1)])
def test_evidence_at_a_path_that_is_no_utf8_gets_its_verdict(metrics: Document, code: int, desk: Desk) -> None:
    """The path of a hold's file cannot be recorded, so the hold needs evidence; the verdict does not suffer."""
    desk.begin_at("CANARY_10")
    path = Path(os.fsdecode(os.path.join(os.fsencode(desk.place), ODD)))
    path.write_text(text(snapshot(metrics, name="odd")))
    argv = desk.asking("SNAPSHOT")
    argv[argv.index("SNAPSHOT")] = os.fsdecode(ODD)
    done = gate(desk, *argv)
    assert done.code == code, done.err
    if code == 2:
        again = desk.gate("reevaluate", "-o", "json")
        assert again.code == 0
        assert again.document["holds"][0]["problem"].startswith("needs evidence")
    desk.assert_verifies()
