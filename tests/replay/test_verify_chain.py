"""A log that somebody changed and that `verify` calls whole; or blames at the wrong line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gatekeeper.model.event import line_digest
from gatekeeper.replay.verify import verify
from tests.replay.builder import (
    HEALTHY,
    LogBuilder,
    at_minute,
    changed,
    edited,
    parsed,
    read,
    rechained,
    rollout,
    write,
)

Tamper = Callable[[list[bytes]], list[bytes]]


def in_place(number: int, old: bytes, new: bytes) -> Tamper:
    """Line *number* with other bytes, all else as it was."""

    def tamper(log: list[bytes]) -> list[bytes]:
        assert old in log[number - 1]
        return [*log[: number - 1], log[number - 1].replace(old, new, 1), *log[number:]]

    return tamper


def forged(log: list[bytes]) -> bytes:
    """What an intruder would like to have stood at line 5: an event that fits behind line 4."""
    return changed(
        log[4],
        lambda event: event.update(seq=5, prev=line_digest(log[3]), ts=at_minute(4), event_id="forged", actor="eve"),
    )


# name -> (what somebody did, line and code of the first difference)
TAMPERS: dict[str, tuple[Tamper, int, str]] = {
    "edit a word": (edited(5, lambda event: event.update(actor="eve")), 5, "bytes"),
    "edit one byte of a word": (in_place(5, b'"actor":"bob"', b'"actor":"bop"'), 5, "bytes"),
    "edit the first line": (edited(1, lambda event: event.update(actor="eve")), 1, "bytes"),
    "edit the line before the last": (edited(9, lambda event: event.update(actor="eve")), 9, "bytes"),
    "edit prev": (edited(5, lambda event: event.update(prev="sha256:" + "1" * 64)), 5, "prev"),
    "edit prev of the first line": (edited(1, lambda event: event.update(prev="sha256:" + "1" * 64)), 1, "prev"),
    "prev of another type": (edited(5, lambda event: event.update(prev=None)), 5, "prev"),
    "edit a byte so that it is no JSON": (in_place(5, b'"actor":', b'"actor";'), 5, "damaged"),
    "a byte that is no UTF-8": (in_place(5, b'"actor":"bob"', b'"actor":"\xffob"'), 5, "damaged"),
    "a line of zeros": (lambda log: [*log[:4], b"\0" * len(log[4]), *log[5:]], 5, "damaged"),
    "a space between": (in_place(5, b'"actor":"bob"', b'"actor": "bob"'), 5, "canonical"),
    "a number written otherwise": (in_place(5, b'"attempt":1', b'"attempt":1.0'), 5, "canonical"),
    "a key twice": (in_place(5, b'"attempt":1', b'"attempt":1,"attempt":1'), 5, "canonical"),
    "carriage returns": (lambda log: [line + b"\r" for line in log], 1, "canonical"),
    "delete the first line": (lambda log: log[1:], 1, "gap"),
    "delete a line": (lambda log: [*log[:4], *log[5:]], 5, "gap"),
    "delete two lines": (lambda log: [*log[:4], *log[6:]], 5, "gap"),
    "delete and renumber": (
        lambda log: [
            *log[:4],
            *(changed(line, lambda event: event.update(seq=event["seq"] - 1)) for line in log[5:]),
        ],
        5,
        "prev",
    ),
    "insert a copy": (lambda log: [*log[:5], log[4], *log[5:]], 6, "seq"),
    "insert a forgery": (lambda log: [*log[:4], forged(log), *log[4:]], 5, "bytes"),
    "insert a forgery at the end": (lambda log: [*log, forged(log)], 11, "seq"),
    "insert a line without kind": (lambda log: [*log[:4], b'{"run_id":"r","verdict":"ACCEPT"}', *log[4:]], 5, "bytes"),
    "insert rubbish": (lambda log: [*log[:4], b"rubbish", *log[4:]], 5, "damaged"),
    "reorder neighbours": (lambda log: [*log[:4], log[5], log[4], *log[6:]], 5, "gap"),
    "move a line back": (lambda log: [*log[:2], log[6], *log[2:6], *log[7:]], 3, "gap"),
    "swap the verdict": (in_place(7, b'"verdict":"REJECT"', b'"verdict":"ACCEPT"'), 7, "verdict"),
    "change the policy": (in_place(1, b'"threshold":0.01', b'"threshold":0.02'), 1, "policy_digest"),
    "change the evidence": (in_place(7, b'"error_rate":0.013', b'"error_rate":0.003'), 7, "snapshot_digest"),
    "change the context": (in_place(7, b'"looks":0', b'"looks":5'), 7, "input_digest"),
    "cut within a line, end it, go on": (lambda log: [*log[:4], log[4][:300], *log[5:]], 5, "damaged"),
    "turn time back": (edited(10, lambda event: event.update(ts=at_minute(8))), 10, "ts"),
    "a time that is none": (edited(10, lambda event: event.update(ts="soon")), 10, "ts"),
    "a seq that is none": (edited(10, lambda event: event.update(seq="10")), 10, "seq"),
    "a number that no double holds": (in_place(5, b'"attempt":1', b'"attempt":1e400'), 5, "canonical"),
    "an integer that readers round": (in_place(5, b'"attempt":1', b'"attempt":9007199254740993'), 5, "canonical"),
    "evidence that no double holds": (in_place(7, b'"error_rate":0.013', b'"error_rate":1e400'), 7, "canonical"),
    "edit a line, delete one behind it": (
        lambda log: [*log[:3], changed(log[3], lambda event: event.update(actor="eve")), log[4], *log[6:]],
        4,
        "bytes",
    ),
    "join with the line before": (lambda log: [*log[:4], log[4] + log[5], *log[6:]], 5, "damaged"),
}


def test_an_untouched_log_is_whole(tmp_path: Path) -> None:
    """Six decisions judged again, all as recorded; the head is the last line's digest."""
    log = rollout()
    report = verify(read(write(tmp_path / "decision.ndjson", log)))
    assert report.problems == ()
    assert report.ok
    assert (report.lines, report.events, report.decisions, report.reevaluated) == (10, 10, 6, 6)
    assert (report.first_seq, report.last_seq, report.head) == (1, 10, line_digest(log[9]))
    assert (report.not_comparable, report.unchained, report.torn) == ({}, (), None)


