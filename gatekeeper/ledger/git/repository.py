"""The local repository: made when it is needed, thrown away when it does not work, kept from growing without end."""

from __future__ import annotations

import os

from gatekeeper.errors import LogError
from gatekeeper.ledger.git.history import UnreadableObjectsError
from gatekeeper.ledger.git.remote import TIP_REF, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.git.command import Git
    from gatekeeper.ledger.git.remote import Remote

LEVEL_REF = "refs/gatekeeper/level"
"""The commit with which the mirror is level: git keeps what stands here, and fetches what does not stand on it."""

_SHA256_DIGITS = 64
_LOOSE_OBJECTS = 4000
_GC_DETACHES = "true"
_TOLD_BY = "17"  # objects are spread evenly over 256 directories: one of them tells how many there are


class Repository:
    """A bare repository that holds the branch as far as it was fetched or made here."""

    def __init__(self, git: Git, remote: Remote) -> None:
        self._git = git
        self._remote = remote
        self._path = git.repository

    def make(self, *, like: str | None = None) -> bool:
        """Make it where there is none; whether that was so.

        Args:
            like: id of a commit of the other side, whose kind of digest it must have.

        Raises:
            LogError: it cannot be made.
        """
        if os.path.exists(os.path.join(self._path, "HEAD")):
            return False
        kind = "sha256" if like is not None and len(like) == _SHA256_DIGITS else "sha1"
        ended = self._git.run("init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
        if ended.code != 0:
            raise LogError(
                f"{self._path} cannot be made: {words_of(ended)}",
                remedy="make room, or let XDG_CACHE_HOME name a place that can be written",
            )
        return True

    def fetch(self, *, like: str | None) -> str:
        """Get the newest commit of the branch; its id.

        A repository that a killed process has left unusable (locks, half a file) is made anew.

        Raises:
            LedgerUnreachableError: the other side does not hand it over.
        """
        for is_last in (False, True):
            self.make(like=like)
            ended = self._remote.fetch()
            if ended is None:
                raise self._remote.unreachable("the log was not handed over in time")
            if ended.code == 0:
                return self._stands_at(TIP_REF)
            if is_last:
                raise self._remote.unreachable(words_of(ended))
            self.throw_away()
        raise AssertionError

    def holds(self, commit: str) -> bool:
        """Whether it has this commit, and with it all before it."""
        return os.path.exists(self._path) and self._git.run("cat-file", "commit", commit).code == 0

    def stands_on(self, tip: str, commit: str) -> bool:
        """Whether *commit* is part of the history of *tip*."""
        return self._git.run("merge-base", "--is-ancestor", commit, tip).code == 0

    def keep(self, commit: str) -> None:
        """Let git know that it has *commit* and must keep it; written here, that saves an append a process."""
        place = os.path.join(self._path, LEVEL_REF)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(f"{place}.next", "w", encoding="ascii") as file:
                file.write(f"{commit}\n")
            os.replace(f"{place}.next", place)
        except OSError:  # then it is fetched again some day
            return

    def throw_away(self) -> None:
        """Remove it, whatever state it is in; what still works on it works on a directory without a name."""
        import shutil

        shutil.rmtree(self._path, ignore_errors=True)

    def pack_sometimes(self) -> None:
        """Let git pack what has gathered, beside us and without waiting for it."""
        try:
            count = len(os.listdir(os.path.join(self._path, "objects", _TOLD_BY)))
        except OSError:
            return
        if count * 256 > _LOOSE_OBJECTS:
            given = {"gc.auto": _LOOSE_OBJECTS, "gc.autoDetach": _GC_DETACHES, "gc.pruneExpire": "1.day.ago"}
            options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
            self._git.run(*options, "gc", "--auto", "--quiet")

    def _stands_at(self, ref: str) -> str:
        try:
            with open(os.path.join(self._path, ref), encoding="ascii") as file:
                return file.read().strip()
        except OSError:  # git has packed it
            pass
        ended = self._git.run("rev-parse", "--verify", "--quiet", ref)
        if ended.code != 0:
            raise UnreadableObjectsError(f"{ref} is not there")
        return ended.out.decode("ascii").strip()
