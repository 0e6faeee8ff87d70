"""Lines of another log into a ledger, as they are: the same bytes, the same chain, and never a fork.

All of the source is checked before anything is taken in, so that a damaged one changes nothing. It is then read once
more; memory does not grow with it.
"""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError, LogDamagedError
from gatekeeper.ledger.chain import break_between, seq_of
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.model.segment import is_head
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Protocol

    SourceLine = tuple[str, int, bytes, bool]
    """Where it stands, its number there, its bytes without newline, and whether there was one."""

    class Target(Protocol):
        """A ledger that takes lines in: the file ledger, and every `ports.SharedLedger`."""

        def head(self) -> Mapping[str, Any]:
            """Its end: `seq` and `digest`."""
            ...

        def read(self, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
            """Its events from a seq on, with their lines."""
            ...

        def take_in(self, lines: Iterator[bytes]) -> int:
            """Append lines as they are; how many."""
            ...


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Attributes:
        events: how many were taken in now.
        first_seq, last_seq: of the source.
        known: how many of the source's events the ledger had already.
        seq, digest: of the ledger's last event then.
        torn: where the source ends in an unfinished line, which was passed over; None.
    """

    events: int
    first_seq: int
    last_seq: int
    known: int
    seq: int
    digest: str
    torn: str | None = None


@dataclass(frozen=True)
class _Surveyed:
    """A source that is sound: what must be known of it before it is taken in."""

    first_seq: int
    first_prev: str
    last_seq: int
    digest: str
    digest_at_head: str | None
    torn: str | None


class Chained:
    """Follows lines from one to the next.

    Args:
        seq, digest: of the line before the first one; 0 for the beginning of a log, which may be a segment's head.
    """

    def __init__(self, seq: int = 0, digest: str = GENESIS_DIGEST) -> None:
        self.seq = seq
        self.digest = digest
        self._decode = bulk_decoder()

    def take(self, line: bytes, place: str) -> Mapping[str, Any]:
        """The event of the next line. Raises LogDamagedError where it does not continue the one before."""
        event = self._decode(line)
        if event is None:
            raise _unsound(place, "is no event")
        if not is_chained(event):
            raise _unsound(place, "has no place in a chain: it was not written by gatekeeper")
        if self.seq or not _begins_in_the_middle(event):
            trouble = break_between(event, seq=self.seq, digest=self.digest)
            if trouble is not None:
                raise _unsound(place, trouble)
        self.seq = seq_of(event) or 0
        self.digest = line_digest(line)
        return event


def parts_of(lines: Iterator[bytes], *, most_bytes: int, most_lines: int | None = None) -> Iterator[list[bytes]]:
    """The lines, as many together as a part may have; a line that is longer by itself makes one."""
    part, size = list[bytes](), 0
    for line in lines:
        if part and (len(part) == most_lines or size + len(line) > most_bytes):
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield part


def import_lines(read: Callable[[int], Iterator[SourceLine]], target: Target, *, shown: str) -> Imported:
    """Take the lines of a log into *target*, from where that ends.

    Args:
        read: the source's lines, those up to a `seq` left out where that costs nothing; called more than once.
        shown: the target's name for people.

    Raises:
        LogDamagedError: the source does not hold together, or the two are not one history (65); nothing was changed.
            Or somebody has appended meanwhile; what was taken in until then stays.
        InputRefusedError: the source has no event, or begins behind the target's end (65).
        LogError: it could not be stored; what was taken in until then stays, and the next call goes on there.
    """
    head = target.head()
    seq, digest = int(head["seq"]), str(head["digest"])
    found = _survey(read, seq)
    if found is None:
        raise InputRefusedError("the source has no event", remedy="name the log to be imported")
    if seq:
        _expect_one_history(found, seq, digest, read=read, target=target, shown=shown)
    taken = target.take_in(_behind(read, seq, digest, found.last_seq)) if found.last_seq > seq else 0
    after = target.head() if taken else head
    return Imported(
        events=taken,
        first_seq=found.first_seq,
        last_seq=found.last_seq,
        known=max(0, min(seq, found.last_seq) - found.first_seq + 1),
        seq=int(after["seq"]),
        digest=str(after["digest"]),
        torn=found.torn,
    )


def _survey(read: Callable[[int], Iterator[SourceLine]], head_seq: int) -> _Surveyed | None:
    chain, first, at_head, torn = Chained(), None, None, None
    for place, number, line, is_terminated in read(0):
        if torn is not None:
            raise _unsound(torn, "is an unfinished line within the log")
        if not is_terminated:
            torn = f"{place}:{number}"
        elif not is_blank(line):
            event = chain.take(line, f"{place}:{number}")
            first = first or (chain.seq, str(event["prev"]))
            if chain.seq == head_seq:
                at_head = chain.digest
    return None if first is None else _Surveyed(*first, chain.seq, chain.digest, at_head, torn)


def _expect_one_history(
    found: _Surveyed,
    seq: int,
    digest: str,
    *,
    read: Callable[[int], Iterator[SourceLine]],
    target: Target,
    shown: str,
) -> None:
    if found.first_seq > seq + 1:
        raise InputRefusedError(
            f"the source begins at seq {found.first_seq}, and {shown} ends at seq {seq}",
            remedy=f"import a log that holds seq {seq + 1}, too",
        )
    if found.first_seq == seq + 1:
        if found.first_prev != digest:
            raise _fork(shown, found.first_seq)
        return
    ours = digest if found.last_seq >= seq else _digest_at(target, found.last_seq)
    theirs = found.digest_at_head if found.last_seq >= seq else found.digest
    if ours is None:
        raise InputRefusedError(
            f"{shown} does not have seq {found.last_seq} any more, so nothing can be compared",
            remedy="import a log that reaches further",
        )
    if ours != theirs:
        raise _fork(shown, _first_difference(read, target, found, seq))


def _digest_at(target: Target, seq: int) -> str | None:
    for event, line in target.read(start=seq):
        return line_digest(line) if seq_of(event) == seq else None
    return None


def _first_difference(
    read: Callable[[int], Iterator[SourceLine]], target: Target, found: _Surveyed, head_seq: int
) -> int:
    """The first seq at which both have a line and these are not the same."""
    ours, decode = {}, bulk_decoder()
    own = target.read(start=found.first_seq)
    for _, _, line, is_terminated in read(0):
        if not is_terminated or is_blank(line):
            continue
        event = decode(line)
        seq = seq_of(event) if event is not None else None
        while seq is not None and seq not in ours:
            pair = next(own, None)
            if pair is None:
                return min(seq, head_seq)
            ours = {seq_of(pair[0]): pair[1]}  # one at a time
            if (seq_of(pair[0]) or 0) > seq:
                break
        if seq in ours and ours[seq] != line:
            return seq or 0
    return min(found.last_seq, head_seq)


def _behind(read: Callable[[int], Iterator[SourceLine]], seq: int, digest: str, last_seq: int) -> Iterator[bytes]:
    """The source's lines behind the target's head up to those that were surveyed, followed once more."""
    chain = Chained(seq, digest)
    decode = bulk_decoder()
    for place, number, line, is_terminated in read(seq):
        if not is_terminated or is_blank(line):
            continue
        event = decode(line) if chain.seq == seq and seq else None
        if event is not None and (seq_of(event) or 0) <= seq:
            continue
        chain.take(line, f"{place}:{number}")
        if chain.seq > last_seq:
            return
        yield line
        if chain.seq == last_seq:
            return


def _begins_in_the_middle(event: Mapping[str, Any]) -> bool:
    """Whether what stood before the event was pruned, and it says all that is needed of that."""
    if seq_of(event) in {None, 1} or not is_head(event):
        return False
    segment = event["segment"]
    return bool(segment.get("part") == 1 and segment.get("digest") == event.get("prev"))


def _unsound(place: str, trouble: str) -> LogDamagedError:
    return LogDamagedError(
        f"{place} {trouble}; nothing was imported from it", remedy="see gatekeeper verify --log SOURCE"
    )


def _fork(shown: str, seq: int) -> LogDamagedError:
    return LogDamagedError(
        f"the source and {shown} are two histories: they differ from seq {seq} on; nothing was imported",
        remedy="keep them apart: only one of them can be this log's history",
    )
