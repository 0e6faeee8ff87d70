"""The mirror: the lines of the branch as one NDJSON file, and the state that is kept beside such a file.

It is only a copy. Everything here happens under its lock, which the processes of one machine share.
"""

from __future__ import annotations

import os

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import close_quietly, read_exactly, remove_quietly, write_all
from gatekeeper.ledger.git.history import ChangedError, UnreadableObjectsError, commits_between, commits_of, contents_of
from gatekeeper.ledger.projection import database_path
from gatekeeper.ledger.projection_schema import discard
from gatekeeper.ledger.sealing import take_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.git.cache import Cache, Level
    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.remote import Remote
    from gatekeeper.ledger.git.repository import Repository
    from gatekeeper.ledger.projection import Projection
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.sealing import Sealed

_ATTEMPTS = 3


class _CopyFollower(Follower):
    """Keeps the state of a copy: it waits for no device, since all of it can be had again."""

    def __init__(self, path: str, ops: FileOps) -> None:
        super().__init__(path, ops)
        self._hurried: Projection | None = None

    def projection(self) -> Projection:
        """As `Follower.projection`."""
        projection = super().projection()
        if projection is not self._hurried:
            projection.connection.execute("PRAGMA synchronous = OFF")
            self._hurried = projection
        return projection


class Mirror:
    """The copy of one branch, as one process follows it."""

    def __init__(self, cache: Cache, ops: FileOps, git: Git, remote: Remote, repository: Repository) -> None:
        self.cache = cache
        self.ops = ops
        self.follower = _CopyFollower(cache.mirror, ops)
        self._git = git
        self._remote = remote
        self._repository = repository

    @property
    def fold(self) -> Fold:
        """What the lines amount to; level with the mirror after `make_ready`."""
        return self.follower.projection().fold

    def level(self) -> Level | None:
        """How far it follows the branch; None where it must be made anew."""
        level = self.cache.level()
        return level if level is not None and self.cache.mirror_size() >= level.size else None

    def follow(self, tip: str | None) -> str | None:
        """Take over what the branch holds. The lock is held.

        Args:
            tip: where the branch stands; it may stand further on by now.

        Returns:
            The commit with which the mirror is level.

        Raises:
            StateUnreadableError: the branch is another history than the one seen.
            LedgerUnreachableError: it is not handed over.
        """
        level = self.cache.level()
        if tip is None:
            if level is not None:
                raise self._another_history("the branch is gone")
            return None
        if level is not None and level.commit == tip and self.cache.mirror_size() == level.size:
            return tip
        for _ in range(_ATTEMPTS):
            tip = self._repository.fetch(like=tip)
            try:
                self._take_over(tip, level)
            except UnreadableObjectsError:
                self._repository.throw_away()
            else:
                return tip
        raise StateUnreadableError(
            f"{self._git.repository} cannot be read", remedy=f"remove {self.cache.directory}: it is only a copy"
        )

    def make_ready(self) -> int:
        """Open the mirror, level with its state; the descriptor. The lock is held. Raises OSError."""
        descriptor = self.ops.open(self.cache.mirror, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            self.follower.make_ready(descriptor)
        except BaseException:
            close_quietly(self.ops, descriptor)
            raise
        return descriptor

    def take(self, descriptor: int, sealed: Sealed, commit: str) -> None:
        """The branch holds these lines since *commit*: so does the mirror, and the state. Raises OSError."""
        size = self.ops.size(descriptor)
        write_all(self.ops, descriptor, sealed.data)
        self.follower.project(list(take_all(sealed, self.fold, offset=size)))
        self.cache.note_level(commit, size + len(sealed.data))

    def known_seq(self) -> int:
        """The last event seen; 0 where nothing is known."""
        return self.follower.projection().head.seq if self.cache.level() is not None else 0

    def throw_away(self) -> None:
        """Know nothing any more. The lock is held. Raises OSError."""
        self.follower.close()
        self.cache.forget_level()
        discard(self.ops, database_path(self.cache.mirror))
        remove_quietly(self.ops, self.cache.mirror)
        self._repository.throw_away()

    def _take_over(self, tip: str, level: Level | None) -> None:
        known = level.size if level is not None and self.cache.mirror_size() >= level.size else 0
        try:
            try:
                added = commits_between(self._git, level.commit, tip) if level is not None and known else None
            except UnreadableObjectsError:  # of the commit seen before: its lines are here all the same
                added = None
            if added is not None and level is not None:
                size = self._append(known, contents_of(self._git, added, before=level.commit))
            else:
                size = self._read_all(tip, known)
        except ChangedError as error:
            raise self._another_history(str(error)) from None
        self._repository.keep(tip)
        self.cache.note_level(tip, size)

    def _append(self, size: int, contents: Iterable[bytes]) -> int:
        """Put these behind the first *size* bytes; its length then.

        What a process that was killed had put there already is there already.
        """
        descriptor = self.ops.open(self.cache.mirror, os.O_RDWR | os.O_APPEND)
        try:
            for content in contents:
                if read_exactly(self.ops, descriptor, len(content), size) != content:
                    self.ops.truncate(descriptor, size)
                    write_all(self.ops, descriptor, content)
                size += len(content)
            rest = read_exactly(self.ops, descriptor, self.ops.size(descriptor) - size, size)
            if b"\n" in rest:
                raise ChangedError("lines that were recorded are gone")
            if rest:  # of a write that did not end
                self.ops.truncate(descriptor, size)
        finally:
            close_quietly(self.ops, descriptor)
        return size

    def _read_all(self, tip: str, known: int) -> int:
        """Make the mirror anew from all that the branch holds, which must begin with the *known* bytes; its length."""
        self.follower.drop()
        before = self.ops.open(self.cache.mirror, os.O_RDONLY) if known else -1
        place, size = f"{self.cache.mirror}.next", 0
        descriptor = self.ops.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            for content in contents_of(self._git, commits_of(self._git, tip)):
                same = max(0, min(len(content), known - size))
                if same and read_exactly(self.ops, before, same, size) != content[:same]:
                    raise ChangedError(f"a line behind byte {size} is another one than was recorded")
                write_all(self.ops, descriptor, content)
                size += len(content)
        finally:
            self.ops.close(descriptor)
            if before >= 0:
                close_quietly(self.ops, before)
        if size < known:
            raise ChangedError("lines that were recorded are gone")
        self.cache.forget_level()
        if not known:
            discard(self.ops, database_path(self.cache.mirror))
        self.ops.replace(place, self.cache.mirror)
        return size

    def _another_history(self, what: str) -> StateUnreadableError:
        return StateUnreadableError(
            f"{self._remote.address.shown}: {what}: it is another history than the one seen before",
            remedy="put the right branch back, or take this one as it is with `gatekeeper log rebuild`",
        )
