"""REJECTs that could not be recorded: notes on this machine that become events of the branch."""

from __future__ import annotations

import os

from gatekeeper.ledger import markers
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import FileOps, close_quietly, make_directories, read_all, write_durably

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.git.storing import Storing
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.sealing import Sealed


def record_notes(
    storing: Storing, path: str, to_lines: Callable[[Sequence[Mapping[str, Any]], Fold], Sealed]
) -> list[str]:
    """Store them for the state as it is, then remove them; what people should be told.

    Args:
        path: beside which they stand.

    Raises:
        OSError, LogError: they stay.
    """
    ops, place = FileOps(), markers.marker_path(path)
    notes, bad = read_all(ops, place) or b"", list[bytes]()

    def prepare(fold: Fold) -> Sealed | None:
        drafts, bad[:] = markers.to_be_recorded(notes, fold)
        return to_lines(drafts, fold) if drafts else None

    sealed, told = storing.store(prepare), list[str]()
    if bad:
        kept = markers.keep_aside(ops, path, bad)
        told.append(f"{len(bad)} lines of {place} are no notes of a REJECT: kept in {kept}")
    if sealed is not None:
        ids = ", ".join(str(event["event_id"]) for event in sealed.events)
        told += [*sealed.warnings, f"recorded from {place}: {ids}"]
    _remove(ops, path, notes)
    return told


def leave_note(path: str, drafts: Sequence[Mapping[str, Any]]) -> None:
    """Add to the notes, and wait for the device. Raises OSError."""
    ops = FileOps()  # this is no copy of anything
    make_directories(ops, os.path.dirname(path))
    lock = Follower(path, ops).lock()
    try:
        markers.leave(ops, path, drafts)
    finally:
        close_quietly(ops, lock)


def _remove(ops: FileOps, path: str, notes: bytes) -> None:
    """Remove what was recorded; what others have added while it was pushed stays. Raises OSError."""
    lock = Follower(path, ops).lock()
    try:
        place = markers.marker_path(path)
        found = read_all(ops, place) or b""
        if found == notes:
            markers.remove(ops, path)
        elif found.startswith(notes):
            write_durably(ops, place, found[len(notes) :])
    finally:
        close_quietly(ops, lock)
