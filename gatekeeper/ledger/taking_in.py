"""Lines of another log into the file ledger, as they are: each part under the lock, with one write and one flush."""

from __future__ import annotations

import os

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.appending import append_durably, open_for_appending, unwritable
from gatekeeper.ledger.fsops import close_quietly, make_directories
from gatekeeper.ledger.importing import Chained, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gatekeeper.ledger.following import Follower

PART_BYTES = 4 << 20
"""How much is written at a time; others may append between two parts, and then nothing more fits."""


def take_in(follower: Follower, lines: Iterator[bytes], *, let_go: Callable[[int], None]) -> int:
    """Append *lines* behind the log's end; how many.

    Args:
        let_go: gives the lock back.

    Raises:
        LogDamagedError: they do not continue the log as it is by now; parts before that were taken in.
        LogError: they could not be written; nothing of the part at hand is left (or the message says so).
    """
    taken = 0
    try:
        make_directories(follower.ops, os.path.dirname(follower.path))
        for part in parts_of(lines, most_bytes=PART_BYTES):
            lock = follower.lock()
            try:
                _append(follower, part)
            finally:
                let_go(lock)
            taken += len(part)
    except OSError as error:
        raise unwritable(follower.path, error) from error
    return taken


def _append(follower: Follower, part: list[bytes]) -> None:
    ops, path = follower.ops, follower.path
    descriptor = open_for_appending(ops, path)
    try:
        size = follower.make_ready(descriptor)
        head = follower.projection().head
        if head.seq and not size:
            raise LogDamagedError(
                f"{path} has lost seq 1 to {head.seq}, which its state knows; nothing was imported into it",
                remedy="bring them back, or import under another name",
            )
        chain = Chained(head.seq, head.digest) if head.seq else Chained()
        for line in part:
            chain.take(line, path)
        append_durably(
            ops, descriptor, path, size=size, data=b"".join(line + b"\n" for line in part), meanwhile=_nothing
        )
    finally:
        close_quietly(ops, descriptor)


def _nothing() -> None:
    """The state follows when it is next asked for."""