@pytest.mark.parametrize("name", TAMPERS)
def test_whatever_is_changed_the_first_line_that_differs_is_named(name: str, tmp_path: Path) -> None:
    """The tamper matrix: source, line number and code of the first difference."""
    tamper, number, code = TAMPERS[name]
    report = verify(read(write(tmp_path / "decision.ndjson", tamper(rollout()))))
    assert not report.ok
    first = report.first_wrong
    assert first is not None
    assert (first.place.source, first.place.number, first.code) == ("decision.ndjson", number, code)


def test_the_first_difference_says_what_was_expected_and_what_stands_there() -> None:
    """A person can go and look without any program of ours."""
    log = edited(5, lambda event: event.update(actor="eve"))(rollout())
    first = verify(parsed(log)).first_wrong
    assert first is not None
    assert first.to_dict() == {
        "source": "decision.ndjson",
        "line": 5,
        "seq": 5,
        "code": "bytes",
        "what": "its bytes are not those that decision.ndjson:6 (seq 6) was chained to",
        "expected": line_digest(rollout()[4]),
        "found": line_digest(log[4]),
    }
    assert str(first).startswith("decision.ndjson:5 (seq 5): its bytes are not those")


def test_a_gap_names_the_seqs_that_are_missing() -> None:
    """One or several, also at the beginning."""
    log = rollout()
    problems = verify(parsed([*log[2:4], *log[5:]])).problems
    assert [(problem.place.number, problem.what) for problem in problems if problem.code == "gap"] == [
        (1, "seq 1 to 2 are missing at the beginning"),
        (3, "seq 5 is missing"),
    ]
    assert all(problem.code in {"gap", "policy"} for problem in problems)


def test_a_log_cut_behind_a_whole_line_shows_in_its_head_only() -> None:
    """Nothing in the file can tell; `last_seq` and `head` are what was noted elsewhere, or not."""
    report = verify(parsed(rollout()[:6]))
    assert report.ok
    assert (report.last_seq, report.head) == (6, line_digest(rollout()[5]))


def test_a_torn_last_line_is_named_and_is_no_difference(tmp_path: Path) -> None:
    """A killed writer leaves it, nobody was promised it, and the next event repairs it."""
    report = verify(read(write(tmp_path / "decision.ndjson", rollout()[:6], rest=rollout()[6])))
    assert report.ok
    assert report.torn is not None
    assert (report.torn.source, report.torn.number) == ("decision.ndjson", 7)
    assert (report.events, report.lines) == (6, 7)


def test_an_unterminated_line_in_the_middle_is_a_difference(tmp_path: Path) -> None:
    """At the end of an earlier file no event will ever repair it; the chain goes on around it."""
    first = write(tmp_path / "1.ndjson", rollout()[:6], rest=b'{"seq":7')
    second = write(tmp_path / "2.ndjson", rollout()[6:])
    problems = verify(read(first, second)).problems
    assert [(problem.place.source, problem.place.number, problem.code) for problem in problems] == [
        ("1.ndjson", 7, "torn")
    ]


