"""The lines of a log that can be exported, in chain order, with what could not be read noted."""

from __future__ import annotations

from typing import NamedTuple

from gatekeeper.model.exchange import LogLine
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained, stated_seq
from gatekeeper.replay.blocks import blocks_of, ranges_of, weight_of
from gatekeeper.replay.lines import DAMAGED, TORN, seq_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.replay.blocks import Source
    from gatekeeper.replay.holes import Holes

_RANGE_BYTES = 8 << 20  # after each of them, progress is told


class Line(NamedTuple):  # of all values the quickest to make, and one is made for every line
    r"""A terminated line that is not blank.

    Attributes:
        source, number: where it stands; the number counts from 1.
        data: its bytes without `\n`.
        event: None for a damaged line.
        seq: its place in the chain; None for a damaged or founding-style line, which has none.
    """

    source: str
    number: int
    data: bytes
    event: Mapping[str, Any] | None
    seq: int | None


def lines_of(
    sources: Sequence[Source],
    holes: Holes,
    *,
    from_seq: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Line]:
    """Go through the files of a log.

    Args:
        sources: in chain order.
        holes: told of every line, so that it knows what is damaged and which seqs are missing.
        from_seq: lines in front of the event with this seq are passed over unparsed; none of them is missing.
        progress: told now and then how many bytes were read, of how many.

    Raises:
        LogError: a file cannot be read. LogDamagedError: one cannot be decompressed any further.
    """
    if from_seq > 1:
        holes.see_seqs(1, from_seq - 1)
    parts = ranges_of(sources, _RANGE_BYTES)
    weights = [weight_of(part) for part in parts] if progress is not None else []
    decode, has_begun, number = bulk_decoder(), from_seq < 1, 0
    for index, part in enumerate(parts, 1):
        if part.start == part.source.begins:
            number = part.source.lines_before
        path = part.source.path
        for block in blocks_of(part):
            for data in block.lines():
                number += 1
                if is_blank(data):
                    continue
                has_begun = has_begun or (stated_seq(data) or 0) >= from_seq
                if not has_begun:
                    continue
                if not block.is_terminated:
                    holes.take_damaged(LogLine(path, number, b"", None, TORN))
                    continue
                holes.see(data)
                event = decode(data)
                if event is None:
                    holes.take_damaged(LogLine(path, number, b"", None, DAMAGED))
                yield Line(path, number, data, event, None if event is None or not is_chained(event) else seq_of(event))
        if progress is not None:
            progress(sum(weights[:index]), sum(weights))
