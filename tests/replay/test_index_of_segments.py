"""A rotated log is one log for a query, too, whether its files are plain, compressed, or moved by others."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.ledger.archive import archive
from gatekeeper.ledger.event_index import ProjectionIndex
from gatekeeper.ledger.indexing import open_index
from gatekeeper.replay.indexed import IndexedQuery
from gatekeeper.replay.query import Filter
from tests.doubles import StepClock
from tests.ledger.drafts import decision
from tests.replay.logs import DAMAGE, HOUR, Quick, ledger_at
from tests.replay.test_index_equals_scan import filters, indexed, scanned
from tests.replay.test_query import ALL_KINDS

pytestmark = pytest.mark.slow

STEPS = ("append",) * 4 + ("rotate", "rotate", "damage", "blank", "archive")


@pytest.fixture(scope="module")
def place() -> Iterator[Callable[[], Path]]:
    """Gives a new path for a log each time."""
    directory = Path(mkdtemp())
    yield lambda: Path(mkdtemp(dir=directory)) / "decision.ndjson"
    rmtree(directory)


def play(path: Path, steps: list[str]) -> None:
    """Carry out steps on a log; an append is two runs, one of them rejected."""
    clock = StepClock()
    for number, step in enumerate(steps):
        ledger = ledger_at(path, clock)
        clock.advance(7 * HOUR / 1_000_000)
        if step == "append":
            first, second = decision(f"a{number}", experiment=f"e{number}"), decision(f"b{number}", verdict="REJECT")
            ledger.append([first, {**second, "experiment_id": "f"}], expect=None, actor="t")
        elif step == "rotate":
            ledger.rotate(actor="t")
        elif step == "archive":
            list(archive(Quick(), str(path), compression="gzip", directory=None))
        elif path.exists():
            with path.open("ab") as file:
                file.write((DAMAGE[number % len(DAMAGE)] if step == "damage" else b"") + b"\n")
        ledger.view()
        ledger.close()


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=3, max_size=12),
    wanted=st.lists(filters(), min_size=1, max_size=4),
    field=st.sampled_from(("verdict", "day", "run", "kind")),
)
def test_both_ways_agree_on_a_log_of_several_files(
    steps: list[str], wanted: list[Filter], field: str, place: Callable[[], Path]
) -> None:
    """Sealed, compressed, damaged within: the same lines, counts, damaged lines and gaps in the same order."""
    path = place()
    play(path, ["append", *steps])
    for one in (*wanted, Filter(kinds=ALL_KINDS)):
        assert indexed(path, one, (field,)) == scanned(path, one, (field,)), one


def opened(path: Path) -> ProjectionIndex | None:
    """The index."""
    return open_index(str(path), ops=Quick())[0]


def test_a_segment_that_others_moved_is_looked_for_in_the_log(tmp_path: Path) -> None:
    """The index knows the lines of a file that is not there: whoever reads the log finds out what is missing."""
    path = tmp_path / "decision.ndjson"
    play(path, ["append", "rotate", "append"])
    sealed = next(found for found in tmp_path.iterdir() if "-0000" in found.name)
    sealed.rename(tmp_path / "decision.ndjson.1")
    assert opened(path) is None


def test_a_segment_that_was_removed_is_no_part_of_the_answer(tmp_path: Path) -> None:
    """Its events are known by the index, and are not in the log any more: they are a gap."""
    path = tmp_path / "decision.ndjson"
    play(path, ["append", "rotate", "append"])
    next(found for found in tmp_path.iterdir() if "-0000" in found.name).unlink()
    answer = indexed(path, Filter(), ("verdict",))
    assert answer == scanned(path, Filter(), ("verdict",))
    assert (len(answer["lines"]), answer["gaps"]) == (2, [(1, 2)])


def test_an_odd_line_at_the_beginning_of_a_file_stands_behind_the_file_before(tmp_path: Path) -> None:
    """Somebody has put a line before the first one: in the order of the log it comes after the sealed segment."""
    path = tmp_path / "decision.ndjson"
    play(path, ["append", "rotate", "append"])
    path.write_bytes(b"no JSON\n" + path.read_bytes())
    ledger_at(path).view()
    for wanted in (Filter(), Filter(limit=2), Filter(limit=3), Filter(kinds=ALL_KINDS)):
        assert indexed(path, wanted, ("kind",)) == scanned(path, wanted, ("kind",))


def test_a_compressed_segment_is_passed_through_once(tmp_path: Path) -> None:
    """Each hit entered from the beginning would read the file as often as it has hits."""
    path = tmp_path / "decision.ndjson"
    play(path, ["append"] * 30 + ["rotate", "archive", "append"])
    packed = next(found for found in tmp_path.iterdir() if found.suffix == ".gz")

    class Counted(Quick):
        opened = 0

        def open(self, path: str, flags: int) -> int:
            self.opened += path == str(packed)
            return super().open(path, flags)

    ops = Counted()
    index, _ = open_index(str(path), ops=ops)
    assert index is not None
    assert len(list(IndexedQuery(index, Filter()).data())) == 62
    index.close()
    assert ops.opened == 1


def test_a_segment_that_is_known_in_part_is_read(tmp_path: Path) -> None:
    """A state that came to the log later: of a file of which it has not all lines it knows too little."""
    path = tmp_path / "decision.ndjson"
    play(path, ["append", "rotate", "append"])
    index = opened(path)
    assert index is not None
    index.close()
    connection = sqlite3.connect(f"{path}.db", isolation_level=None)
    connection.execute("UPDATE segments SET first_seq = 2 WHERE first_seq = 1")
    connection.close()
    assert opened(path) is None
