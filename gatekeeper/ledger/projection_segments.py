"""Catching up through files that stand beside the log: sealed or rotated away before the projection had read them."""

from __future__ import annotations

import os

from gatekeeper.errors import GatekeeperError, LogDamagedError
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.codec import decoder_for
from gatekeeper.ledger.compression import read_at
from gatekeeper.ledger.pruned import read_pruned
from gatekeeper.ledger.segment_names import plain_name
from gatekeeper.ledger.segments import files_of, first_seq_of, lines_of
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.projection_fold import Fold
    from gatekeeper.ledger.segment_names import LogFile

_FOREVER = 1 << 60


def has_files(ops: FileOps, path: str) -> bool:
    """Whether the log at *path* has files beside the live one. Raises LogError."""
    return any(not file.is_live for file in files_of(path, ops))


def follow(fold: Fold, ops: FileOps, path: str) -> bool:
    """Read what stands behind the head in files that are not live any more.

    Returns:
        Whether the live file, which has not been looked at, goes on behind them with its first line.

    Raises:
        LogError: the directory cannot be read.
    """
    files = [file for file in files_of(path, ops) if not file.is_live]
    was_left = fold.head.seq == 0 and fold.head.end == 0  # nothing was read of a live file
    for file in files:
        if file.last_seq is None or file.last_seq <= fold.head.seq:
            continue
        goes_on = not was_left and _has_anchor(fold, ops, file)
        if not goes_on and not was_left:
            fold.write()
            fold.leave_file()
        try:
            _read(fold, ops, file, start=fold.head.end if goes_on else 0)
        except GatekeeperError as error:  # the head of a later segment may vouch for it
            fold.warnings.append(f"{file.path} was passed over: {error}")
        fold.write()
        fold.leave_file(plain_name(os.path.basename(file.path)))
        was_left = True
    return was_left and _is_behind(fold, ops, path)


def missing_seqs(ops: FileOps, path: str, first: int, last: int) -> list[tuple[int, int]]:
    """Which of these seqs no file beside the log has, by what their names or their last lines say.

    What was pruned is not missing. Raises LogError.
    """
    first, missing = max(first, _pruned_to(ops, path) + 1), []
    for file in files_of(path, ops):
        if file.is_live or file.last_seq is None:
            continue
        if file.first_seq > first:
            missing.append((first, min(last, file.first_seq - 1)))
        first = max(first, file.last_seq + 1)
        if first > last:
            break
    return [*missing, (first, last)] if first <= last else missing


def _pruned_to(ops: FileOps, path: str) -> int:
    try:
        pruned = read_pruned(ops, path)
    except (OSError, LogDamagedError):  # whoever proves the log is told; here a line too much is said
        return 0
    return 0 if pruned is None else pruned.last_seq


def _has_anchor(fold: Fold, ops: FileOps, file: LogFile) -> bool:
    """Whether the file is the one that was being read while it was live."""
    head = fold.head
    if head.anchor_length < 0 or file.begins:
        return False
    try:
        line = read_at(ops, file.path, head.anchor_offset, head.anchor_length + 1)
    except (OSError, GatekeeperError):
        return False
    return line[-1:] == b"\n" and line_digest(line[:-1]) == head.anchor_digest


def _read(fold: Fold, ops: FileOps, file: LogFile, *, start: int) -> None:
    """Fold the lines of a file from offset *start* on that are behind the head."""
    decode, known = decoder_for(_FOREVER), fold.head.seq
    is_new = known == 0
    for number, offset, raw, is_terminated in lines_of(file, ops):
        if offset < start:
            continue
        fold.head.lines = number - 1
        if not is_terminated:
            fold.warnings.append(f"{file.path}:{number}: unfinished line, passed over")
        elif is_blank(raw):
            fold.head.pass_blank(offset, len(raw))
        else:
            event = decode(raw)
            seq = seq_of(event) if event is not None else None
            if is_new or start or (seq is not None and seq > known):
                is_new = True
                fold.take(event, raw, offset)


def _is_behind(fold: Fold, ops: FileOps, path: str) -> bool:
    try:
        first = first_seq_of(ops, path)
    except FileNotFoundError:
        return True
    return first == 0 or first > fold.head.seq
