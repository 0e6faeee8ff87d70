"""The one repair that is ever made: an unterminated last line is kept aside, cut off, and told of.

A line counts once its newline is there, even if what stands before it is whole JSON: nobody was promised
a line whose write did not end.
"""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.ledger.fsops import read_all, read_exactly, write_durably
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps

_STEP_BYTES = 1 << 16


@dataclass(frozen=True)
class Recovered:
    """Torn bytes that the next event tells of.

    Attributes:
        document: the event's `recovered`: how many bytes, and their SHA-256 in hex as `sha256sum` prints it.
        kept_in: the file that has them until the event is written.
    """

    document: dict[str, object]
    kept_in: str


def untold_path(path: str) -> str:
    """Where torn bytes are kept until an event has told of them."""
    return f"{path}.torn-untold"


def terminated_size(ops: FileOps, descriptor: int, size: int) -> int:
    """Offset behind the last newline among the first *size* bytes."""
    end = size
    while end > 0:
        start = max(0, end - _STEP_BYTES)
        block = read_exactly(ops, descriptor, end - start, start)
        found = block.rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def cut_torn_tail(ops: FileOps, descriptor: int, path: str, *, size: int, end: int) -> None:
    """Keep the bytes from *end* to *size* in a file of their own, on the device, before they are cut off.

    A crash between the two steps leaves both; the bytes are not kept twice.
    """
    tail = read_exactly(ops, descriptor, size - end, end)
    before = read_all(ops, untold_path(path)) or b""
    if not before.endswith(tail):
        write_durably(ops, untold_path(path), before + tail)
    ops.truncate(descriptor, end)


def recovered(ops: FileOps, path: str) -> Recovered | None:
    """What the next event must tell of; None in a log that was never torn since it last did."""
    if not ops.exists(untold_path(path)):
        return None
    data = read_all(ops, untold_path(path)) or b""
    return Recovered({"bytes": len(data), "sha256": sha256(data).hexdigest()}, untold_path(path))


def file_as_told(ops: FileOps, path: str, found: Recovered) -> str:
    """An event has told of the bytes: give their file its lasting name `<log>.torn-<n>`.

    Where that fails they stay, and the next event tells of them again.
    """
    number = 1
    try:
        while ops.exists(f"{path}.torn-{number}"):
            number += 1
        ops.replace(found.kept_in, f"{path}.torn-{number}")
    except OSError:
        return found.kept_in
    return f"{path}.torn-{number}"
