"""The log as a tree: the same root however it is cut and read, and no tree over a chain that is not whole."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatekeeper.errors import LogDamagedError, ProofError
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import encode_line, line_digest, seal
from gatekeeper.proof.merkle import TreeHasher, inclusion_between
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.leaves import Asked, Beginning, read_leaves
from tests.proof import oracle
from tests.replay.builder import at_minute

EXAMPLES = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def log_of(count: int, *, first: int = 1, prev: str = GENESIS_DIGEST) -> list[bytes]:
    """Chained lines of different lengths."""
    lines: list[bytes] = []
    for seq in range(first, first + count):
        draft = {"kind": "action", "event_id": f"action#{seq}", "actor": "a" * (seq * 7 % 50), "action": {"name": "x"}}
        lines.append(encode_line(seal(draft, seq=seq, prev=prev, ts=at_minute(seq))))
        prev = line_digest(lines[-1])
    return lines


def written(place: Path, lines: list[bytes], *, end: bytes = b"\n") -> list[Source]:
    """A file of these lines."""
    place.write_bytes(b"\n".join(lines) + end if lines else b"")
    return [Source(str(place))]


def tree_of(lines: list[bytes]) -> oracle.Tree:
    """The tree by definition."""
    return oracle.Tree([sha256(line).digest() for line in lines])


@pytest.mark.slow
@EXAMPLES
@given(st.integers(1, 60), st.data())
def test_the_root_does_not_depend_on_who_reads_which_part(tmp_path: Path, count: int, data: st.DataObject) -> None:
    """Any files, ranges, processes and cuts give the roots and ways that RFC 6962 defines."""
    lines = log_of(count)
    middle = data.draw(st.integers(0, count))
    cuts = tuple(data.draw(st.lists(st.integers(0, count), max_size=3)))
    sources = written(tmp_path / "a", lines[:middle]) + written(tmp_path / "b", lines[middle:])
    asked = Asked(
        cuts=(*cuts, middle),
        is_strict=data.draw(st.booleans()),
        jobs=data.draw(st.sampled_from((1, 2))),
        range_bytes=data.draw(st.integers(50, 5000)),
    )
    leaves = read_leaves(sources, asked)
    tree = tree_of(lines)
    assert (leaves.size, leaves.head, leaves.torn) == (count, line_digest(lines[-1]), None)
    assert [leaves.root_at(size) for size in (*cuts, middle, count)] == [
        tree.root(size) for size in (*cuts, middle, count)
    ]


def test_a_stretch_gives_the_way_of_one_line(tmp_path: Path) -> None:
    """Cut before and behind a line, and where the checkpoint ends."""
    lines = log_of(13)
    leaves = read_leaves(written(tmp_path / "log", lines), Asked(cuts=(4, 5, 11), range_bytes=300, jobs=2))
    assert inclusion_between(leaves.over(0, 4), leaves.over(5, 11)) == tree_of(lines[:11]).path(4, 0, 11)


def test_blank_lines_and_an_unfinished_one_are_no_leaves(tmp_path: Path) -> None:
    """What readers pass over has no place in the chain; nobody was promised what is not terminated."""
    lines = log_of(3)
    sources = written(tmp_path / "log", [lines[0], b"", lines[1], b" \r", lines[2], b'{"seq":4'], end=b"")
    leaves = read_leaves(sources, Asked())
    assert (leaves.size, leaves.root_at(3)) == (3, tree_of(lines).root())
    assert leaves.torn is not None
    assert leaves.torn.number == 6


def test_an_empty_log_has_no_leaf(tmp_path: Path) -> None:
    """Nor a line that would be its head."""
    for sources in (written(tmp_path / "log", []), written(tmp_path / "blank", [b"", b" "]), []):
        leaves = read_leaves(sources, Asked())
        assert (leaves.size, leaves.head, leaves.root_at(0)) == (0, GENESIS_DIGEST, oracle.Tree([]).root())


def _changed(lines: list[bytes]) -> list[bytes]:
    return [*lines[:4], lines[4].replace(b'"name":"x"', b'"name":"y"'), *lines[5:]]


def _unchained(lines: list[bytes]) -> list[bytes]:
    return [*lines[:5], b'{"run_id":"r","verdict":"ACCEPT"}', *lines[5:]]


BROKEN: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "changed": (_changed, 6, "its prev is not the digest of the line before"),
    "removed": (lambda lines: lines[:5] + lines[6:], 6, "its seq does not follow: expected 6, found 7"),
    "doubled": (lambda lines: [*lines[:6], lines[5], *lines[6:]], 7, "its seq does not follow: expected 7, found 6"),
    "damaged": (lambda lines: [*lines[:5], lines[5][:-1], *lines[6:]], 6, "the line is damaged"),
    "without kind": (_unchained, 6, "the line has no kind"),
    "without beginning": (lambda lines: lines[2:], 1, "its seq does not follow: expected 1, found 3"),
    "other beginning": (lambda _: log_of(9, prev="sha256:" + "1" * 64), 1, "its prev is not the digest"),
}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", BROKEN)
def test_a_chain_that_is_not_whole_is_refused_by_its_line(name: str, jobs: int, tmp_path: Path) -> None:
    """File, line and why, also where the line was met by a process that does not know the lines before."""
    breaking, number, why = BROKEN[name]
    sources = written(tmp_path / "log", breaking(log_of(20)))
    with pytest.raises(LogDamagedError, match=why) as caught:
        read_leaves(sources, Asked(jobs=jobs, range_bytes=400))
    assert caught.value.message.startswith(f"{tmp_path / 'log'}:{number}: ")
    assert read_leaves(sources, Asked(jobs=jobs, range_bytes=400, is_strict=False)).size > 0


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("known", [0, 3, 5, 9, 14])
def test_the_chain_is_followed_from_where_the_root_is_known(known: int, jobs: int, tmp_path: Path) -> None:
    """A break before that place shows in the root; one at it or behind it is named by its line."""
    lines = log_of(20)
    broken = [*lines[:8], lines[8].replace(b'"name":"x"', b'"name":"y"'), *lines[9:]]
    sources = written(tmp_path / "log", broken)
    asked = Asked(cuts=(known,), known=known, jobs=jobs, range_bytes=400)
    if known > 9:
        assert read_leaves(sources, asked).root_at(known) == tree_of(broken).root(known) != tree_of(lines).root(known)
    else:
        with pytest.raises(LogDamagedError, match="log:10: its prev is not the digest"):
            read_leaves(sources, asked)


def test_lines_behind_an_unfinished_one_are_refused(tmp_path: Path) -> None:
    """A sealed file that lost its last newline: the line that was promised is not there."""
    lines = log_of(6)
    sources = written(tmp_path / "a", lines[:3], end=b"") + written(tmp_path / "b", lines[3:])
    with pytest.raises(LogDamagedError, match="a:3: the line is not terminated, and lines follow"):
        read_leaves(sources, Asked())


@pytest.mark.parametrize("name", ["changed", "removed", "doubled", "damaged", "without kind", "without beginning"])
def test_whoever_compares_takes_each_line_as_it_stands(name: str, tmp_path: Path) -> None:
    """A leaf for each line that there is, whatever it says of itself: what was signed is compared, not believed."""
    lines = BROKEN[name][0](log_of(20))
    leaves = read_leaves(written(tmp_path / "log", lines), Asked(cuts=(7,), jobs=2, range_bytes=400, is_strict=False))
    assert (leaves.size, leaves.root_at(7)) == (len(lines), tree_of(lines).root(7))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_log_without_its_beginning_goes_on_where_that_was_removed(jobs: int, tmp_path: Path) -> None:
    """The hashes that are kept of removed lines stand for them."""
    lines = log_of(30)
    before = TreeHasher()
    before.extend(sha256(line).digest() for line in lines[:11])
    beginning = Beginning(before, line_digest(lines[10]))
    asked = Asked(cuts=(5, 11, 20), beginning=beginning, jobs=jobs, range_bytes=400)
    for _ in range(2):  # what was given is not used up
        leaves = read_leaves(written(tmp_path / "log", lines[11:]), asked)
        tree = tree_of(lines)
        assert (leaves.size, leaves.root_at(11), leaves.root_at(20)) == (30, tree.root(11), tree.root(20))
        with pytest.raises(ProofError, match="lines 1 to 5 cannot be looked at one by one"):
            leaves.root_at(5)
    other = Beginning(before, GENESIS_DIGEST)
    with pytest.raises(LogDamagedError, match="log:1: its prev is not the digest"):
        read_leaves(written(tmp_path / "log", lines[11:]), Asked(beginning=other, jobs=jobs, range_bytes=400))


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_goes_up_to_all_of_the_log(jobs: int, tmp_path: Path) -> None:
    """In bytes, after each part."""
    told: list[tuple[int, int]] = []
    sources = written(tmp_path / "log", log_of(30))
    read_leaves(sources, Asked(jobs=jobs, range_bytes=1000), lambda done, total: told.append((done, total)))
    size = (tmp_path / "log").stat().st_size
    assert told[-1] == (size, size)
    assert [done for done, _ in told[:-1]] == [1000 * number for number in range(1, len(told))]
