"""One part of a log, checked before the parts in front of it: what it takes for granted, and what was found."""

from __future__ import annotations

from dataclasses import dataclass, field

from gatekeeper.model.line import bulk_decoder, is_blank
from gatekeeper.replay.blocks import blocks_of
from gatekeeper.replay.checking import Checker, Tally
from gatekeeper.replay.ids import HashedIds
from gatekeeper.replay.links import ChainState, Entry, entry_of
from gatekeeper.replay.skim import skim
from gatekeeper.replay.survey import Survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gatekeeper.replay.blocks import Range

RANGE_BYTES = 8 << 20
"""How much of a log is checked at a time by one process."""

_LOOKED_AT_BYTES = 1 << 14


@dataclass(frozen=True)
class Wanted:
    """What is asked of a log's files.

    Attributes:
        from_seq: the first `seq` that is checked.
        chain_only: only `seq`, `prev` and `ts` of each line, and nothing in it.
        jobs: how many processes at most; None: one for each core.
        range_bytes: how much of a log one of them takes at a time.
        behind: seq and digest of the last line that was removed on purpose before the first; None: nothing was.
    """

    from_seq: int = 1
    chain_only: bool = False
    jobs: int | None = None
    range_bytes: int = RANGE_BYTES
    behind: tuple[int, str] | None = None

    def checker(self, ids: HashedIds | None, *, order: int = 0) -> Checker:
        """Of the log's first lines, or of a part of it."""
        checker = Checker(self.from_seq, ids, order=order)
        if self.behind is not None:
            checker.chain.begin_behind(*self.behind)
        return checker


@dataclass(frozen=True)
class Found:
    """What a process has found in one range; `entry` None: it is the first one, and takes nothing for granted."""

    entry: Entry | None
    state: ChainState
    tally: Tally
    hashes: bytes
    lines: int
    is_as_surveyed: bool

    def place(self, lines_before: int, order: int) -> None:
        """Say where a range stands that was followed before anybody knew."""
        state = self.state
        if state.before is not None:
            state.before = state.before._replace(
                number=state.before.number + lines_before, order=state.before.order + order
            )
        self.tally.order += order


@dataclass
class Map:
    """Where each range begins: lines before it in its file, lines that are not blank before it in the log."""

    surveys: list[Survey] = field(default_factory=list)
    lines_before: list[int] = field(default_factory=list)
    orders: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, parts: Sequence[Range], surveys: Iterable[Survey]) -> Map:
        """From the surveys of all parts, in order."""
        where, number, order = cls(), 0, 0
        for part, found in zip(parts, surveys, strict=True):
            if part.start == part.source.begins:
                number = part.source.lines_before
            where.surveys.append(found)
            where.lines_before.append(number)
            where.orders.append(order)
            number += found.lines
            order += found.filled
        return where

    @classmethod
    def unknown(cls, count: int) -> Map:
        """Where nobody has looked: each range is taken for the first."""
        return cls([Survey(0, 0, ())] * count, [0] * count, [0] * count)


class Helper:
    """What a process of its own does: ranges in rising order, the policies of those between known from the survey."""

    def __init__(self, parts: Sequence[Range], where: Map, wanted: Wanted) -> None:
        self._parts = parts
        self._where = where
        self._wanted = wanted
        self._shelf = Checker(1, None).shelf
        self._shelved = 0

    def check(self, index: int) -> Iterator[Found | None]:
        """One range; None where its first line, or following the chain alone, tells nothing that can be relied on."""
        for surveyed in self._where.surveys[self._shelved : index]:
            for event in surveyed.policies:
                self._shelf.add(event)
        self._shelved = index
        part, lines_before = self._parts[index], self._where.lines_before[index]
        ids = None if self._wanted.chain_only else HashedIds()
        checker = self._wanted.checker(ids, order=self._where.orders[index])
        checker.shelf = self._shelf
        entry = None
        if index > 0:
            entry = _entry(part)
            if entry is None:
                yield None
                return
            checker.chain.assume(entry)
        if self._wanted.chain_only:
            after = skim(checker, part, lines_before)
            if after is None:
                yield None
                return
        else:
            after = checker.take_range(part, lines_before)
        self._shelved = index + 1
        is_as_surveyed = ids is None or checker.policies == len(self._where.surveys[index].policies)
        hashes = b"" if ids is None else ids.hashes.tobytes()
        yield Found(entry, checker.chain.state, checker.tally, hashes, after - lines_before, is_as_surveyed)


def _entry(part: Range) -> Entry | None:
    for block in blocks_of(part, _LOOKED_AT_BYTES):
        for line in block.lines():
            if not is_blank(line):
                return entry_of(bulk_decoder()(line)) if block.is_terminated else None
    return None
