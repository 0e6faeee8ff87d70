"""Removing whole sealed segments from a log's beginning, once somebody has proven what they held."""

from __future__ import annotations

import os

from gatekeeper.errors import InputRefusedError, LogError
from gatekeeper.ledger.fsops import close_quietly
from gatekeeper.ledger.pruned import read_pruned, write_pruned
from gatekeeper.ledger.segment_names import names_beside, sealed_range
from gatekeeper.ledger.segments import files_of, last_event_of, lines_of
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import decode, is_blank
from gatekeeper.model.segment import head_of, is_head
from gatekeeper.model.times import parse_time
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.pruned import Pruned
    from gatekeeper.ledger.segment_names import LogFile
    from gatekeeper.model.segment import Head

_MALFORMED = (KeyError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True)
class Cut:
    """What is to be removed: files, in chain order, with their seqs and the digest of the last line."""

    paths: tuple[str, ...]
    first_seq: int
    last_seq: int
    digest: str


def choose(ops: FileOps, path: str, *, before_seq: int | None, before_time: int | None) -> Cut | None:
    """The sealed segments whose last event is before a seq or a time; None where there is none.

    Args:
        before_time: microseconds since 1970.

    Raises:
        InputRefusedError: what follows them does not vouch for them.
        LogError: a file cannot be read.
    """
    try:
        pruned = read_pruned(ops, path)
        first_seq = seq = 1 if pruned is None else pruned.last_seq + 1
        chosen: list[str] = []
        digest = ""
        files = [file for file in files_of(path, ops) if file.is_live or (file.last_seq or 0) >= first_seq]
        for index, file in enumerate(files):
            last = None if file.is_live else last_event_of(ops, file.path)
            if last is None or not _is_before(last, before_seq, before_time):
                break
            _expect_segment(file, seq)
            following = files[index + 1] if index + 1 < len(files) else None
            digest = line_digest(last[1])
            _expect_vouched(ops, file, following, last[0], digest)
            chosen.append(file.path)
            seq = last[0] + 1
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}", remedy="ask again") from error
    return Cut(tuple(chosen), first_seq, seq - 1, digest) if chosen else None


def remove(ops: FileOps, path: str, cut: Cut, pruned: Pruned) -> None:
    """Keep *pruned*, then remove the files, the oldest first; asked again it goes on where it was cut short.

    Raises:
        LogError: not all could be removed.
    """
    try:
        lock = ops.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
        try:
            ops.lock(lock)
            write_pruned(ops, path, pruned)
            for one in cut.paths:
                _remove(ops, one)
        finally:
            close_quietly(ops, lock)
    except OSError as error:
        raise LogError(
            f"not all of {', '.join(cut.paths)} could be removed: {error.strerror or error}",
            remedy="mend the permissions, then ask again: it goes on where it was",
        ) from error


def finish(ops: FileOps, path: str) -> list[str]:
    """Remove what an earlier prune that was cut short has left; the files. Raises OSError."""
    pruned = read_pruned(ops, path)
    if pruned is None:
        return []
    left = [one for one in names_beside(ops, path)[0] if (sealed_range(one) or (0, 0))[1] <= pruned.last_seq]
    for one in left:
        _remove(ops, one)
    return left


def _remove(ops: FileOps, path: str) -> None:
    if ops.exists(path):
        ops.remove(path)
        ops.flush_directory(os.path.dirname(path) or ".")


def _is_before(last: tuple[int, bytes], before_seq: int | None, before_time: int | None) -> bool:
    if before_seq is not None:
        return last[0] < before_seq
    moment = parse_time((decode(last[1]) or {}).get("ts"))
    return moment is not None and before_time is not None and moment < before_time


def _expect_segment(file: LogFile, seq: int) -> None:
    if sealed_range(file.path) is None:
        raise InputRefusedError(
            f"{file.path} is no sealed segment: only those that `gatekeeper log rotate` has sealed are removed",
            remedy="name another --before, or remove that file by hand once it is archived elsewhere",
        )
    if file.first_seq != seq:
        raise InputRefusedError(
            f"seq {seq} to {file.first_seq - 1} are missing before {file.path}",
            remedy="bring that part back: what is not there cannot be compared with the checkpoint",
        )


def _expect_vouched(ops: FileOps, file: LogFile, following: LogFile | None, last_seq: int, digest: str) -> None:
    """Live runs must be able to go on from the head of the next file."""
    head = None if following is None else _head(ops, following)
    if head is None or (head.before.last_seq, head.before.digest) != (last_seq, digest):
        what = "what comes" if following is None else following.path
        raise InputRefusedError(
            f"{file.path} cannot be removed: {what} behind it has no head that states the runs up to there",
            remedy="a head is written when `gatekeeper log rotate` seals a segment",
        )


def _head(ops: FileOps, file: LogFile) -> Head | None:
    for _, _, raw, is_terminated in lines_of(file, ops):
        if is_terminated and not is_blank(raw):
            event = decode(raw)
            try:
                return head_of(event) if event is not None and is_head(event) else None
            except _MALFORMED:
                return None
    return None
