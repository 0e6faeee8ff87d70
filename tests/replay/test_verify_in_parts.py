"""A log that is checked in parts, all at the same time, and another report than one reader would have written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gatekeeper.errors import LogError
from gatekeeper.replay import ids, verify
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.ids import HashPile
from gatekeeper.replay.parts import Wanted
from gatekeeper.replay.report import Report
from gatekeeper.replay.verify import verify_files
from tests.replay.builder import changed, parsed, rechained, rollout, write
from tests.replay.tampering import BYTES, EDITS, LOG, STEPS, Step, tampered
from tests.replay.test_verify_chain import TAMPERS

pytestmark = pytest.mark.slow

RANGES = st.sampled_from((600, 2000, 5000, 20_000))
NAME = "decision.ndjson"


class InThisProcess:
    """What `Workers` does, one task after the other and without a fork, for many small examples."""

    def __init__(self, jobs: int, tasks: Sequence[Any], work: Callable[[Any], Iterable[Any]]) -> None:
        assert jobs > 1
        self._answers = [list(work(task)) for task in tasks]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def answers(self) -> Iterator[Iterator[Any]]:
        """Of each task."""
        yield from map(iter, self._answers)


def alone(path: Path, from_seq: int = 1, *, rest: bytes = b"") -> Report:
    """What one reader finds who takes line by line."""
    *whole, _ = path.read_bytes().removesuffix(rest).split(b"\n")
    lines = parsed(whole, str(path))
    if rest:
        from gatekeeper.replay.lines import parse_line

        lines.append(parse_line(str(path), len(whole) + 1, rest, is_terminated=False))
    return verify.verify(lines, from_seq)


@settings(deadline=None, max_examples=60)
@given(STEPS, RANGES, st.sampled_from((1, 1, 2, 5, 14, 40)), st.sampled_from((b"", b"", b'{"seq":')))
def test_a_log_in_parts_gives_the_report_of_one_reader(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], range_bytes: int, from_seq: int, rest: bytes
) -> None:
    """Whatever was done to it, wherever it is cut: the same problems in the same order, the same numbers."""
    path = write(tmp_path_factory.mktemp("log") / NAME, tampered(steps), rest=rest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify, "Workers", InThisProcess)
        found = verify_files([Source(str(path))], Wanted(from_seq, jobs=2, range_bytes=range_bytes))
    assert found.to_dict() == alone(path, from_seq, rest=rest).to_dict()
    serial = verify_files([Source(str(path))], Wanted(from_seq, jobs=1, range_bytes=range_bytes))
    assert serial == found


@settings(deadline=None, max_examples=60)
@given(STEPS, RANGES, st.sampled_from((1, 1, 5)))
@example([("glue", 22, 22)], 600, 1)  # the last line, whose digest no other has
def test_following_the_chain_alone_gives_one_report_however_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], range_bytes: int, from_seq: int
) -> None:
    """In one part or in many; and where it finds nothing, the whole check finds nothing wrong with the chain."""
    path = write(tmp_path_factory.mktemp("log") / NAME, tampered(steps))
    source, codes = Source(str(path)), {"seq", "gap", "ts", "prev", "bytes"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verify, "Workers", InThisProcess)
        parts = verify_files([source], Wanted(from_seq, chain_only=True, jobs=2, range_bytes=range_bytes))
    assert parts == verify_files([source], Wanted(from_seq, chain_only=True, jobs=1, range_bytes=range_bytes))
    whole = verify_files([source], Wanted(from_seq, jobs=1))
    if parts.ok:
        assert not [problem for problem in whole.problems if problem.code in codes]
        assert (parts.head, parts.last_seq, parts.lines) == (whole.head, whole.last_seq, whole.lines)
    else:
        assert not whole.ok


@pytest.mark.parametrize("name", TAMPERS)
def test_real_processes_find_what_one_reader_finds(name: str, tmp_path: Path) -> None:
    """The tamper matrix once more, cut into parts of a line or two."""
    path = write(tmp_path / NAME, TAMPERS[name][0](rollout()))
    found = verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=3000))
    assert found == alone(path)


@pytest.mark.parametrize("name", TAMPERS)
def test_the_chain_alone_shows_what_was_done_to_the_bytes(name: str, tmp_path: Path) -> None:
    """Not what only the inside of a line can tell: whether it is canonical, and its digests and decisions right."""
    tamper, number, _ = TAMPERS[name]
    path = write(tmp_path / NAME, tamper(rollout()))
    first = verify_files([Source(str(path))], Wanted(jobs=2, range_bytes=3000, chain_only=True)).first_wrong
    assert first is not None, "no digest behind it fits any more"
    assert first.place.number == (2 if name == "carriage returns" else number), "of all lines the second has no vouch"


def test_several_files_are_one_log_for_many_processes(tmp_path: Path) -> None:
    """A part that begins with a file knows from its own first line what stands before it."""
    cuts = (0, 4, 5, 15, len(LOG))
    paths = [write(tmp_path / f"{number}.ndjson", LOG[begin:end]) for number, (begin, end) in enumerate(pairwise(cuts))]
    sources = [Source(str(path)) for path in paths]
    whole = verify_files(sources, Wanted(jobs=3, range_bytes=4000))
    assert (whole.problems, whole.lines, whole.reevaluated) == ((), len(LOG), 18)
    left_out = verify_files([*sources[:1], *sources[2:]], Wanted(jobs=3, range_bytes=4000)).first_wrong
    assert left_out is not None
    assert (left_out.place.source, left_out.place.number, left_out.what) == (str(paths[2]), 1, "seq 5 is missing")


def test_a_torn_line_between_parts_is_what_it_is_for_one_reader(tmp_path: Path) -> None:
    """Damage where lines follow in another file; at the end, also in front of a file without any, nobody's."""
    first = write(tmp_path / "1.ndjson", LOG[:6], rest=b'{"seq":7')
    second = write(tmp_path / "2.ndjson", LOG[6:], rest=b'{"seq":24')
    third = write(tmp_path / "3.ndjson", [b"", b"\r", b" "])
    found = verify_files([Source(str(path)) for path in (first, second, third)], Wanted(jobs=3, range_bytes=3000))
    assert [(problem.place.source, problem.place.number, problem.code) for problem in found.problems] == [
        (str(first), 7, "torn")
    ]
    assert found.torn is not None
    assert (found.torn.source, found.torn.number) == (str(second), len(LOG) - 5)
    assert found.problems[0].order == 7


