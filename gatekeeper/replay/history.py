"""One event by its name (`explain EVENT`)."""

from __future__ import annotations

import heapq

from gatekeeper.errors import InputRefusedError
from gatekeeper.replay.lines import (
    seq_of,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatekeeper.model.exchange import LogLine

_NEAR = 50
"""How many ids are compared letter by letter with one that is not there."""


def find_event(lines: Iterable[LogLine], wanted: str | int) -> LogLine:
    """The line of an event by `event_id`, or by `seq` (a number, or text of digits).

    Raises:
        InputRefusedError: no such event; the remedy names the nearest ids.
    """
    text = str(wanted)
    seq = int(text) if text.isascii() and text.isdigit() and len(text) <= 16 else None
    ids: list[str] = []
    last_seq = 0
    is_run = False
    for line in lines:
        event = line.event
        if event is None:
            continue
        event_id, found = text_of(event, "event_id"), seq_of(event)
        if (seq is not None and found == seq) or event_id == text:
            return line
        last_seq = max(last_seq, found or 0)
        is_run = is_run or event.get("run_id") == text
        if event_id is not None and seq is None:
            ids.append(event_id)
            if len(ids) >= 20 * _NEAR:
                ids = _nearest(ids, text)
    if seq is not None:
        raise InputRefusedError(
            f"no event has seq {seq}", remedy=f"the last one that can be read is {last_seq}: see gatekeeper replay"
        )
    raise InputRefusedError(f"no event is named {text!r}", remedy=_remedy(text, ids, is_run=is_run))


def _remedy(text: str, ids: list[str], *, is_run: bool) -> str:
    if is_run:
        return f"that is a run: its events are in gatekeeper status {text}"
    from difflib import get_close_matches

    near = get_close_matches(text, _nearest(ids, text), n=3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "list events with: gatekeeper replay"


def _nearest(ids: list[str], text: str) -> list[str]:
    """Those of *ids* with the longest beginning or end in common with *text*: comparing all would take too long."""
    unique = list(dict.fromkeys(ids))
    by_beginning = heapq.nlargest(_NEAR, unique, key=lambda found: _shared(found, text))
    by_end = heapq.nlargest(_NEAR, unique, key=lambda found: _shared(found[::-1], text[::-1]))
    return list(dict.fromkeys([*by_beginning, *by_end]))


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))
