"""Reading logs through: one file or several, in order."""

from __future__ import annotations

import os

from gatekeeper.errors import LogDamagedError, LogError
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.codec import decoder_for, founding_decision, terminated_lines
from gatekeeper.ledger.fsops import FileOps, close_quietly, read_exactly
from gatekeeper.ledger.lines import OWN_SUFFIXES
from gatekeeper.ledger.torn import terminated_size
from gatekeeper.model.line import is_blank, is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_REMEDY = "check the path given as --log"


def read_file(ops: FileOps, path: str, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """Events of one log from `seq` *start* on with their line bytes; nothing when there is no file."""
    try:
        if not ops.exists(path):
            return
    except OSError as error:
        raise _unreadable(path, error) from error
    decode = decoder_for(_size_of(ops, path))
    for _, _, raw, is_terminated in _raw_lines(ops, path):
        event = decode(raw) if is_terminated else None
        if event is None:
            continue
        if not is_chained(event):
            event = founding_decision(event)
        if start <= 1 or (seq_of(event) or 0) >= start:
            yield event, raw


def refuse_forgetting(ops: FileOps, path: str, *, known: int) -> None:
    """Raise LogDamagedError if the log ends before seq *known*: a fold of it would let runs begin anew."""
    last = max((seq_of(event) or 0 for event, _ in read_file(ops, path)), default=0)
    if last < known:
        raise LogDamagedError(
            f"{path} ends at seq {last}, and seq {known} has been seen: "
            f"rebuilding would forget what happened in {last + 1} to {known}",
            remedy=f"bring that part back; without it the log goes on at seq {known + 1} and runs stay as they are",
        )


def raw_lines(paths: Sequence[str], *, ops: FileOps | None = None) -> Iterator[tuple[str, int, bytes, bool]]:
    """Every line of several logs as bytes, for a reader that chooses what it parses.

    Args:
        paths: files and patterns (`logs/*.ndjson`); each file is read once, ordered by its first `seq`.

    Returns:
        Path, line number from 1, bytes without the newline, and whether there was one. No blank lines.

    Raises:
        LogError: a file that was named does not exist or cannot be read.
    """
    calls = ops if ops is not None else FileOps()
    for path in _in_order(calls, paths):
        yield from _raw_lines(calls, path)


def _in_order(ops: FileOps, paths: Sequence[str]) -> list[str]:
    files = _expand(paths)
    return files if len(files) == 1 else sorted(files, key=lambda path: (_first_seq(ops, path), path))


def _expand(paths: Sequence[str]) -> list[str]:
    from glob import glob, has_magic

    found: dict[str, str] = {}
    for path in paths:
        names = [path]
        if has_magic(path) and not os.path.exists(path):
            names = [name for name in sorted(glob(path)) if not _is_beside_a_log(name)]
            if not names:
                raise LogError(f"{path}: no file fits this pattern", remedy=_REMEDY)
        for name in names:
            found.setdefault(os.path.realpath(name), name)
    return list(found.values())


def _is_beside_a_log(path: str) -> bool:
    """Whether it is one of the ledger's own files: `logs/decision.ndjson*` means the rotated logs only."""
    return any(sign in os.path.basename(path) for sign in OWN_SUFFIXES)


def _first_seq(ops: FileOps, path: str) -> int:
    """`seq` of the first event; 0 for a file that has none."""
    descriptor = _open(ops, path)
    try:
        size = ops.size(descriptor)
        decode = decoder_for(0)
        for _, raw in terminated_lines(ops, descriptor, start=0, end=size):
            event = None if is_blank(raw) else decode(raw)
            seq = seq_of(event) if event is not None else None
            if seq is not None:
                return seq
        return 0
    finally:
        close_quietly(ops, descriptor)


def _open(ops: FileOps, path: str) -> int:
    try:
        return ops.open(path, os.O_RDONLY)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> LogError:
    return LogError(f"{path} cannot be read: {error.strerror or error}", remedy=_REMEDY)


def _size_of(ops: FileOps, path: str) -> int:
    descriptor = _open(ops, path)
    try:
        return ops.size(descriptor)
    finally:
        close_quietly(ops, descriptor)


def _raw_lines(ops: FileOps, path: str) -> Iterator[tuple[str, int, bytes, bool]]:
    descriptor = _open(ops, path)
    try:
        size = ops.size(descriptor)
        end = terminated_size(ops, descriptor, size)
        number = 0
        for _, raw in terminated_lines(ops, descriptor, start=0, end=end):
            number += 1
            if not is_blank(raw):
                yield path, number, raw, True
        if end < size:
            yield path, number + 1, read_exactly(ops, descriptor, size - end, end), False
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        close_quietly(ops, descriptor)
