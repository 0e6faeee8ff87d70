"""Sealed segments compressed: smaller, read as before, and never lost on the way."""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest

from gatekeeper.errors import LogError, UsageError
from gatekeeper.ledger.archive import archive
from gatekeeper.ledger.compression import content_blocks, read_at
from gatekeeper.ledger.fsops import FileOps
from tests.faults.faulty_ops import FaultyOps, fails_with, in_killed_process, killed_after, killed_before, takes_only
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.drafts import decision
from tests.ledger.segments import all_events, content_of, files_in_order, lose_state, rotated_log


def archive_all(path: Path, compression: str, *, to: Path | None = None, ops: FileOps | None = None) -> list[Path]:
    """Archive every segment; where the archives are."""
    done = archive(
        ops if ops is not None else Unflushed(),
        str(path),
        compression=compression,
        directory=None if to is None else str(to),
    )
    return [Path(one.path) for one in done]


@pytest.mark.parametrize("compression", ["zstd", "gzip"])
def test_an_archived_log_is_the_same_log(compression: str, tmp_path: Path) -> None:
    """Every line, every run and every event is read as before, with the state kept and made anew."""
    path = tmp_path / "decision.ndjson"
    events = rotated_log(path)
    runs = list(ledger_at(path).view().runs())
    done = archive_all(path, compression)
    assert [place.name for place in done] == [
        "decision.ndjson.000000000001-000000000005" + (".zst" if compression == "zstd" else ".gz"),
        "decision.ndjson.000000000006-000000000008" + (".zst" if compression == "zstd" else ".gz"),
    ]
    assert files_in_order(path) == [*done, path], "the originals are gone"
    assert all_events(path) == events
    for _ in range(2):
        ledger = ledger_at(path)
        view = ledger.view()
        assert (list(view.runs()), view.warnings) == (runs, ())
        assert [view.event(event["event_id"]) for event in events] == events
        assert [event for event, _ in ledger.read()] == events
        ledger.close()
        lose_state(path)


def test_archives_in_another_directory_are_found(tmp_path: Path) -> None:
    """The log remembers where they went, beside it or far away, and a second place too."""
    path = tmp_path / "logs" / "decision.ndjson"
    events = rotated_log(path)
    near, far = path.parent / "archive", tmp_path / "far" / "away"
    archive_all(path, "gzip", to=near)
    ledger = ledger_at(path)
    ledger.append([decision("new", experiment="e3")], expect=None, actor="t")
    ledger.rotate(actor="t")
    archive_all(path, "gzip", to=far)
    archive_all(path, "gzip", to=far)
    assert sorted(found.name for found in near.iterdir()) + sorted(found.name for found in far.iterdir()) == [
        "decision.ndjson.000000000001-000000000005.gz",
        "decision.ndjson.000000000006-000000000008.gz",
        "decision.ndjson.000000000009-000000000011.gz",
    ]
    assert (path.parent / "decision.ndjson.archives").read_text() == f"archive\n{far}\n"
    read = [event for event, _ in ledger_at(path).read()]
    assert [event["seq"] for event in read] == list(range(1, 14))
    assert read[:10] == events
    lose_state(path)
    assert ledger_at(path).view().event("a:SHADOW") == events[2]
    moved = tmp_path / "moved"
    path.parent.rename(moved)
    assert [event["seq"] for event, _ in ledger_at(moved / path.name).read()] == list(range(1, 14))


def test_one_line_is_read_from_one_frame(tmp_path: Path) -> None:
    """`explain` does not decompress a segment: it reads the frame that the seek table names."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path, ops=Unflushed())
    random = Random(7)
    for number in range(1, 400):
        ledger.append([decision("r", number=number, pad=random.randbytes(6000).hex())], expect=None, actor="t")
    ledger.rotate(actor="t")
    plain = files_in_order(path)[0].read_bytes()
    (place,) = archive_all(path, "zstd")
    assert content_of(place) == plain
    ops = FaultyOps().arm()
    for offset in (0, 1, 1_000_000, 3_333_333, len(plain) - 10):
        ops.log.clear()
        assert read_at(ops, str(place), offset, 10) == plain[offset : offset + 10]
        assert ops.log.count("pread") <= 25, "of some hundred for the whole file"
    assert read_at(ops, str(place), len(plain), 10) == b""
    assert b"".join(content_blocks(ops, str(place))) == plain


@pytest.mark.parametrize("compression", ["zstd", "gzip"])
def test_other_programs_read_the_archives(compression: str, tmp_path: Path) -> None:
    """No reader of ours is needed: the formats' own tools and libraries give the lines back."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    plain = files_in_order(path)[0].read_bytes()
    place = archive_all(path, compression)[0]
    assert content_of(place) == plain
    if compression == "gzip":
        assert subprocess.run(["gzip", "-dc", str(place)], capture_output=True, check=True).stdout == plain


def test_an_archive_keeps_the_permissions(tmp_path: Path) -> None:
    """What others may not read stays so."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    files_in_order(path)[0].chmod(0o600)
    assert archive_all(path, "gzip")[0].stat().st_mode & 0o777 == 0o600


def test_zstd_needs_its_library_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing extra is wrong usage (64) before anything is touched."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(UsageError, match="zstandard"):
        archive_all(path, "zstd")
    assert len(archive_all(path, "gzip")) == 2


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
    steps = [name for name in calls[begin:] if name in {"write", "flush", "replace", "flush_directory", "remove"}]
    assert steps[: steps.index("remove") + 1] == [
        *("write", "write", "flush", "replace", "flush_directory", "remove"),
    ]
