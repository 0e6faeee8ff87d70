"""Is every `event_id` unique: without holding the ids of years in memory."""

from __future__ import annotations

from array import array

from gatekeeper.replay.pile import SHIFT, Pile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class ExactIds:
    """Ids in memory, each told at once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def is_known(self, event_id: str) -> bool:
        """Whether the id was there before."""
        if event_id in self._seen:
            return True
        self._seen.add(event_id)
        return False


class HashedIds:
    """Hashes of ids, to be compared later. Python's own: nobody can guess them, so nobody can make two alike."""

    def __init__(self) -> None:
        self.hashes = array("Q")

    def is_known(self, event_id: str) -> bool:
        """Nobody knows yet."""
        self.hashes.append(hash_of(event_id))
        return False


def hash_of(event_id: str) -> int:
    """The same for this process and those that it forked."""
    return hash(event_id) & 0xFFFFFFFFFFFFFFFF


class HashPile(Pile):
    """Finds the hashes that stand there twice."""

    def add_all(self, hashes: Iterable[int]) -> None:
        """Take more."""
        buckets, kept = self._buckets, self._kept
        for one in hashes:
            bucket = buckets[one >> SHIFT]
            bucket.append(one)
            if len(bucket) >= kept:
                self._put_away(one >> SHIFT)

    def repeated(self) -> frozenset[int]:
        """Those that were added more than once."""
        found: set[int] = set()
        for hashes in self.buckets():
            seen: set[int] = set()
            for one in hashes:
                if one in seen:
                    found.add(one)
                seen.add(one)
        return frozenset(found)
