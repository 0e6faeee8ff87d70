"""Lines of another log as they are: the same bytes, the same chain, in commits of a bounded size."""

from __future__ import annotations

from gatekeeper.ledger.importing import Chained
from gatekeeper.ledger.sealing import Sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper.ledger.projection_fold import Fold

MOST_LINES, MOST_BYTES = 500, 1 << 19
"""How much of them one commit takes at most, a longer line excepted."""


def sealed_lines(part: Sequence[bytes], fold: Fold, *, shown: str) -> Sealed:
    """The lines with their events, once each is known to continue the log.

    Args:
        shown: the log, for people.

    Raises:
        LogDamagedError: one does not.
    """
    sealed, head = Sealed(), fold.head
    chain = Chained(head.seq, head.digest) if head.seq else Chained()
    for line in part:
        sealed.events.append(chain.take(line, shown))
        sealed.lines.append(line)
        sealed.digests.append(chain.digest)
    return sealed
