"""A copy of the log that is not the log: other bytes, a line twice, a fork taken over, a piece of a line left."""

from __future__ import annotations

import errno
import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError, LogError, UsageError
from gatekeeper.ledger.fsops import FileOps
from tests.doubles import MemoryLedger
from tests.export.logs import NOON, chain, founding, into_file, write
from tests.faults.faulty_ops import (
    FaultyOps,
    fails_with,
    in_killed_process,
    killed_after,
    killed_before,
    killed_within,
    takes_only,
)
from tests.ledger.segments import content_of, files_in_order, rotated_log

ODD_LINES = [b'{"torn', founding("old"), b'{"run_id":"old","decision":{"verdict":"REJECT"}}\r']


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three events."""
    return write(tmp_path / "decision.ndjson", chain(NOON, NOON, NOON))


def test_a_copy_has_the_bytes_of_the_log(log: Path, tmp_path: Path) -> None:
    """Damaged and founding-style lines among them, at the end as well: who verifies the copy hears the same."""
    lines = log.read_bytes().splitlines()
    write(log, [*lines[:1], *ODD_LINES, *lines[1:], *ODD_LINES])
    done = into_file(log, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == log.read_bytes()
    assert (done.lines, done.size, done.first_seq, done.last_seq) == (9, log.stat().st_size, 1, 3)


@pytest.mark.parametrize("known", range(10))
def test_a_copy_goes_on_where_it_ends(known: int, log: Path, tmp_path: Path) -> None:
    """Behind an event, behind lines that have no place, behind nothing: no line twice, none left out."""
    lines = log.read_bytes().splitlines()
    lines = [*ODD_LINES, *lines[:2], *ODD_LINES, *lines[2:]]
    write(log, lines)
    copy = write(tmp_path / "copy", lines[:known])
    assert into_file(log, copy).lines == len(lines) - known
    assert copy.read_bytes() == log.read_bytes()
    assert into_file(log, copy).lines == 0
    assert copy.read_bytes() == log.read_bytes()


def test_blank_lines_are_no_place_in_the_log(log: Path, tmp_path: Path) -> None:
    """Readers skip them: neither copied nor counted, wherever they stand."""
    lines = log.read_bytes().splitlines()
    copy = tmp_path / "copy"
    copy.write_bytes(lines[0] + b"\n\n \n")
    write(log, [b"", lines[0], b" ", *lines[1:]])
    assert into_file(log, copy).lines == 2
    assert copy.read_bytes().split() == b"\n".join(lines).split()


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_piece_of_a_line_is_finished(cut: int, log: Path, tmp_path: Path) -> None:
    """What a killed export leaves is a piece of the next line, which then stands there once."""
    lines = log.read_bytes().splitlines(keepends=True)
    copy = tmp_path / "copy"
    copy.write_bytes(lines[0] + lines[1][:cut])
    into_file(log, copy)
    assert copy.read_bytes() == log.read_bytes()


@pytest.mark.parametrize("has_more", [True, False])
def test_a_piece_of_something_else_is_not_cut_off(has_more: bool, log: Path, tmp_path: Path) -> None:
    """Who wrote that is not known: it stays, and nothing is appended to it."""
    lines = log.read_bytes().splitlines(keepends=True)
    copy = tmp_path / "copy"
    copy.write_bytes(b"".join(lines[: 1 if has_more else 3]) + b'{"other"')
    before = copy.read_bytes()
    with pytest.raises(InputRefusedError, match="8 bytes that the log does not have"):
        into_file(log, copy)
    assert copy.read_bytes() == before


def fork(lines: list[bytes]) -> list[bytes]:
    """Another history of the same length."""
    return chain(*[NOON] * len(lines))


def longer(lines: list[bytes]) -> list[bytes]:
    """A log that was cut since."""
    ledger = MemoryLedger()
    chain(*[NOON] * (len(lines) + 1), ledger=ledger)
    return ledger.lines


def other_tail(lines: list[bytes]) -> list[bytes]:
    """The same events, and behind them a line that the log does not have."""
    return [*lines, founding("nobody")]


def other_beginning(_lines: list[bytes]) -> list[bytes]:
    """Nothing but a line without a place that the log does not begin with."""
    return [founding("nobody")]


@pytest.mark.parametrize("make", [fork, longer, other_tail, other_beginning])
def test_a_fork_is_refused(make: Callable[[list[bytes]], list[bytes]], log: Path, tmp_path: Path) -> None:
    """Exit code 65, and the file stays as it is: two histories in one file could never be told apart again."""
    copy = write(tmp_path / "copy", make(log.read_bytes().splitlines()))
    before = copy.read_bytes()
    with pytest.raises(InputRefusedError) as caught:
        into_file(log, copy)
    assert caught.value.exit_code == 65
    assert copy.read_bytes() == before


def test_another_line_without_a_place_is_a_fork_as_well(log: Path, tmp_path: Path) -> None:
    """As many of them, but not the same: only their digests tell."""
    lines = log.read_bytes().splitlines()
    write(log, [*lines, founding("a"), founding("b"), founding("c")])
    copy = write(tmp_path / "copy", [*lines, founding("a"), founding("x")])
    with pytest.raises(InputRefusedError, match="the lines behind seq 3 of the log are not those"):
        into_file(log, copy)


def test_a_pruned_log_goes_on_in_the_copy_that_has_the_rest(tmp_path: Path) -> None:
    """The first line that is left is chained to the last one of the copy; where one is missing, it is refused."""
    lines = chain(*[NOON] * 4)
    log = write(tmp_path / "log", lines[2:])
    copy = write(tmp_path / "copy", lines[:2])
    assert into_file(log, copy).lines == 2
    assert copy.read_bytes().splitlines() == lines
    with pytest.raises(InputRefusedError, match=r"ends at seq 1, .* goes on with seq 3"):
        into_file(log, write(tmp_path / "short", lines[:1]))
    with pytest.raises(InputRefusedError, match="goes on with seq 3"):
        into_file(log, write(tmp_path / "fork", fork(lines[:2])))


@pytest.mark.parametrize("known", [0, 1, 4, 5, 6, 9, 10])
def test_segments_are_copied_as_one_log(known: int, tmp_path: Path) -> None:
    """Sealed and compressed ones, from any place on."""
    log = tmp_path / "decision.ndjson"
    rotated_log(log)
    sealed = files_in_order(log)[0]
    Path(f"{sealed}.gz").write_bytes(gzip.compress(sealed.read_bytes()))
    sealed.unlink()
    lines = b"".join(content_of(file) for file in files_in_order(log)).splitlines()
    copy = write(tmp_path / "copies" / "copy", lines[:known])
    assert into_file(log, copy).lines == 10 - known
    assert copy.read_bytes().splitlines() == lines


def test_a_copy_with_a_long_tail_of_foreign_lines_is_read_back_to_its_last_event(log: Path, tmp_path: Path) -> None:
    """More than is read at a time, and longer lines than that."""
    lines = [*log.read_bytes().splitlines(), *(founding("f", note="x" * 300) for _ in range(900)), b"y" * 100_000]
    write(log, [*lines, founding("new")])
    copy = write(tmp_path / "copy", lines)
    assert into_file(log, copy).lines == 1
    assert copy.read_bytes() == log.read_bytes()


def test_a_compressed_name_is_refused(log: Path, tmp_path: Path) -> None:
    """Plain lines in `….gz` would be read by nobody."""
    with pytest.raises(UsageError):
        into_file(log, tmp_path / "copy.ndjson.gz")


def exported(log: Path, ops: FileOps) -> None:
    """Two events exported, a third one appended to the log, the export asked again with *ops*."""
    lines = log.read_bytes().splitlines()
    copy = log.with_name("copy")
    write(log, lines[:2])
    into_file(log, copy)
    write(log, lines)
    if isinstance(ops, FaultyOps):
        ops.arm()
    into_file(log, copy, ops)


def calls(log: Path) -> list[str]:
    """The disk calls of that export."""
    ops = FaultyOps()
    exported(log, ops)
    log.with_name("copy").unlink()
    return ops.log


def test_a_copy_is_on_the_device_before_anybody_is_told(log: Path) -> None:
    """The flush comes behind the last write; that of a new name's directory, too."""
    made = calls(log)
    assert made[::-1].index("flush") < made[::-1].index("write")
    ops = FaultyOps().arm()
    into_file(log, log.with_name("new"), ops)
    assert ops.log[-4:] == ["flush_directory", "write", "flush", "close"]


