"""The Merkle tree of RFC 6962 over a list of leaves, in one pass and with O(log n) memory.

A leaf's hash is SHA-256 of 0x00 and its data, a node's of 0x01 and both children; a tree of n leaves is split at the
largest power of two below n. RFC 6962 2.1 has the proofs, RFC 9162 2.1.3.2 and 2.1.4.2 how they are checked.

Any stretch of leaves is a few complete subtrees, known by where it begins and ends. A `TreeHasher` holds just those,
so stretches hashed apart join to one tree, and a proof is a choice of the subtrees before and after one place.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import islice

from gatekeeper.errors import ProofError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()
"""Root of a tree without leaves."""

Subtree = tuple[int, int, bytes]
"""Level (0: a leaf), index among the subtrees of that level, hash."""

_BLOCK = 1024  # leaves hashed level by level at once: half the time of one by one, and 80 kB


def line_leaf(line: bytes) -> bytes:
    r"""Leaf data of a line of the log: SHA-256 (32 raw bytes) of its bytes without `\n`.

    Not the line itself: formats that share out leaves allow 64 KiB for one. It is what the next line's `prev` states.
    """
    return sha256(line).digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf."""
    return sha256(b"\x00" + data).digest()


def root(leaves: Iterable[bytes]) -> bytes:
    """Root over leaf data."""
    tree = TreeHasher()
    tree.extend(leaves)
    return tree.root()


class TreeHasher:
    """The complete subtrees of the leaves `begin` to `end` of a list.

    Attributes:
        begin: index of the first leaf.
        end: index after the last leaf; the size of the tree where `begin` is 0.
    """

    __slots__ = ("_pending", "_subtrees", "begin", "end")

    def __init__(self, begin: int = 0) -> None:
        self.begin = self.end = begin
        self._subtrees: list[Subtree] = []
        self._pending: list[bytes] = []  # hashes of the last leaves

    @classmethod
    def restored(cls, begin: int, end: int, subtrees: Sequence[bytes]) -> TreeHasher:
        """The hasher that had these `subtrees`.

        Raises:
            ProofError: as many hashes of 32 bytes as such a stretch has are not given.
        """
        places = list(_places(begin, end)) if 0 <= begin <= end else []
        if not 0 <= begin <= end or len(places) != len(subtrees) or not _are_hashes(subtrees):
            raise ProofError(
                f"leaves {begin} to {end} are not described by {len(subtrees)} hashes of subtrees",
                remedy="take the hashes as they were written, all of them and in their order",
            )
        tree = cls(begin)
        tree.end = end
        tree._subtrees = [(*place, subtree) for place, subtree in zip(places, subtrees, strict=True)]
        return tree

    def subtrees(self) -> list[bytes]:
        """Hashes of the complete subtrees, first leaf first: at most two per level."""
        return [subtree for _, _, subtree in self._all()]

    def append(self, leaf: bytes) -> None:
        """Add the data of one leaf."""
        self.extend_hashes((leaf_hash(leaf),))

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add the data of leaves: the fast way for many, without a call for each."""
        self.extend_hashes(sha256(b"\x00" + leaf).digest() for leaf in leaves)

    def extend_hashes(self, leaf_hashes: Iterable[bytes]) -> None:
        """Add leaves whose hashes are known."""
        source, pending = iter(leaf_hashes), self._pending
        while True:
            before = len(pending)
            pending += islice(source, _BLOCK - before)
            self.end += len(pending) - before
            if len(pending) < _BLOCK:
                return
            self._settle()

    def join(self, following: TreeHasher) -> None:
        """Add all leaves of a hasher that begins where this one ends."""
        assert following.begin == self.end
        self._settle()
        for subtree in following._all():
            _push(self._subtrees, subtree)
        self.end = following.end

    def root(self) -> bytes:
        """Root of the tree over all leaves so far, which stay."""
        assert self.begin == 0
        return _fold(self.subtrees()) if self.end else EMPTY_ROOT

    def _settle(self) -> None:
        self._subtrees = self._all()
        self._pending.clear()

    def _all(self) -> list[Subtree]:
        subtrees = self._subtrees.copy()
        for subtree in _complete(self.end - len(self._pending), self._pending):
            _push(subtrees, subtree)
        return subtrees


def inclusion_proof(leaf_hashes: Iterable[bytes], index: int, size: int) -> list[bytes]:
    """Siblings of leaf *index* in the tree over the first *size* leaves, the lowest first. One pass, nothing is kept.

    Args:
        leaf_hashes: of the leaves from 0 on; read as far as *size*.

    Raises:
        ProofError: there is no such leaf, or there are fewer leaves than *size*.
    """
    if not 0 <= index < size:
        raise ProofError(f"a tree of {size} leaves has no leaf {index}", remedy="take a checkpoint that covers it")
    source, before, after = iter(leaf_hashes), TreeHasher(), TreeHasher(index + 1)
    before.extend_hashes(islice(source, index))
    found = list(islice(source, 1))
    after.extend_hashes(islice(source, size - index - 1))
    _expect_leaves(before.end + len(found) + (after.end - after.begin), size)
    return inclusion_between(before, after)


def inclusion_between(before: TreeHasher, after: TreeHasher) -> list[bytes]:
    """`inclusion_proof` of the one leaf between two hashers: *before* from 0 up to it, *after* from the next one on."""
    assert before.begin == 0
    assert after.begin == before.end + 1
    return _siblings(before.end, after.end - 1, before.subtrees(), after.subtrees())


def verify_inclusion(leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether *proof* leads from the leaf to the root, which the caller must have from somebody it trusts."""
    if not 0 <= index < size:
        return False
    sides = list(_sides(index, size - 1))
    if len(sides) != len(proof) or not _are_hashes([leaf_hash, *proof, root]):
        return False
    reached = leaf_hash
    for is_left, sibling in zip(sides, proof, strict=True):
        reached = _node(sibling, reached) if is_left else _node(reached, sibling)
    return reached == root


