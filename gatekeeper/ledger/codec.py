"""From bytes to events: lines split at 0x0A only, damaged and founding-style lines told apart."""

from __future__ import annotations

from gatekeeper.ledger.fsops import read_exactly
from gatekeeper.model.line import bulk_decoder, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps

BLOCK_BYTES = 1 << 20
"""How much of a log is in memory at once while it is read through."""

BULK_BYTES = 1 << 18
"""From this size on, reading with orjson repays its import."""

_VERDICTS = frozenset({"ACCEPT", "REJECT", "DEGRADE"})


def events_in(lines: Iterable[bytes]) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """Events with their lines, in order; damaged lines are passed over."""
    decode = bulk_decoder()
    for line in lines:
        event = decode(line)
        if event is not None:
            yield event, line


def terminated_lines(ops: FileOps, descriptor: int, *, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes, without the newline, of every line that is terminated before *end*; blank ones too."""
    for offset, line, is_terminated in lines_in(blocks_between(ops, descriptor, start, end), start):
        if is_terminated:
            yield offset, line


def blocks_between(ops: FileOps, descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes of a file from *start* to *end*, or to its own end if that comes first, a block at a time."""
    while start < end:
        block = read_exactly(ops, descriptor, min(BLOCK_BYTES, end - start), start)
        if not block:
            return
        yield block
        start += len(block)


def lines_in(blocks: Iterable[bytes], offset: int) -> Iterator[tuple[int, bytes, bool]]:
    """Offset and bytes without the newline of every line in *blocks*, and whether it is terminated.

    Args:
        offset: of the first byte, at the beginning of a line.
    """
    rest = b""
    for block in blocks:
        if b"\n" not in block:
            rest += block
            continue
        *lines, tail = block.split(b"\n")
        lines[0] = rest + lines[0]
        rest = tail
        for line in lines:
            yield offset, line, True
            offset += len(line) + 1
    if rest:
        yield offset, rest, False


def decoder_for(size: int) -> Callable[[bytes], dict[str, Any] | None]:
    """The decoder that is quickest, imports included, for *size* bytes of lines; all answer the same."""
    if size < BULK_BYTES:
        return decode
    return bulk_decoder()


def founding_decision(event: Mapping[str, Any]) -> dict[str, Any]:
    """A line without `kind` as the decision it records; what it does not state is absent or None.

    The verdict may stand in `decision`, as text or as an object, or at the top.
    """
    stated = event.get("decision")
    decision = dict(stated) if isinstance(stated, dict) else {}
    verdict = decision.get("verdict", stated if isinstance(stated, str) else event.get("verdict"))
    codes = decision.get("reason_codes", event.get("reason_codes"))
    missing = decision.get("missing", event.get("missing"))
    run_id, stage = event.get("run_id"), event.get("stage")
    event_id = event.get("event_id")
    if not isinstance(event_id, str) and isinstance(run_id, str):
        event_id = f"{run_id}:{stage}"
    return {
        **event,
        "kind": "decision",
        "event_id": event_id,
        "decision": {
            "findings": [],
            "notes": [],
            "requested_actions": [],
            "next_actions": [],
            **decision,
            "verdict": verdict if isinstance(verdict, str) and verdict in _VERDICTS else None,
            "reason_codes": codes if isinstance(codes, list) else [],
            "missing": missing if isinstance(missing, list) else [],
        },
    }
