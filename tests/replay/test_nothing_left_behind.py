"""Objects in circles that outlive the range of a log which they were made for: memory that grows with the log.

The command line searches for such circles seldom, because searching costs; so a reader must make none.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gatekeeper.replay.blocks import Range, Source, ranges_of
from gatekeeper.replay.parts import Helper, Map, Wanted
from gatekeeper.replay.query import Filter
from gatekeeper.replay.scan_range import Query, RangeScan
from gatekeeper.replay.survey import survey
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision
from tests.replay.builder import rollout, write

RANGE_BYTES = 3000


@contextmanager
def no_circle_is_made() -> Iterator[None]:
    """Whatever is not needed any more must be gone at once."""
    gc.collect()
    gc.disable()
    try:
        yield
        assert gc.collect() == 0, "objects that hold each other were left behind"
    finally:
        gc.enable()


def checked(parts: Sequence[Range], wanted: Wanted) -> Callable[[int], Iterable[object]]:
    """What a process of `verify` does with a range, by its number."""
    return Helper(parts, Map.of(parts, map(survey, parts)), wanted).check


def scanned(parts: Sequence[Range], query: Query) -> Callable[[int], Iterable[object]]:
    """What a process of `replay` does with a range, by its number."""
    scan = RangeScan(query)
    return lambda index: scan.records(parts[index])


READERS: dict[str, Callable[[Sequence[Range]], Callable[[int], Iterable[object]]]] = {
    "verify": lambda parts: checked(parts, Wanted(range_bytes=RANGE_BYTES)),
    "verify --chain-only": lambda parts: checked(parts, Wanted(range_bytes=RANGE_BYTES, chain_only=True)),
    "replay": lambda parts: scanned(parts, Query(Filter())),
    "replay --group-by": lambda parts: scanned(parts, Query(Filter(), fields=("verdict", "reason"))),
}


@pytest.mark.parametrize("name", READERS)
def test_what_a_range_needed_does_not_outlive_it(name: str, tmp_path: Path) -> None:
    """A hundred gigabytes are read with the memory that one range needs."""
    path = write(tmp_path / "decision.ndjson", rollout())
    parts = ranges_of([Source(str(path))], RANGE_BYTES)
    assert len(parts) > 5
    read = READERS[name](parts)
    for index in range(2):  # what is made once may stay
        list(read(index))
    with no_circle_is_made():
        for index in range(2, len(parts)):
            assert list(read(index))


def test_an_append_leaves_nothing_behind(tmp_path: Path) -> None:
    """A program that appends for months, or a server that embeds the ledger."""
    with closing(ledger_at(tmp_path / "decision.ndjson")) as ledger:
        ledger.append([decision("r0")], expect=None, actor="t")
        with no_circle_is_made():
            for number in range(1, 6):
                ledger.append([decision(f"r{number}", experiment=f"e{number}")], expect=None, actor="t")
