"""Names of the files that one log is made of, and of what stands beside it.

A sealed segment of the log at PATH is `PATH.<first seq>-<last seq>`, each in 12 digits or more; compressed, it
ends in `.gz` or `.zst` as well. So the names alone tell what a segment holds, and sort in chain order.
"""

from __future__ import annotations

import os
import re

from gatekeeper.ledger.compression import SUFFIXES
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps

_RANGE = re.compile(r"\.([0-9]{12,16})-([0-9]{12,16})(\.gz|\.zst)?\Z")
_ROTATED = re.compile(r"[.-][0-9][0-9_.:TZ+-]*(\.gz|\.zst)?\Z")  # .1, -20260218, .2026-02-18_03, .1.gz


@dataclass(frozen=True)
class LogFile:
    """One file of a log, or the part of it that no other file has.

    Attributes:
        path: where it stands.
        first_seq, last_seq: of the first and the last event that are wanted from it; 0 when it has none, and
            `last_seq` None where nobody has looked, as in a live file.
        begins, ends: offsets in its content, decompressed, between which the wanted lines stand; `ends` None: all.
        lines_before: how many lines stand before `begins`.
        is_live: whether events are still appended to it.
    """

    path: str
    first_seq: int
    last_seq: int | None = None
    begins: int = 0
    ends: int | None = None
    lines_before: int = 0
    is_live: bool = False


def sealed_path(path: str, first: int, last: int) -> str:
    """Where the log at *path* keeps its sealed segment of these seqs."""
    return f"{path}.{first:012d}-{last:012d}"


def next_path(path: str) -> str:
    """Where the beginning of the next segment is written before it takes the log's place."""
    return f"{path}.next"


def archives_path(path: str) -> str:
    """The list of directories, one a line, in which archived segments of the log at *path* stand."""
    return f"{path}.archives"


def pruned_path(path: str) -> str:
    """What is kept of segments that were removed: their seqs, the checkpoint, the hashes of the tree."""
    return f"{path}.pruned"


def sealed_range(path: str) -> tuple[int, int] | None:
    """First and last seq that the name of a sealed segment states, of whatever log; None for another name."""
    found = _RANGE.search(path)
    return (int(found[1]), int(found[2])) if found is not None else None


def plain_name(path: str) -> str:
    """A segment's name without the end that its compression gave it."""
    stem, ending = os.path.splitext(path)
    return stem if ending in SUFFIXES else path


def archive_directories(ops: FileOps, path: str) -> list[str]:
    """The directories that `log archive --to` has put segments of this log into. Raises OSError."""
    from gatekeeper.ledger.fsops import read_all

    listed = read_all(ops, archives_path(path)) or b""
    here = os.path.dirname(path)
    return [os.path.join(here, os.fsdecode(line)) for line in listed.split(b"\n") if line.strip()]


def names_beside(ops: FileOps, path: str) -> tuple[list[str], list[str]]:
    """Paths of the sealed segments of the log at *path*, and of other files that may have been made of it.

    Segments of one range are listed once: the plain file, which is there until its archive is, comes first.

    Raises:
        OSError: a directory cannot be listed.
    """
    name = os.path.basename(path)
    sealed: dict[tuple[int, int], list[str]] = {}
    others: list[str] = []
    for directory in dict.fromkeys([os.path.dirname(path), *archive_directories(ops, path)]):
        try:
            found = sorted(ops.list_directory(directory or "."))
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # what stands there and was part of the log will be a gap
        for one in found:
            suffix = one.removeprefix(name)
            if suffix == one or _ROTATED.match(suffix) is None:
                continue
            place = os.path.join(directory, one)
            seqs = sealed_range(one) if plain_name(suffix).count(".") == 1 else None
            if seqs is not None:
                sealed.setdefault(seqs, []).append(place)
            else:
                others.append(place)
    return [min(sealed[seqs], key=_plain_first) for seqs in sorted(sealed)], others


def place_of(ops: FileOps, path: str, name: str) -> str | None:
    """Where the sealed segment *name* of the log at *path* stands now, compressed or not. Raises OSError."""
    for directory in dict.fromkeys([os.path.dirname(path), *archive_directories(ops, path)]):
        for ending in ("", *SUFFIXES):
            if ops.exists(os.path.join(directory, name + ending)):
                return os.path.join(directory, name + ending)
    return None


def _plain_first(path: str) -> tuple[bool, str]:
    return os.path.splitext(path)[1] in SUFFIXES, path
