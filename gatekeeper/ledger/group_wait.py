"""Group commit: how one writer waits while another has the lock, and what it learns."""

from __future__ import annotations

from gatekeeper.ledger.commit import Turn
from gatekeeper.ledger.group_queue import ReplyPipe, hand_in, is_queued, new_pipe
from gatekeeper.ledger.group_wire import DO_IT_YOURSELF, events_at, frame_of
from gatekeeper.model.canonical import canonical_bytes, encoder
from gatekeeper.model.exchange import ConflictError, Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.following import Follower
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import LedgerView

_SEALED = frozenset({"v", "seq", "prev", "ts", "clock", "recovered"})

PATIENCE_SECONDS = 0.05
"""After so long without a word a writer looks whether the lock is free: its holder may have been killed."""


class Waiter:
    """One writer's place among those that wait for a log."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._pipe: ReplyPipe | None = None
        self._number = 0

    def turn(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy],
        is_bulk: bool = False,
    ) -> Turn:
        """Wait for the lock or for another to append *drafts*. Raises OSError: no lock is to be had."""
        pipe = self._open_pipe()
        if pipe is None:
            return Turn(self._follower.lock())
        self._number += 1
        encode = encoder(is_bulk=is_bulk)
        frame = frame_of(drafts, expect=expect, policies=policies, reply=pipe.name, number=self._number, encode=encode)
        if frame is None or not hand_in(self._follower.ops, self._follower.path, frame):
            return Turn(self._follower.lock())
        while True:
            told = self._told(pipe, PATIENCE_SECONDS)
            if isinstance(told, list):
                return self._recorded(drafts, told)
            if told == DO_IT_YOURSELF:
                return Turn(self._follower.lock())
            lock = self._follower.try_lock()  # the holder goes, or nothing was heard of it
            if lock is None:
                continue
            # an answer that was not heard any more is as good as none: the events are looked for
            return Turn(lock, may_be_recorded=not is_queued(self._follower.ops, self._follower.path, pipe.name))

    def leave(self) -> None:
        """Wait no more; what was handed in and not taken out is void with that."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def _open_pipe(self) -> ReplyPipe | None:
        if self._pipe is None:
            ops, path = self._follower.ops, self._follower.path
            try:
                self._pipe = new_pipe(ops, path)
            except OSError:  # no pipes in this place: the lock alone will do
                return None
        return self._pipe

    def _recorded(self, drafts: Sequence[Mapping[str, Any]], places: Sequence[Any]) -> Turn:
        return Turn(None, Receipt(tuple(events_at(drafts, places)), tuple(self._follower.take_warnings())))

    def _told(self, pipe: ReplyPipe, seconds: float) -> Any:
        """The answer to the newest request, or the last word for those that wait; None: nothing."""
        told = None
        for number, answer in pipe.hear(seconds):
            if number == self._number:
                told = answer
        return told


def receipt_of(drafts: Sequence[Mapping[str, Any]], view: LedgerView) -> Receipt:
    """The receipt of events that somebody else has recorded, if they are these.

    Raises:
        ConflictError: others have these ids.
    """
    events = [view.event(draft["event_id"]) for draft in drafts]
    for draft, event in zip(drafts, events, strict=True):
        stated = {key: value for key, value in (event or {}).items() if key not in _SEALED}
        if canonical_bytes(stated) != canonical_bytes(dict(draft)):
            raise ConflictError(f"event {draft['event_id']} is in the log already")
    return Receipt(tuple(event for event in events if event is not None), tuple(view.warnings))
