"""Which files a log is made of: each line once, in chain order, whoever has rotated, copied or compressed them."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
import zstandard

from gatekeeper.errors import LogDamagedError, LogError, UsageError
from gatekeeper.ledger.log_files import log_files
from gatekeeper.ledger.reading import raw_lines
from gatekeeper.ledger.segments import files_of, last_event_of, lines_of
from tests.ledger.checking import Unflushed, ledger_at
from tests.ledger.drafts import decision


def log_of(path: Path, *, count: int = 10, name: str = "r") -> list[bytes]:
    """The lines of a log with so many events, each with its newline; its file is removed again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ledger = ledger_at(path, ops=Unflushed())
    for number in range(1, count + 1):
        ledger.append([decision(name, number=number)], expect=None, actor="t")
    ledger.close()
    lines = path.read_bytes().splitlines(keepends=True)
    for found in path.parent.glob(f"{path.name}*"):
        found.unlink()
    return lines


def seqs_of(*paths: Path | str) -> list[int | str]:
    """The seqs that a reader of these paths meets, in order; what is no event as `damaged` or `torn`."""
    found: list[int | str] = []
    for _, _, raw, is_terminated in raw_lines([str(path) for path in paths]):
        try:
            found.append(json.loads(raw)["seq"] if is_terminated else "torn")
        except ValueError:
            found.append("damaged")
    return found


@pytest.mark.parametrize(
    ("names"),
    [
        ("log.3", "log.2", "log.1"),
        ("log.10", "log.9", "log.1"),
        ("log-20260218", "log-20260219", "log-20260220"),
        ("log-20260218.gz", "log-20260219.gz", "log-20260220"),
        ("log.2.zst", "log.1.gz", "log.0"),
        ("log.2026-02-18_01", "log.2026-02-18_02", "log.2026-02-19"),
    ],
)
def test_files_rotated_by_others_are_ordered_by_what_they_hold(names: tuple[str, ...], tmp_path: Path) -> None:
    """Numbers that go down, dates that go up, compressed or not: the first seq decides."""
    path = tmp_path / "log"
    lines = log_of(path)
    for index, name in enumerate(names):
        data = b"".join(lines[3 * index : 3 * index + 3])
        if name.endswith(".gz"):
            data = gzip.compress(data)
        elif name.endswith(".zst"):
            data = zstandard.compress(data)
        (tmp_path / name).write_bytes(data)
    path.write_bytes(lines[9])
    assert seqs_of(path) == list(range(1, 11))
    assert seqs_of(tmp_path / "lo*") == list(range(1, 11)), "a pattern finds the same"


def test_what_was_copied_and_truncated_is_read_once(tmp_path: Path) -> None:
    """A copy that has half of the next file too, a copy of a copy, one that was not truncated yet."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.2").write_bytes(b"".join(lines[:5]))
    (tmp_path / "log.1").write_bytes(b"".join(lines[:7]))
    (tmp_path / "log.1.gz").write_bytes(gzip.compress(b"".join(lines[:7])))
    path.write_bytes(b"".join(lines[7:]))
    assert seqs_of(path) == list(range(1, 11))
    path.write_bytes(b"".join(lines))
    assert seqs_of(path) == list(range(1, 11))
    assert [file.path for file in files_of(str(path))] == [str(path)], "the live file has it all"
    path.write_bytes(b"".join(lines[4:]))
    assert seqs_of(path) == list(range(1, 11))


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    """Where a file is read from its middle on, a line is still named by its place in it."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.000000000001-000000000004").write_bytes(b"".join(lines[:4]))
    (tmp_path / "log.1").write_bytes(b"".join(lines[:8]))
    path.write_bytes(b"".join(lines[8:]))
    found = [(Path(file).name, number) for file, number, _, _ in raw_lines([str(path)])]
    assert found == [
        *(("log.000000000001-000000000004", number) for number in (1, 2, 3, 4)),
        *(("log.1", number) for number in (5, 6, 7, 8)),
        *(("log", number) for number in (1, 2)),
    ]


