"""The index over the events of the branch, as the state beside the mirror has it."""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.errors import LogError
from gatekeeper.ledger.event_index import ProjectionIndex
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import close_quietly
from gatekeeper.ledger.index_lines import IndexedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps


def open_index(mirror: str, *, shown: str, ops: FileOps) -> ProjectionIndex | None:
    """The index, level with the mirror; None where it cannot be had.

    Args:
        shown: how people know the log.
    """
    follower = Follower(mirror, ops)
    try:
        descriptor = ops.open(mirror, os.O_RDONLY)
    except OSError:
        return None
    projection = None
    try:
        projection = follower.snapshot(descriptor)
        projection.begin_snapshot()
    except (OSError, sqlite3.Error, LogError):
        projection = None
    if projection is None or projection.in_memory:
        follower.drop()
        close_quietly(ops, descriptor)
        return None
    head = projection.head
    files = [IndexedFile(head.segment, shown, head.listed, descriptor)]
    return ProjectionIndex(projection.connection, head=head, ops=ops, files=files, release=follower.drop)
