"""Views on the state, level with the log: what `NdjsonLedger.view` hands out."""

from __future__ import annotations

import os

from gatekeeper.ledger.fsops import close_quietly
from gatekeeper.ledger.projection import database_path
from gatekeeper.ledger.projection_schema import open_memory
from gatekeeper.ledger.projection_view import ProjectionView

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from gatekeeper.ledger.following import Follower


class Viewer:
    """Makes views of one log as one process follows it."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def view(self) -> ProjectionView:
        """The state up to the log's last line; nothing is created where there is no log.

        Raises:
            StateUnreadableError: the log is another history than the one seen.
            OSError: the log cannot be read.
        """
        follower = self._follower
        try:
            descriptor: int | None = follower.ops.open(follower.path, os.O_RDONLY)
        except FileNotFoundError:
            descriptor = None
            if not follower.ops.exists(database_path(follower.path)) and not self._has_files():
                return self._view_of(open_memory(), is_complete=True, segment=1)
        try:
            projection = follower.snapshot(descriptor)
        finally:
            if descriptor is not None:
                close_quietly(follower.ops, descriptor)
        head = projection.head
        return self._view_of(projection.connection, is_complete=head.is_complete, segment=head.segment)

    def _has_files(self) -> bool:
        """Whether other files of the log are there, though the live one is not."""
        from gatekeeper.ledger.projection_segments import has_files

        return has_files(self._follower.ops, self._follower.path)

    def _view_of(self, connection: sqlite3.Connection, *, is_complete: bool, segment: int) -> ProjectionView:
        return ProjectionView(
            connection,
            path=self._follower.path,
            ops=self._follower.ops,
            repair=self._repair,
            is_complete=is_complete,
            segment=segment,
            warnings=self._follower.take_warnings(),
        )

    def _repair(self, error: sqlite3.Error) -> ProjectionView:
        """For a view whose tables turned out damaged: a view on tables made anew."""
        self._follower.replace_failed(error)
        return self.view()