def test_two_exports_at_once_copy_each_line_once(tmp_path: Path) -> None:
    """The second one waits, and goes on where the first has ended."""
    lines = chain(*[NOON] * 30)
    log = write(tmp_path / "log", lines)
    for number in range(20):
        copy = write(tmp_path / f"copy{number}", lines[:1])
        done = list[int]()
        threads = [
            Thread(target=lambda done=done, copy=copy: done.append(into_file(log, copy).lines)) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(done) == [0, 0, 0, 29]
        assert copy.read_bytes() == log.read_bytes()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("fault", [fails_with(errno.ENOSPC), takes_only(0.5)])
def test_an_export_that_fails_leaves_the_copy_as_it_was(fault: Any, is_new: bool, log: Path, tmp_path: Path) -> None:
    """At every disk call in turn: no half of a line, no half of an answer; asked again, all is there."""
    lines = log.read_bytes().splitlines(keepends=True)
    before = b"" if is_new else b"".join(lines[:2])
    number = failures = 0
    while True:
        number += 1
        copy = tmp_path / f"copy{number}"
        if not is_new:
            copy.write_bytes(before)
        ops = FaultyOps(number, fault).arm()
        try:
            into_file(log, copy, ops)
        except LogError:
            failures += 1
            assert not copy.exists() or copy.read_bytes() in {before, b"".join(lines)}
            if "flush" in ops.log:
                assert copy.read_bytes() == before
        into_file(log, copy)
        assert copy.read_bytes() == log.read_bytes()
        if len(ops.log) < number:
            break
    assert failures >= 4  # open, lock, write, flush


@pytest.mark.parametrize("fault", [killed_before, killed_after, killed_within])
def test_an_export_that_is_killed_is_finished_by_the_next(fault: Any, log: Path) -> None:
    """At every disk call: what is left is a piece of the log, and the next export makes it the log."""
    whole = log.read_bytes()
    for number in range(1, len(calls(log)) + 1):
        ops = FaultyOps(number, fault)
        killed = not in_killed_process(partial(exported, log, ops))
        copy = log.with_name("copy")
        assert killed
        assert whole.startswith(copy.read_bytes())
        write(log, whole.splitlines())
        into_file(log, copy)
        assert copy.read_bytes() == whole
        copy.unlink()
