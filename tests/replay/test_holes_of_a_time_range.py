"""A query for a range of time that warns of what cannot concern it, or keeps silent about what can."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.ledger.compression import content_blocks
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.indexing import open_index
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.times import require_time
from gatekeeper.replay import scan as module
from gatekeeper.replay import window
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.holes import Holes
from gatekeeper.replay.indexed import IndexedQuery
from gatekeeper.replay.query import Filter, select
from gatekeeper.replay.scan import Pace, Scan
from tests.replay.builder import at_minute, changed, parsed
from tests.replay.logs import Quick, take_in
from tests.replay.plainly import Plainly
from tests.replay.tampering import BYTES, LOG
from tests.replay.test_query import ALL_KINDS
from tests.replay.test_verify_in_parts import InThisProcess

Told = tuple[list[bytes], list[bytes], list[tuple[int, int]]]
"""Lines of the answer, damaged lines, gaps."""

DAMAGES = ("no UTF-8", "cut", "cut before its end", "zeros", "rubbish", "a list", "blank", "founding-style")
ACCIDENTS = st.lists(
    st.tuples(st.sampled_from(("lost", "lost", *DAMAGES)), st.integers(0, len(LOG) - 1), st.integers(1, 4)),
    min_size=1,
    max_size=5,
)
MOMENTS = st.builds(
    lambda minute, more: require_time(at_minute(minute)) + more, st.integers(-1, 26), st.integers(-1, 1)
)
FILTERS = st.builds(
    Filter,
    run=st.none() | st.sampled_from(("exp-42:B:2026-02-18", "exp-1:A:v8", "nobody")),
    verdicts=st.sets(st.sampled_from(("ACCEPT", "REJECT", "DEGRADE")), max_size=2),
    kinds=st.sampled_from(((), ("policy",), ("action", "refusal"), ALL_KINDS)),
    since=st.none() | MOMENTS,
    until=st.none() | MOMENTS,
    limit=st.none() | st.none() | st.integers(0, 6),
).filter(lambda wanted: wanted.since is None or wanted.until is None or wanted.since <= wanted.until)


def after(accidents: list[tuple[str, int, int]]) -> list[bytes]:
    """What these accidents have left of the log; line n has seq n and was written at minute n."""
    log: list[bytes | None] = list(LOG)
    for what, at, count in accidents:
        for number in range(at, min(at + count, len(log))):
            line = log[number]
            log[number] = None if line is None or what == "lost" else BYTES[what](LOG[number])
    return [line for line in log if line is not None]


def by_definition(lines: list[LogLine], wanted: Filter) -> Told:
    """All of it read."""
    found = Plainly(lines, wanted)
    return [line.data for line in found.lines], [line.data for line in found.damaged], found.gaps


def told(lines: list[bytes], holes: Holes) -> Told:
    """What a query has told."""
    return lines, [line.data for line in holes.damaged], [(gap.from_seq, gap.to_seq) for gap in holes.gaps]


def indexed(path: Path, wanted: Filter) -> Told:
    """By the index beside the log."""
    index, _ = open_index(str(path), ops=Quick())
    assert index is not None
    try:
        query = IndexedQuery(index, wanted)
        return told(list(query.data()), query.holes)
    finally:
        index.close()


def scanned(sources: list[Source], wanted: Filter, range_bytes: int, fine_bytes: int = 2000) -> Told:
    """By the lines alone; with windows as narrow in this short log as they are in a long one, if that is wished."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Workers", InThisProcess)
        patch.setattr(window, "_FINE_BYTES", fine_bytes)
        patch.setattr(window, "_PLACES", 4)
        found = Scan(sources, wanted, Pace(jobs=2, range_bytes=range_bytes))
        return told(list(found.data()), found.holes)


def in_files(directory: Path, lines: list[bytes], cuts: list[int], rest: bytes) -> list[Source]:
    """The log in several files, every second one compressed."""
    sources = []
    ends = [0, *sorted({cut for cut in cuts if cut < len(lines)}), len(lines)]
    for number, (begin, end) in enumerate(pairwise(ends)):
        data = b"".join(line + b"\n" for line in lines[begin:end]) + (rest if end == len(lines) else b"")
        path = directory / f"part{number}"
        if number % 2:
            path = path.with_suffix(".gz")
            path.write_bytes(gzip.compress(data))
            sources.append(Source(str(path), content=lambda start, path=path: packed(path, start)))  # type: ignore[misc]
        else:
            path.write_bytes(data)
            sources.append(Source(str(path)))
    return sources


