"""Where a log begins whose first segments were pruned."""

from __future__ import annotations

from gatekeeper.cli.pruned import pruned_of
from gatekeeper.ledger.log_files import log_files
from gatekeeper.proof.merkle import TreeHasher
from gatekeeper.replay.leaves import Beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.pruned import Pruned


def pruned_before(paths: tuple[str, ...]) -> Pruned | None:
    """What was removed on purpose from a log's beginning; None where nothing was, or all of it is back.

    Where only a part of it is there, a prune was cut short, or a part was brought back: without the rest nobody can
    prove it, and the log begins behind all that was pruned.

    Raises:
        LogDamagedError, LogError: what is kept of it cannot be read.
    """
    pruned = pruned_of(paths)
    if pruned is None:
        return None
    reached = 0
    for file in log_files(paths):
        if not 0 < file.first_seq <= reached + 1:
            break
        reached = max(reached, pruned.last_seq if file.last_seq is None else file.last_seq)
    return None if reached >= pruned.last_seq else pruned


def beginning_of(pruned: Pruned | None) -> Beginning:
    """The same as leaves of the log's Merkle tree."""
    if pruned is None:
        return Beginning()
    return Beginning(TreeHasher.restored(0, pruned.last_seq, pruned.subtrees), pruned.digest)
