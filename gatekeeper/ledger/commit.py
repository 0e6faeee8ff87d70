"""What the lock's holder does with events: seal, one write, one flush, and the state second.

The log comes first, so that a crash anywhere leaves at most a log that is ahead of the state.
"""

from __future__ import annotations

import sqlite3

from gatekeeper.errors import LogError
from gatekeeper.ledger import torn
from gatekeeper.ledger.appending import append_durably, new_file_words
from gatekeeper.ledger.sealing import Sealed, check_expectation, seal_all, take_all
from gatekeeper.model.exchange import Receipt
from gatekeeper.model.line import bulk_decoder, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.following import Follower
    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.group_commit import Group
    from gatekeeper.ledger.group_queue import Answers
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import Clock

MORE_ROUNDS = 24
"""How often a holder that has done its own work goes on for those that wait, before it lets one of them."""


class Turn:
    """How waiting for the lock ended: with it, or with a receipt because its holder has done the work.

    Attributes:
        lock: descriptor of the lock; None with a receipt.
        receipt: None with the lock.
        may_be_recorded: the request was taken out of the queue and never answered, by a holder that was killed.
    """

    __slots__ = ("lock", "may_be_recorded", "receipt")

    def __init__(self, lock: int | None, receipt: Receipt | None = None, *, may_be_recorded: bool = False) -> None:
        self.lock = lock
        self.receipt = receipt
        self.may_be_recorded = may_be_recorded


def queue_path(path: str) -> str:
    """Where requests for the log at *path* wait that the lock's holder may carry out."""
    return f"{path}.queue"


def has_waiting(ops: FileOps, path: str) -> bool:
    """Whether a request waits there; one look, which every append pays for."""
    try:
        return ops.length(queue_path(path)) > 0
    except OSError:
        return False


class Committer:
    """Appends for one process while it has the lock and the log is open.

    Args:
        follower: level with the log (`Follower.make_ready`) whenever a method is called.
    """

    def __init__(self, follower: Follower, clock: Clock) -> None:
        self._follower = follower
        self._ops = follower.ops
        self._path = follower.path
        self._clock = clock
        self._answers: Answers | None = None

    def append(
        self,
        descriptor: int,
        size: int,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy],
        actor: str,
        is_bulk: bool = False,
        is_burst: bool = False,
        may_be_recorded: bool = False,
    ) -> Receipt | None:
        """Store *drafts* behind the first *size* bytes, and with them what others wait to append.

        Args:
            is_bulk: the process has appended so often that a faster encoder repays its import.
            is_burst: more appends are likely to follow.
            may_be_recorded: look first whether another process has recorded just these events for the caller.

        Returns:
            None where that is so: their ids are there.

        Raises:
            ConflictError: it is not as expected; nothing was written.
            LogError: it could not be written, and nothing of it is left (or the message says so).
        """
        found = torn.recovered(self._ops, self._path)

        def prepare() -> Sealed | None:
            fold = self._follower.projection().fold
            if may_be_recorded and fold.has_event_id(drafts[0]):
                return None
            if expect is not None:
                check_expectation(expect, fold)
            told, now = found.document if found is not None else None, self._clock.now()
            return seal_all(drafts, policies=policies, actor=actor, fold=fold, now=now, recovered=told, is_bulk=is_bulk)

        try:
            sealed = prepare()
        except sqlite3.Error as error:  # a table that the head did not show to be damaged
            self._follower.replace_failed(error)
            self._follower.make_ready(descriptor)
            sealed = prepare()
        if sealed is None:
            return None
        warnings, data, fold = [*sealed.warnings], sealed.data, self._follower.projection().fold
        last_seq, failures, group = fold.head.seq, list[Exception](), None
        others_wait = size > 0 and has_waiting(self._ops, self._path)
        if others_wait:
            failures += take_all(sealed, fold, offset=size)
            if not failures:
                group = self._gather(size + len(data), is_bulk=is_bulk)

        def meanwhile() -> None:
            if not others_wait:
                failures.extend(take_all(sealed, fold, offset=size))

        self._write(descriptor, size, data, group, meanwhile=meanwhile, starts_early=is_bulk and not others_wait)
        if size == 0:
            warnings.append(new_file_words(self._path, last_seq=last_seq))
        if found is not None:
            kept_in = torn.file_as_told(self._ops, self._path, found)
            warnings.append(f"an unfinished line of {found.document['bytes']} bytes was cut off and kept in {kept_in}")
        if others_wait or has_waiting(self._ops, self._path):
            self._project(failures, group)
            self._serve(descriptor, is_bulk=is_bulk)
        else:
            self._follower.project(failures, is_burst=is_burst)
        return Receipt(tuple(sealed.events), (*warnings, *self._follower.take_warnings()))

    def _serve(self, descriptor: int, *, is_bulk: bool) -> None:
        """Go on for those that wait, a few rounds long, then bring the state level for whoever comes next.

        What fails here, its writer learns by itself: the caller's own events are recorded.
        """
        try:
            for _ in range(MORE_ROUNDS):
                if not has_waiting(self._ops, self._path) or not self._serve_once(descriptor, is_bulk=is_bulk):
                    break
        except (OSError, LogError):
            pass
        if self._follower.projection().fold.pending:
            self._follower.project([])
        self._hang_up()

    def _hang_up(self) -> None:
        if self._answers is not None:
            self._answers.close()
            self._answers = None

    def _serve_once(self, descriptor: int, *, is_bulk: bool) -> bool:
        """Whether anything was done."""
        size = self._ops.size(descriptor)
        if not self._follower.projection().is_current(descriptor, size):
            return False
        group = self._gather(size, is_bulk=is_bulk)
        if group.lines:
            self._write(descriptor, size, b"", group, meanwhile=_nothing, starts_early=False)
        else:
            group.tell()
        self._project([], group)
        return bool(group.lines)

    def _gather(self, offset: int, *, is_bulk: bool) -> Group:
        from gatekeeper.ledger.group_commit import Group  # only where others wait
        from gatekeeper.ledger.group_queue import Answers

        self._answers = self._answers or Answers(self._ops, self._path)
        fold, read = self._follower.projection().fold, bulk_decoder() if is_bulk else decode
        group = Group(self._ops, self._path, fold, read, self._answers)
        group.gather(now=self._clock.now(), offset=offset)
        return group

    def _write(
        self,
        descriptor: int,
        size: int,
        data: bytes,
        group: Group | None,
        *,
        meanwhile: Callable[[], None],
        starts_early: bool,
    ) -> None:
        whole = data if group is None else data + group.data
        try:
            append_durably(
                self._ops, descriptor, self._path, size=size, data=whole, meanwhile=meanwhile, starts_early=starts_early
            )
        except LogError:
            self._follower.drop()  # it may have taken lines that are not in the log
            if group is not None:
                group.give_back()
            self._hang_up()
            raise
        if group is not None:
            group.tell()

    def _project(self, failures: Sequence[Exception], group: Group | None) -> None:
        """Of a round after which the holder goes on: the tables follow later, for all rounds together."""
        if group is not None:
            failures = [*failures, *group.failures]
        self._follower.project(failures, is_burst=True)


def _nothing() -> None:
    """There is nothing to do while the device writes."""
