"""Is every `event_id` unique: without holding the ids of years in memory."""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO

_BUCKET_BITS = 6
_BUCKETS = 1 << _BUCKET_BITS
_SHIFT = 64 - _BUCKET_BITS
_KEPT = 512
"""Hashes of one bucket in memory before they go to a file."""


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


class HashPile:
    """Finds the hashes that stand there twice. What it holds in memory does not grow with their number.

    They go into files by their first bits, so that each file is small enough to be looked at as a whole.
    """

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(_BUCKETS)]
        self._files: list[IO[bytes] | None] = [None] * _BUCKETS

    def add(self, hashes: Iterable[int]) -> None:
        """Take more."""
        buckets = self._buckets
        for one in hashes:
            bucket = buckets[one >> _SHIFT]
            bucket.append(one)
            if len(bucket) >= _KEPT:
                self._put_away(one >> _SHIFT)

    def _put_away(self, number: int) -> None:
        file = self._files[number]
        if file is None:
            from tempfile import TemporaryFile

            file = self._files[number] = TemporaryFile()  # noqa: SIM115 - closed with the pile
        file.write(self._buckets[number].tobytes())
        del self._buckets[number][:]

    def repeated(self) -> frozenset[int]:
        """Those that were added more than once."""
        found: set[int] = set()
        for bucket, file in zip(self._buckets, self._files, strict=True):
            hashes = array("Q")
            if file is not None:
                file.seek(0)
                hashes.frombytes(file.read())
            hashes.extend(bucket)
            seen: set[int] = set()
            for one in hashes:
                if one in seen:
                    found.add(one)
                seen.add(one)
        return frozenset(found)

    def close(self) -> None:
        """Give the files back."""
        for file in self._files:
            if file is not None:
                file.close()
