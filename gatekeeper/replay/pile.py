"""Rows of numbers by their first one, more of them than memory should hold: in files, by that one's first bits."""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

_BUCKET_BITS = 6
_BUCKETS = 1 << _BUCKET_BITS
SHIFT = 64 - _BUCKET_BITS
"""How far a hash is moved to the right to become the number of its bucket."""

_KEPT = 512
"""Rows of one bucket in memory before they go to a file."""


class Pile:
    """Takes rows and gives them back bucket by bucket: rows with the same first number are in one bucket, in order.

    What it holds in memory does not grow with their number. The first numbers are hashes: any 64 bits, well spread.

    Args:
        width: how many numbers a row has, each of 64 bits.
    """

    def __init__(self, width: int = 1) -> None:
        self._kept = _KEPT * width
        self._buckets = [array("Q") for _ in range(_BUCKETS)]
        self._files: list[IO[bytes] | None] = [None] * _BUCKETS

    def add(self, *row: int) -> None:
        """Take one."""
        number = row[0] >> SHIFT
        bucket = self._buckets[number]
        bucket.extend(row)
        if len(bucket) >= self._kept:
            self._put_away(number)

    def _put_away(self, number: int) -> None:
        file = self._files[number]
        if file is None:
            from tempfile import TemporaryFile

            file = self._files[number] = TemporaryFile()  # noqa: SIM115 - closed with the pile
        file.write(self._buckets[number].tobytes())
        del self._buckets[number][:]

    def buckets(self) -> Iterator[array[int]]:
        """All rows, one behind the other, in the order in which they came."""
        for bucket, file in zip(self._buckets, self._files, strict=True):
            rows = array("Q")
            if file is not None:
                file.seek(0)
                rows.frombytes(file.read())
            rows.extend(bucket)
            yield rows

    def close(self) -> None:
        """Give the files back."""
        for file in self._files:
            if file is not None:
                file.close()
