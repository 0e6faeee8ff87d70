"""REJECTs that could not be recorded: notes on this machine that become events of the branch."""

from __future__ import annotations

from gatekeeper.ledger import markers
from gatekeeper.ledger.fsops import FileOps, read_all

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
    markers.remove(ops, path)
    return told
