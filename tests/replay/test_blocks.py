"""A reader that enters a file in the middle and loses a line at a seam, or reads one twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.errors import LogError
from gatekeeper.replay.blocks import Source, blocks_of, ranges_of

LINES = st.lists(st.text("ab", max_size=30).map(str.encode), max_size=12)


@settings(deadline=None)
@given(
    LINES, st.sampled_from((b"", b"xx")), st.integers(0, 3), st.integers(0, 3), st.integers(1, 40), st.integers(1, 20)
)
def test_ranges_of_any_size_give_each_line_once(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    rest: bytes,
    before: int,
    behind: int,
    range_bytes: int,
    block_bytes: int,
) -> None:
    """In order, of the whole file or of a part of it; as a plain file and as blocks of a library."""
    content = b"".join(line + b"\n" for line in lines) + rest
    begins = sum(len(line) + 1 for line in lines[:before])
    ends = sum(len(line) + 1 for line in lines[: len(lines) - behind]) if 0 < behind < len(lines) - before else None
    expected = lines[before : len(lines) - behind if ends is not None else None]
    expected_rest = [rest] if rest and ends is None else []
    path = tmp_path_factory.mktemp("log") / "x.ndjson"
    path.write_bytes(content)

    def packed(start: int) -> Iterator[bytes]:
        yield from (content[at : at + block_bytes] for at in range(start, len(content), block_bytes))

    for source in (Source(str(path), begins, ends), Source(str(path), begins, ends, content=packed)):
        found: list[bytes] = []
        torn: list[bytes] = []
        for part in ranges_of([source], range_bytes):
            for block in blocks_of(part, block_bytes):
                (found if block.is_terminated else torn).extend(block.lines())
        assert (found, torn) == (expected, expected_rest)


def test_what_takes_the_name_of_an_open_file_is_not_read(tmp_path: Path) -> None:
    """A log that is rotated while it is read."""
    path = tmp_path / "x.ndjson"
    path.write_bytes(b"a\nb\n")
    descriptor = os.open(path, os.O_RDONLY)
    (part,) = ranges_of([Source(str(path), descriptor=descriptor)], 100)
    path.rename(tmp_path / "x.ndjson.1")
    path.write_bytes(b"c\nd\ne\n")
    assert [line for block in blocks_of(part) for line in block.lines()] == [b"a", b"b"]
    os.close(descriptor)


def test_what_is_appended_meanwhile_belongs_to_the_next_look(tmp_path: Path) -> None:
    """The last line was not terminated when the file was looked at."""
    path = tmp_path / "x.ndjson"
    path.write_bytes(b"a\nb")
    (part,) = ranges_of([Source(str(path))], 100)
    with path.open("ab") as file:
        file.write(b"c\nd\n")
    assert [(block.lines(), block.is_terminated) for block in blocks_of(part)] == [([b"a"], True), ([b"b"], False)]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """When it is looked at, and when it is read."""
    path = tmp_path / "x.ndjson"
    with pytest.raises(LogError, match=r"x\.ndjson cannot be read: No such file"):
        ranges_of([Source(str(path))], 100)
    path.write_bytes(b"a\n")
    (part,) = ranges_of([Source(str(path))], 100)
    path.unlink()
    with pytest.raises(LogError, match=r"x\.ndjson cannot be read: No such file"):
        list(blocks_of(part))
