"""The file ledger: `ports.Ledger` over one NDJSON file, a lock beside it, and the projection.

An append is: lock, look whether the projection has seen the file's end, compare what the caller has
seen, seal, one write, one flush, project, unlock. The log comes first and the state second, so a
crash anywhere leaves at most a log that is ahead, and the next call reads on.
"""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.errors import LogError, StateUnreadableError
from gatekeeper.ledger import markers
from gatekeeper.ledger.appending import open_for_appending, unwritable
from gatekeeper.ledger.commit import Committer, Turn, has_waiting
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import FileOps, close_quietly, make_directories, read_all
from gatekeeper.ledger.projection import database_path
from gatekeeper.ledger.projection_schema import discard
from gatekeeper.ledger.viewing import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.group_wait import Waiter
    from gatekeeper.ledger.projection_view import ProjectionView
    from gatekeeper.ledger.rotation import Rotation
    from gatekeeper.model.exchange import Expectation, Receipt
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import Clock

_UNREADABLE_REMEDY = "mend the path or its permissions; until then only safety rules are asked"

BULK_APPENDS = 64
"""From so many appends in a row on, a faster encoder repays its import."""


class NdjsonLedger:
    """Implements `ports.Ledger`; one object serves one thread.

    Args:
        path: of the log; its directory is created by the first append.
        clock: gives each event its `ts`.
        ops: the disk calls.
        rotate_bytes: an append that finds the file longer than this, its head aside, seals it first; None: never.
    """

    def __init__(self, path: str, *, clock: Clock, ops: FileOps | None = None, rotate_bytes: int | None = None) -> None:
        self.path = os.path.abspath(path)
        self._clock = clock
        self._rotate_bytes = rotate_bytes
        self._ops = ops if ops is not None else FileOps()
        self._follower = Follower(self.path, self._ops)
        self._viewer = Viewer(self._follower)
        self._committer = Committer(self._follower, clock)
        self._waiter: Waiter | None = None
        self._appends_in_a_row = 0

    def view(self) -> ProjectionView:
        """Read the state up to the log's last line; creates nothing where there is no log.

        Raises:
            StateUnreadableError: the log cannot be read, or is another history than the one seen.
        """
        self._follower.settle()
        self._appends_in_a_row = 0
        self._leave_queue()
        try:
            if self._ops.exists(markers.marker_path(self.path)):
                self._record_notes()
            return self._viewer.view()
        except StateUnreadableError:
            raise
        except LogError as error:  # a file of the log that cannot be read
            raise StateUnreadableError(error.message, remedy=_UNREADABLE_REMEDY) from error
        except OSError as error:
            raise StateUnreadableError(
                f"{self.path} cannot be read: {error.strerror or error}", remedy=_UNREADABLE_REMEDY
            ) from error

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Seal and store *drafts* in one write, after `policy` events for the *policies* it lacks.

        Raises:
            ConflictError: the run, its slot or the key is not as expected; nothing was written.
            LogError: it could not be written; nothing of it is left (or the message says so).
        """
        self._appends_in_a_row += 1
        receipt = None
        try:
            turn = self._turn(drafts, expect=expect, policies=policies)
            receipt = turn.receipt
            if turn.lock is not None:
                try:
                    receipt = self._append_locked(
                        drafts,
                        expect=expect,
                        policies=policies,
                        actor=actor,
                        may_be_recorded=turn.may_be_recorded,
                    )
                finally:
                    self._let_go(turn.lock)
            if receipt is None:  # a holder of the lock recorded it and was killed before it could tell
                receipt = self._recorded(drafts)
        except OSError as error:
            raise unwritable(self.path, error) from error
        else:
            return receipt
        finally:
            if receipt is None or self._appends_in_a_row == 1:
                self._leave_queue()

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Best effort: keep an unrecorded REJECT beside the log; its place, None when that failed too."""
        lock = None
        try:
            make_directories(self._ops, os.path.dirname(self.path))  # the log may not have come so far
            lock = self._follower.lock()
        except OSError:  # the note matters more than its order
            pass
        try:
            markers.leave(self._ops, self.path, drafts)
        except OSError:
            return None
        finally:
            if lock is not None:
                close_quietly(self._ops, lock)
        return markers.marker_path(self.path)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Events from `seq` *start* on with their line bytes, in order; damaged lines are passed over."""
        from gatekeeper.ledger.reading import read_file

        return read_file(self._ops, self.path, start=start)

    def rotate(self, *, actor: str, larger_than: int = 0) -> Rotation | None:
        """Seal the live file and begin a new one; None when it has no event, or is not larger than that many bytes.

        Raises:
            LogError: it could not be done; the log is as it was.
            StateUnreadableError: the log is another history than the one seen.
        """
        from gatekeeper.ledger.rotation import rotate_now

        self._follower.settle()
        return rotate_now(self._follower, now=self._clock.now(), actor=actor, larger_than=larger_than)

    def take_in(self, lines: Iterator[bytes]) -> int:
        """Append lines of another log as they are; how many. Raises as `taking_in.take_in` does."""
        from gatekeeper.ledger.taking_in import take_in

        self._follower.settle()
        return take_in(self._follower, lines, let_go=self._let_go)

    def head(self) -> Mapping[str, Any]:
        """The log's end: `seq` (0: no event), `digest` (the next `prev`), `ts`, `is_complete`."""
        self.view()
        return self._follower.describe_head()

    def rebuild(self) -> ProjectionView:
        """Throw the projection away and fold the log as it stands now.

        Raises:
            LogDamagedError: the log ends before what the projection has seen; runs would begin anew.
            StateUnreadableError: the log cannot be read.
            LogError: the projection cannot be thrown away.
        """
        from gatekeeper.ledger.reading import refuse_forgetting

        try:
            if self._follower.open_existing():  # else nothing was seen, and folding the log only to learn that is dear
                refuse_forgetting(self._ops, self.path, known=int(self.head()["seq"]))
        except StateUnreadableError:  # another history stands there: whoever asks for it gets that one
            pass
        self.close()
        try:
            if not self._ops.exists(self.path) and not self._ops.exists(database_path(self.path)):
                return self.view()
            lock = self._follower.lock()
            try:
                discard(self._ops, database_path(self.path))
            finally:
                close_quietly(self._ops, lock)
        except OSError as error:
            raise unwritable(database_path(self.path), error) from error
        return self.view()

    def close(self) -> None:
        """Close the projection tidily, which waits for the device; a check need not."""
        self._leave_queue()
        self._follower.close()

    def _turn(
        self, drafts: Sequence[Mapping[str, Any]], *, expect: Expectation | None, policies: Sequence[LoadedPolicy]
    ) -> Turn:
        """The lock at once if it is free, else what waiting for it brings. Raises OSError."""
        if self._waiter is None or not has_waiting(self._ops, self.path):  # else it is as good as taken
            lock = self._follower.try_lock()
            if lock is not None:
                return Turn(lock)
        if self._waiter is None:
            from gatekeeper.ledger.group_wait import Waiter

            self._waiter = Waiter(self._follower)
        return self._waiter.turn(drafts, expect=expect, policies=policies, is_bulk=self._is_bulk)

    def _let_go(self, lock: int) -> None:
        close_quietly(self._ops, lock)
        if has_waiting(self._ops, self.path):
            from gatekeeper.ledger.group_commit import tell_next

            tell_next(self._ops, self.path)

    def _recorded(self, drafts: Sequence[Mapping[str, Any]]) -> Receipt:
        from gatekeeper.ledger.group_wait import receipt_of

        return receipt_of(drafts, self.view())

    def _leave_queue(self) -> None:
        if self._waiter is not None:
            self._waiter.leave()
            self._waiter = None

    @property
    def _is_bulk(self) -> bool:
        return self._appends_in_a_row > BULK_APPENDS

    def _append_locked(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy],
        actor: str,
        may_be_recorded: bool,
    ) -> Receipt | None:
        """Under the lock, with the log open; None: the events are there already. Raises OSError."""
        descriptor = open_for_appending(self._ops, self.path)
        try:
            if expect is not None and (expect.slot is not None or expect.key is not None):
                self._follower.settle()  # these are looked up in the tables
            size = self._follower.make_ready(descriptor)
            is_long = self._rotate_bytes is not None and size > self._rotate_bytes
            if is_long or (size == 0 and self._follower.projection().head.seq):
                from gatekeeper.ledger.rotation import before_append

                now, limit = self._clock.now(), self._rotate_bytes
                descriptor, size = before_append(self._follower, descriptor, size, now=now, actor=actor, limit=limit)
            size = self._append_notes(descriptor, size, actor)
            return self._committer.append(
                descriptor,
                size,
                drafts,
                expect=expect,
                policies=policies,
                actor=actor,
                is_bulk=self._is_bulk,
                is_burst=self._appends_in_a_row > 1,
                may_be_recorded=may_be_recorded,
            )
        finally:
            close_quietly(self._ops, descriptor)

    def _record_notes(self) -> None:
        """Before anything is decided, REJECTs that could not be recorded become events; failing is told only."""
        try:
            lock = self._follower.lock()
            try:
                descriptor = open_for_appending(self._ops, self.path)
                try:
                    self._append_notes(descriptor, self._follower.make_ready(descriptor), actor="gatekeeper")
                finally:
                    close_quietly(self._ops, descriptor)
            finally:
                close_quietly(self._ops, lock)
        except (OSError, LogError) as error:
            self._follower.warnings.append(
                f"{markers.marker_path(self.path)} holds a REJECT that is still not recorded: {error}"
            )

    def _append_notes(self, descriptor: int, size: int, actor: str) -> int:
        """Turn the notes, if there are any, into events; the log's new size. The lock is held."""
        place = markers.marker_path(self.path)
        if not self._ops.exists(place):
            return size  # as ever, or another process was first
        notes = read_all(self._ops, place) or b""
        try:
            drafts, bad = markers.to_be_recorded(notes, self._follower.projection().fold)
        except sqlite3.Error as error:
            self._follower.replace_failed(error)
            size = self._follower.make_ready(descriptor)
            drafts, bad = markers.to_be_recorded(notes, self._follower.projection().fold)
        self._follower.warnings += markers.set_aside(self._ops, self.path, bad)
        if drafts:
            receipt = self._committer.append(descriptor, size, drafts, expect=None, policies=(), actor=actor)
            assert receipt is not None  # nobody has waited
            self._follower.warnings += [*receipt.warnings, markers.recorded_words(self.path, receipt.events)]
            size = self._ops.size(descriptor)
        markers.remove(self._ops, self.path)
        return size
