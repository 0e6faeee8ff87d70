"""Sealed segments compressed: smaller, read as before, and never lost on the way."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gatekeeper.errors import UsageError
from gatekeeper.ledger import archive as module
from gatekeeper.ledger.archive import archive
from gatekeeper.ledger.compression import content_blocks, read_at
from gatekeeper.ledger.fsops import FileOps
from tests.faults.faulty_ops import FaultyOps
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


def test_the_log_need_not_remember_its_own_directory(tmp_path: Path) -> None:
    """`--to` with the place where the segments stand anyway."""
    path = tmp_path / "decision.ndjson"
    rotated_log(path)
    archive_all(path, "gzip", to=tmp_path)
    assert not (tmp_path / "decision.ndjson.archives").exists()


@pytest.mark.parametrize("compression", ["zstd", "gzip"])
def test_a_line_longer_than_any_frame_is_archived_as_well(
    compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut into frames, so that memory stays bounded, and read back whole."""
    path = tmp_path / "decision.ndjson.000000000001-000000000001"
    content = Random(3).randbytes(5 << 20).replace(b"\n", b" ") + b"\n"
    path.write_bytes(content)
    log = tmp_path / "decision.ndjson"
    log.write_bytes(b"")
    packer = {"zstd": module._Zstd, "gzip": module._Gzip}[compression]
    sizes, plain = list[int](), packer.pack

    def counted(self: Any, frame: bytes) -> bytes:
        sizes.append(len(frame))
        return plain(self, frame)

    monkeypatch.setattr(packer, "pack", counted)
    (place,) = archive_all(log, compression)
    assert content_of(place) == content
    assert (len(sizes), max(sizes) <= 5 * module.FRAME_BYTES) == (2, True)
