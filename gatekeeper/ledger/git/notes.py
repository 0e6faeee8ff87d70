"""REJECTs that could not be recorded: notes on this machine that become events of the branch."""

from __future__ import annotations

from gatekeeper.ledger.markers import to_be_recorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.git.storing import Storing
    from gatekeeper.ledger.notes import Notes
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.sealing import Sealed


def record_notes(
    storing: Storing, notes: Notes, to_lines: Callable[[Sequence[Mapping[str, Any]], Fold], Sealed]
) -> list[str]:
    """Store them for the state as it is, then remove them; what people should be told.

    They are not locked while they are pushed, which may take as long as a network does.

    Raises:
        OSError, LogError: they stay.
    """
    bad = list[bytes]()
    with notes.taken() as taken:
        data = taken.read()

    def prepare(fold: Fold) -> Sealed | None:
        drafts, bad[:] = to_be_recorded(data, fold)
        return to_lines(drafts, fold) if drafts else None

    sealed = storing.store(prepare)
    with notes.taken() as taken:
        told = taken.remove(data, bad)
    return told if sealed is None else [*told, *sealed.warnings, notes.recorded_words(sealed.events)]
