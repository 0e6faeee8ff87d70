"""What following a chain goes by: a line as the next one meets it, and how far the chain was followed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gatekeeper.model.line import is_chained
from gatekeeper.replay.lines import seq_of, text_of
from gatekeeper.replay.report import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WRITTEN_TS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
"""As the ledger writes a `ts`: such texts sort like the times that they state."""


class Link(NamedTuple):  # of all values the quickest to make, and one is made for every line
    """A line as the next one meets it. `may_be_blamed`: it belongs to what is verified."""

    source: str
    number: int
    seq: int | None
    order: int
    digest: str
    may_be_blamed: bool = True

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.source, self.number, self.seq)


@dataclass(frozen=True)
class Broken:
    """`prev` of *line* is not the digest of *before*: one of the two was changed.

    `is_out_of_place`: the `seq` of *line* does not follow either, which has been said.
    `is_skipping`: *line* is chained to what stands before *before*.
    """

    before: Link
    line: Link
    found: Any
    is_out_of_place: bool
    is_skipping: bool


@dataclass(frozen=True)
class Entry:
    """What a part of the log takes for granted of the lines before it, told by its own first line.

    Attributes:
        seq, prev: of the first line.
        ts: of the first line, as the ledger writes it.
    """

    seq: int
    prev: str
    ts: str


@dataclass
class ChainState:
    """How far a chain was followed.

    Attributes:
        seq: the largest so far.
        begun_at: `order` of the first line that belongs to what is verified; None before it.
        has_begun: whether the next line does.
        damaged: lines since the last `seq` whose own nobody can read.
        ts: the last one that was a time and did not run back; `is_written`: as the ledger writes it.
        broken: a `prev` that waits for the line after it.
        digest_before: of the line before *before*.
    """

    seq: int
    first_seq: int | None = None
    begun_at: int | None = None
    has_begun: bool = True
    before: Link | None = None
    damaged: int = 0
    ts: str | None = None
    is_written: bool = False
    broken: Broken | None = None
    digest_before: str | None = None


def is_written_ts(text: object) -> bool:
    """Whether *text* is a time, written as the ledger writes it."""
    if not isinstance(text, str) or _WRITTEN_TS.fullmatch(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def entry_of(event: Mapping[str, Any] | None) -> Entry | None:
    """What the first line of a part tells of the lines before it; None where it cannot be relied on."""
    if event is None or not is_chained(event):
        return None
    seq, prev, ts = seq_of(event), text_of(event, "prev"), text_of(event, "ts")
    if seq is None or seq < 1 or prev is None or ts is None or not is_written_ts(ts):
        return None
    return Entry(seq, prev, ts)