def packed(path: Path, start: int) -> Iterator[bytes]:
    """The content of a compressed file."""
    return content_blocks(FileOps(), str(path), start=start)


@pytest.fixture(scope="module")
def place() -> Iterator[Callable[[], Path]]:
    """Gives a new directory each time."""
    directory = Path(mkdtemp())
    yield lambda: Path(mkdtemp(dir=directory))
    rmtree(directory)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    accidents=ACCIDENTS,
    wanted=st.lists(FILTERS, min_size=1, max_size=4),
    cuts=st.lists(st.integers(1, len(LOG) - 1), max_size=3),
    range_bytes=st.sampled_from((600, 2500, 9000, 1 << 20)),
    fine_bytes=st.sampled_from((2000, 1 << 18)),
    rest=st.sampled_from((b"", b"", b'{"seq":', b"  ")),
)
def test_every_way_of_reading_tells_the_holes_that_concern_the_range(
    accidents: list[tuple[str, int, int]],
    wanted: list[Filter],
    cuts: list[int],
    range_bytes: int,
    fine_bytes: int,
    rest: bytes,
    place: Callable[[], Path],
) -> None:
    """By index, by a scan of one file and of several: the lines, damaged lines and gaps of the definition."""
    directory, lines = place(), after(accidents)
    path = directory / "decision.ndjson"
    take_in(path, lines, rest)
    torn = [LogLine("", 0, rest, None, "torn")] if rest.strip() else []
    sources = in_files(directory, lines, cuts, rest)
    for one in wanted:
        expected = by_definition([*parsed(lines), *torn], one)
        assert indexed(path, one) == expected, one
        assert scanned([Source(str(path))], one, range_bytes, fine_bytes) == expected, one
        assert scanned(sources, one, range_bytes, fine_bytes) == expected, one


# seqs 4 and 5 (minutes 4, 5) are lost, line 10 is rubbish, seq 20 is lost: the holes lie in minutes 3-6, 9-11, 19-21
HOLED = [*LOG[:3], *LOG[5:9], b"rubbish", *LOG[10:19], *LOG[20:]]


@pytest.mark.parametrize(
    ("since", "until", "gaps", "damaged"),
    [
        (None, None, [(4, 5), (20, 20)], 1),
        (12, None, [(20, 20)], 0),
        (11, None, [(20, 20)], 1),
        (None, 8, [(4, 5)], 0),
        (None, 9, [(4, 5)], 1),
        (None, 2, [], 0),
        (None, 3, [(4, 5)], 0),
        (6, 8, [(4, 5)], 0),
        (7, 8, [], 0),
        (12, 18, [], 0),
        (4, 5, [(4, 5)], 0),
        (22, None, [], 0),
    ],
)
def test_a_hole_is_told_where_it_touches_the_range(
    since: int | None, until: int | None, gaps: list[tuple[int, int]], damaged: int, tmp_path: Path
) -> None:
    """What is missing may have had any time between its neighbours', theirs included; minute n is seq n."""
    moments = [None if minute is None else require_time(at_minute(minute)) for minute in (since, until)]
    wanted = Filter(since=moments[0], until=moments[1], kinds=ALL_KINDS)
    path = tmp_path / "decision.ndjson"
    take_in(path, HOLED)
    for lines in (indexed(path, wanted), scanned([Source(str(path))], wanted, 1 << 20)):
        assert (lines[2], len(lines[1])) == (gaps, damaged)


def test_a_range_before_the_first_event_concerns_what_is_missing_there(tmp_path: Path) -> None:
    """A log that has lost its beginning must not look as if nothing had happened then."""
    path = tmp_path / "decision.ndjson"
    take_in(path, LOG[7:])
    for minutes, gaps in (((None, 3), [(1, 7)]), ((2, 4), [(1, 7)]), ((8, None), [(1, 7)]), ((9, None), [])):
        since, until = (None if minute is None else require_time(at_minute(minute)) for minute in minutes)
        wanted = Filter(since=since, until=until)
        assert indexed(path, wanted)[2] == scanned([Source(str(path))], wanted, 1 << 20)[2] == gaps, minutes


