"""Text that a search in C misses, finds twice, or leaves a trace of."""

from __future__ import annotations

import pytest

from gatekeeper.replay import needles
from gatekeeper.replay.needles import LineSearch

LINES = (b"a needle and a needle", b"none", b"", b"the last has a needle")


@pytest.fixture(params=["strstr", "python"], autouse=True)
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the C library, and where there is none."""
    if request.param == "python":
        monkeypatch.setattr(needles, "_library", lambda: None)


def block(lines: tuple[bytes, ...], behind: bytes) -> tuple[bytearray, list[int]]:
    """The bytes of some lines with more behind them, and where their newlines stand."""
    data, stops = bytearray(), list[int]()
    for line in lines:
        data += line
        stops.append(len(data))
        data += b"\n"
    return data + behind, stops


@pytest.mark.parametrize("behind", [b"", b"need", b"a needle behind, and so much text that there is room"])
def test_the_first_of_needle_and_zero_is_told(behind: bytes) -> None:
    """A search that stops at a zero would take the rest for searched; what stands behind the lines is not theirs."""
    for line, place in (
        (b"xx needle", 3),
        (b"xx needl", 8),  # nothing: the length of the line
        (b"x\0 needle", 1),
        (b"x needle \0", 2),
        (b"\0", 0),
        (b"needle", 0),
    ):
        data, stops = block((line,), behind)
        before = bytes(data)
        assert LineSearch(data).first(b"needle", 0, stops[-1]) == place, line
        assert data == before


@pytest.mark.parametrize("behind", [b"", b"a needle behind"])
def test_lines_are_told_once_and_only_those_asked_for(behind: bytes) -> None:
    """Twice in one line, at its very end, in an empty one, and behind the last line."""
    data, stops = block(LINES, behind)
    before, search = bytes(data), LineSearch(data)
    assert search.lines_with((b"needle",), 0, stops) == [0, 3]
    assert search.lines_with((b"none", b"and a", b"last"), 0, stops) == [0, 1, 3]
    assert search.lines_with((b"needle",), 0, stops[:3]) == [0]
    assert search.lines_with((b"missing",), 0, stops) == []
    assert data == before


def test_one_line_is_searched_to_its_end_only() -> None:
    """The next one holds the needle."""
    data, stops = block(LINES, b"")
    before, search = bytes(data), LineSearch(data)
    assert not search.has((b"needle", b"last"), stops[0] + 1, stops[1])
    assert search.has((b"missing", b"needle"), stops[2] + 1, stops[3])
    assert data == before
