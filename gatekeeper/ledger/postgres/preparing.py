"""A draft made ready before the log is locked: all that its line and its rows need but its place.

While a writer holds the log, all others wait; what is left to do then is to put `seq`, `prev` and `ts` between
bytes that are encoded already, and to digest them.
"""

from __future__ import annotations

import json
from hashlib import sha256

from gatekeeper.ledger.pieces import joined, pieces_of, place_members
from gatekeeper.ledger.projection_index import said_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.event import encode_line, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.ledger.pieces import Encode

_GAPS = ("clock", "prev", "seq", "ts")
"""Members that a line may get with its place, in the order of canonical keys."""


class Prepared:
    """One draft, encoded.

    Attributes:
        draft: as given.
        facet, body: what queries filter by, as `facets` holds it, and the number that is made of it.
        question: as `projection_index.said_of` has it.
    """

    __slots__ = ("_pieces", "body", "draft", "facet", "question")

    def __init__(self, draft: Mapping[str, Any], encode: Encode = canonical_bytes) -> None:
        self.draft = draft
        facts, self.question = said_of(draft)
        self.body = facet_body(facts)
        self.facet = facet_number(self.body)
        has_own_place = any(name in draft for name in (*_GAPS, "v"))
        self._pieces = None if has_own_place or "event_id" not in draft else pieces_of(draft, _GAPS, encode)

    def event(self, *, seq: int, prev: str, ts: str, clock: str | None) -> dict[str, Any]:
        """The event at its place."""
        return seal(self.draft, seq=seq, prev=prev, ts=ts, clock=clock)

    def sealed(self, *, seq: int, prev: str, ts: str, clock: str | None) -> tuple[dict[str, Any], bytes]:
        """The event at its place, and its line."""
        event = self.event(seq=seq, prev=prev, ts=ts, clock=clock)
        if self._pieces is None:
            return event, encode_line(event)
        told = b"" if clock is None else b'"clock":"%s"' % clock.encode()
        return event, joined(self._pieces, (told, *place_members(prev=prev, seq=seq, ts=ts)))

    def around_place(self) -> list[bytes] | None:
        """The line's bytes before and behind the place of `clock`, and around the values of `prev`, `seq` and `ts`.

        None where it must be sealed as a whole: a member that it should not have, or one that looks like a `seq`.
        """
        if self._pieces is None or any(b'"seq":' in piece for piece in self._pieces):
            return None
        first, second, third, fourth, last = self._pieces
        return [
            b"{" + first + b"," * bool(first),
            second + b"," * bool(second) + b'"prev":"sha256:',
            b'"' + b"," * bool(third) + third + b',"seq":',
            b"," * bool(fourth) + fourth + b',"ts":"',
            b'"' + b"," * bool(last) + last + b"}",
        ]


def facet_body(facts: tuple[Any, ...]) -> str:
    """What an event says of itself (`facts_of`) as the table holds it."""
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def facet_number(body: str) -> int:
    """64 bits of the body's digest: whoever finds another body under it must not use it."""
    return int.from_bytes(sha256(body.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)
