"""Lines of the log into Parquet files: row by row in, a file at a time out.

A file has the events of consecutive seqs and of one day. It is written under another name, waited for, and then given
its own; the next is begun only behind that. So an export that is killed anywhere has lost no row and doubles none: the
next one goes on behind the last file. In memory is what makes a row group, whatever the length of the log.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from dataclasses import dataclass, field

from gatekeeper.export.lake.files import file_name, metadata_of, unfinished_name, unwritable
from gatekeeper.export.lake.library import parquet_library
from gatekeeper.export.lake.rows import moment_of, row_of
from gatekeeper.export.lake.schema import schema
from gatekeeper.ledger.fsops import close_quietly, make_directories, remove_quietly, write_all
from gatekeeper.model.event import line_digest
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gatekeeper.export.lake.files import Lake
    from gatekeeper.export.lines import Line
    from gatekeeper.export.position import Position
    from gatekeeper.ledger.fsops import FileOps

_WRITE_BYTES = 1 << 20


@dataclass(frozen=True)
class Sizes:
    """How many bytes of lines make a batch of rows, a row group, and a file at most."""

    batch: int = 1 << 20
    group: int = 16 << 20
    file: int = 256 << 20


@dataclass(frozen=True)
class WrittenFile:
    """One file: its place, rows, and size in bytes."""

    path: str
    rows: int
    size: int


@dataclass
class Written:
    """What was exported.

    Attributes:
        files: in the order of the log.
        position: up to where the lake reaches now.
        out_of_place: lines whose seq does not follow, which have no row: where they stand, the first hundred.
        out_of_place_count: how many there were.
    """

    position: Position
    files: list[WrittenFile] = field(default_factory=list)
    out_of_place: list[str] = field(default_factory=list)
    out_of_place_count: int = 0


def write_lake(ops: FileOps, lake: Lake, lines: Iterator[Line], sizes: Sizes | None = None) -> Written:
    """Write the rows of all lines.

    Args:
        lake: nobody else writes to it.
        lines: those behind its position, in order.
        sizes: None: the usual ones.

    Raises:
        LogError: a file cannot be written; those before it are there.
        UsageError: the library is not installed.
    """
    done, day, sizes = Written(lake.position), lake.day, sizes or Sizes()
    file: _File | None = None
    try:
        for line in lines:
            if line.seq is not None and line.seq <= done.position.seq:
                done.out_of_place_count += 1
                done.out_of_place += [f"{line.source}:{line.number}"] if len(done.out_of_place) < 100 else []
                continue
            digest = line_digest(line.data)
            if line.event is not None:
                day = _day_of(line.event) or day
                if file is not None and not file.takes(line, day):
                    done.files.append(file.finish())
                    file = None
                if file is None:
                    file = _File(ops, lake.directory, day, done.position, sizes)
                file.add(line, digest)
            done.position = done.position.after(line, digest)
            if file is not None and line.event is not None:
                file.reaches(line, done.position)
        if file is not None:
            done.files.append(file.finish())
    except BaseException as error:
        if file is not None:
            file.abandon()
        if isinstance(error, OSError):
            raise unwritable(lake.directory, error) from error
        raise
    return done


def _day_of(event: Mapping[str, Any]) -> str | None:
    """The UTC day of an event that states a time."""
    moment = moment_of(event)
    return None if moment is None else format_time(moment)[:10]


class _Sink(io.RawIOBase):
    """What the library writes to."""

    def __init__(self, ops: FileOps, descriptor: int) -> None:
        super().__init__()
        self._ops = ops
        self._descriptor = descriptor
        self.size = 0
        self.is_abandoned = False

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """All of *data*; nothing any more once the file is abandoned, which the library does not know of."""
        block = bytes(data)
        if self.is_abandoned:
            return len(block)
        write_all(self._ops, self._descriptor, block)
        self.size += len(block)
        return len(block)


class _File:
    """A file on its way."""

    def __init__(self, ops: FileOps, directory: str, day: str, before: Position, sizes: Sizes) -> None:
        self._ops = ops
        self._day = day
        self._sizes = sizes
        self._before = self._end = before
        self._first_seq: int | None = None
        self._rows: list[dict[str, Any]] = []
        self._batches: list[Any] = []
        self._row_bytes = self._group_bytes = self._bytes = self._count = 0
        self._library = parquet_library()
        self._partition = os.path.join(directory, f"date={day}")
        make_directories(ops, self._partition)
        self._path = os.path.join(self._partition, unfinished_name())
        self._descriptor = ops.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self._sink = _Sink(ops, self._descriptor)
        self._buffer = io.BufferedWriter(self._sink, _WRITE_BYTES)  # the library writes page by page
        self._writer = self._library.parquet.ParquetWriter(self._buffer, schema(), compression="zstd")

    def takes(self, line: Line, day: str) -> bool:
        """Whether the line belongs into this file as well."""
        follows = line.seq is None or self._first_seq is None or line.seq == self._end.seq + 1
        return follows and day == self._day and self._bytes < self._sizes.file

    def add(self, line: Line, digest: str) -> None:
        """Take its row."""
        self._rows.append(row_of(line, digest))
        size = len(line.data)
        self._row_bytes += size
        self._group_bytes += size
        self._bytes += size
        self._count += 1
        if self._row_bytes >= self._sizes.batch:
            self._make_batch()
        if self._group_bytes >= self._sizes.group:
            self._write_group()

    def reaches(self, line: Line, position: Position) -> None:
        """Note how far its rows reach."""
        self._end = position
        if self._first_seq is None:
            self._first_seq = line.seq

    def finish(self) -> WrittenFile:
        """Write what is left, wait for the device, and give the file its name."""
        self._write_group()
        self._writer.add_key_value_metadata(metadata_of(self._end))
        self._writer.close()
        self._buffer.flush()
        self._ops.flush(self._descriptor)
        self._ops.close(self._descriptor)
        path = os.path.join(self._partition, file_name(self._before, self._first_seq, self._end))
        self._ops.replace(self._path, path)
        self._ops.flush_directory(self._partition)
        return WrittenFile(path, self._count, self._sink.size)

    def abandon(self) -> None:
        """Leave nothing of it behind."""
        self._sink.is_abandoned = True
        with suppress(self._library.ArrowException, OSError):
            self._writer.close()
        close_quietly(self._ops, self._descriptor)
        remove_quietly(self._ops, self._path)

    def _make_batch(self) -> None:
        if self._rows:
            self._batches.append(self._library.RecordBatch.from_pylist(self._rows, schema=schema()))
            self._rows = []
            self._row_bytes = 0

    def _write_group(self) -> None:
        self._make_batch()
        if self._batches:
            table = self._library.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=table.num_rows)
            self._batches = []
            self._group_bytes = 0
