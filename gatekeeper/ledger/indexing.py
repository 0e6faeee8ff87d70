"""Opening the index of a log for queries: where it is there, and can be brought level at little cost."""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.errors import LogError, StateUnreadableError
from gatekeeper.ledger.event_index import ProjectionIndex
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import FileOps, close_quietly
from gatekeeper.ledger.index_lines import IndexedFile
from gatekeeper.ledger.segment_names import names_beside, plain_name, sealed_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.ledger.projection import Projection

LAG_BYTES = 1 << 26
"""How much of a log may be unread yet: reading more takes longer than looking through the log once."""


def open_index(path: str, *, ops: FileOps | None = None) -> tuple[ProjectionIndex | None, list[str]]:
    """The index of the log at *path*, and what was noticed on the way.

    None where there is none: no database or one that cannot be used, files that others have rotated away, a
    place where nothing may be written while the state is not level, another history. Nothing is made anew, and
    no trouble is raised: whoever reads the log itself meets it.
    """
    calls = ops if ops is not None else FileOps()
    follower = Follower(os.path.abspath(path), calls)
    try:
        descriptor = calls.open(follower.path, os.O_RDONLY)
    except OSError:
        return None, []
    files: list[IndexedFile] | None = None
    try:
        if follower.open_existing() and follower.level(descriptor, most=LAG_BYTES):
            sealed, others = names_beside(calls, path)
            if not others:
                files = _files(follower.projection(), sealed, path, descriptor)
    except (OSError, sqlite3.Error, LogError, StateUnreadableError):
        pass
    warnings = follower.take_warnings()
    if files is None:
        follower.drop()
        close_quietly(calls, descriptor)
        return None, warnings
    projection = follower.projection()
    index = ProjectionIndex(projection.connection, head=projection.head, ops=calls, files=files, release=follower.drop)
    return index, warnings


def _files(projection: Projection, sealed: Sequence[str], path: str, descriptor: int) -> list[IndexedFile] | None:
    """The files of the log as the index knows them; None where it knows one not at all, or not as a whole."""
    rows = projection.connection.execute("SELECT name, number, first_seq, last_seq FROM segments WHERE name <> ''")
    known = {name: (number, first, last) for name, number, first, last in rows.fetchall()}
    files = []
    for place in sealed:
        number, first, last = known.get(plain_name(os.path.basename(place)), (0, 0, 0))
        if sealed_range(place) != (first, last):
            return None
        files.append(IndexedFile(number, place, last))
    head = projection.head
    return [*files, IndexedFile(head.segment, path, head.listed, descriptor)]
