"""Follow a chain without reading the lines: `prev`, `seq` and `ts` stand near the end of each."""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.line import bulk_decoder, is_blank
from gatekeeper.replay.blocks import blocks_of
from gatekeeper.replay.links import ChainState, Link, is_written_ts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.replay.blocks import Range
    from gatekeeper.replay.checking import Checker

_PREV = b'"prev":"sha256:'
_KIND = b'"kind":"'
_OPENING = 0x7B  # {


def skim(checker: Checker, part: Range, lines_before: int) -> int | None:
    """Take a range whose lines all follow as they should; None, and nothing taken, where one does not.

    What stands from the last `prev` of a line to its end is the end of one JSON object: it is read as one.
    Whether what stands before is whole, nobody has looked; but the next line has its digest. The range's last line,
    behind which there may be none, is read as a whole.

    Returns:
        How many lines stand before the next range in the file.
    """
    import orjson

    loads = orjson.loads
    state = checker.chain.state
    if not state.has_begun or state.broken is not None or checker.tally.torn is not None:
        return None
    seq, ts = state.seq, state.ts or ""
    is_beginning = state.before is None and seq == 0
    if not is_beginning and (state.before is None or (ts and not state.is_written)):
        return None
    digest = GENESIS_DIGEST if state.before is None else state.before.digest
    digest_before, number, taken = digest, lines_before, 0
    last, last_line = lines_before, b""
    for block in blocks_of(part):
        if not block.is_terminated:
            return None
        for line in block.lines():
            number += 1
            if not line or is_blank(line):
                continue
            begin = line.rfind(_PREV)
            if begin < 0 or line[0] != _OPENING or line.rfind(_KIND, 0, begin) < 0:
                return None
            try:
                end = loads(b"{" + line[begin:])
            except orjson.JSONDecodeError:
                return None
            seq += 1
            found, moment = end.get("seq"), end.get("ts")
            if found != seq or type(found) is not int or end["prev"] != digest or not is_written_ts(moment):
                return None
            if moment < ts:
                return None
            ts, digest_before, digest = moment, digest, "sha256:" + sha256(line).hexdigest()
            taken += 1
            last, last_line = number, line
    if taken:
        if bulk_decoder()(last_line) is None:
            return None
        _settle(checker, taken, Link(part.source.path, last, seq, checker.tally.order + taken, digest))
        checker.chain.state.ts, checker.chain.state.is_written = ts, True
        checker.chain.state.digest_before = digest_before
    return number


def _settle(checker: Checker, taken: int, link: Link) -> None:
    """The state as if each line had been taken for itself."""
    tally, before = checker.tally, checker.chain.state
    first_seq = (link.seq or 0) - taken + 1
    checker.chain.state = ChainState(
        link.seq or 0,
        first_seq=first_seq if before.first_seq is None else before.first_seq,
        begun_at=tally.order + 1 if before.begun_at is None else before.begun_at,
        before=link,
    )
    tally.order += taken
    tally.lines += taken
    tally.events += taken
