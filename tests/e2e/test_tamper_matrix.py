"""What somebody can do to a log, and who notices: the table of docs/guides/proof.md, made with the command."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from tests.docs.console import read
from tests.e2e.desk import Desk, Done
from tests.e2e.documents import HARMFUL, HEALTHY
from tests.e2e.test_log_life import chained, rewrite, told_log
from tests.proof.samples import PLAIN, PLAIN_LINE

pytestmark = pytest.mark.slow  # many processes

ORIGIN = "gates.example.com/prod"
NOT_FOUND = "nothing"
VERIFY, NOTE = "verify", "verify --checkpoint"

Tamper = Callable[[list[bytes]], list[bytes]]


def edited(lines: list[bytes]) -> list[bytes]:
    """One letter of an actor in the third line."""
    return [*lines[:2], lines[2].replace(b'"actor":"', b'"actor":"x', 1), *lines[3:]]


def edited_last(lines: list[bytes]) -> list[bytes]:
    """The same in the last line, whose digest no other line has."""
    return [*lines[:-1], lines[-1].replace(b'"actor":"', b'"actor":"x', 1)]


def deleted(lines: list[bytes]) -> list[bytes]:
    """The hold has gone."""
    return [*lines[:4], lines[5]]


def inserted(lines: list[bytes]) -> list[bytes]:
    """A decision that nobody made, chained to the one before it."""
    event = {**json.loads(lines[3]), "event_id": "r-41:CANARY_25#9", "prev": json.loads(lines[4])["prev"], "seq": 5}
    forged = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return [*lines[:4], forged, *lines[4:]]


def reordered(lines: list[bytes]) -> list[bytes]:
    """Two lines have changed places."""
    return [*lines[:3], lines[4], lines[3], lines[5]]


def cut(lines: list[bytes]) -> list[bytes]:
    """The REJECT at the end has gone."""
    return lines[:-1]


def rewritten(lines: list[bytes]) -> list[bytes]:
    """Another actor, and the chain written anew behind it."""
    return chained(edited(lines))


def rewritten_verdict(lines: list[bytes]) -> list[bytes]:
    """The REJECT made an ACCEPT, and the chain written anew."""
    return chained([*lines[:-1], lines[-1].replace(b'"verdict":"REJECT"', b'"verdict":"ACCEPT"')])


TAMPERS: dict[str, Tamper] = {
    "edit a line": edited,
    "edit the last line": edited_last,
    "delete a line": deleted,
    "insert a line": inserted,
    "reorder lines": reordered,
    "cut the end": cut,
    "rewrite: change a line and chain all behind it anew": rewritten,
    "rewrite, a verdict changed": rewritten_verdict,
}
FORK = "fork: two continuations of one log"


def documented() -> dict[str, tuple[str, str]]:
    """The table of the guide: what was done -> what `verify` and `verify --checkpoint` find."""
    found: dict[str, tuple[str, str]] = {}
    for line in read("docs/guides/proof.md").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and (cells[0] in TAMPERS or cells[0] == FORK):
            found[cells[0]] = (word_of(cells[1]), word_of(cells[2]))
    return found


def word_of(cell: str) -> str:
    """The word that a cell sets as code; none where nothing is found."""
    words = re.findall(r"`([^`]+)`", cell)
    return words[0] if words else NOT_FOUND


def test_the_guide_has_a_row_for_everything_that_can_be_done() -> None:
    """A row that is not there is a promise that nobody can check."""
    assert list(documented()) == [*TAMPERS, FORK]


@pytest.fixture
def signed(desk: Desk) -> Desk:
    """A log of six events, its checkpoint in a place of its own, the key's halves."""
    desk.write("key", PLAIN)
    desk.write("key.pub", PLAIN_LINE)
    told_log(desk)
    (desk.place / "elsewhere").mkdir()
    assert sign(desk, "elsewhere/note.txt").code == 0
    return desk


