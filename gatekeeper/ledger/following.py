"""Keeping the projection level with the log: under the lock where there is one, in memory where not."""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger import torn
from gatekeeper.ledger.fsops import close_quietly, make_directories
from gatekeeper.ledger.head import Head
from gatekeeper.ledger.projection import Projection, after_failure, database_path, open_projection
from gatekeeper.ledger.projection_fold import StaleFoldError
from gatekeeper.ledger.projection_schema import UnusableProjectionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps

BURST_EVENTS = 256
"""How far the projection may lag behind one writer that appends again and again without reading."""

_ATTEMPTS = 4  # the database as it is, as another process has just left it, one made anew, one in memory


class Follower:
    """One log, its lock and its projection, as one process follows them.

    Attributes:
        warnings: what was noticed and not yet told.
    """

    def __init__(self, path: str, ops: FileOps) -> None:
        self.path = path
        self.ops = ops
        self.warnings: list[str] = []
        self._projection: Projection | None = None

    def lock(self) -> int:
        """Wait for the ledger's lock; closing the descriptor ends it. Raises OSError."""
        descriptor = self._open_lock()
        try:
            self.ops.lock(descriptor)
        except BaseException:
            close_quietly(self.ops, descriptor)
            raise
        return descriptor

    def try_lock(self) -> int | None:
        """The lock, None while somebody else has it; makes the log's directory where it is missing. Raises OSError."""
        try:
            descriptor = self._open_lock()
        except FileNotFoundError:
            make_directories(self.ops, os.path.dirname(self.path))
            descriptor = self._open_lock()
        try:
            has_it = self.ops.try_lock(descriptor)
        except BaseException:
            close_quietly(self.ops, descriptor)
            raise
        if has_it:
            return descriptor
        close_quietly(self.ops, descriptor)
        return None

    def _open_lock(self) -> int:
        return self.ops.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT)

    def projection(self) -> Projection:
        """The projection, opened when it is first needed."""
        if self._projection is None:
            self._projection = open_projection(self.path, self.ops, self.warnings)
        return self._projection

    def describe_head(self) -> dict[str, Any]:
        """The head for people and programs."""
        head = self._projection.head if self._projection is not None else Head()
        return {"seq": head.seq, "digest": head.digest, "ts": head.ts or None, "is_complete": head.is_complete}

    def take_warnings(self) -> list[str]:
        """All that was noticed since the last call."""
        taken, self.warnings = self.warnings, []
        if self._projection is not None:
            taken += self._projection.fold.warnings
            self._projection.fold.warnings.clear()
        return taken

    def settle(self) -> None:
        """Give up the last view's snapshot, and commit what appends in a row have left for later."""
        if self._projection is None:
            return
        try:
            if self._projection.fold.pending:
                self._projection.fold.flush()
            self._projection.end_snapshot()
        except (sqlite3.Error, StaleFoldError):
            self.drop()  # the log has it all: the next call reads on from what was committed

    def drop(self) -> None:
        """Leave the database as last committed."""
        if self._projection is not None:
            self._projection.connection.close()
            self._projection = None

    def close(self) -> None:
        """Close the database tidily, which waits for the device; a check need not."""
        self.settle()
        if self._projection is not None:
            self._projection.close()
            self._projection = None

    def replace_failed(self, error: sqlite3.Error) -> None:
        """The projection failed while it was used: take another in its place."""
        self._projection = after_failure(self.projection(), error, self.ops, self.warnings)

    def open_existing(self) -> bool:
        """Use the database that is there; False where there is none that can be used, and nothing is made anew."""
        if self._projection is None:
            try:
                is_begun = self.ops.length(database_path(self.path)) > 0
                self._projection = Projection(self.path, self.ops) if is_begun else None
            except (OSError, sqlite3.Error, UnusableProjectionError):
                return False
        return self._projection is not None and not self._projection.in_memory

    def snapshot(self, descriptor: int | None) -> Projection:
        """The projection, level with the log and at rest until the next call.

        Args:
            descriptor: of the log; None when there is no file.

        Raises:
            StateUnreadableError: the log is another history.
        """
        projection = self.projection()
        try:
            projection.begin_snapshot()
            if projection.is_current(descriptor, self._size(descriptor)):
                return projection
        except sqlite3.Error:  # looked into under the lock
            pass
        try:
            lock = self.lock()
        except OSError as error:
            self._read_in_memory(descriptor, error)
            return self.projection()
        fresh: int | None = None
        try:
            fresh = self._open_again()
            self._catch_up(fresh, self._whole_size(fresh))
        finally:
            if fresh is not None:
                close_quietly(self.ops, fresh)
            close_quietly(self.ops, lock)
        return self.projection()

    def level(self, descriptor: int, *, most: int) -> bool:
        """Bring the projection level with the log, for a query, and hold that state.

        Args:
            descriptor: of the log.
            most: how many bytes of it may be unread; with more nothing is done.

        Returns:
            Whether it is level, and its database can be read by others, too.

        Raises:
            OSError: no lock is to be had. StateUnreadableError: the log is another history.
        """
        projection = self.projection()
        projection.begin_snapshot()
        size = self.ops.size(descriptor)
        if projection.is_current(descriptor, size):
            return True
        if projection.unread(descriptor, size) > most:
            return False
        lock, fresh = self.lock(), None
        try:
            fresh = self._open_again()
            size = 0 if fresh is None else torn.terminated_size(self.ops, fresh, self.ops.size(fresh))
            self._catch_up(fresh, size)
            self.projection().begin_snapshot()
        finally:
            if fresh is not None:
                close_quietly(self.ops, fresh)
            close_quietly(self.ops, lock)
        return not self.projection().in_memory

    def project(self, failures: Sequence[Exception], *, is_burst: bool = False) -> None:
        """The state second. Failing here loses nothing: the next call reads the lines from the log.

        Args:
            failures: what hindered the fold while it took the lines.
            is_burst: more appends are likely to follow.
        """
        fold = self.projection().fold
        try:
            for failure in failures:
                raise failure
            if not (is_burst and fold.pending < BURST_EVENTS) or fold.connection.in_transaction:
                fold.flush()
        except StaleFoldError:
            self.drop()  # another writer has just left its state: the next call reads the lines
        except sqlite3.Error as error:
            self.warnings.append(f"{database_path(self.path)} was not updated ({error}): the next call does it")
            self.drop()

    def make_ready(self, descriptor: int) -> int:
        """With the lock held: keep a torn tail aside, cut it off, read every line. The log's size then.

        Raises:
            StateUnreadableError: the log is another history.
        """
        size = self.ops.size(descriptor)
        projection = self.projection()
        try:
            projection.end_snapshot()
            projection.refresh()
            if projection.is_current(descriptor, size):
                return size
        except sqlite3.Error as error:
            self.replace_failed(error)
        end = torn.terminated_size(self.ops, descriptor, size)
        if end < size:
            torn.cut_torn_tail(self.ops, descriptor, self.path, size=size, end=end)
        self._catch_up(descriptor, end)
        return end

    def _open_again(self) -> int | None:
        """The file that is live now that the lock is held: it may have been rotated since it was opened."""
        try:
            return self.ops.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return None

    def _size(self, descriptor: int | None) -> int:
        return self.ops.size(descriptor) if descriptor is not None else 0

    def _whole_size(self, descriptor: int | None) -> int:
        """Size of the log without an unfinished last line."""
        if descriptor is None:
            return 0
        size = self.ops.size(descriptor)
        end = torn.terminated_size(self.ops, descriptor, size)
        if end < size:
            self.warnings.append(
                f"{self.path} ends in {size - end} bytes of an unfinished line: "
                "the next append keeps them aside and goes on"
            )
        return end

    def _read_in_memory(self, descriptor: int | None, error: OSError) -> None:
        """No lock is to be had, so nothing may be written: read the log into memory."""
        self.warnings.append(f"{self.path}.lock cannot be taken ({error.strerror or error}): the log is read anew")
        self.drop()
        self._projection = Projection(self.path, self.ops, in_memory=True)
        self._catch_up(descriptor, self._whole_size(descriptor))

    def _catch_up(self, descriptor: int | None, size: int) -> None:
        for _ in range(_ATTEMPTS):
            projection = self.projection()
            try:
                self._read_up_to(projection, descriptor, size)
            except StateUnreadableError:
                projection.end_snapshot()
                projection.restart()
                raise
            except StaleFoldError:
                projection.restart()
            except sqlite3.Error as error:
                self.replace_failed(error)
            else:
                return
        raise StateUnreadableError(
            f"{database_path(self.path)} cannot be used", remedy="remove it: it is rebuilt from the log"
        )

    def _read_up_to(self, projection: Projection, descriptor: int | None, size: int) -> None:
        projection.end_snapshot()
        projection.restart()  # what was gathered and not committed may build on less than others have committed
        if projection.is_current(descriptor, size):
            return
        if descriptor is not None:
            # a writer killed before its flush left lines that no one may act on until they are on the device
            self.ops.flush(descriptor)
            self.ops.flush_directory(os.path.dirname(self.path))
        projection.catch_up(descriptor, size)
        projection.fold.flush()
