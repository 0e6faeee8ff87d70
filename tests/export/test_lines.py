"""Lines of a ledger that is no file: read wherever its blocks are cut, from any seq on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gatekeeper.export.lines import lines_of
from gatekeeper.export.position import Position, lines_behind
from gatekeeper.model.event import line_digest
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.holes import Holes
from tests.export.logs import NOON, chain, founding


def streamed(lines: list[bytes], size: int) -> Source:
    """What a database or a remote repository gives: bytes as they come, which no offset is asked of."""
    data = b"".join(line + b"\n" for line in lines)

    def content(start: int) -> Iterator[bytes]:
        assert start == 0
        return (data[at : at + size] for at in range(0, len(data), size))

    return Source("postgresql://gate@db/log", content=content)


@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 20])
def test_a_stream_is_read_as_the_lines_that_it_holds(size: int) -> None:
    """Each once, with its number and seq, whatever was cut in two."""
    a, b, c = chain(NOON, NOON, NOON)
    lines = [a, founding("f"), b, b"{damaged", c]
    holes = Holes()
    found = list(lines_of([streamed(lines, size)], holes))
    assert [(line.number, line.data, line.seq) for line in found] == [
        (1, a, 1),
        (2, lines[1], None),
        (3, b, 2),
        (4, lines[3], None),
        (5, c, 3),
    ]
    assert [(hole.number, hole.problem) for hole in holes.damaged] == [(4, "damaged")]


@pytest.mark.parametrize("known", [1, 2, 3])
def test_a_stream_that_begins_at_the_last_known_event_is_gone_on_with(known: int) -> None:
    """A ledger asked for the lines from there on gives no more: nothing in front of them is missing."""
    lines = chain(*[NOON] * 3)
    digest = line_digest(lines[known - 1])
    position, holes = Position(known, digest, 0, digest), Holes()
    source = streamed(lines[known - 1 :], 4096)
    found = list(lines_behind(lines_of([source], holes, from_seq=known), position, "copy"))
    assert [line.data for line in found] == lines[known:]
    assert holes.gaps == []


def test_progress_ends_with_all_that_there_was() -> None:
    """Whoever watches a terminal sees it come to its end."""
    told: list[tuple[int, int]] = []
    list(lines_of([streamed(chain(NOON), 64)], Holes(), progress=lambda done, total: told.append((done, total))))
    assert told == [(0, 0)]  # how long a stream is, nobody knows
