"""How far a log was exported, and the lines behind that: what makes an export go on, and refuse another log."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.errors import InputRefusedError
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import line_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.export.lines import Line

_REMEDY = "export into another place; gatekeeper verify tells whether the log was changed"


@dataclass(frozen=True)
class Position:
    """The last line that was exported.

    Attributes:
        seq, digest: of the last event of the chain; 0 and the genesis digest where there was none.
        behind: how many lines that have no seq (founding-style, damaged) were exported behind it.
        last_digest: of the last line, be it one of those or the event.
    """

    seq: int = 0
    digest: str = GENESIS_DIGEST
    behind: int = 0
    last_digest: str = GENESIS_DIGEST

    def after(self, line: Line, digest: str) -> Position:
        """The position behind the next line, whose digest this is; an event out of its place moves nothing."""
        if line.seq is None:
            return Position(self.seq, self.digest, self.behind + 1, digest)
        return Position(line.seq, digest, 0, digest) if line.seq > self.seq else self


def lines_behind(lines: Iterator[Line], position: Position, target: str) -> Iterator[Line]:
    """The lines behind *position*, once the log was seen to hold what *target* has.

    Args:
        lines: of the log, at least from the event of the position on, or from the one behind where it was pruned.
        target: what was exported to, for people.

    Raises:
        InputRefusedError: the log does not go on from there: it is another one, was cut, or was changed.
    """
    if position == Position():
        yield from lines
        return
    first = _find(lines, position, target)
    if first is not None:
        yield first
    else:
        _pass_over(lines, position, target)
    yield from lines


def _find(lines: Iterator[Line], position: Position, target: str) -> Line | None:
    """Come to the event of the position; the one behind it where the log begins there."""
    if position.seq == 0:  # nothing but founding-style lines was there
        return None
    for line in lines:
        if line.seq is None or line.seq < position.seq:
            continue
        if line.seq == position.seq:
            if line_digest(line.data) != position.digest:
                raise _refused(f"seq {line.seq} of the log is not the event that {target} has", _REMEDY)
            return None
        if line.seq == position.seq + 1 and line.event is not None and line.event.get("prev") == position.last_digest:
            return line
        raise _refused(
            f"{target} ends at seq {position.seq}, and the log has nothing of it: there it goes on with seq {line.seq}",
            "bring the missing part of the log back, or export into another place",
        )
    raise _refused(f"{target} ends at seq {position.seq}, and the log does not reach it", _REMEDY)


def _pass_over(lines: Iterator[Line], position: Position, target: str) -> None:
    """Pass over the lines without a seq that were exported behind the event."""
    left, digest = position.behind, ""
    while left:
        line = next(lines, None)
        if line is None or (line.seq is not None and line.seq > position.seq):
            break
        if line.seq is None:
            left, digest = left - 1, line_digest(line.data)
    if position.behind and (left or digest != position.last_digest):
        raise _refused(f"the lines behind seq {position.seq} of the log are not those that {target} has", _REMEDY)


def _refused(message: str, remedy: str) -> InputRefusedError:
    return InputRefusedError(message, remedy=remedy)
