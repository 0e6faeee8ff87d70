"""The projection as a whole: is it up to date with the file, and if not, what happened to the file?

It is never folded back: a file that ends before the last event seen was rotated or cut, and the runs
stay where they were. Only another history, one that contradicts what was seen, cannot be used.
"""

from __future__ import annotations

import sqlite3

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.codec import BULK_BYTES, decoder_for, terminated_lines
from gatekeeper.ledger.fsops import read_exactly
from gatekeeper.ledger.projection_fold import Fold
from gatekeeper.ledger.projection_rows import digest_blob
from gatekeeper.ledger.projection_schema import (
    UnusableProjectionError,
    discard,
    load_head,
    open_file,
    open_memory,
)
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import decode, is_blank, is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.head import Head

_SQLITE_ERROR = 1  # "SQL error or missing database": here, a table or column that should be there


class Projection:
    """The tables, the fold that feeds them, and the file that they follow.

    Args:
        path: of the log; the database stands beside it as `<path>.db`.
        ops: the disk calls.
        in_memory: keep the tables in this process only.
    """

    def __init__(self, path: str, ops: FileOps, *, in_memory: bool = False) -> None:
        self.path = path
        self.in_memory = in_memory
        self._ops = ops
        self.connection = open_memory() if in_memory else open_file(database_path(path))
        self.fold = Fold(self.connection)

    @property
    def head(self) -> Head:
        """The log's end as far as it has been read."""
        return self.fold.head

    def begin_snapshot(self) -> None:
        """Read from here on as of now, whatever others commit; `end_snapshot` ends it."""
        self.end_snapshot()
        self.connection.execute("BEGIN")
        self.refresh()

    def end_snapshot(self) -> None:
        """Give up what was not committed, and the snapshot that was read from."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def refresh(self) -> None:
        """Take over what other processes have committed, unless this one is ahead of them."""
        if not self.fold.pending and load_head(self.connection).row() != self.fold.head.row():
            self.restart()

    def restart(self) -> None:
        """Forget what is not committed."""
        warnings = self.fold.warnings
        self.fold = Fold(self.connection)
        self.fold.warnings = warnings

    def close(self) -> None:
        """Close the database; its WAL is folded into it, which waits for the device."""
        self.end_snapshot()
        self.connection.close()

    def is_current(self, descriptor: int | None, size: int) -> bool:
        """Whether the file is the one that was read, up to its end."""
        if size != self.head.end or not self._has_anchor(descriptor):
            return False
        if size == 0 and self._is_unread:  # a log begins, or its live file is gone and others stand beside it
            from gatekeeper.ledger.projection_segments import has_files

            return not has_files(self._ops, self.path)
        return True

    def unread(self, descriptor: int, size: int) -> int:
        """How many bytes of the file must be read to know all of it."""
        head = self.head
        return size - head.end if head.end <= size and self._has_anchor(descriptor) else size

    def catch_up(self, descriptor: int | None, size: int) -> None:
        """Read what the file has and the projection has not; the caller holds the lock and flushes after.

        Args:
            descriptor: of the log, None when there is no file.
            size: up to where to read.

        Raises:
            StateUnreadableError: the file holds another history.
        """
        if 0 < self.head.end <= size and self._has_anchor(descriptor):
            self._read_on(descriptor, size)
            return
        from gatekeeper.ledger.projection_segments import follow

        is_unread = self._is_unread
        if follow(self.fold, self._ops, self.path) or is_unread:
            self._read_on(descriptor, size)
        else:
            self._read_again(descriptor, size)

    @property
    def _is_unread(self) -> bool:
        head = self.head
        return head.seq == 0 and head.digest == GENESIS_DIGEST and head.end == 0

    def _has_anchor(self, descriptor: int | None) -> bool:
        head = self.head
        if head.anchor_length < 0:
            return True
        if descriptor is None:
            return False
        line = read_exactly(self._ops, descriptor, head.anchor_length + 1, head.anchor_offset)
        if self.fold.sealed_line is not None:  # sealed by this very process: no need to digest it again
            return line == self.fold.sealed_line + b"\n"
        return line[-1:] == b"\n" and line_digest(line[:-1]) == head.anchor_digest

    def _read_on(self, descriptor: int | None, size: int) -> None:
        if descriptor is None:
            return
        fold, start = self.fold, self.head.end
        if size - start < BULK_BYTES:
            for offset, line in terminated_lines(self._ops, descriptor, start=start, end=size):
                if is_blank(line):
                    fold.head.pass_blank(offset, len(line))
                else:
                    fold.take(decode(line), line, offset)
            return
        from gatekeeper.ledger.ahead import prepared_lines

        for offset, line, prepared in prepared_lines(self._ops, descriptor, start=start, end=size):
            if prepared is None:
                fold.head.pass_blank(offset, len(line))
            else:
                event, digest, said = prepared
                fold.take(event, line, offset, digest=digest, said=said)

    def _read_again(self, descriptor: int | None, size: int) -> None:
        """Another file stands in the log's place, or the old one was changed: find what is new in it."""
        fold, last = self.fold, self.head.seq
        fold.begin()
        fold.is_atomic = True  # the counts are right again at the end only
        fold.leave_file()
        expected, missing, unknown = self._first_seq(), list[tuple[int, int]](), 0
        decode = decoder_for(size)
        lines = terminated_lines(self._ops, descriptor, start=0, end=size) if descriptor is not None else ()
        for offset, line in lines:
            if is_blank(line):
                fold.head.pass_blank(offset, len(line))
                continue
            event, digest = decode(line), line_digest(line)
            seq = seq_of(event) if event is not None and is_chained(event) else None
            if seq is not None and seq <= last:
                if self._find_again(seq, digest, offset, len(line)):
                    if seq > expected:
                        missing.append((expected, seq - 1))
                    expected = max(expected, seq + 1)
                else:
                    unknown += 1
                fold.head.pass_line(offset, len(line), digest)
            elif self._is_stray(digest, offset, len(line)):
                fold.head.pass_line(offset, len(line), digest)
            else:
                fold.take(event, line, offset)
        fold.write()
        fold.index.count_anew()
        if expected <= last:
            missing.append((expected, last))
        if missing:
            self._name_missing(missing, last)
        if unknown:
            fold.warnings.append(
                f"{self.path} now holds {unknown} events older than those seen before; "
                "`gatekeeper log rebuild` takes them in"
            )

    def _name_missing(self, missing: list[tuple[int, int]], last: int) -> None:
        from gatekeeper.ledger.projection_segments import missing_seqs

        gone = [lost for span in missing for lost in missing_seqs(self._ops, self.path, *span)]
        if gone:
            self.fold.warnings.append(
                f"{self.path} no longer holds {', '.join(_range(*lost) for lost in gone)}: rotated or cut; "
                f"run states stay, the log goes on from seq {last}"
            )

    def _first_seq(self) -> int:
        first = self.connection.execute("SELECT min(seq) FROM events").fetchone()[0]
        return 1 if first is None else int(first)

    def _find_again(self, seq: int, digest: str, offset: int, length: int) -> bool:
        """Whether the event was seen before, its new place noted; False: older than all that was seen."""
        index, head = self.fold.index, self.head
        row = self.connection.execute("SELECT digest, facet, segment FROM events WHERE seq = ?", (seq,)).fetchone()
        if row is not None and row[0] == digest_blob(digest):
            _, facet, segment = row
            is_usual = facet is not None and seq > head.listed
            if segment != head.segment:  # else the line stands there twice
                index.find_again(seq, head, offset, is_usual=is_usual)
            if not is_usual:
                index.take_odd(head, offset, length, row[0])
            return True
        if self._is_stray(digest, offset, length):
            return True
        if row is None:
            index.take_odd(head, offset, length, digest_blob(digest))
            return False
        raise StateUnreadableError(
            f"{self.path}: seq {seq} is not the event that was recorded before: this file is another history",
            remedy="put the right log back, or take this one as it is with `gatekeeper log rebuild`",
        )

    def _is_stray(self, digest: str, offset: int, length: int) -> bool:
        """Whether the line was seen before and is none that the index lists, its new place noted."""
        blob = digest_blob(digest)
        found = self.connection.execute("SELECT event_id, run_id FROM odd WHERE digest = ? LIMIT 1", (blob,)).fetchone()
        if found is None:
            return False
        self.fold.index.take_odd(self.head, offset, length, blob, found)
        return True


