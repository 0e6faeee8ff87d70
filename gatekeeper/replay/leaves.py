"""The lines of a log as leaves of its Merkle tree, read on all cores.

Leaf data is the digest of a line, which the next line's `prev` states; the leaf's index is the line's place from 0,
in a whole chain `seq - 1`. A part of the log is hashed before those in front of it: its first line's `seq` tells
where its leaves stand. Where the parts then do not fit together, all is read once more in order, which tells why.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gatekeeper.errors import LogDamagedError, ProofError
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.line import bulk_decoder, is_blank
from gatekeeper.proof.merkle import TreeHasher
from gatekeeper.replay.blocks import blocks_of, ranges_of, weight_of
from gatekeeper.replay.line_hasher import LineHasher
from gatekeeper.replay.lines import seq_of
from gatekeeper.replay.parallel import Workers, cores, may_fork
from gatekeeper.replay.report import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gatekeeper.replay.blocks import Range, Source

RANGE_BYTES = 8 << 20
"""How much of a log is hashed at a time by one process."""

_FIRST_BYTES = 1 << 14
_REMEDY = "see gatekeeper verify: only a chain that is whole can be vouched for"


@dataclass(frozen=True)
class Beginning:
    """What stood before the first line that there is: nothing, unless lines were removed on purpose.

    Attributes:
        tree: over the leaves of those lines.
        digest: of the last of them; what the first line's `prev` must be.
    """

    tree: TreeHasher = field(default_factory=TreeHasher)
    digest: str = GENESIS_DIGEST


@dataclass(frozen=True)
class Leaves:
    """All leaves of a log, in stretches that end at the places asked for.

    Attributes:
        size: how many there are, those of removed lines included: the last `seq`.
        head: digest of the last line.
        torn: the unterminated last line, which is no leaf.
    """

    stretches: tuple[TreeHasher, ...]
    size: int
    head: str
    torn: Place | None = None

    def over(self, begin: int, end: int) -> TreeHasher:
        """The leaves from *begin* to before *end*, each 0, a place asked for or the end.

        Raises:
            ProofError: a stretch covers both sides of such a place, because its lines were removed.
        """
        found = TreeHasher(begin)
        for stretch in self.stretches:
            if begin <= stretch.begin and stretch.end <= end and stretch.end > stretch.begin:
                if stretch.begin != found.end:
                    break
                found.join(stretch)
        if found.end != end:
            raise ProofError(
                f"lines {begin + 1} to {end} cannot be looked at one by one: they, or lines among them, were removed",
                remedy="bring the removed files back, or take a checkpoint that covers more",
            )
        return found

    def root_at(self, size: int) -> bytes:
        """Root over the first *size* leaves. Raises ProofError as `over` does."""
        return self.over(0, size).root()


@dataclass(frozen=True)
class Asked:
    """What is asked of a log.

    Attributes:
        cuts: numbers of leaves at which a stretch shall end.
        is_strict: refuse a chain that is not whole; else each line is a leaf, whatever it holds.
        known: of so many leaves somebody knows the root, so that the chain need not be followed up to there again.
        beginning: what stood before its first line.
        jobs: how many processes at most; None: one for each core.
        range_bytes: how much of it one of them takes at a time.
    """

    cuts: tuple[int, ...] = ()
    is_strict: bool = True
    known: int = 0
    beginning: Beginning = field(default_factory=Beginning)
    jobs: int | None = None
    range_bytes: int = RANGE_BYTES


def read_leaves(sources: Sequence[Source], asked: Asked, progress: Callable[[int, int], None] | None = None) -> Leaves:
    """Read all lines of a log.

    Args:
        sources: its files, in chain order.
        asked: see there.
        progress: told after each part how many bytes were read, of how many.

    Raises:
        LogDamagedError: the chain is not whole: the line and why.
        LogError: a file cannot be read.
    """
    parts = ranges_of(sources, asked.range_bytes)
    jobs = min(cores() if asked.jobs is None else asked.jobs, len(parts))
    if jobs > 1 and may_fork():
        found = _together(parts, asked, jobs, _Told(parts, progress))
        if found is not None:
            return found
    return _in_order(parts, asked, _Told(parts, progress))


class _Told:
    """Tells the progress."""

    def __init__(self, parts: Sequence[Range], progress: Callable[[int, int], None] | None) -> None:
        self._weights = [weight_of(part) for part in parts] if progress is not None else []
        self._progress = progress
        self._parts = 0

    def upto(self, parts: int) -> None:
        """So many parts were read."""
        if self._progress is not None and parts > self._parts:
            self._parts = parts
            self._progress(sum(self._weights[:parts]), sum(self._weights))


@dataclass(frozen=True)
class _Part:
    """A range that was hashed as if those before it were whole; `prev`: what its first line was chained to."""

    begin: int
    prev: str | None
    head: str
    stretches: list[TreeHasher]


def _together(parts: Sequence[Range], asked: Asked, jobs: int, told: _Told) -> Leaves | None:
    """All parts at the same time; None where they do not fit together, or one of them is not whole."""
    stretches = _first_stretches(asked)
    head = asked.beginning.digest
    with Workers(jobs, parts, lambda part: [_hash(part, asked)]) as workers:
        for number, answers in enumerate(workers.answers(), 1):
            (found,) = answers
            if found is None or found.begin != stretches[-1].end:
                return None
            if asked.is_strict and found.begin >= asked.known and found.prev != head:
                return None
            stretches[-1].join(found.stretches[0])
            stretches += found.stretches[1:]
            head = found.head
            told.upto(number)
    return Leaves(tuple(stretches), stretches[-1].end, head)


def _first_stretches(asked: Asked) -> list[TreeHasher]:
    tree = asked.beginning.tree
    copy = TreeHasher.restored(0, tree.end, tree.subtrees())
    return [copy, TreeHasher(copy.end)] if copy.end in asked.cuts else [copy]


def _hash(part: Range, asked: Asked) -> _Part | None:
    begin = _first_index(part)
    if begin is None:
        return None
    hasher = LineHasher(begin, None, asked)
    for block in blocks_of(part):
        if not block.is_terminated:
            return None
        if hasher.take(block.lines()) is not None:
            return None
    return _Part(begin, hasher.first_prev, hasher.prev or "", hasher.stretches)


def _first_index(part: Range) -> int | None:
    """Index of the leaf of a range's first line, as the line says."""
    for block in blocks_of(part, _FIRST_BYTES):
        for line in block.lines():
            if not is_blank(line):
                event = bulk_decoder()(line)
                seq = seq_of(event) if event is not None and block.is_terminated else None
                return None if seq is None or seq < 1 else seq - 1
    return None


