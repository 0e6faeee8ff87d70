"""What has become of a checkpoint's lines: the word, and between which seqs the change lies."""

from __future__ import annotations

from hashlib import sha256

import pytest

from gatekeeper.proof.checkpoint import Checkpoint
from gatekeeper.proof.merkle import TreeHasher
from gatekeeper.replay.kept import Standing, standings
from gatekeeper.replay.leaves import Leaves
from tests.proof import oracle

OURS = [sha256(b"%d" % number).digest() for number in range(10)]
"""Leaves of a log."""

THEIRS = [*OURS[:6], *(sha256(b"x%d" % number).digest() for number in range(6, 10))]
"""The same up to line 6, then another."""


def note(leaves: list[bytes], size: int) -> Checkpoint:
    """A checkpoint of the first *size*."""
    return Checkpoint("log.example", size, oracle.Tree(leaves).root(size))


def compared(checkpoints: list[Checkpoint], leaves: list[bytes], *, last_seq: int | None = None) -> list[Standing]:
    """With a log of these leaves."""
    stretches, begin = [], 0
    for end in sorted({*(one.size for one in checkpoints if one.size <= len(leaves)), len(leaves)}):
        stretch = TreeHasher(begin)
        stretch.extend(leaves[begin:end])
        stretches.append(stretch)
        begin = end
    found = Leaves(tuple(stretches), len(leaves), "sha256:")
    return standings(checkpoints, found, len(leaves) if last_seq is None else last_seq)


def words(found: list[Standing]) -> list[tuple[str, int | None, int | None]]:
    """Code and the seqs between which the change lies."""
    return [(one.code, one.from_seq, one.to_seq) for one in found]


@pytest.mark.parametrize(
    ("given", "log", "expected"),
    [
        ([note(OURS, 4), note(OURS, 10)], OURS, [("kept", None, None), ("kept", None, None)]),
        ([note(OURS, 10)], OURS[:7], [("cut", 8, 10)]),
        ([note(OURS, 10)], THEIRS, [("rewritten", 1, 10)]),
        ([note(OURS, 10), note(OURS, 4)], THEIRS, [("rewritten", 5, 10), ("kept", None, None)]),
        (
            [note(OURS, 4), note(OURS, 8), note(OURS, 10)],
            THEIRS,
            [("kept", None, None), ("rewritten", 5, 8), ("rewritten", 5, 8)],
        ),
        ([note(OURS, 8), note(THEIRS, 10)], THEIRS, [("fork", 1, 8), ("kept", None, None)]),
        ([note(OURS, 10), note(THEIRS, 10)], THEIRS, [("fork", 1, 10), ("kept", None, None)]),
        (
            [note(OURS, 8), note(THEIRS, 9), note(OURS, 10)],
            THEIRS,
            [("fork", 1, 8), ("kept", None, None), ("rewritten", 10, 10)],
        ),
        (
            [note(OURS, 4), note(OURS, 9), note(OURS, 10)],
            THEIRS[:9],
            [("kept", None, None), ("rewritten", 5, 9), ("cut", 10, 10)],
        ),
    ],
)  # fmt: skip
def test_notes_that_are_kept_tell_where_others_differ(
    given: list[Checkpoint], log: list[bytes], expected: list[tuple[str, int | None, int | None]]
) -> None:
    """In the order given; a change lies behind the largest that is kept, and not behind the smallest that is not."""
    assert words(compared(given, log)) == expected


def test_a_log_that_lacks_lines_in_between_was_not_cut() -> None:
    """It still ends at the seq that was signed, with fewer lines."""
    (found,) = compared([note(OURS, 10)], OURS[:8], last_seq=10)
    assert (found.code, found.from_seq, found.to_seq) == ("removed", 1, 10)
    assert "8 are left up to seq 10, and log.example signed 10" in found.message


def test_nothing_is_said_of_lines_that_were_pruned() -> None:
    """What is left of them tells of one size only."""
    before, behind = TreeHasher(), TreeHasher(6)
    before.extend(OURS[:6])
    behind.extend(OURS[6:])
    leaves = Leaves((before, behind), 10, "sha256:")
    found = standings([note(OURS, 4), note(OURS, 6)], leaves, 10)
    assert words(found) == [("pruned", None, None), ("kept", None, None)]


def test_a_sentence_names_the_signer_and_the_seqs() -> None:
    """For people, who are not told of a range where there is one line."""
    (cut,) = compared([note(OURS, 10)], OURS[:9])
    assert cut.message == "the log was cut: it ends at seq 9 and lacks seq 10, which log.example signed"
    assert cut.to_dict() | {"root": "", "message": ""} == {
        "origin": "log.example", "size": 10, "root": "", "code": "cut", "message": "", "from_seq": 10, "to_seq": 10,
    }  # fmt: skip
    first, _ = compared([note(OURS, 10), note(OURS, 6)], THEIRS)
    assert first.message == (
        "the log was rewritten: the first 10 lines are not those that log.example signed; "
        "what differs begins in seq 7 to 10"
    )
    assert compared([note(OURS, 1)], OURS[:1])[0].message == (
        "the log still holds the first line, as log.example signed"
    )