def database_path(path: str) -> str:
    """Where the projection of the log at *path* stands."""
    return f"{path}.db"


def open_projection(path: str, ops: FileOps, warnings: list[str]) -> Projection:
    """The projection beside the log; made anew when it is damaged, in memory when it cannot be written."""
    try:
        try:
            return Projection(path, ops)
        except UnusableProjectionError as error:
            warnings.append(f"{database_path(path)} was unusable ({error}): rebuilt from the log")
            discard(ops, database_path(path))
            return Projection(path, ops)
    except (sqlite3.Error, UnusableProjectionError, OSError) as error:
        warnings.append(f"{database_path(path)} cannot be written ({error}): the log is read anew by every command")
        return Projection(path, ops, in_memory=True)


def after_failure(projection: Projection, error: sqlite3.Error, ops: FileOps, warnings: list[str]) -> Projection:
    """Another projection in the place of one that failed while it was used; the caller holds the lock."""
    path = projection.path
    projection.connection.close()
    code: Any = getattr(error, "sqlite_errorcode", None)
    is_damaged = not isinstance(error, sqlite3.OperationalError) or code == _SQLITE_ERROR
    if is_damaged and not projection.in_memory:
        warnings.append(f"{database_path(path)} was damaged ({error}): rebuilt from the log")
        try:
            discard(ops, database_path(path))
        except OSError:
            return Projection(path, ops, in_memory=True)
        return open_projection(path, ops, warnings)
    warnings.append(f"{database_path(path)} cannot be used ({error}): the log is read anew by every command")
    return Projection(path, ops, in_memory=True)


def _range(first: int, last: int) -> str:
    return f"seq {first}" if first == last else f"seqs {first}-{last}"
