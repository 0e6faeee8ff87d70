"""Archiving on a disk that fails or lies, beside others that archive too, and killed anywhere: no line is lost."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import shutil
from pathlib import Path

import pytest

from gatekeeper.errors import LogError
from tests.faults.faulty_ops import FaultyOps, fails_with, in_killed_process, killed_after, killed_before, takes_only
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.segments import SEALED, all_events, content_of, files_in_order, rotated_log
from tests.ledger.test_archive import archive_all


class Forgetful(Unflushed):
    """A disk that gives back something else than was written."""

    def write(self, descriptor: int, data: bytes) -> int:
        """Half of it, and says all."""
        super().write(descriptor, data[: len(data) // 2])
        return len(data)


@pytest.mark.parametrize("compression", ["zstd", "gzip"])
def test_an_archive_that_does_not_read_back_removes_nothing(compression: str, tmp_path: Path) -> None:
    """Before the original goes the archive is read and compared."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    with pytest.raises(LogError, match="not removed") as caught:
        archive_all(path, compression, ops=Forgetful())
    assert caught.value.exit_code == 74
    assert all_events(path) == events
    assert not list(tmp_path.glob("*.tmp*"))


class Mistaken(Unflushed):
    """A disk that gives back an archive that is sound, and of something else."""

    def flush(self, descriptor: int) -> None:
        """In its place: as many bytes, of zeros."""
        place = os.readlink(f"/proc/self/fd/{descriptor}")
        content = content_of(Path(place))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, gzip.compress(bytes(len(content))), 0)


def test_an_archive_of_something_else_removes_nothing(tmp_path: Path) -> None:
    """That it can be decompressed is not enough: it is compared with what was read."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    with pytest.raises(LogError, match="does not read back"):
        archive_all(path, "gzip", ops=Mistaken())
    assert all_events(path) == events
    assert not list(tmp_path.glob("*.tmp*"))


@pytest.mark.parametrize("call", ["write", "flush", "make_like"])
def test_a_full_disk_leaves_no_half_archive(call: str, tmp_path: Path) -> None:
    """What was begun is removed, and the segment is as it was."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    with pytest.raises(LogError, match="could not be archived"):
        archive_all(path, "zstd", ops=FaultyOps(0, fails_with(errno.ENOSPC), frozenset({call})).arm())
    assert all_events(path) == events
    assert not list(tmp_path.glob("*.tmp*"))


class Overtaken(Unflushed):
    """Another process archives all of it before this one makes a call of that name."""

    def __init__(self, path: Path, before: str) -> None:
        self._path = path
        self._before: str | None = before

    def open(self, path: str, flags: int) -> int:
        """Of a segment."""
        if SEALED.search(path):
            self._overtake("open")
        return super().open(path, flags)

    def lock(self, descriptor: int) -> None:
        """Of a segment that is open."""
        self._overtake("lock")
        super().lock(descriptor)

    def _overtake(self, call: str) -> None:
        if self._before == call:
            self._before = None
            assert len(archive_all(self._path, "gzip")) == 2


@pytest.mark.parametrize("before", ["open", "lock"])
def test_what_another_process_has_archived_meanwhile_is_left_alone(before: str, tmp_path: Path) -> None:
    """Two cron jobs at once: the second finds nothing to do, and nothing is archived twice."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    assert archive_all(path, "zstd", ops=Overtaken(path, before)) == []
    assert [file.suffix for file in files_in_order(path)] == [".gz", ".gz", ".ndjson"]
    assert all_events(path) == events


def test_a_half_archive_that_was_left_is_overwritten(tmp_path: Path) -> None:
    """By a process that was killed; it may be longer than the whole one."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    (tmp_path / "decision.ndjson.000000000001-000000000005.tmp.gz").write_bytes(b"left" * 10_000)
    archive_all(path, "gzip")
    assert all_events(path) == events


def calls_of(tmp_path: Path) -> list[str]:
    """The disk calls of archiving the two segments."""
    path = tmp_path / "count" / "decision.ndjson"
    rotated_log(path)
    ops = FaultyOps().arm()
    archive_all(path, "zstd", to=path.parent / "archive", ops=ops)
    return ops.log


@pytest.mark.slow
def test_archiving_cut_short_anywhere_loses_nothing(tmp_path: Path) -> None:
    """A call that fails, a kill at any call: the lines are all there, and asked again it goes on."""
    calls = calls_of(tmp_path)
    events = rotated_log(tmp_path / "made" / "decision.ndjson")
    for at in range(1, len(calls) + 1):
        for number, fault in enumerate((fails_with(errno.EIO), takes_only(0.5), killed_before, killed_after)):
            path = tmp_path / f"{at}-{number}" / "decision.ndjson"
            shutil.copytree(tmp_path / "made", path.parent)
            ops, to = FaultyOps(at, fault).arm(), path.parent / "archive"

            def body(path: Path = path, ops: FaultyOps = ops, to: Path = to) -> None:
                with contextlib.suppress(LogError):
                    archive_all(path, "zstd", to=to, ops=ops)

            in_killed_process(body)
            where = f"call {at} ({calls[at - 1]}), fault {number}"
            assert [event for event, _ in ledger_at(path).read()] == events, where
            archive_all(path, "zstd", to=to)
            assert len(list(to.glob("*.zst"))) == 2, where
            assert [event for event, _ in ledger_at(path).read()] == events, where
            assert not [found for found in path.parent.glob("*-*") if found.suffix != ".zst"], where


def test_the_archive_is_on_the_device_before_the_original_goes(tmp_path: Path) -> None:
    """Written, flushed, renamed, its name flushed: only then is anything removed."""
    calls = calls_of(tmp_path)
    begin = calls.index("lock")
    assert calls.index("make_directory") < calls.index("flush_directory") < begin, "the place for it, too"
    steps = [name for name in calls[begin:] if name in {"write", "flush", "replace", "flush_directory", "remove"}]
    assert steps[: steps.index("remove") + 1] == [
        *("write", "write", "flush", "replace", "flush_directory", "remove"),
    ]
