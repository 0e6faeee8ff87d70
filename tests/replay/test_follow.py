"""A tail that loses lines, doubles them or gives half of one while the log is written to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gatekeeper.model.exchange import LogLine
from gatekeeper.replay.follow import FileTail, follow
from gatekeeper.replay.lines import TORN, parse_line
from gatekeeper.replay.query import Filter, select
from tests.replay.builder import rollout, seqs, write

LINES = rollout()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the log stands, or will."""
    return tmp_path / "decision.ndjson"


def append(log: Path, *lines: bytes, rest: bytes = b"") -> None:
    """Write behind what is there."""
    with log.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines) + rest)


def steps(*actions: Callable[[], object]) -> Callable[[], bool]:
    """A pause in which the next of *actions* happens; behind the last nobody wants to go on."""
    left = iter(actions)

    def pause() -> bool:
        action = next(left, None)
        if action is None:
            return False
        action()
        return True

    return pause


def test_what_is_appended_while_nobody_reads_is_given_at_the_next_read(log: Path) -> None:
    """First what is there, then each addition, in order and once."""
    write(log, LINES[:2])
    tail = FileTail(str(log))
    pause = steps(lambda: append(log, LINES[2]), lambda: None, lambda: append(log, *LINES[3:6]))
    assert seqs(follow(tail.read, pause)) == [1, 2, 3, 4, 5, 6]
    tail.close()


def test_a_log_that_does_not_exist_yet_is_waited_for(log: Path) -> None:
    """Following may begin before the first check."""
    tail = FileTail(str(log))
    assert seqs(follow(tail.read, steps(lambda: None, lambda: write(log, LINES[:2])))) == [1, 2]
    tail.close()


def test_half_a_line_is_not_given_before_its_other_half_is_there(log: Path) -> None:
    """Not even where the first half is a JSON object by itself."""
    write(log, LINES[:1], rest=LINES[1])
    tail = FileTail(str(log))
    assert seqs(tail.read()) == [1]
    append(log, rest=b"\n" + LINES[2][:50])
    assert seqs(tail.read()) == [2]
    append(log, rest=LINES[2][50:] + b"\n")
    assert seqs(tail.read()) == [3]
    tail.close()


def test_a_torn_end_that_the_ledger_cuts_off_does_not_disturb_what_follows(log: Path) -> None:
    """The torn bytes were never given, and the line written in their place is."""
    write(log, LINES[:2], rest=LINES[2][:200])
    tail = FileTail(str(log))
    assert seqs(tail.read()) == [1, 2]
    write(log, LINES[:2])  # the same file, cut
    append(log, LINES[2])
    assert seqs(tail.read()) == [3]
    tail.close()


def test_lines_written_just_before_a_rotation_are_not_lost(log: Path) -> None:
    """The old file is read to its end before the new one is begun."""
    write(log, LINES[:2])
    tail = FileTail(str(log))

    def rotate() -> None:
        append(log, LINES[2])
        log.rename(log.with_suffix(".1"))
        write(log, LINES[3:5])

    assert seqs(follow(tail.read, steps(rotate, lambda: append(log, LINES[5])))) == [1, 2, 3, 4, 5, 6]
    assert tail.warnings == []
    tail.close()


def test_a_line_that_a_late_writer_puts_into_the_rotated_file_is_given(log: Path) -> None:
    """Between the rename and the new file the old one may still grow."""
    write(log, LINES[:2])
    tail = FileTail(str(log))
    old = log.with_suffix(".1")
    pause = steps(
        lambda: log.rename(old),
        lambda: append(old, LINES[2]),
        lambda: write(log, LINES[3:4]),
    )
    assert seqs(follow(tail.read, pause)) == [1, 2, 3, 4]
    tail.close()


def test_a_log_cut_in_place_and_written_anew_is_read_from_its_beginning(log: Path) -> None:
    """Rotation by copy and truncate: the new content may be as long as the old, or longer."""
    for rest in (LINES[2:3], LINES[2:9]):
        write(log, LINES[:2])
        tail = FileTail(str(log))
        found = seqs(follow(tail.read, steps(lambda rest=rest: write(log, rest))))  # type: ignore[misc]
        assert found == list(range(1, 3 + len(rest)))
        tail.close()


def test_a_log_replaced_by_a_copy_of_itself_is_not_given_twice(log: Path) -> None:
    """A backup that was put back holds lines that were given before."""
    write(log, LINES[:3])
    tail = FileTail(str(log))
    copy = log.with_suffix(".new")
    pause = steps(lambda: write(copy, LINES[:5]), lambda: copy.rename(log))
    assert seqs(follow(tail.read, pause)) == [1, 2, 3, 4, 5]
    tail.close()


