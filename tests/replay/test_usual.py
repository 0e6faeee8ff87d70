"""A line that a search takes for a usual one though it is none, or reads though it need not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatekeeper.model.line import bulk_decoder
from gatekeeper.replay import scan_range
from gatekeeper.replay.query import Filter
from tests.replay.builder import changed, write
from tests.replay.tampering import LOG
from tests.replay.test_scan import NAME, Plain, searched


@pytest.mark.parametrize("at", [0, 11, len(LOG) - 1])
def test_a_single_zero_anywhere_is_damage_and_hides_nothing_behind_it(at: int, tmp_path: Path) -> None:
    """A search that takes it for the end of the text would miss what follows."""
    wanted = Filter(verdicts=("REJECT",))
    for place in (*range(12), 60, 100, 400, 1000, len(LOG[at]) - 200, len(LOG[at]) - 2):
        log = list(LOG)
        log[at] = log[at][:place] + b"\0" + log[at][place + 1 :]
        path = write(tmp_path / NAME, log)
        plain = Plain(path, wanted)
        found, lines = searched(path, wanted, 1 << 20)
        assert lines == plain.lines, place
        assert [line.number for line in found.holes.damaged] == [line.number for line in plain.damaged] == [at + 1], (
            place
        )


class Reader:
    """Reads lines as the scan's own does, and keeps them."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def __call__(self, line: bytes) -> dict[str, Any] | None:
        """The event on a line."""
        self.lines.append(line)
        return bulk_decoder()(line)


def decisions_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[int]]:
    """Of a query that means no line: how many decisions were parsed, and the numbers of damaged lines."""
    reader = Reader()
    monkeypatch.setattr(scan_range, "bulk_decoder", lambda: reader)
    found, _ = searched(path, Filter(run="nobody"), 1 << 20, jobs=1)
    return sum(b'"kind":"decision"' in line for line in reader.lines), [line.number for line in found.holes.damaged]


def test_decisions_that_nobody_asked_for_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their names may be long: where `seq` stands does not matter."""
    assert decisions_read(write(tmp_path / NAME, LOG), monkeypatch) == (0, [])

    def rename(event: dict[str, object]) -> None:
        event["variant_id"] = "v" * 300

    log = [changed(line, rename) if b'"kind":"decision"' in line else line for line in LOG]
    assert decisions_read(write(tmp_path / NAME, log), monkeypatch) == (0, [])


def test_text_that_is_not_english_is_no_reason_to_parse_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a log would be searched at the speed of a parser; a byte that is no text is damage, wherever it stands."""

    def note(event: dict[str, object]) -> None:
        event["metrics_snapshot"] = {"metrics": {}, "übersicht": "größer als früher"}

    log = [changed(line, note) if b'"kind":"decision"' in line else line for line in LOG]
    assert decisions_read(write(tmp_path / NAME, log), monkeypatch) == (0, [])
    at = next(index for index, line in enumerate(log) if index > 10 and b"fr" in line and b"metrics_snapshot" in line)
    log[at] = log[at].replace("früher".encode(), b"fr\xfcher", 1)
    assert decisions_read(write(tmp_path / NAME, log), monkeypatch) == (2, [at + 1])  # and the one behind the hole
