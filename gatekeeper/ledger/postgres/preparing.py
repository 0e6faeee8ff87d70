"""A draft made ready before the log is locked: all that its line and its rows need but its place.

While a writer holds the log, all others wait; what is left to do then is to put `seq`, `prev` and `ts` between
bytes that are encoded already, and to digest them.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from hashlib import sha256

from gatekeeper.ledger.projection_index import said_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.event import FORMAT_VERSION, encode_line, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Encode = Callable[[object], bytes]

_PLACED = ("clock", "event_id", "prev", "seq", "ts", "v")
"""Members that a line gets with its place, in the order of canonical keys."""


class Prepared:
    """One draft, encoded.

    Attributes:
        draft: as given.
        facet, body: what queries filter by, as `facets` holds it, and the number that is made of it.
        question: as `projection_index.said_of` has it.
    """

    __slots__ = ("_between", "body", "draft", "facet", "question")

    def __init__(self, draft: Mapping[str, Any], encode: Encode = canonical_bytes) -> None:
        self.draft = draft
        facts, self.question = said_of(draft)
        self.body = facet_body(facts)
        self.facet = facet_number(self.body)
        self._between = _between(draft, encode)

    def event(self, *, seq: int, prev: str, ts: str, clock: str | None) -> dict[str, Any]:
        """The event at its place."""
        return seal(self.draft, seq=seq, prev=prev, ts=ts, clock=clock)

    def sealed(self, *, seq: int, prev: str, ts: str, clock: str | None) -> tuple[dict[str, Any], bytes]:
        """The event at its place, and its line."""
        event = self.event(seq=seq, prev=prev, ts=ts, clock=clock)
        if self._between is None:
            return event, encode_line(event)
        parts = []
        for name, between in zip((*_PLACED, None), self._between, strict=True):
            if between:
                parts.append(between)
            if name in event:
                parts.append(b'"%s":%s' % (name.encode(), canonical_bytes(event[name])))
        return event, b"{" + b",".join(parts) + b"}"

    def around_place(self) -> list[bytes] | None:
        """The line's bytes before and behind the place of `clock`, and around the values of `prev`, `seq` and `ts`.

        None where it must be sealed as a whole: a member that it should not have, or one that looks like a `seq`.
        """
        if self._between is None or "event_id" not in self.draft:
            return None
        if any(b'"seq":' in between for between in self._between):
            return None
        hole = b"\0"  # canonical bytes hold none
        placed = dict.fromkeys(("prev", "seq", "ts"), hole)
        placed |= {"event_id": canonical_bytes(self.draft["event_id"]), "v": b"%d" % FORMAT_VERSION}
        first, *rest = self._between
        members = []
        for name, between in zip(_PLACED[1:], rest[:-1], strict=True):
            members += [between] * bool(between) + [b'"%s":%s' % (name.encode(), placed[name])]
        members += [rest[-1]] * bool(rest[-1])
        before, behind_prev, behind_seq, behind_ts = (b",".join(members) + b"}").split(hole)
        start = b"{" + first + b"," * bool(first)
        return [start, before + b'"sha256:', b'"' + behind_prev, behind_seq + b'"', b'"' + behind_ts]


def facet_body(facts: tuple[Any, ...]) -> str:
    """What an event says of itself (`facts_of`) as the table holds it."""
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def facet_number(body: str) -> int:
    """64 bits of the body's digest: whoever finds another body under it must not use it."""
    return int.from_bytes(sha256(body.encode("utf-8", "surrogatepass")).digest()[:8], "big", signed=True)


def _between(draft: Mapping[str, Any], encode: Encode) -> list[bytes] | None:
    """The members before, between and behind those of `_PLACED`; None where the draft has one that it should not."""
    if any(name in draft for name in _PLACED if name != "event_id"):
        return None
    groups: list[dict[str, Any]] = [{} for _ in range(len(_PLACED) + 1)]
    for name, value in draft.items():
        if name != "event_id":
            groups[bisect_left(_PLACED, name)][name] = value
    return [encode(group)[1:-1] if group else b"" for group in groups]
