"""Where a log begins whose first segments were pruned."""

from __future__ import annotations

import os

from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.log_files import log_files
from gatekeeper.ledger.pruned import read_pruned
from gatekeeper.ledger.segments import unreadable
from gatekeeper.proof.merkle import TreeHasher
from gatekeeper.replay.leaves import Beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.pruned import Pruned


def pruned_before(paths: tuple[str, ...]) -> Pruned | None:
    """What was removed on purpose right before the first line of a log; None where nothing was, or it is back.

    Raises:
        LogDamagedError, LogError: what is kept of it cannot be read.
    """
    if len(paths) != 1:
        return None
    ops, path = FileOps(), os.path.abspath(paths[0])
    try:
        pruned = read_pruned(ops, path)
    except OSError as error:
        raise unreadable(path, error) from error
    if pruned is None:
        return None
    first = next((file.first_seq for file in log_files(paths, ops) if file.first_seq), pruned.last_seq + 1)
    return pruned if first == pruned.last_seq + 1 else None


def pruned_words(pruned: Pruned | None) -> tuple[str, ...]:
    """What people are told of a log that begins behind its removed part."""
    if pruned is None:
        return ()
    return (f"gatekeeper: seq 1 to {pruned.last_seq} were pruned: a checkpoint covered them, and the chain goes on",)


def beginning_of(paths: tuple[str, ...]) -> Beginning:
    """The same as leaves of the log's Merkle tree. Raises as `pruned_before` does."""
    pruned = pruned_before(paths)
    if pruned is None:
        return Beginning()
    return Beginning(TreeHasher.restored(0, pruned.last_seq, pruned.subtrees), pruned.digest)
