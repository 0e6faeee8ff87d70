"""A log in segments, signed notes over it, and pruning, with the installed command."""

from __future__ import annotations

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY


def segmented(desk: Desk) -> None:
    """Two sealed segments and a live file: `bad` was rejected, `held` is held, then let go on, `r-41` goes on."""
    desk.begin_at("CANARY_10", run="bad")
    assert desk.check(HARMFUL, run="bad").code == 1
    assert desk.gate("log", "rotate").code == 0
    desk.begin_at("CANARY_10")
    assert desk.check(BLIND).code == 2
    assert desk.gate("log", "rotate").code == 0
    assert desk.check(HEALTHY).code == 0


def checkpointed(desk: Desk, key: str) -> str:
    """A signed note over all that there is; its file."""
    done = desk.gate("log", "checkpoint", "--key", key)
    assert done.code == 0, done.err
    (desk.place / "note").write_bytes(done.out)
    return "note"


def prune(desk: Desk, before: str, note: str = "note", *more: str) -> Done:
    """`log prune` with the key's public half."""
    return desk.gate("log", "prune", "--before", before, "--checkpoint", note, "--public-key", "key.pub", *more)