def test_counts_of_a_range_come_with_the_same_holes(tmp_path: Path) -> None:
    """`--group-by` reads other lines than a list does."""
    path = tmp_path / "decision.ndjson"
    take_in(path, HOLED)
    wanted = Filter(since=require_time(at_minute(11)), until=require_time(at_minute(19)))
    for one in (wanted, replace(wanted, verdicts=("REJECT",))):
        found = Scan([Source(str(path))], one, Pace(jobs=1))
        found.groups(["verdict"])
        assert told([], found.holes)[1:] == ([b"rubbish"], [(20, 20)])


def test_following_a_log_names_the_damage_that_concerns_the_range() -> None:
    """Lines that come later are told of anew, once."""
    lines = parsed(HOLED)
    holes = Holes(since=require_time(at_minute(12)))
    list(select(lines, Filter(), holes=holes))
    assert holes.damaged == []
    holes.forget()
    list(select(parsed([b"rubbish"]), Filter(), holes=holes))
    assert [line.data for line in holes.damaged] == [b"rubbish"]
    holes.forget()
    list(select(chain(parsed([b"more"])), Filter(), holes=holes))
    assert [line.data for line in holes.damaged] == [b"more"]


def test_a_hole_where_time_runs_back_is_told(tmp_path: Path) -> None:
    """Its neighbours lie within the range and before it, in the wrong order: nobody can say where it belongs."""
    path = tmp_path / "decision.ndjson"
    back = changed(LOG[2], lambda event: event.update(seq=13, ts=at_minute(3)))
    take_in(path, [*LOG[:11], b"rubbish", back, *LOG[13:]])
    wanted = Filter(since=require_time(at_minute(10)), kinds=ALL_KINDS)
    assert indexed(path, wanted)[1:] == ([b"rubbish"], [])
    assert scanned([Source(str(path))], wanted, 1 << 20, 1 << 18)[1:] == ([b"rubbish"], [])


def test_damage_behind_the_range_is_not_told_by_a_reader_that_came_there(tmp_path: Path) -> None:
    """A packed file is read to its end; its last line may be torn, and no event stands behind it."""
    path = tmp_path / "part1.gz"
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in LOG) + b'{"seq":'))
    source = Source(str(path), content=lambda start: packed(path, start))
    wanted = Filter(run="nobody", until=require_time(at_minute(5)))
    assert scanned([source], wanted, 1 << 20) == ([], [], [])
    assert scanned([source], replace(wanted, until=None), 1 << 20) == ([], [b'{"seq":'], [])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["lost", *DAMAGES])
@pytest.mark.parametrize("range_bytes", [2500, 1 << 20])
def test_one_hole_anywhere_is_told_by_the_ranges_that_it_touches(
    what: str, range_bytes: int, place: Callable[[], Path]
) -> None:
    """Searched whole for what no line holds, so that lines behind the range are passed over unread, too."""
    directory = place()
    for at in range(len(LOG)):
        path = directory / f"{at}"
        lines = after([(what, at, 1)])
        torn = b'{"torn' if at % 2 else b""
        path.write_bytes(b"".join(line + b"\n" for line in lines) + torn)
        read = [*parsed(lines), *([LogLine("", 0, torn, None, "torn")] if torn else [])]
        for minute in (at - 3, at - 1, at, at + 1, at + 2, at + 4):
            moment = require_time(at_minute(minute))
            for wanted in (Filter(run="nobody", until=moment), Filter(run="nobody", since=moment)):
                expected = by_definition(read, wanted)
                assert scanned([Source(str(path))], wanted, range_bytes, 1 << 18) == expected, (at, wanted)


@pytest.mark.parametrize("since", [11, 12, 13, 14, 16])
@pytest.mark.parametrize("broken", [b"rubbish", LOG[11].replace(b'"attempt":1,', b'"attempt":,')])
def test_a_damaged_line_among_usual_ones_lies_between_its_neighbours(since: int, broken: bytes, tmp_path: Path) -> None:
    """Rubbish that somebody put between two lines, and a line that looks like any other until it is parsed."""
    path = tmp_path / "decision.ndjson"
    take_in(path, [*LOG[:11], broken, *LOG[11 if broken == b"rubbish" else 12 :]])
    following = 12 if broken == b"rubbish" else 13
    wanted = Filter(run="exp-0:A:v8", since=require_time(at_minute(since)))
    expected = [broken] if since <= following else []
    assert indexed(path, wanted)[1] == expected
    assert scanned([Source(str(path))], wanted, 1 << 20, 1 << 18)[1] == expected
