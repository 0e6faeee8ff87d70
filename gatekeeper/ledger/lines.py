"""One recorded line by its place; when the file was rotated, in the files that bear its name."""

from __future__ import annotations

import os

from gatekeeper.ledger.fsops import close_quietly, read_exactly
from gatekeeper.ledger.projection_rows import digest_blob
from gatekeeper.model.event import line_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.ledger.fsops import FileOps

OWN_SUFFIXES = (
    ".lock",
    ".db",
    ".torn-",
    ".unrecorded",
    ".tmp",
    ".next",
    ".archives",
    ".pruned",
    ".checkpoint",
    ".queue",
    ".reply-",
)
"""What the names of the files that the ledger keeps beside a log go on with."""


def sibling_paths(ops: FileOps, path: str) -> list[str]:
    """Files beside the log that rotation may have made of it: `<log>.1`, `<log>-20260218` and the like."""
    directory, name = os.path.split(path)
    try:
        names = ops.list_directory(directory or ".")
    except OSError:
        return []
    return [
        os.path.join(directory, found)
        for found in sorted(names)
        if found.startswith((f"{name}.", f"{name}-")) and not found[len(name) :].startswith(OWN_SUFFIXES)
    ]


def fetch_line(
    ops: FileOps, path: str, *, offset: int, length: int, digest: bytes, is_here: bool, name: str | None = None
) -> bytes | None:
    """The line that has this digest, None when no file has it any more.

    Args:
        is_here: whether the offset holds for the file that now stands at *path*.
        name: of the sealed segment for which the offset holds.
    """
    for place in _candidates(ops, path, is_here=is_here, name=name):
        line = _read_line(ops, place, offset, length)
        if line is not None and digest_blob(line_digest(line)) == digest:
            return line
    return None


def _candidates(ops: FileOps, path: str, *, is_here: bool, name: str | None) -> Iterator[str]:
    """The file that should have it, then those that may: the quick ones before the compressed ones."""
    if is_here:
        yield path
    if name:
        from gatekeeper.ledger.segment_names import place_of

        try:
            place = place_of(ops, path, name)
        except OSError:
            place = None
        if place is not None:
            yield place
    yield from sorted(sibling_paths(ops, path), key=lambda found: found.endswith((".gz", ".zst")))


def _read_line(ops: FileOps, path: str, offset: int, length: int) -> bytes | None:
    if path.endswith((".gz", ".zst")):
        from gatekeeper.errors import GatekeeperError
        from gatekeeper.ledger.compression import read_at

        try:
            return read_at(ops, path, offset, length)
        except (OSError, GatekeeperError):
            return None
    try:
        descriptor = ops.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return read_exactly(ops, descriptor, length, offset)
    except OSError:
        return None
    finally:
        close_quietly(ops, descriptor)
