"""A segment's head as the beginning of a history whose earlier part is not there."""

from __future__ import annotations

from gatekeeper.ledger.chain import seq_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.segment import head_of, is_head, stood_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from gatekeeper.ledger.head import Head as End
    from gatekeeper.model.run import Run
    from gatekeeper.model.segment import Head

    class Fold(Protocol):
        """What takes the runs of a head."""

        parts_left: int

        @property
        def head(self) -> End:
            """The log's end."""
            ...

        def adopt(self, run: Run, lines: Mapping[str, bytes]) -> None:
            """Take a run, and the lines that it stands on."""
            ...


_MALFORMED = (KeyError, TypeError, ValueError, AttributeError)


def through_head(fold: Fold, event: Mapping[str, Any], problem: str | None) -> str | None:
    """What is left of a *problem* before *event* once a segment's head was taken for what is missing there.

    Of a head in several parts the first one stands behind the gap, and the others follow.
    """
    head, seq = _read(event), seq_of(event)
    if fold.parts_left:
        if problem is None and head is not None and head.parts - head.part == fold.parts_left - 1:
            fold.parts_left -= 1
            _take(fold, head)
            return None
        fold.parts_left = 0
        return problem or "stands where the head of the segment should go on"
    if head is None or seq is None or head.part != 1 or seq <= fold.head.seq:
        return problem
    if (head.before.last_seq, head.before.digest) != (seq - 1, event.get("prev")):
        return problem
    fold.parts_left = head.parts - 1
    fold.head.is_complete = head.is_complete
    _take(fold, head)
    return None


def _read(event: Mapping[str, Any]) -> Head | None:
    try:
        return head_of(event) if is_head(event) else None
    except _MALFORMED:
        return None


def _take(fold: Fold, head: Head) -> None:
    for run in head.runs:
        event_id = stood_on(run)
        event = head.events.get(event_id) if event_id is not None else None
        fold.adopt(run, {} if event_id is None or event is None else {event_id: canonical_bytes(event)})
