from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gatekeeper.errors import InputRefusedError, LogDamagedError, LogError
from gatekeeper.ledger import taking_in
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.importing import Imported, import_lines
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.model.event import encode_line, line_digest
from tests.doubles import StepClock
from tests.ledger.drafts import decision, stop
from tests.replay.builder import changed, rechained, rollout, write

if TYPE_CHECKING:
    from gatekeeper.ledger.importing import SourceLine

LINES = rollout()


def ledger_at(path: Path, ops: FileOps | None = None) -> NdjsonLedger:
    """A file ledger whose clock is ahead of the example."""
    return NdjsonLedger(str(path), clock=StepClock(), ops=ops)


def reader_of(path: Path) -> Callable[[int], Iterator[SourceLine]]:
    """What the command reads a file by."""
    return lambda _after: raw_lines([str(path)])


def take_over(source: Path, target: Path) -> Imported:
    """Import one file into another."""
    ledger = ledger_at(target)
    try:
        return import_lines(reader_of(source), ledger, shown="target")
    finally:
        ledger.close()


@pytest.mark.parametrize("cut", [0, 1, 3, len(LINES)])
def test_an_import_gives_the_same_bytes_wherever_the_target_ends(tmp_path: Path, cut: int) -> None:
    """Same bytes, same chain, no line twice: an import that was cut short goes on where the target ends."""
    source, target = write(tmp_path / "a", LINES), tmp_path / "new" / "b"
    if cut:
        target.parent.mkdir()
        write(target, LINES[:cut])
    done = take_over(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert (done.events, done.known, done.first_seq, done.last_seq) == (len(LINES) - cut, cut, 1, len(LINES))
    assert (done.seq, done.digest) == (len(LINES), line_digest(LINES[-1]))


def test_a_target_that_is_ahead_stays_as_it_is(tmp_path: Path) -> None:
    """A source that was left behind brings nothing, and is no fork."""
    source, target = write(tmp_path / "a", LINES[:2]), write(tmp_path / "b", LINES)
    assert take_over(source, target).events == 0
    assert target.read_bytes() == write(tmp_path / "c", LINES).read_bytes()


def test_the_ledger_goes_on_behind_what_was_imported(tmp_path: Path) -> None:
    """Runs, chain and seqs are those of the source: the next event is its successor."""
    target = tmp_path / "b"
    ledger = ledger_at(target)
    import_lines(reader_of(write(tmp_path / "a", LINES)), ledger, shown="target")
    runs = [run.to_dict() for run in ledger.view().runs()]
    ledger.append([decision("fresh")], expect=None, actor="t")
    last = json.loads(target.read_bytes().splitlines()[-1])
    assert (last["seq"], last["prev"]) == (len(LINES) + 1, line_digest(LINES[-1]))
    direct = ledger_at(tmp_path / "a")
    assert runs == [run.to_dict() for run in direct.view().runs()]


@pytest.mark.parametrize("at", [0, 2, len(LINES) - 1])
@pytest.mark.parametrize("source_goes_on", [True, False])
@pytest.mark.parametrize("target_goes_on", [True, False])
def test_a_fork_is_refused_at_the_first_seq_that_differs(
    tmp_path: Path, at: int, source_goes_on: bool, target_goes_on: bool
) -> None:
    """Two histories in one log could never be told apart again."""
    other = rechained(
        [*LINES[:at], changed(LINES[at], lambda event: event.update(actor="somebody else")), *LINES[at + 1 :]]
    )
    source = write(tmp_path / "a", LINES if source_goes_on else LINES[: at + 1])
    target = write(tmp_path / "b", other if target_goes_on else other[: at + 1])
    before = target.read_bytes()
    with pytest.raises(LogDamagedError, match=rf"differ from seq {at + 1} on"):
        take_over(source, target)
    assert target.read_bytes() == before


def test_a_gap_between_target_and_source_is_refused(tmp_path: Path) -> None:
    """Lines in between would be missing for ever."""
    ledger = ledger_at(tmp_path / "a")
    for number in range(1, 4):
        ledger.append([decision(f"r{number}")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    target = write(tmp_path / "b", (tmp_path / "a.000000000001-000000000003").read_bytes().splitlines()[:1])
    with pytest.raises(InputRefusedError, match="begins at seq 4, and target ends at seq 1"):
        import_lines(lambda _after: iter_file(tmp_path / "a"), ledger_at(target), shown="target")


def iter_file(path: Path) -> Iterator[SourceLine]:
    """One file without what stands beside it."""
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        yield str(path), number, line, True


def test_a_pruned_log_begins_with_its_segment_head(tmp_path: Path) -> None:
    """What was removed is not missed: the head vouches for it, and the runs go on from there."""
    ledger = ledger_at(tmp_path / "a")
    for number in range(1, 4):
        ledger.append([decision(f"r{number}")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    shutil.copy(tmp_path / "a", tmp_path / "copy")  # read as it is, by the ledger itself
    runs = [run.to_dict() for run in ledger_at(tmp_path / "copy").view().runs()]
    assert [run["run_id"] for run in runs] == ["r1", "r2", "r3"]
    target = ledger_at(tmp_path / "b")
    done = import_lines(lambda _after: iter_file(tmp_path / "a"), target, shown="target")
    assert done.first_seq == 4
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()
    assert [run.to_dict() for run in target.view().runs()] == runs
    assert target.view().is_complete
    assert import_lines(lambda _after: iter_file(tmp_path / "a"), target, shown="target").events == 0


def test_a_part_that_follows_another_history_is_a_fork(tmp_path: Path) -> None:
    """Its first seq is just the next one; what stands before it is not what stands here."""
    other = write(tmp_path / "other", rechained([changed(LINES[0], lambda event: event.update(actor="x"))]))
    ledger = ledger_at(tmp_path / "a")
    ledger.append([decision("r1")], expect=None, actor="t")
    ledger.rotate(actor="t")
    ledger.close()
    before = other.read_bytes()
    with pytest.raises(LogDamagedError, match="two histories: they differ from seq 2 on"):
        import_lines(lambda _after: iter_file(tmp_path / "a"), ledger_at(other), shown="target")
    assert other.read_bytes() == before


def test_an_unfinished_line_within_the_source_is_refused(tmp_path: Path) -> None:
    """One of several files was cut; what stands in the next one does not follow it."""
    parts = [write(tmp_path / "a", LINES[:2], rest=LINES[2][:30]), write(tmp_path / "b", LINES[2:])]

    def read(_after: int) -> Iterator[SourceLine]:
        for part in parts:
            yield from raw_lines([str(part)])

    with pytest.raises(LogDamagedError, match="a:3 is an unfinished line within the log"):
        import_lines(read, ledger_at(tmp_path / "target"), shown="target")
    assert not (tmp_path / "target").exists()


def test_a_log_without_its_beginning_is_refused(tmp_path: Path) -> None:
    """No head of a segment vouches for what is missing."""
    with pytest.raises(LogDamagedError, match="seqs 1-2 missing"):
        take_over(write(tmp_path / "a", LINES[2:]), tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("damaged", "words"),
    [
        ([*LINES[:2], b"no JSON", *LINES[3:]], "a:3 is no event"),
        ([*LINES[:2], *LINES[3:]], "a:3 follows a gap: seq 3 missing"),
        ([*LINES[:2], LINES[1], *LINES[2:]], "a:3 has seq 2, expected 3"),
        ([*LINES[:2], b'{"run_id":"r"}', *LINES[2:]], "a:3 has no place in a chain"),
        (
            [*LINES[:2], changed(LINES[2], lambda event: event.update(actor="x")), *LINES[3:]],
            r"a:4 \(seq 4\) does not hold the digest of the line before",
        ),
    ],
    ids=["damaged", "gap", "double", "founding-style", "changed"],
)
@pytest.mark.parametrize("begun", [0, 2])
def test_a_source_that_does_not_hold_together_changes_nothing(
    tmp_path: Path, damaged: list[bytes], words: str, begun: int
) -> None:
    """All of it is checked before the first line is taken: half of a damaged log is worse than none."""
    target = tmp_path / "b"
    if begun:
        write(target, LINES[:begun])
    with pytest.raises(LogDamagedError, match=words):
        take_over(write(tmp_path / "a", damaged), target)
    assert (target.read_bytes() if target.exists() else b"") == b"".join(line + b"\n" for line in LINES[:begun])


def test_an_unfinished_line_at_the_end_is_passed_over_and_told(tmp_path: Path) -> None:
    """It was never promised to anybody; a source that nobody writes any more could not be moved otherwise."""
    source = write(tmp_path / "a", LINES, rest=LINES[0][:40])
    done = take_over(source, tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == source.read_bytes()[:-40]
    assert done.torn == f"{source}:{len(LINES) + 1}"


def test_an_empty_source_is_refused(tmp_path: Path) -> None:
    """A wrong path must not look like an import."""
    with pytest.raises(InputRefusedError, match="no event"):
        take_over(write(tmp_path / "a", []), tmp_path / "b")


def test_memory_does_not_grow_with_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are taken in by parts, each with its own lock, write and flush."""
    monkeypatch.setattr(taking_in, "PART_BYTES", 2 * len(LINES[0]))
    counted = CountingOps()
    ledger = ledger_at(tmp_path / "b", counted)
    source = write(tmp_path / "a", LINES)
    import_lines(reader_of(source), ledger, shown="target")
    assert (tmp_path / "b").read_bytes() == source.read_bytes()
    assert len(counted.writes) > 2
    assert max(counted.writes) < len(source.read_bytes())


class CountingOps(FileOps):
    """Notes how long each write to the log was; from the n-th on the disk is full."""

    def __init__(self, fail_from: int | None = None) -> None:
        self.writes: list[int] = []
        self.fail_from = fail_from

    def write(self, descriptor: int, data: bytes) -> int:
        """As ever, or half of it."""
        if data.startswith(b'{"'):
            self.writes.append(len(data))
            if self.fail_from is not None and len(self.writes) >= self.fail_from:
                return super().write(descriptor, data[: len(data) // 2])
        return super().write(descriptor, data)


def test_a_full_disk_leaves_whole_parts_and_the_next_import_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No torn line stays behind: it would be one that the source does not have."""
    monkeypatch.setattr(taking_in, "PART_BYTES", 2 * len(LINES[0]))
    source, target = write(tmp_path / "a", LINES), tmp_path / "b"
    with pytest.raises(LogError, match="cannot be written"):
        import_lines(reader_of(source), ledger_at(target, CountingOps(fail_from=2)), shown="target")
    begun = target.read_bytes()
    assert begun
    assert begun.endswith(b"\n")
    assert source.read_bytes().startswith(begun)
    take_over(source, target)
    assert target.read_bytes() == source.read_bytes()


def test_an_import_that_was_killed_goes_on_where_the_whole_lines_end(tmp_path: Path) -> None:
    """Half a line is kept aside and cut off, as after any crash, and the bytes come out as those of the source."""
    source, target = write(tmp_path / "a", LINES), write(tmp_path / "b", LINES[:3], rest=LINES[3][:50])
    assert take_over(source, target).events == len(LINES) - 3
    assert target.read_bytes() == source.read_bytes()
    assert (tmp_path / "b.torn-untold").read_bytes() == LINES[3][:50]


def test_whoever_appends_in_between_wins_and_no_fork_comes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is compared with the log's end again, under the lock."""
    monkeypatch.setattr(taking_in, "PART_BYTES", len(LINES[0]))
    target = tmp_path / "b"
    source = write(tmp_path / "a", LINES)
    other, reads = ledger_at(target), 0

    def read(_after: int) -> Iterator[SourceLine]:
        nonlocal reads
        reads += 1
        for index, found in enumerate(raw_lines([str(source)])):
            if reads == 2 and index == 3:
                other.append([decision("other")], expect=None, actor="other")
            yield found

    with pytest.raises(LogDamagedError):
        import_lines(read, ledger_at(target), shown="target")
    lines = target.read_bytes().splitlines()
    assert json.loads(lines[-1])["run_id"] == "other"
    assert rechained(lines) == lines


def test_a_target_that_has_lost_its_file_is_refused(tmp_path: Path) -> None:
    """Its state goes on from the head that it knows: a second beginning would not fit."""
    target = write(tmp_path / "b", LINES)
    ledger = ledger_at(target)
    ledger.view()
    ledger.close()
    target.unlink()
    more = rechained(
        [*LINES, encode_line({**stop(), "v": 1, "seq": len(LINES) + 1, "ts": "2026-02-18T02:00:00.000000Z"})]
    )
    with pytest.raises(LogDamagedError, match="has lost seq 1 to"):
        take_over(write(tmp_path / "a", more), target)