def sign(desk: Desk, out: str, *more: str) -> Done:
    """`log checkpoint`."""
    return desk.gate("log", "checkpoint", "--key", "key", "--origin", ORIGIN, "--out", out, *more)


def found_by_chain(desk: Desk, *more: str) -> str:
    """The word of `verify`; 65 if there is one."""
    done = desk.gate("verify", "-o", "json", *more)
    word = done.document["happened"]
    assert done.code == (0 if word is None else 65)
    return word or NOT_FOUND


def found_by_note(desk: Desk, *notes: str) -> str:
    """The word of `verify --checkpoint` for the first of the notes; 65 if it is not that all is kept."""
    given = [word for note in notes for word in ("--checkpoint", note)]
    done = desk.gate("verify", *given, "--public-key", "key.pub", "-o", "json")
    checked = done.document["checkpoints"][0]
    assert done.code == (0 if checked["code"] == "kept" else 65)
    assert checked["message"] in done.err or checked["code"] == "kept"
    return NOT_FOUND if checked["code"] == "kept" else str(checked["code"])


def test_a_log_that_nobody_touched_is_found_whole_by_both(signed: Desk) -> None:
    """Also after it went on: what was signed is its beginning."""
    assert (found_by_chain(signed), found_by_note(signed, "elsewhere/note.txt")) == (NOT_FOUND, NOT_FOUND)
    signed.check(HEALTHY, run="r-7")
    assert (found_by_chain(signed), found_by_note(signed, "elsewhere/note.txt")) == (NOT_FOUND, NOT_FOUND)


@pytest.mark.parametrize("name", TAMPERS)
def test_what_is_done_to_a_log_is_found_as_the_guide_says(name: str, signed: Desk) -> None:
    """Each cell of the table; and a log that was changed is not signed again."""
    before = signed.log.read_bytes()
    rewrite(signed, TAMPERS[name](before.split(b"\n")[:-1]))
    assert signed.log.read_bytes() != before
    assert (found_by_chain(signed), found_by_note(signed, "elsewhere/note.txt")) == documented()[name]
    note = (signed.place / "elsewhere/note.txt").read_bytes()
    assert (
        signed.gate("log", "checkpoint", "--key", "key", "--origin", ORIGIN, "--out", "elsewhere/note.txt").code == 65
    )
    assert (signed.place / "elsewhere/note.txt").read_bytes() == note


def test_a_fork_is_found_as_the_guide_says(signed: Desk) -> None:
    """A copy goes on by itself: each half is whole, and only what was signed tells them apart."""
    common = signed.log.read_bytes()
    signed.check(HEALTHY, run="r-7")
    assert sign(signed, "elsewhere/ours.txt").code == 0
    ours = signed.log.read_bytes()
    rewrite(signed, common.split(b"\n")[:-1])
    signed.check(HARMFUL, run="r-8")
    theirs = signed.log.read_bytes()
    assert theirs != ours
    assert theirs.count(b"\n") == ours.count(b"\n")
    assert (found_by_chain(signed), found_by_note(signed, "elsewhere/ours.txt")) == documented()[FORK]

    # a note of what both share tells where they part
    given = ("--checkpoint", "elsewhere/ours.txt", "--checkpoint", "elsewhere/note.txt", "--public-key", "key.pub")
    first, second = signed.gate("verify", *given, "-o", "json").document["checkpoints"]
    assert (first["code"], first["from_seq"], first["to_seq"]) == ("rewritten", 7, ours.count(b"\n"))
    assert second["code"] == "kept"

    # where the key signed both, the two notes are the evidence
    assert sign(signed, "elsewhere/ours.txt").code == 65
    signed.check(HARMFUL, run="r-9")
    assert sign(signed, "elsewhere/theirs.txt").code == 0
    assert found_by_note(signed, "elsewhere/ours.txt", "elsewhere/theirs.txt") == "fork"
