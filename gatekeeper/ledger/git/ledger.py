"""The git ledger: `ports.SharedLedger` over one branch of a repository that the git command reaches.

An append is: lock the copy on this machine, compare what the caller has seen, seal, make a commit that adds the
lines, push it onto the commit that was read, and only then add them to the copy. The push is a compare-and-set:
where somebody else was first it fails, the copy takes over what is new, and all of that is done again.
"""

from __future__ import annotations

from gatekeeper.errors import LogDamagedError, LogError, StateUnreadableError
from gatekeeper.ledger.address import cache_path
from gatekeeper.ledger.codec import events_in
from gatekeeper.ledger.fsops import close_quietly
from gatekeeper.ledger.git.cache import Cache, CacheOps
from gatekeeper.ledger.git.command import Git
from gatekeeper.ledger.git.looking import Looking
from gatekeeper.ledger.git.mirror import Mirror
from gatekeeper.ledger.git.remote import Remote
from gatekeeper.ledger.git.repository import Repository
from gatekeeper.ledger.git.storing import Storing
from gatekeeper.ledger.notes import Notes
from gatekeeper.ledger.sealing import check_expectation, seal_all
from gatekeeper.ledger.viewing import Viewer
from gatekeeper.model.exchange import Receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.address import Address
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.projection_view import ProjectionView
    from gatekeeper.ledger.sealing import Sealed
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.ports import Clock, EventIndex