def test_seqs_that_were_rotated_away_unseen_are_named(log: Path) -> None:
    """Two rotations between two reads: the file in between was never open here."""
    write(log, LINES[:2])
    tail = FileTail(str(log))

    def rotate_twice() -> None:
        log.unlink()
        write(log.with_suffix(".2"), LINES[5:7])
        log.with_suffix(".2").rename(log)

    assert seqs(follow(tail.read, steps(rotate_twice))) == [1, 2, 6, 7]
    assert tail.warnings == ["seq 3 to 5 were rotated away between two reads"]
    tail.close()


def test_a_torn_end_left_behind_in_a_rotated_file_is_named(log: Path) -> None:
    """Nobody will ever end that line."""
    write(log, LINES[:2], rest=b'{"seq":3')
    tail = FileTail(str(log))
    list(tail.read())
    log.rename(log.with_suffix(".1"))
    write(log, LINES[2:3])
    found = list(tail.read())
    assert [(line.number, line.problem) for line in found] == [(3, TORN), (1, None)]
    tail.close()


def test_lines_known_from_elsewhere_are_passed_over(log: Path) -> None:
    """The caller has read up to seq 4 with another reader."""
    write(log, LINES[:6])
    tail = FileTail(str(log), after_seq=4)
    assert seqs(tail.read()) == [5, 6]
    tail.close()


def test_a_line_longer_than_a_block_is_given_whole(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines and blocks have nothing to do with each other."""
    monkeypatch.setattr("gatekeeper.replay.follow._BLOCK_BYTES", 100)
    write(log, LINES, rest=LINES[0][:250])
    tail = FileTail(str(log))
    found = list(tail.read())
    assert [line.data for line in found] == LINES
    assert [line.number for line in found] == list(range(1, 11))
    tail.close()


def test_following_a_query_gives_each_match_at_once_and_ends_at_its_limit(log: Path) -> None:
    """`replay --follow --verdict REJECT --limit 1` ends with the REJECT, not with the event after it."""
    write(log, LINES[:2])
    tail = FileTail(str(log))
    pauses: list[int] = []

    def pause() -> bool:
        pauses.append(len(pauses))
        append(log, LINES[2 + len(pauses)])
        return True

    found: Iterator[object] = select(follow(tail.read, pause), Filter(verdicts=("REJECT",), limit=1))
    assert len(list(found)) == 1
    assert len(pauses) == 4  # seq 4, 5, 6, then 7
    tail.close()


def test_blank_lines_are_passed_over_and_damaged_ones_given(log: Path) -> None:
    """Their numbers count on."""
    write(log, [b"", LINES[0], b"\r", b"{broken"])
    tail = FileTail(str(log))
    assert [(line.number, line.problem) for line in tail.read()] == [(2, None), (4, "damaged")]
    tail.close()


def test_a_line_written_between_the_read_and_the_rename_is_not_lost(log: Path) -> None:
    """The writer is quick: it appends when the tail has read to the end, and only then the log is rotated."""

    class Interrupted(FileTail):
        """Lets the writer and the rotation come in just before it looks whether the file was replaced."""

        def _is_replaced(self) -> bool:
            if not log.with_suffix(".1").exists():
                append(log, LINES[2])
                log.rename(log.with_suffix(".1"))
                write(log, LINES[3:4])
            return super()._is_replaced()

    write(log, LINES[:2])
    tail = Interrupted(str(log))
    assert seqs(tail.read()) == [1, 2, 3, 4]
    tail.close()


def test_a_gap_within_a_file_is_not_blamed_on_rotation(log: Path) -> None:
    """Only the first event of a new file tells what was rotated away."""
    write(log, LINES[:2])
    tail = FileTail(str(log))
    list(tail.read())
    log.rename(log.with_suffix(".1"))
    write(log, [LINES[2], LINES[4]])
    assert seqs(tail.read()) == [3, 5]
    assert tail.warnings == []
    tail.close()


def test_a_log_that_was_sealed_twice_between_two_reads_loses_no_line(log: Path) -> None:
    """Names alone cannot be followed then: the lines between are read where they stand now, each once."""
    sealed: dict[int, list[bytes]] = {}

    def lines_behind(seq: int) -> Iterator[LogLine]:
        for first, lines in sealed.items():
            for number, data in enumerate(lines, 1):
                if first + number - 1 > seq:
                    yield parse_line("sealed", number, data)

    def seal(first: int, lines: list[bytes], *following: bytes) -> None:
        sealed[first] = lines
        log.rename(log.parent / f"sealed-{first}")
        write(log, list(following))

    sealed[1] = LINES[:2]
    write(log, LINES[2:3])
    tail = FileTail(str(log), sealed=lines_behind)

    def twice() -> None:
        append(log, LINES[3])
        seal(3, LINES[2:4], LINES[4])
        seal(5, LINES[4:5], LINES[5])

    assert seqs(follow(tail.read, steps(twice, lambda: None))) == [1, 2, 3, 4, 5, 6]
    assert tail.warnings == []
    tail.close()
