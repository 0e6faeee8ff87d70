"""Group commit: the holder of the lock appends what others wait to append, in its own write and flush.

So sixteen writers share one flush, one look at the state and one transaction. Nobody depends on it: what
the holder does not take, its writer appends by itself.
"""

from __future__ import annotations

import sqlite3

from gatekeeper.ledger.group_queue import Answers, first_waiting, take_out
from gatekeeper.ledger.group_wire import DO_IT_YOURSELF, LEAD, answer_of, handed_in
from gatekeeper.ledger.pieces import joined, place_members
from gatekeeper.ledger.projection_fold import FLUSH_EVENTS, StaleFoldError
from gatekeeper.model.event import line_digest, seal
from gatekeeper.model.line import is_chained
from gatekeeper.model.policy import SCHEMA_VERSION
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.group_wire import Handed
    from gatekeeper.ledger.projection_fold import Fold

    Decode = Callable[[bytes], Mapping[str, Any] | None]

MOST_EVENTS = 512
"""Events of others in one write; far from where a fold commits by itself, which may not be before the log's flush."""


class Group:
    """Others' events for one write of the lock's holder.

    Args:
        fold: level with the log, and ahead of it by what the holder has sealed itself.
        decode: reads a line.
        answers: the pipes of those that wait; the holder keeps them open while it goes on.

    Attributes:
        lines: what is to be written behind the holder's own lines, without newlines.
        failures: what hindered the fold; it is of no use any more, the lines are.
    """

    def __init__(self, ops: FileOps, path: str, fold: Fold, decode: Decode, answers: Answers) -> None:
        self.lines: list[bytes] = []
        self.failures: list[Exception] = []
        self._ops = ops
        self._path = path
        self._fold = fold
        self._decode = decode
        self._answers = answers
        self._taken: list[tuple[Handed, list[tuple[int, str, str]]]] = []

    @property
    def data(self) -> bytes:
        """The bytes behind the holder's own."""
        return b"".join(line + b"\n" for line in self.lines)

    def gather(self, *, now: int, offset: int) -> None:
        """Take out of the queue what can be appended for others, and fold it.

        Args:
            now: microseconds since 1970.
            offset: where in the log the first of these lines will stand.
        """
        for handed in handed_in(take_out(self._ops, self._path)):
            if not self._answers.is_waiting(handed.reply):
                continue
            sealed = None if self.failures or len(self.lines) >= MOST_EVENTS else self._sealed(handed, now)
            if sealed is None or not self._folded(handed, sealed, offset):
                self._answers.tell(handed.reply, answer_of(handed.number, DO_IT_YOURSELF))
                continue
            offset += sum(len(line) + 1 for _, line, _ in sealed)
            self.lines += [line for _, line, _ in sealed]
            self._taken.append((handed, [(event["seq"], event["prev"], event["ts"]) for event, _, _ in sealed]))

    def tell(self) -> None:
        """All of it is on the device: answer its writers."""
        for handed, places in self._taken:
            self._answers.tell(handed.reply, answer_of(handed.number, places))

    def give_back(self) -> None:
        """Nothing of it was recorded: each writer tries for itself, and learns for itself why it fails."""
        for handed, _ in self._taken:
            self._answers.tell(handed.reply, answer_of(handed.number, DO_IT_YOURSELF))

    def _sealed(self, handed: Handed, now: int) -> list[tuple[Mapping[str, Any], bytes, str]] | None:
        """Event, line and digest of each; None where its writer must do it itself."""
        fold, ts = self._fold, format_time(now)
        try:
            run = fold.run(handed.run_id)
            if (run.version if run is not None else 0) != handed.version or ts < fold.head.ts:
                return None
            if not all(fold.has_policy(digest, SCHEMA_VERSION) for digest in handed.policies):
                return None
            sealed: list[tuple[Mapping[str, Any], bytes, str]] = []
            seq, prev, ids = fold.head.seq, fold.head.digest, set[str]()
            for pieces, _, slim in handed.drafts:
                seq += 1
                line = joined(pieces, place_members(prev=prev, seq=seq, ts=ts))
                event = self._decode(line) if slim is None else seal(slim, seq=seq, prev=prev, ts=ts)
                if event is None or not is_chained(event) or event.get("run_id") != handed.run_id:
                    return None
                if event["event_id"] in ids or fold.has_event_id(event):
                    return None
                ids.add(event["event_id"])
                prev = line_digest(line)
                sealed.append((event, line, prev))
        except (KeyError, TypeError, ValueError):
            return None
        except sqlite3.Error as error:
            self.failures.append(error)
            return None
        return sealed

    def _folded(self, handed: Handed, sealed: list[tuple[Mapping[str, Any], bytes, str]], offset: int) -> bool:
        """Whether the fold has taken all of it; one that has taken a part is of no use to anybody."""
        fold = self._fold
        try:
            if len(fold.index) + len(sealed) >= FLUSH_EVENTS:
                return False
            was_complete = fold.head.is_complete
            for (event, line, digest), (_, said, _) in zip(sealed, handed.drafts, strict=True):
                fold.take(event, line, offset, digest=digest, said=said, is_sealed=True)
                offset += len(line) + 1
        except (StaleFoldError, sqlite3.Error) as error:
            self.failures.append(error)
            return False
        if fold.head.is_complete != was_complete or fold.head.listed != fold.head.seq:
            self.failures.append(StaleFoldError())  # no event that a log should have
            return False
        return True


def tell_next(ops: FileOps, path: str) -> None:
    """The lock is free: tell the first that waits; were it gone, the others look by themselves soon."""
    waiting = first_waiting(ops, path)
    if not waiting:
        return
    answers = Answers(ops, path)
    try:
        for handed in handed_in(waiting):
            if answers.is_waiting(handed.reply):
                answers.tell(handed.reply, answer_of(handed.number, LEAD))
                return
    finally:
        answers.close()
