"""One append, from the state as it is to the commit that the branch has taken; anew while others are first."""

from __future__ import annotations

import sqlite3
from functools import partial

from gatekeeper.errors import LogError
from gatekeeper.ledger.fsops import close_quietly
from gatekeeper.ledger.git.commits import make_commit
from gatekeeper.ledger.git.pushing import pause, push_surely
from gatekeeper.ledger.git.remote import Pushed
from gatekeeper.model.times import MICROSECONDS, parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.mirror import Mirror
    from gatekeeper.ledger.git.remote import Remote
    from gatekeeper.ledger.git.repository import Repository
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.sealing import Sealed

    Prepare = Callable[[Fold], Sealed | None]

MOST_TRIES = 500
"""How often an append makes a new commit: each time somebody else's was taken."""


class Storing:
    """Brings sealed lines onto the branch, and then into the mirror."""

    def __init__(self, mirror: Mirror, git: Git, remote: Remote, repository: Repository) -> None:
        self._mirror = mirror
        self._git = git
        self._remote = remote
        self._repository = repository

    def store(self, prepare: Prepare) -> Sealed | None:
        """Store what *prepare* seals for the state as it is. The mirror's lock is held.

        What is sealed first is sealed for the branch as it was seen last, which the push then proves or refutes.

        Args:
            prepare: called anew whenever somebody else was first; None: there is nothing to store any more.

        Returns:
            What was stored.

        Raises:
            LogError: the branch does not take it. LedgerUnreachableError: there is no answer.
            StateUnreadableError: the branch is another history than the one seen.
            OSError: the copy on this machine cannot be used.
        """
        parent = self._as_seen()
        for attempt in range(MOST_TRIES):
            descriptor = self._mirror.make_ready()
            try:
                sealed = self._sealed(prepare, descriptor)
                if sealed is None:
                    return None
                commit = self._commit(sealed, parent)
                can_send = partial(self._can_send, parent)
                answer = push_surely(self._remote, commit, expected=parent, can_send=can_send)
                if answer == Pushed.TAKEN:
                    self._take(descriptor, sealed, commit)
                    return sealed
            finally:
                close_quietly(self._mirror.ops, descriptor)
            pause(attempt)
            parent = self._mirror.follow(self._remote.tip())
            if answer == Pushed.UNKNOWN and parent is not None and self._repository.stands_on(parent, commit):
                return sealed  # it was taken, though nobody said so, and others have gone on from there
        raise LogError(f"{self._remote.address.shown}: {MOST_TRIES} times another commit was first", remedy="ask again")

    def _as_seen(self) -> str | None:
        level = self._mirror.level()
        if level is not None and level.size == self._mirror.cache.mirror_size():
            return level.commit
        return self._mirror.follow(self._remote.tip())

    def _sealed(self, prepare: Prepare, descriptor: int) -> Sealed | None:
        try:
            return prepare(self._mirror.fold)
        except sqlite3.Error as error:  # a table that the head did not show to be damaged
            self._mirror.follower.replace_failed(error)
            self._mirror.follower.make_ready(descriptor)
            return prepare(self._mirror.fold)

    def _can_send(self, parent: str | None) -> bool:
        """Whether the local repository holds what is to be gone on from; a damaged one is thrown away."""
        if parent is None or self._repository.holds(parent):
            return True
        self._repository.throw_away()
        return False

    def _commit(self, sealed: Sealed, parent: str | None) -> str:
        moment = parse_time(str(sealed.events[-1]["ts"])) or 0
        if self._repository.make(like=parent) and parent is not None:
            self._repository.fetch(like=parent)  # somebody has removed it: git sends nothing without the parent
        seconds = moment // MICROSECONDS
        return make_commit(self._git.repository, sealed.events, sealed.data, parent=parent, seconds=seconds)

    def _take(self, descriptor: int, sealed: Sealed, commit: str) -> None:
        try:
            self._mirror.take(descriptor, sealed, commit)
            self._repository.keep(commit)
        except OSError as error:  # it is recorded: the next call reads it from the branch
            sealed.warnings.append(f"{self._mirror.cache.mirror} was not updated ({error.strerror or error})")
        self._repository.pack_sometimes()
