"""An answer that looks complete although a part of the log was not there."""

from __future__ import annotations

from gatekeeper.model.event import encode_line
from gatekeeper.replay.holes import Holes
from tests.replay.builder import parsed, rollout


def missing(lines: list[bytes]) -> list[tuple[int, int]]:
    """First and last seq of each gap."""
    holes = Holes()
    for line in lines:
        holes.see(line)
    return [(gap.from_seq, gap.to_seq) for gap in holes.gaps]


def test_a_whole_log_has_no_gap() -> None:
    """All ten events of the example, of every kind."""
    assert missing(rollout()) == []


def test_missing_parts_are_named_by_their_seqs() -> None:
    """The beginning, one event, several; what is cut behind the last line nobody can see."""
    log = rollout()
    assert missing(log[2:]) == [(1, 2)]
    assert missing([*log[:4], *log[5:]]) == [(5, 5)]
    assert missing([log[0], *log[3:5], *log[8:]]) == [(2, 3), (6, 8)]
    assert missing(log[:3]) == []


def test_a_damaged_line_excuses_the_seq_that_it_may_have_had() -> None:
    """It is named as damaged already; the next gap is named again."""
    log = rollout()
    assert missing([*log[:4], b"rubbish", *log[5:]]) == []
    assert missing([*log[:4], b"rubbish", *log[6:]]) == [(5, 6)]
    assert missing([*log[:4], b"rubbish", *log[5:7], *log[8:]]) == [(8, 8)]


def test_a_key_or_text_within_an_event_is_not_taken_for_its_seq() -> None:
    """Evidence may hold anything, also metrics with the name seq."""
    event = parsed(rollout())[1].event
    assert event is not None
    snapshot = {"metrics": {"seq": 900}, "note": '"seq":800,'}
    evil = encode_line({**event, "metrics_snapshot": snapshot, "actor": '"seq":700,', "variant_id": '"seq":600}'})
    assert missing([rollout()[0], evil, rollout()[2]]) == []


def test_seqs_that_run_back_are_no_gap() -> None:
    """A line that stands there twice is for `verify` to judge."""
    log = rollout()
    assert missing([*log[:5], log[1], *log[5:]]) == []