def test_a_file_fills_two_holes(tmp_path: Path) -> None:
    """A full copy stands beside two of our segments: only what they lack is read from it."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.000000000003-000000000004").write_bytes(b"".join(lines[2:4]))
    (tmp_path / "log.000000000007-000000000008").write_bytes(b"".join(lines[6:8]))
    (tmp_path / "log-20260218").write_bytes(b"".join(lines[:9]))
    path.write_bytes(lines[9])
    assert seqs_of(path) == list(range(1, 11))


def test_what_no_file_has_is_missing(tmp_path: Path) -> None:
    """The reader goes on behind the hole; naming it is for whoever counts the seqs."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.1").write_bytes(b"".join(lines[1:4]))
    path.write_bytes(b"".join(lines[6:]))
    assert seqs_of(path) == [2, 3, 4, 7, 8, 9, 10]


def test_damage_between_files_is_still_met(tmp_path: Path) -> None:
    """A damaged line, a torn end: both stand where they stood, and nothing is taken for a copy."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.1").write_bytes(b"".join(lines[:4]) + b"{damaged\n" + lines[5] + lines[6][:50])
    path.write_bytes(b"".join(lines[7:]))
    assert seqs_of(path) == [1, 2, 3, 4, "damaged", 6, "torn", 8, 9, 10]


@pytest.mark.parametrize("name", ["log.bak", "log.old", "log.sha256", "log.lock", "log.db", "log.torn-1", "logs.1"])
def test_files_of_other_names_are_not_read_unasked(name: str, tmp_path: Path) -> None:
    """A backup of an older log is not the beginning of this one; named, it is read."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / name).write_bytes(b"".join(lines[:5]))
    path.write_bytes(b"".join(lines[5:]))
    assert seqs_of(path) == [6, 7, 8, 9, 10]
    assert seqs_of(path, tmp_path / name) == list(range(1, 11))


def test_a_file_that_is_no_log_is_passed_over(tmp_path: Path) -> None:
    """Its name looks rotated, its content does not."""
    path = tmp_path / "log"
    lines = log_of(path)
    path.write_bytes(b"".join(lines))
    (tmp_path / "log.1").write_bytes(b'{"some":"json"}\n')
    (tmp_path / "log.2").mkdir()
    (tmp_path / "log.3").write_bytes(bytes(1000))
    (tmp_path / "log.4.gz").write_bytes(b"no gzip")
    (tmp_path / "log.5").write_bytes(b'{"level":"info","seq":1}\n')
    path.write_bytes(b"".join(lines[2:]))
    assert seqs_of(path) == list(range(3, 11))


def test_several_files_named_are_read_once_each(tmp_path: Path) -> None:
    """The same file under two names, a log and a pattern over its segments, in any order."""
    path = tmp_path / "log"
    lines = log_of(path)
    (tmp_path / "log.000000000001-000000000006").write_bytes(b"".join(lines[:6]))
    path.write_bytes(b"".join(lines[6:]))
    (tmp_path / "link").symlink_to(path)
    assert seqs_of(path, tmp_path / "log.0*") == list(range(1, 11))
    assert seqs_of(tmp_path / "link", tmp_path / "log.0*", path) == list(range(1, 11))
    assert seqs_of(tmp_path / "log*") == list(range(1, 11))
    assert seqs_of(tmp_path / "log.000000000001-000000000006") == [1, 2, 3, 4, 5, 6]


def test_equal_copies_that_are_named_are_read_once_and_forks_are_not(tmp_path: Path) -> None:
    """A copy says nothing new; one that differs is another history, and no line of it may be passed over."""
    path, copy, fork = tmp_path / "log", tmp_path / "copy", tmp_path / "fork"
    lines = log_of(path)
    path.write_bytes(b"".join(lines[:8]))
    copy.write_bytes(b"".join(lines[2:]))
    assert seqs_of(path, copy) == list(range(1, 11))
    fork.write_bytes(b"".join([lines[2], lines[3].replace(b'"r"', b'"x"'), *lines[4:6]]))
    assert seqs_of(path, fork) == [1, 2, 3, 4, 5, 6, 7, 8, 3, 4, 5, 6]