class GitLedger:
    """Implements `ports.SharedLedger`; one object serves one thread.

    Args:
        address: of the branch; the repository must be there, the branch is made by the first append.
        clock: gives each event its `ts`.
        cache_directory: where the copy is kept; the place that `address.cache_path` names if None.
    """

    def __init__(self, address: Address, *, clock: Clock, cache_directory: str | None = None) -> None:
        self.address = address
        self._clock = clock
        self._ops = CacheOps()
        self._notes = Notes(address)
        cache = Cache(cache_directory or cache_path(address), self._ops)
        self._git = Git(cache.repository)
        self._remote = Remote(address, self._git)
        self._repository = Repository(self._git, self._remote)
        self._mirror = Mirror(cache, self._ops, self._git, self._remote, self._repository)
        self._storing = Storing(self._mirror, self._git, self._remote, self._repository)
        self._viewer = Viewer(self._mirror.follower)
        self._looking = Looking(self._remote)

    def look_ahead(self) -> None:
        """Ask now where the branch stands, for the views that follow at once; a command begins with this.

        Until something is appended, and for a second at most, views are then as of this look and not of their own.
        """
        self._looking.begin()

    def view(self) -> ProjectionView:
        """Read the state up to the last line that the branch holds now; nothing is made on the other side.

        Raises:
            LedgerUnreachableError: the repository cannot be reached (69).
            StateUnreadableError: the branch is another history than the one seen, or no copy of it can be kept.
        """
        self._mirror.follower.settle()
        try:
            self._bring_level()
            if self._notes.exist():
                self._record_notes()
            return self._viewer.view()
        except StateUnreadableError:
            raise
        except LogError as error:
            raise StateUnreadableError(error.message, remedy=error.remedy) from error
        except OSError as error:
            raise self._no_copy(error) from error

    def append(
        self,
        drafts: Sequence[Mapping[str, Any]],
        *,
        expect: Expectation | None,
        policies: Sequence[LoadedPolicy] = (),
        actor: str,
    ) -> Receipt:
        """Seal and store *drafts* in one commit, after `policy` events for the *policies* that the log lacks.

        Raises:
            ConflictError: the run, its slot or the key is not as expected; nothing was recorded.
            LogError: it could not be recorded (or the message says that nobody knows).
            LedgerUnreachableError: the repository cannot be reached (69).
        """

        def prepare(fold: Fold) -> Sealed:
            if expect is not None:
                check_expectation(expect, fold)
            return self._seal(drafts, fold, policies=policies, actor=actor)

        self._mirror.follower.settle()
        try:
            lock = self._lock()
            try:
                told = self._append_notes(actor)
                sealed = self._storing.store(prepare)
            finally:
                self._unlock(lock)
        except OSError as error:
            raise self._no_copy(error) from error
        assert sealed is not None  # there is always something to append
        return Receipt(tuple(sealed.events), (*sealed.warnings, *told, *self._mirror.follower.take_warnings()))

    def leave_marker(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Best effort: keep an unrecorded REJECT on this machine; its place, None when that failed too."""
        return self._notes.leave(drafts)

    def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Events from `seq` *start* on with their line bytes, in order; damaged lines are passed over."""
        return events_in(self.lines(after=start - 1))

    def lines(self, *, after: int = 0) -> Iterator[bytes]:
        """Line bytes without newline behind seq *after*, in order, read from the newest commit of the branch.

        Raises:
            LedgerUnreachableError: the repository cannot be reached (69).
        """
        from gatekeeper.ledger.git.lines import lines_up_to

        commit = self._fetched()
        return iter(()) if commit is None else lines_up_to(self._git, commit, after=after)

    def head(self) -> Mapping[str, Any]:
        """The log's end: `seq` (0: no event), `digest` (the next `prev`), `ts`, `is_complete`."""
        self.view()
        return self._mirror.follower.describe_head()

    def index(self) -> EventIndex | None:
        """The index over the events, as of now; None where it cannot be kept."""
        from gatekeeper.ledger.git.index import open_index

        self.view()
        return open_index(self._mirror.cache.mirror, shown=self.address.shown, ops=self._ops)

    def take_in(self, lines: Iterator[bytes]) -> int:
        """Append lines of another log as they are; how many.

        Raises:
            LogDamagedError: they do not continue the log as it is by now.
            LogError: they could not be stored.
        """
        from gatekeeper.ledger.git.taking_in import MOST_BYTES, MOST_LINES, sealed_lines
        from gatekeeper.ledger.importing import parts_of

        count = 0
        self._mirror.follower.settle()
        try:
            for part in parts_of(lines, most_lines=MOST_LINES, most_bytes=MOST_BYTES):
                lock = self._lock()
                try:
                    self._storing.store(lambda fold, part=part: sealed_lines(part, fold, shown=self.address.shown))  # type: ignore[misc]
                finally:
                    self._unlock(lock)
                count += len(part)
        except OSError as error:
            raise self._no_copy(error) from error
        return count

    def rebuild(self) -> ProjectionView:
        """Throw the copy away and read the branch anew, whatever history it holds.

        Raises:
            LogDamagedError: it ends before what has been seen here; runs would begin anew.
            LedgerUnreachableError: the repository cannot be reached (69).
        """
        from gatekeeper.ledger.git.lines import last_seq_of

        known = self._mirror.known_seq()
        commit = self._fetched()
        last = last_seq_of(self._git, commit) if commit is not None else 0
        if last < known:
            place = self._mirror.cache.directory
            raise LogDamagedError(
                f"{self.address.shown} ends at seq {last}, and seq {known} has been seen: "
                f"rebuilding would forget what happened in {last + 1} to {known}",
                remedy=f"bring that part back: {self._mirror.cache.mirror} has it; or remove {place} to forget it",
            )
        try:
            lock = self._lock()
            try:
                self._mirror.throw_away()
            finally:
                self._unlock(lock)
        except OSError as error:
            raise self._no_copy(error) from error
        return self.view()

    def close(self) -> None:
        """Close the state of the copy tidily; a check need not."""
        self._looking.forget()
        self._mirror.follower.close()

    def _seal(
        self, drafts: Sequence[Mapping[str, Any]], fold: Fold, *, policies: Sequence[LoadedPolicy], actor: str
    ) -> Sealed:
        return seal_all(drafts, policies=policies, actor=actor, fold=fold, now=self._clock.now(), recovered=None)

    def _bring_level(self) -> None:
        tip = self._looking.tip()
        level = self._mirror.level()
        if (level.commit if level is not None else None) != tip:
            lock = self._lock()
            try:
                self._mirror.follow(tip)
            finally:
                close_quietly(self._ops, lock)

    def _fetched(self) -> str | None:
        """The newest commit of the branch, got here; None where there is no branch."""
        try:
            lock = self._lock()
            try:
                tip = self._looking.tip()
                return tip if tip is None or self._repository.holds(tip) else self._repository.fetch(like=tip)
            finally:
                close_quietly(self._ops, lock)
        except OSError as error:
            raise self._no_copy(error) from error

    def _lock(self) -> int:
        self._mirror.cache.make()
        return self._mirror.follower.lock()

    def _unlock(self, lock: int) -> None:
        self._looking.forget()  # whatever was tried: it was meant to move the branch
        close_quietly(self._ops, lock)

    def _record_notes(self) -> None:
        """Before anything is decided, REJECTs that could not be recorded become events; failing is told only."""
        try:
            lock = self._lock()
            try:
                told = self._append_notes("gatekeeper")
            finally:
                self._unlock(lock)
        except (OSError, LogError) as error:
            told = [f"{self._notes.place} holds a REJECT that is still not recorded: {error}"]
        self._mirror.follower.warnings += told

    def _append_notes(self, actor: str) -> list[str]:
        """Turn the notes, if there are any, into events; what people should be told. The lock is held."""
        if not self._notes.exist():
            return []  # as ever, or another process was first
        from gatekeeper.ledger.git.notes import record_notes

        return record_notes(
            self._storing, self._notes, lambda drafts, fold: self._seal(drafts, fold, policies=(), actor=actor)
        )

    def _no_copy(self, error: OSError) -> StateUnreadableError:
        place, why = self._mirror.cache.directory, error.strerror or error
        return StateUnreadableError(
            f"the copy of {self.address.shown} in {place} cannot be used: {why}",
            remedy="make room, or let XDG_CACHE_HOME name a place that can be written",
        )
