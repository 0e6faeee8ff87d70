"""Group commit: what a waiting writer hands to the one that has the lock, and what it is answered.

The writer encodes its events before it waits, in pieces with gaps for what only the lock's holder knows
(`seq`, `prev`, `ts`), so that the holder only joins bytes. Whatever does not fit this plain form is not
handed over: its writer waits for the lock and appends by itself.
"""

from __future__ import annotations

import json
import sys

from gatekeeper.ledger.folded import slim_of
from gatekeeper.ledger.pieces import pieces_of
from gatekeeper.ledger.projection_index import said_of
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.event import FORMAT_VERSION, seal
from gatekeeper.model.policy import SCHEMA_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.pieces import Encode
    from gatekeeper.model.exchange import Expectation
    from gatekeeper.model.policy import LoadedPolicy

WIRE = 2
"""Version of the form; writers of another one do not understand each other and append by themselves."""

DO_IT_YOURSELF = "do it yourself"
"""The answer to what the lock's holder does not do for others: a conflict, a policy that the log lacks, an error."""

LEAD = "lead"
"""Said to one that waits when the holder goes: take the lock."""

GAPS = ("prev", "seq", "ts")
"""Members that only the lock's holder knows, in the order of their keys."""

_LENGTHS = 8  # digits of a frame's two lengths
_MALFORMED = (ValueError, TypeError, KeyError, IndexError)


class Handed:
    """A request as the lock's holder reads it.

    Attributes:
        reply: name of the pipe that is answered; `number` is repeated in the answer.
        run_id, version: what the writer has seen of the run.
        policies: digests that the log must hold.
        drafts: for each event its pieces, what `said_of` gives of it, and what a fold asks of it (None: read the line).
    """

    __slots__ = ("drafts", "number", "policies", "reply", "run_id", "version")

    def __init__(self, header: Mapping[str, Any], pieces: Sequence[bytes]) -> None:
        self.reply: str = header["reply"]
        self.number: int = header["number"]
        self.run_id: str = header["run_id"]
        self.version: int = header["version"]
        self.policies: list[str] = header["policies"]
        count = len(GAPS) + 1
        self.drafts: list[tuple[Sequence[bytes], tuple[Any, ...], Mapping[str, Any] | None]] = [
            (pieces[at * count : (at + 1) * count], ((*facts[:-1], tuple(facts[-1])), question), slim)
            for at, (slim, (facts, question)) in enumerate(header["folded"])
        ]


def frame_of(
    drafts: Sequence[Mapping[str, Any]],
    *,
    expect: Expectation | None,
    policies: Sequence[LoadedPolicy],
    reply: str,
    number: int,
    encode: Encode = canonical_bytes,
) -> bytes | None:
    """The request as bytes; None where it is not of the plain form."""
    if expect is None or expect.slot is not None or expect.key is not None:
        return None  # these are looked up in tables that must be level with the log
    if not drafts or not all("event_id" in draft and draft.get("run_id") == expect.run_id for draft in drafts):
        return None
    pieces = [piece for draft in drafts for piece in pieces_of(draft, GAPS, encode)]
    try:
        head = _dumps(
            {
                "wire": [WIRE, FORMAT_VERSION, SCHEMA_VERSION],
                "reply": reply,
                "number": number,
                "run_id": expect.run_id,
                "version": expect.version,
                "policies": [loaded.digest for loaded in policies],
                "folded": [_folded(draft) for draft in drafts],
                "pieces": [len(piece) for piece in pieces],
            }
        )
    except _MALFORMED:  # the plain way names what is wrong
        return None
    body = b"".join(pieces)
    return b"%08d%08d" % (len(head), len(body)) + head + body


def handed_in(data: bytes) -> list[Handed]:
    """The requests in *data*, up to the first that is torn or of another form."""
    found: list[Handed] = []
    at = 0
    try:
        while at < len(data):
            head, body = int(data[at : at + _LENGTHS]), int(data[at + _LENGTHS : at + 2 * _LENGTHS])
            at += 2 * _LENGTHS
            end = at + head + body
            if end > len(data):
                break
            header = _loads(data[at : at + head])
            if header["wire"] == [WIRE, FORMAT_VERSION, SCHEMA_VERSION]:
                found.append(Handed(header, _cut(data[at + head : end], header["pieces"])))
            at = end
    except _MALFORMED:  # a writer was killed within its write, or the disk is full
        pass
    return found


def answer_of(number: int, places: Sequence[tuple[int, str, str]] | str) -> bytes:
    """`seq`, `prev` and `ts` of each event that was recorded, or a word of this module."""
    return _dumps([number, places]) + b"\n"


def answers_in(data: bytes) -> list[tuple[int, Any]]:
    """What was written into a pipe by `answer_of`; what a killed process left of one is passed over."""
    found = []
    for line in data.split(b"\n")[:-1]:
        try:
            number, told = _loads(line)
        except _MALFORMED:
            continue
        found.append((number, told))
    return found


def events_at(drafts: Sequence[Mapping[str, Any]], places: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """The events that *drafts* have become."""
    return [seal(draft, seq=seq, prev=prev, ts=ts) for draft, (seq, prev, ts) in zip(drafts, places, strict=True)]


def _dumps(value: object) -> bytes:
    """JSON by the quicker library, where the process has loaded it anyway; either reads what the other writes."""
    orjson: Any = sys.modules.get("orjson")
    dumped: bytes = json.dumps(value).encode() if orjson is None else orjson.dumps(value)
    return dumped


def _loads(data: bytes) -> Any:
    orjson: Any = sys.modules.get("orjson")
    return json.loads(data) if orjson is None else orjson.loads(data)


def _folded(draft: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, tuple[Any, ...]]:
    """What a fold asks of the event, and what it says of itself.

    A hold is read off its line: its document may hold numbers that the line writes otherwise.
    """
    slim, said = slim_of(draft)
    return (None if slim is None or "resume" in slim else slim), said or said_of(draft)


def _cut(data: bytes, lengths: Sequence[int]) -> list[bytes]:
    cut, at = [], 0
    for length in lengths:
        cut.append(data[at : at + length])
        at += length
    return cut
