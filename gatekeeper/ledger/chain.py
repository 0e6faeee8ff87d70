"""The chain: each line holds the digest of the one before, so that any program can check the order."""

from __future__ import annotations

from gatekeeper.model.canonical import MAX_SAFE_INTEGER

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
