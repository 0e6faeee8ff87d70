"""Lines of another log as they are: the same bytes, the same chain, in commits of a bounded size."""

from __future__ import annotations

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.chain import break_between, seq_of
from gatekeeper.ledger.sealing import Sealed
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.model.segment import is_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ledger.projection_fold import Fold

_LINES, _BYTES = 500, 1 << 19
"""How much of them one commit takes at most, a longer line excepted."""


def parts_of(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """The lines, blank ones left out, as many at once as one commit takes."""
    part, size = list[bytes](), 0
    for line in lines:
        if is_blank(line):
            continue
        if part and (len(part) == _LINES or size + len(line) > _BYTES):
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield part


def sealed_lines(part: Sequence[bytes], fold: Fold) -> Sealed:
    """The lines with their events, once each is known to continue the log.

    Raises:
        LogDamagedError: one does not.
    """
    decode, sealed = bulk_decoder(), Sealed()
    seq, digest = fold.head.seq, fold.head.digest
    for line in part:
        event = decode(line)
        if event is None or not is_chained(event):
            raise _refused(f"a line behind seq {seq} is no event of a chain")
        problem = break_between(event, seq=seq, digest=digest)
        if problem is not None and not (seq == 0 and is_head(event)):  # a pruned log begins with its segment's head
            raise _refused(f"the line behind seq {seq} {problem}")
        seq, digest = seq_of(event) or 0, line_digest(line)
        sealed.events.append(event)
        sealed.lines.append(line)
        sealed.digests.append(digest)
    return sealed


def _refused(what: str) -> LogDamagedError:
    return LogDamagedError(
        f"{what}: it does not continue the log as it is by now",
        remedy="if others append to this log, let them rest; then import again: it goes on where the log ends",
    )