def test_the_chain_runs_across_files(tmp_path: Path) -> None:
    """A rotated log is one log; a file left out is a gap in it."""
    log = rollout()
    paths = [write(tmp_path / f"{number}.ndjson", part) for number, part in enumerate((log[:3], log[3:5], log[5:]))]
    assert verify(read(*paths)).ok
    first = verify(read(paths[0], paths[2])).first_wrong
    assert first is not None
    assert (first.place.source, first.place.number, first.what) == ("2.ndjson", 1, "seq 4 to 5 are missing")


def places(log: list[bytes]) -> list[tuple[int, str]]:
    """Line number and code of each difference."""
    return [(problem.place.number, problem.code) for problem in verify(parsed(log)).problems]


def test_one_damaged_line_is_not_reported_as_a_gap_too() -> None:
    """Its seq cannot be read, but it stands where the missing one belongs; a real gap behind it still shows."""
    log = rollout()
    log[2] = b"rubbish"
    assert places(log) == [(3, "damaged"), (3, "bytes")]
    assert places([*log[:5], *log[6:]]) == [(3, "damaged"), (3, "bytes"), (6, "gap")]


def test_an_old_line_put_in_again_is_the_only_one_blamed() -> None:
    """The lines behind it go on from the largest seq."""
    log = rollout()
    assert places([*log[:5], log[1], *log[5:]]) == [(6, "seq"), (6, "ts"), (6, "event_id"), (6, "prev")]


def test_a_damaged_line_does_not_speak_for_the_line_before_it() -> None:
    """Line 4 was edited and line 6 destroyed: two differences, each at its own line."""
    log = edited(4, lambda event: event.update(actor="eve"))(rollout())
    log[5] = b"rubbish"
    assert places(log) == [(4, "bytes"), (6, "damaged"), (6, "bytes")]


def test_from_zero_is_from_the_beginning() -> None:
    """Counting begins at 1."""
    assert verify(parsed(rollout()), from_seq=0) == verify(parsed(rollout()))


def test_a_long_list_of_unchained_lines_is_bounded() -> None:
    """A founding log of years is all unchained; all are counted."""
    report = verify(parsed([b'{"verdict":"ACCEPT"}'] * 150))
    assert (len(report.unchained), report.unchained_count, report.ok) == (100, 150, True)


def test_damage_that_the_ledger_has_chained_over_is_one_difference() -> None:
    """A torn line that somebody ended: the next event holds the digest of its bytes and takes its seq."""
    log = LogBuilder()
    loaded = log.policy()
    log.lines.append(b'{"seq":2,"kind":"decis')
    log.decision(loaded, "DRY_RUN", HEALTHY)
    log.lines[2] = changed(log.lines[2], lambda event: event.update(seq=2))
    problems = verify(parsed(log.lines)).problems
    assert [(problem.place.number, problem.code) for problem in problems] == [(2, "damaged")]


def test_lines_without_kind_are_listed_and_their_bytes_chained() -> None:
    """A founding driver wrote them: no place in the chain, but the next event vouches for them."""
    log = LogBuilder()
    log.lines.append(b'{"seq": 7, "run_id": "r-41", "verdict": "ACCEPT"}')
    log.policy()
    log.lines[1] = changed(log.lines[1], lambda event: event.update(seq=8))
    log.lines.append(b'{"run_id": "r-41", "verdict": "REJECT"}')
    report = verify(parsed(log.lines))
    assert report.problems == ()
    assert [place.number for place in report.unchained] == [1, 3]
    assert (report.unchained_count, report.events, report.lines) == (2, 1, 3)
    edit = verify(parsed([log.lines[0].replace(b"ACCEPT", b"REJECT"), *log.lines[1:]]))
    assert edit.first_wrong is not None
    assert (edit.first_wrong.place.number, edit.first_wrong.code) == (1, "bytes")


def test_an_event_id_that_stands_twice_is_a_difference() -> None:
    """Even where the whole chain was written anew around it."""
    log = rechained(edited(5, lambda event: event.update(event_id="exp-42:B:2026-02-18:CANARY_10"))(rollout()))
    problems = verify(parsed(log)).problems
    assert [(problem.place.number, problem.code) for problem in problems] == [(5, "event_id")]


def test_an_event_without_id_is_a_difference() -> None:
    """Nobody could name it."""
    log = rechained(edited(6, lambda event: event.pop("event_id"))(rollout()))
    problems = verify(parsed(log)).problems
    assert [(problem.place.number, problem.code) for problem in problems] == [(6, "event_id")]