def test_blank_lines_count_as_lines_of_the_file_and_not_of_the_log(tmp_path: Path) -> None:
    """A problem behind them has the number that an editor shows."""
    log = [*LOG[:3], b"", b" ", *LOG[3:20], changed(LOG[20], EDITS["actor"]), *LOG[21:]]
    path = write(tmp_path / NAME, log)
    for range_bytes in (700, 4000):
        found = verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=range_bytes))
        assert found == alone(path)
        assert [(problem.place.number, problem.order, problem.code) for problem in found.problems] == [
            (23, 21, "bytes")
        ]


@pytest.mark.parametrize(("number", "style"), [(0, "seq of another type"), (9, "no kind")])
def test_a_line_that_only_looks_as_if_it_followed_is_looked_at(number: int, style: str, tmp_path: Path) -> None:
    """The chain alone, made anew around it: `true` is no seq, and a line without kind has no place in the chain."""
    log = list(LOG)
    log[number] = changed(log[number], EDITS[style])
    path = write(tmp_path / NAME, rechained(log))
    chain = verify_files([Source(str(path))], Wanted(chain_only=True, jobs=1))
    whole = verify_files([Source(str(path))], Wanted(jobs=1))
    assert (chain.events, chain.unchained) == (whole.events, whole.unchained)
    assert [problem.code for problem in chain.problems] == [
        problem.code for problem in whole.problems if problem.code in {"seq", "gap", "prev", "bytes"}
    ]


def test_a_file_that_is_decompressed_is_checked_as_one_part(tmp_path: Path) -> None:
    """It cannot be entered in the middle; the blocks that a library gives know nothing of lines."""
    content = b"".join(line + b"\n" for line in LOG[:9])
    path = write(tmp_path / NAME, LOG[9:])

    def blocks(start: int) -> Iterator[bytes]:
        rest = iter(content[start:])
        while block := bytes(islice(rest, 1000)):
            yield block

    packed = Source(str(path), content=blocks)
    found = verify_files([packed, Source(str(path))], Wanted(jobs=2, range_bytes=4000))
    assert (found.problems, found.lines) == ((), len(LOG))


