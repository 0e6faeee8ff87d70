"""`verify --checkpoint`: does the log still hold what was signed?"""

from __future__ import annotations

from gatekeeper.cli.beginning import beginning_of, pruned_before
from gatekeeper.cli.opened import watched
from gatekeeper.cli.proof_inputs import read_checkpoint
from gatekeeper.replay.kept import standings
from gatekeeper.replay.leaves import Asked, read_leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.cli.values import Values
    from gatekeeper.proof.checkpoint import Checkpoint
    from gatekeeper.replay.blocks import Source


def read_checkpoints(values: Values) -> list[Checkpoint]:
    """Those of `--checkpoint`, in the order given, whose signatures stand.

    Raises:
        ProofError: one is malformed, of another log, or not signed by a key given (65).
        UsageError: the extra is missing (64).
    """
    keys, origin = values.texts("public_key"), values.optional_text("origin")
    return [read_checkpoint(path, keys, origin=origin) for path in values.texts("checkpoint")]


def compare(
    checkpoints: list[Checkpoint], sources: list[Source], values: Values, *, last_seq: int | None
) -> list[dict[str, Any]]:
    """What has become of each: its `file`, and what `Standing.to_dict` states."""
    asked = Asked(
        cuts=tuple(one.size for one in checkpoints),
        is_strict=False,
        beginning=beginning_of(pruned_before(values.texts("log"))),
        jobs=values.integer("jobs"),
    )
    with watched("comparing") as progress:
        leaves = read_leaves(sources, asked, progress)
    found = standings(checkpoints, leaves, last_seq)
    return [
        {"file": path, **standing.to_dict()} for path, standing in zip(values.texts("checkpoint"), found, strict=True)
    ]


def as_words(compared: list[dict[str, Any]]) -> tuple[str, ...]:
    """Those that are not kept, for people."""
    return tuple(f"gatekeeper: {one['file']}: {one['message']}" for one in compared if one["code"] != "kept")
