"""One line of a log as readers meet it; what its event says of itself is in `model.facts`."""

from __future__ import annotations

from gatekeeper.model import line as lines
from gatekeeper.model.exchange import LogLine
from gatekeeper.model.facts import (
    is_simulated,
    kind_of,
    part_of,
    reasons_of,
    stage_of,
    text_of,
    texts_of,
    verdict_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "DAMAGED",
    "TORN",
    "is_blank",
    "is_simulated",
    "kind_of",
    "parse_line",
    "part_of",
    "reasons_of",
    "seq_of",
    "stage_of",
    "text_of",
    "texts_of",
    "verdict_of",
]

DAMAGED = "damaged"
TORN = "torn"


def parse_line(source: str, number: int, data: bytes, *, is_terminated: bool = True) -> LogLine:
    """Read the bytes of one line, given without its newline.

    A line that is no JSON object is `damaged`; one without its newline is `torn` whatever it holds,
    because it was never promised to anybody.
    """
    if not is_terminated:
        return LogLine(source, number, data, None, TORN)
    event = lines.bulk_decoder()(data)
    return LogLine(source, number, data, event, DAMAGED if event is None else None)


def is_blank(line: LogLine) -> bool:
    """Whether readers pass the line over: nothing in it but space."""
    return lines.is_blank(line.data)


def seq_of(event: Mapping[str, Any]) -> int | None:
    """`seq`, if it is an integer."""
    seq = event.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None