def _in_order(parts: Sequence[Range], asked: Asked, told: _Told) -> Leaves:
    """All parts, one after the other; whoever meets a line that does not follow names it."""
    stretches = _first_stretches(asked)
    hasher = LineHasher(stretches[-1].end, asked.beginning.digest, asked)
    torn: Place | None = None
    for path, before, lines, is_terminated, part in _blocks(parts):
        if torn is not None and asked.is_strict:
            raise _damaged(torn, "the line is not terminated, and lines follow")
        if not is_terminated:
            torn = Place(path, before + 1)
            continue
        problem = hasher.take(lines)
        if problem is not None:
            raise _damaged(Place(path, before + problem[0] + 1), problem[1])
        told.upto(part - 1)
    told.upto(len(parts))
    stretches[-1].join(hasher.stretches[0])
    stretches += hasher.stretches[1:]
    return Leaves(tuple(stretches), stretches[-1].end, hasher.prev or asked.beginning.digest, torn)


def _blocks(parts: Sequence[Range]) -> Iterator[tuple[str, int, list[bytes], bool, int]]:
    """Each block: its file, how many lines stand before it there, its lines, and in which part it is."""
    number = 0
    for index, part in enumerate(parts, 1):
        if part.start == part.source.begins:
            number = part.source.lines_before
        for block in blocks_of(part):
            lines = block.lines()
            yield part.source.path, number, lines, block.is_terminated, index
            number += len(lines)


def _damaged(place: Place, why: str) -> LogDamagedError:
    return LogDamagedError(f"{place}: {why}", remedy=_REMEDY)