def test_an_id_that_stands_twice_in_different_parts_is_found(tmp_path: Path) -> None:
    """The whole chain was written anew around it; both occurrences lie far apart."""
    log = list(LOG)
    log[20] = changed(log[20], lambda event: event.update(event_id="exp-42:B:2026-02-18:DRY_RUN"))
    path = write(tmp_path / NAME, rechained(log))
    found = verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=3000))
    assert [(problem.place.number, problem.code) for problem in found.problems] == [(21, "event_id")]


def test_ids_that_stand_twice_before_the_place_asked_for_are_not_asked(tmp_path: Path) -> None:
    """But one of an event that stands before it is taken."""
    log = list(LOG)
    log[4] = changed(log[4], lambda event: event.update(event_id="exp-42:B:2026-02-18:DRY_RUN"))
    log[20] = changed(log[20], lambda event: event.update(event_id="exp-42:B:2026-02-18:SHADOW"))
    path = write(tmp_path / NAME, rechained(log))
    for jobs in (1, 3):
        found = verify_files([Source(str(path))], Wanted(from_seq=10, jobs=jobs, range_bytes=3000))
        assert [(problem.place.number, problem.code) for problem in found.problems] == [(21, "event_id")]


@pytest.mark.parametrize("range_bytes", [1500, 3000, 6000])
@pytest.mark.parametrize("style", ["spaced", "escaped", "carriage return"])
def test_a_policy_that_is_written_in_an_unusual_way_is_known_to_all_parts(
    style: str, range_bytes: int, tmp_path: Path
) -> None:
    """Nobody sees at a glance that it is one; eleven decisions in other parts are judged by it."""
    log = list(LOG)
    number = next(number for number, line in enumerate(log) if b'"policy_version":"v8"' in line)
    log[number] = BYTES[style](log[number])
    path = write(tmp_path / NAME, log)
    found = verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=range_bytes))
    assert found == alone(path)
    assert found.reevaluated == 18


def test_a_policy_behind_a_line_that_tells_nothing_is_known_to_the_parts_behind(tmp_path: Path) -> None:
    """The part could not be checked before its turn; what the survey saw in it counts all the same."""
    log = list(LOG)
    number = next(number for number, line in enumerate(log) if b'"policy_version":"v8"' in line)
    for style in ("no prev", "ts that is none"):
        log[number] = changed(LOG[number], EDITS[style])
        path = write(tmp_path / NAME, log)
        for range_bytes in (700, 1500, 3000):
            found = verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=range_bytes))
            assert found == alone(path)
            assert found.reevaluated == 18


def test_two_ids_with_one_hash_are_two_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash only says where to look."""
    monkeypatch.setattr(ids, "hash_of", lambda _: 7)
    monkeypatch.setattr(verify, "hash_of", lambda _: 7)
    path = write(tmp_path / NAME, LOG)
    assert verify_files([Source(str(path))], Wanted(jobs=3, range_bytes=3000)).ok


def test_ids_that_were_put_away_are_compared_too() -> None:
    """All in one bucket, more than are kept in memory; and what is never put away."""
    pile = HashPile()
    pile.add_all(range(2000))
    pile.add_all([1 << 63, 5, 1999])
    assert pile.repeated() == {5, 1999}
    assert sum(map(len, pile._buckets)) < 2000, "they were kept in memory"
    pile.close()


def test_what_one_process_cannot_read_ends_the_whole_check(tmp_path: Path) -> None:
    """The file went away between the look at its size and the reading."""
    path = write(tmp_path / NAME, LOG)

    def blocks(_: int) -> Iterator[bytes]:
        yield LOG[0] + b"\n"
        raise OSError(5, "Input/output error")

    with pytest.raises(LogError, match="cannot be read: Input/output error"):
        verify_files([Source(str(path)), Source(str(path), content=blocks)], Wanted(jobs=2, range_bytes=3000))


def test_the_progress_ends_with_all_of_it(tmp_path: Path) -> None:
    """In bytes; it never runs back."""
    path = write(tmp_path / NAME, LOG)
    told: list[tuple[int, int]] = []
    verify_files([Source(str(path))], Wanted(jobs=2, range_bytes=3000), lambda done, total: told.append((done, total)))
    size = path.stat().st_size
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert len(told) == -(-size // 3000)
