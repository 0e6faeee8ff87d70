"""A draft as canonical bytes before its place in the log is known: in pieces, with gaps for what the place gives.

Encoding costs more than all else of an append. So it is done before the log is locked; then pieces are joined only.
"""

from __future__ import annotations

import os

from gatekeeper.model.event import FORMAT_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    Encode = Callable[[object], bytes]

_MARK = os.urandom(16).hex()  # stands in the gaps; nobody can have written it into an event


def pieces_of(draft: Mapping[str, Any], gaps: Sequence[str], encode: Encode) -> list[bytes]:
    """The draft's members, without braces, cut where those named in *gaps* will stand: one piece more than gaps.

    Args:
        gaps: in the order of canonical keys; the draft has none of them.
    """
    whole = encode({**draft, "v": FORMAT_VERSION, **dict.fromkeys(gaps, _MARK)})
    pieces, at = [], 1
    for gap in gaps:
        member = b'"%s":"%s"' % (gap.encode(), _MARK.encode())
        found = whole.index(member, at)
        pieces.append(whole[at : found - 1] if found > at else b"")
        at = found + len(member) + 1
    return [*pieces, whole[at:-1]]


def joined(pieces: Sequence[bytes], members: Sequence[bytes]) -> bytes:
    """The line, with *members* (name and value, or nothing) in the gaps."""
    return b"{" + b",".join(part for part in _in_turn(pieces, members) if part) + b"}"


def place_members(*, prev: str, seq: int, ts: str) -> tuple[bytes, bytes, bytes]:
    """The members that every event gets with its place, in the order of their keys."""
    return b'"prev":"%s"' % prev.encode(), b'"seq":%d' % seq, b'"ts":"%s"' % ts.encode()


def _in_turn(pieces: Sequence[bytes], members: Sequence[bytes]) -> Iterator[bytes]:
    for piece, member in zip(pieces, members, strict=False):
        yield piece
        yield member
    yield pieces[-1]
