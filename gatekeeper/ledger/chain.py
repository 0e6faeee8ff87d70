"""The chain: each line holds the digest of the one before, so that any program can check the order."""

from __future__ import annotations

from gatekeeper.model.canonical import GENESIS_DIGEST, MAX_SAFE_INTEGER
from gatekeeper.model.event import line_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def seq_of(event: Mapping[str, Any]) -> int | None:
    """The event's `seq`; None when it states no whole number from 1 on."""
    seq = event.get("seq")
    if isinstance(seq, int) and not isinstance(seq, bool) and 1 <= seq <= MAX_SAFE_INTEGER:
        return seq
    return None


def break_between(event: Mapping[str, Any], *, seq: int, digest: str) -> str | None:
    """What is wrong with *event* as the successor of event *seq* whose line has *digest*; None if it fits."""
    found = seq_of(event)
    if found is None:
        return f"has no seq, expected {seq + 1}"
    if found > seq + 1:
        missing = f"seq {seq + 1}" if found == seq + 2 else f"seqs {seq + 1}-{found - 1}"
        return f"follows a gap: {missing} missing"
    if found < seq + 1:
        return f"has seq {found}, expected {seq + 1}"
    if event.get("prev") != digest:
        return f"(seq {found}) does not hold the digest of the line before"
    return None


class Chain:
    """Follows a log line by line and names each place where it does not fit.

    Args:
        seq, digest: the event before the first line given; nothing by default.
    """

    def __init__(self, *, seq: int = 0, digest: str = GENESIS_DIGEST) -> None:
        self.seq = seq
        self.digest = digest

    def step(self, event: Mapping[str, Any] | None, line: bytes) -> str | None:
        """Go on by one line (without the newline); *event* is None for a damaged one. What is wrong, or None.

        A line without `kind` is part of the bytes that the next one vouches for, and nothing more.
        """
        problem = None
        if event is None:
            problem = "is damaged"
        elif "kind" in event:
            problem = break_between(event, seq=self.seq, digest=self.digest)
        seq = seq_of(event) if event is not None else None
        if seq is not None and seq > self.seq:
            self.seq = seq
        self.digest = line_digest(line)
        return problem