def consistency_proof(leaf_hashes: Iterable[bytes], old_size: int, size: int) -> list[bytes]:
    """What shows that the first *old_size* of *size* leaves have not changed. One pass, nothing is kept.

    Raises:
        ProofError: *old_size* is larger than *size*, or there are fewer leaves than *size*.
    """
    if not 0 <= old_size <= size:
        raise ProofError(f"{old_size} leaves are no part of {size}", remedy="name the older checkpoint first")
    source, before, after = iter(leaf_hashes), TreeHasher(), TreeHasher(old_size)
    before.extend_hashes(islice(source, old_size))
    after.extend_hashes(islice(source, size - old_size))
    _expect_leaves(before.end + (after.end - after.begin), size)
    return consistency_between(before, after)


def consistency_between(before: TreeHasher, after: TreeHasher) -> list[bytes]:
    """`consistency_proof` from two hashers: *before* has the old tree, *after* the leaves that came to it."""
    assert before.begin == 0
    assert after.begin == before.end
    if before.end in {0, after.end}:
        return []
    *lefts, start = before.subtrees()
    level = _trailing_zeros(before.end)
    siblings = _siblings((before.end >> level) - 1, (after.end - 1) >> level, lefts, after.subtrees())
    return [start, *siblings] if lefts else siblings  # a complete old tree is its own start: its root is known


def verify_consistency(old_size: int, size: int, old_root: bytes, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether *proof* shows the tree of *old_root* to be the beginning of the tree of *root*."""
    if not 0 <= old_size <= size or not _are_hashes([old_root, root, *proof]):
        return False
    if old_size == size:
        return not proof and old_root == root
    if old_size == 0:
        return not proof and old_root == EMPTY_ROOT
    level = _trailing_zeros(old_size)
    path = list(proof)
    start = old_root if old_size == 1 << level else path.pop(0) if path else b""
    sides = list(_sides((old_size >> level) - 1, (size - 1) >> level))
    if len(sides) != len(path):
        return False
    reached_old = reached = start
    for is_left, sibling in zip(sides, path, strict=True):
        if is_left:
            reached_old = _node(sibling, reached_old)
        reached = _node(sibling, reached) if is_left else _node(reached, sibling)
    return reached_old == old_root and reached == root


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def _are_hashes(values: Iterable[bytes]) -> bool:
    return all(len(value) == HASH_BYTES for value in values)


def _expect_leaves(found: int, size: int) -> None:
    if found != size:
        raise ProofError(f"there are {found} leaves, not {size}", remedy="read the whole log, or a checkpoint of it")


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def _sides(index: int, last: int) -> Iterator[bool]:
    """For each sibling on the way up from *index* in a level that ends at *last*: does it stand on the left."""
    while last:
        if index & 1:
            yield True
        elif index < last:
            yield False
        index >>= 1
        last >>= 1


def _siblings(index: int, last: int, lefts: list[bytes], rights: list[bytes]) -> list[bytes]:
    """The siblings themselves: each subtree on the left is one (the lowest stands last), and each on the right.

    Only the last one on the right may be an incomplete tree: all that remain make it.
    """
    sides = list(_sides(index, last))
    if whole := sides.count(False):
        rights = [*rights[: whole - 1], _fold(rights[whole - 1 :])]
    left, right = reversed(lefts), iter(rights)
    return [next(left) if is_left else next(right) for is_left in sides]


def _complete(begin: int, hashes: list[bytes]) -> list[Subtree]:
    """The complete subtrees over leaves from *begin* on: first they become larger, then smaller."""
    rising, falling = list[Subtree](), list[Subtree]()
    level, index = 0, begin
    while hashes:
        if index & 1:  # its left sibling stands before this stretch
            rising.append((level, index, hashes[0]))
            hashes = hashes[1:]
            index += 1
        if (index + len(hashes)) & 1:  # its right sibling is not complete yet
            falling.append((level, index + len(hashes) - 1, hashes[-1]))
            hashes = hashes[:-1]
        hashes = [sha256(b"\x01" + a + b).digest() for a, b in zip(hashes[::2], hashes[1::2], strict=True)]  # `_node`
        level, index = level + 1, index >> 1
    return rising + falling[::-1]


def _push(subtrees: list[Subtree], subtree: Subtree) -> None:
    """Add the next one on the right and make one of each pair that is now complete."""
    level, index, reached = subtree
    while index & 1 and subtrees and subtrees[-1][0] == level:
        reached = _node(subtrees.pop()[2], reached)
        level, index = level + 1, index >> 1
    subtrees.append((level, index, reached))


def _places(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Level and index of the complete subtrees that a stretch has."""
    while begin < end:
        level = (end - begin).bit_length() - 1
        if begin:
            level = min(level, _trailing_zeros(begin))
        yield level, begin >> level
        begin += 1 << level


def _fold(subtrees: list[bytes]) -> bytes:
    """Root of neighbouring complete subtrees that become smaller to the right."""
    *others, reached = subtrees
    for subtree in reversed(others):
        reached = _node(subtree, reached)
    return reached
