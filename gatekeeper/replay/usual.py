"""Lines of a block that follow each other as the ledger writes them, told by a look at both ends of each.

What stands between the ends is searched once for all lines, not line by line: the place where an event must show its
context is blotted out in each of them, so that whatever is found then is the beginning of an event that was glued to
another. All is as it was when the lines are told.
"""

from __future__ import annotations

from bisect import bisect_left

from gatekeeper.replay.prefilter import may_hide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.replay.blocks import Block
    from gatekeeper.replay.needles import LineSearch

SEQ = b'"seq":'
BEHIND_SEQ = b'%d,"snapshot_digest":"'
BEGINNING = b'{"actor":"'
CONTEXT = b'"context":{"approvals":['
"""What every decision has once, soon after its beginning. It is long, and so found at the speed of memory."""
LAST_TEXT = b',"ts":"'
"""Behind this an event holds no object any more: only its own end closes one."""
CLOSING = 0x7D

_SEQ_AND_BEHIND = SEQ + BEHIND_SEQ
_HEADS = 8
_REACH = 256  # bytes from `seq` to the end of most lines
_BLOT = 1  # stands in no line: JSON writes it as an escape


def usual_lines(search: LineSearch, data: bytearray, begin: int, end: int, seq: int, *, looks_plain: bool) -> list[int]:
    """Where the newlines of the usual lines from *begin* on stand; the first line that is none ends them.

    A line may be usual and not be told here: it is for the caller to look closer at the one that follows. None of
    the lines holds a zero.

    Args:
        begin, end: where a line begins, and where the block's last one ends.
        seq: of the line before.
        looks_plain: whether no line of the block needs a look at its text.
    """
    find, startswith = data.find, data.startswith
    stops, blots, position, reach = list[int](), list[int](), begin, _REACH
    heads: tuple[bytes, ...] = (b"\n",)  # how lines begin, up to their context: most do as others did
    blot = 0  # where in a line the second byte of its context stands
    while position < end:
        stop = find(b"\n", position)
        if not startswith(heads, position):
            context = find(CONTEXT, position, stop)
            if context < 0 or not startswith(BEGINNING, position) or find(BEGINNING, position + 1, context) >= 0:
                break
            head = bytes(data[position : context + len(CONTEXT)])
            is_as_long = blot == context + 1 - position and len(heads) < _HEADS
            heads, blot = (*heads, head) if is_as_long else (head,), context + 1 - position
        seq += 1
        shown = _SEQ_AND_BEHIND % seq
        at = find(shown, stop - reach, stop)
        if at < position:
            at = data.rfind(shown, position, stop)
            if at < 0:
                break
            reach = stop - at
        if (
            find(LAST_TEXT, at, stop) < 0
            or data[stop - 1] != CLOSING
            or not (looks_plain or is_plain(bytes(data[position:stop])))
        ):
            break
        data[position + blot] = _BLOT
        blots.append(position + blot)
        stops.append(stop)
        position = stop + 1
    if stops:
        odd = search.first(CONTEXT, begin, stops[-1])
        for at in blots:
            data[at] = CONTEXT[1]
        if odd < stops[-1]:
            del stops[bisect_left(stops, odd) :]
    return stops


def is_usual(data: bytearray, position: int, stop: int, seq: int, *, looks_plain: bool) -> bool:
    """Whether the line that ends before *stop* is usual; other arguments as in `usual_lines`."""
    find = data.find
    at = data.rfind(SEQ, position, stop)
    if (
        at < 0
        or not data.startswith(BEHIND_SEQ % (seq + 1), at + len(SEQ))
        or data[stop - 1] != CLOSING
        or find(LAST_TEXT, at, stop) < 0
        or not data.startswith(BEGINNING, position)
    ):
        return False
    context = find(CONTEXT, position, stop)
    return (
        context >= 0
        and find(BEGINNING, position + 1, context) < 0
        and find(CONTEXT, context + 1, stop) < 0
        and find(0, position, stop) < 0
        and (looks_plain or is_plain(bytes(data[position:stop])))
    )


def looks_plain(block: Block) -> bool:
    """Whether no line of the block can hide text or bytes that are none."""
    data, begin, end = block.data, block.begin, block.end
    return data.find(b"\\", begin, end) < 0 and (data.isascii() or bytes(data[begin:end]).isascii())


def is_plain(line: bytes) -> bool:
    """The same of one line."""
    if may_hide(line):
        return False
    try:
        return line.isascii() or bool(line.decode("utf-8"))
    except UnicodeDecodeError:
        return False