def test_a_segment_and_its_archive_are_one(tmp_path: Path) -> None:
    """Killed after the archive was written and before the original went: the lines are read once."""
    path = tmp_path / "log"
    lines = log_of(path)
    sealed = tmp_path / "log.000000000001-000000000006"
    sealed.write_bytes(b"".join(lines[:6]))
    (tmp_path / f"{sealed.name}.gz").write_bytes(gzip.compress(sealed.read_bytes()))
    path.write_bytes(b"".join(lines[6:]))
    assert seqs_of(path) == list(range(1, 11))
    assert [file.path for file in files_of(str(path))] == [str(sealed), str(path)], "the plain one is quicker to read"
    assert seqs_of(tmp_path / "log*") == list(range(1, 11))


def test_a_file_that_moves_while_it_is_read_is_found_again(tmp_path: Path) -> None:
    """Listed while it was live, sealed before it was opened; listed plain, archived before it was opened."""
    path = tmp_path / "log"
    ledger = ledger_at(path)
    ledger.append([decision("a")], expect=None, actor="t")
    listed = files_of(str(path))
    ledger.rotate(actor="t")
    assert [json.loads(raw)["seq"] for file in listed for _, _, raw, _ in lines_of(file)] == [1]
    listed = files_of(str(path))
    sealed = tmp_path / "log.000000000001-000000000001"
    sealed.with_name(f"{sealed.name}.gz").write_bytes(gzip.compress(sealed.read_bytes()))
    sealed.unlink()
    assert [json.loads(raw)["seq"] for file in listed for _, _, raw, _ in lines_of(file)] == [1, 2]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_an_archive_that_was_cut_is_an_error_behind_its_last_good_line(ending: str, tmp_path: Path) -> None:
    """What can be read is read; the end is not taken for the end of the log."""
    path = tmp_path / "log"
    lines = log_of(path, count=300)
    pack = gzip.compress if ending == ".gz" else zstandard.ZstdCompressor(level=1).compress
    data = b"".join(pack(b"".join(lines[at : at + 100])) for at in range(0, 300, 100))
    archive = tmp_path / f"log.000000000001-000000000300{ending}"
    archive.write_bytes(data[:-40])
    found: list[int] = []

    def read() -> None:
        for _, _, raw, _ in raw_lines([str(archive)]):
            found.append(json.loads(raw)["seq"])

    with pytest.raises(LogDamagedError, match="cannot be decompressed any further"):
        read()
    assert found[:200] == list(range(1, 201))


def test_zstd_without_its_library_is_wrong_usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing extra is 64, and the message names it."""
    archive = tmp_path / "log.000000000001-000000000010.zst"
    archive.write_bytes(zstandard.compress(b"".join(log_of(tmp_path / "log"))))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(UsageError, match="zstandard") as caught:
        list(raw_lines([str(archive)]))
    assert "zstandard>=0.22" in caught.value.remedy


def test_the_last_event_is_found_behind_long_and_damaged_lines(tmp_path: Path) -> None:
    """The end of a file is looked at without reading the file, however long its last lines are."""
    path = tmp_path / "log"
    ledger = ledger_at(path)
    ledger.append([decision("a", pad="x" * 300_000)], expect=None, actor="t")
    ledger.close()
    with path.open("ab") as log:
        log.write(b"{damaged\n\n" + b"y" * 70_000)
    found = last_event_of(Unflushed(), str(path))
    assert found is not None
    assert (found[0], found[1]) == (1, path.read_bytes().split(b"\n")[0])


def test_a_pattern_that_fits_nothing_is_an_error(tmp_path: Path) -> None:
    """A report over a mistyped pattern is no empty report; so is a path where nothing stands."""
    with pytest.raises(LogError, match="no file fits"):
        log_files([str(tmp_path / "x*")])
    with pytest.raises(LogError, match="cannot be read"):
        log_files([str(tmp_path / "nowhere")])
    shutil.rmtree(tmp_path)
    with pytest.raises(LogError, match="cannot be read"):
        log_files([str(tmp_path / "nowhere")])
