"""`gatekeeper log prune`: remove sealed segments that a signed checkpoint covers, and keep the proof."""

from __future__ import annotations

import os

from gatekeeper.cli.beginning import beginning_of, pruned_before
from gatekeeper.cli.compose import SystemClock
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.present import page_outcome
from gatekeeper.cli.proof_inputs import read_checkpoint, read_file
from gatekeeper.cli.retention import IN_ONE_PIECE
from gatekeeper.errors import InputRefusedError, LogError
from gatekeeper.ledger.address import refuse_remote
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.pruned import Pruned
from gatekeeper.ledger.pruning import Cut, choose, finish, remove
from gatekeeper.model.times import format_time
from gatekeeper.render.retention import prune_page
from gatekeeper.replay.leaves import Asked, read_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.cli.outcome import Outcome
    from gatekeeper.cli.values import Values


def prune(values: Values) -> Outcome:
    """65 where the checkpoint does not cover what would go, or the log is not what it covers."""
    refuse_remote(values.text("log"), what="nothing is removed from it", instead=IN_ONE_PIECE)
    path, ops = os.path.abspath(values.text("log")), FileOps()
    now = SystemClock().now()
    before_seq, before_time = values.before("before", now=now)
    left = _finish(ops, path)
    cut = choose(ops, path, before_seq=before_seq, before_time=before_time)
    document: dict[str, Any] = {"log": path, "pruned": False, "segments": [], "finished": left}
    if cut is None:
        return page_outcome(prune_page(document), values)
    pruned = _proven(path, cut, values, now=now)
    document |= {
        "segments": list(cut.paths),
        "first_seq": cut.first_seq,
        "last_seq": cut.last_seq,
        "digest": cut.digest,
    }
    if not values.flag("dry_run"):
        remove(ops, path, cut, pruned)
        document |= {"pruned": True, "kept": f"{path}.pruned"}
    return page_outcome(prune_page(document), values)


def _finish(ops: FileOps, path: str) -> list[str]:
    try:
        return finish(ops, path)
    except OSError as error:
        raise LogError(f"{path}: {error.strerror or error}", remedy="mend the permissions, then ask again") from error


def _proven(path: str, cut: Cut, values: Values, *, now: int) -> Pruned:
    """What is to be kept of the segments, once the log is what the checkpoint covers, and it covers them all."""
    note = values.text("checkpoint")
    checkpoint = read_checkpoint(note, values.texts("public_key"), origin=values.optional_text("origin"))
    if checkpoint.size < cut.last_seq:
        raise InputRefusedError(
            f"{note} covers the log up to seq {checkpoint.size}, and seq {cut.first_seq} to {cut.last_seq} would go",
            remedy="sign a later one with gatekeeper log checkpoint, or prune less",
        )
    asked = Asked(cuts=(cut.last_seq, checkpoint.size), beginning=beginning_of(pruned_before((path,))))
    with opened_log((path,)) as sources, watched("comparing with the checkpoint") as progress:
        leaves = read_leaves(sources, asked, progress)
    if leaves.size < checkpoint.size or leaves.root_at(checkpoint.size) != checkpoint.root:
        raise InputRefusedError(
            f"the log is not the one that {note} covers: its first {checkpoint.size} lines have another root",
            remedy=f"see gatekeeper verify --checkpoint {note}; nothing was removed",
        )
    tree = leaves.over(0, cut.last_seq)
    text = read_file(note, what="checkpoint").decode()
    return Pruned(cut.last_seq, cut.digest, format_time(now), text, tuple(tree.subtrees()))
