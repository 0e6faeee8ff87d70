"""A lake that an export left in the middle of something: killed at any disk call, or failed at it."""

from __future__ import annotations

import errno
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.export.lake.writer import Sizes
from tests.export.logs import chain, into_lake, lines_in, write
from tests.faults.faulty_ops import (
    FaultyOps,
    fails_with,
    in_killed_process,
    killed_after,
    killed_before,
    killed_within,
    takes_only,
)

TIMES = ["2026-02-18T09:00:00Z"] * 2 + ["2026-02-19T09:00:00Z"] * 2
KNOWN = 1


@pytest.fixture
def lines() -> list[bytes]:
    """Four events on two days."""
    return chain(*TIMES)


def begun(lines: list[bytes], place: Path) -> tuple[Path, Path]:
    """A log and a lake that has the first of its events."""
    log, lake = place / "log", place / "lake"
    into_lake(write(log, lines[:KNOWN]), lake)
    return write(log, lines), lake


def calls(lines: list[bytes], place: Path) -> list[str]:
    """The disk calls of the export of the other three."""
    ops = FaultyOps().arm()
    into_lake(*begun(lines, place), ops)
    return ops.log


def export(log: Path, lake: Path, ops: FaultyOps) -> None:
    """In a process of its own."""
    into_lake(log, lake, ops)


def names_of_files(lake: Path) -> set[str]:
    """All that stands in the lake, but for the lock."""
    return {path.name for path in lake.rglob("*") if path.is_file()} - {"_gatekeeper.lock"}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [killed_before, killed_after, killed_within])
def test_an_export_that_is_killed_loses_no_row_and_doubles_none(fault: Any, lines: list[bytes], tmp_path: Path) -> None:
    """At every disk call: what readers see then is a beginning of the log, and the next export makes it all of it."""
    made = calls(lines, tmp_path / "count")
    assert {"open", "lock", "write", "flush", "replace", "flush_directory", "make_directory"} <= set(made)
    for number in range(1, len(made) + 1):
        log, lake = begun(lines, tmp_path / str(number))
        ops = FaultyOps(number, fault).arm()
        assert not in_killed_process(partial(export, log, lake, ops))
        seen = lines_in(lake)
        assert seen == lines[: len(seen)]
        assert len(seen) >= KNOWN
        into_lake(log, lake)
        assert lines_in(lake) == lines
        assert all(name.endswith(".parquet") for name in names_of_files(lake))


def test_a_file_is_on_the_device_before_it_has_its_name(lines: list[bytes], tmp_path: Path) -> None:
    """Flushed, renamed, and the name flushed, one file after the other: what is not there yet is asked for again."""
    order = [name for name in calls(lines, tmp_path) if name in {"write", "flush", "replace", "flush_directory"}]
    assert order == [
        *("write", "flush", "replace", "flush_directory"),
        *("flush_directory", "write", "flush", "replace", "flush_directory"),  # a new day: first its directory's name
    ]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fails_with(errno.ENOSPC), takes_only(0.5)])
def test_an_export_that_fails_keeps_whole_files_only(fault: Any, lines: list[bytes], tmp_path: Path) -> None:
    """Exit code 74, nothing unfinished left behind; asked again, all is there once."""
    made, failures = calls(lines, tmp_path / "count"), 0
    for number in range(1, len(made) + 1):
        log, lake = begun(lines, tmp_path / str(number))
        ops = FaultyOps(number, fault).arm()
        try:
            into_lake(log, lake, ops)
        except LogError:
            failures += 1
        seen = lines_in(lake)
        assert seen == lines[: len(seen)]
        assert all(name.endswith(".parquet") for name in names_of_files(lake))
        into_lake(log, lake)
        assert lines_in(lake) == lines
    assert failures > len(made) // 2


def test_two_exports_at_once_write_each_row_once(lines: list[bytes], tmp_path: Path) -> None:
    """The second one waits, and finds nothing left to do."""
    log, lake = write(tmp_path / "log", lines), tmp_path / "lake"
    done: list[int] = []

    def count() -> None:
        done.append(sum(file.rows for file in into_lake(log, lake, sizes=Sizes(file=1)).files))

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 0, 0, len(lines)]
    assert lines_in(lake) == lines
