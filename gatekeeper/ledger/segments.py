"""The files of one log in the order of its chain: sealed segments, files that others have rotated, the live file.

Ours are ordered by their names. A file that others have named (`.1`, `-20260218`, `.gz`) is read only for the
seqs that no other file has; what they copied is not read twice. What is missing then is a gap for the reader.
"""

from __future__ import annotations

import os
from collections import deque

from gatekeeper.errors import LogDamagedError, unreadable_log
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.compression import compression_of, content_lines
from gatekeeper.ledger.fsops import FileOps, close_quietly, read_exactly
from gatekeeper.ledger.segment_names import LogFile, names_beside, plain_name, sealed_range
from gatekeeper.ledger.torn import terminated_size
from gatekeeper.model.line import decode, is_blank, is_chained
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_FOREVER = 1 << 60
_ATTEMPTS = 5
_LOOKED_AT = 100  # lines at an end of a file among which one of our events is looked for
_TAIL_BYTES = 1 << 16


def files_of(path: str, ops: FileOps | None = None) -> list[LogFile]:
    """Every file of the log at *path*, in chain order; the live one is last, where there is one.

    Raises:
        LogError: a file or directory cannot be read.
    """
    calls = ops if ops is not None else FileOps()
    try:
        for _ in range(_ATTEMPTS):
            sealed, others = names_beside(calls, path)
            live = _live(calls, path)
            if names_beside(calls, path)[0] == sealed:  # nobody has rotated between the two looks
                break
    except OSError as error:
        raise unreadable_log(path, error) from error
    files = [_sealed(calls, place) for place in sealed]
    end = live.first_seq if live is not None and live.first_seq else _FOREVER
    files += _fill(calls, files, others, end=end)
    files.sort(key=lambda file: (file.first_seq, file.begins))
    return files if live is None else [*files, live]


def lines_of(file: LogFile, ops: FileOps | None = None) -> Iterator[tuple[int, int, bytes, bool]]:
    """Line number, offset and bytes without the newline of each wanted line of a file, and whether it is terminated.

    A file that was sealed or archived since it was listed is read in its new place.

    Raises:
        LogError: it cannot be read. LogDamagedError: it cannot be decompressed.
    """
    calls = ops if ops is not None else FileOps()
    place = where_now(file, calls)
    try:
        lines = content_lines(calls, place, start=file.begins, end=file.ends)
        for number, (offset, raw, is_terminated) in enumerate(lines, file.lines_before + 1):
            yield number, offset, raw, is_terminated
    except OSError as error:
        raise unreadable_log(place, error) from error


def where_now(file: LogFile, ops: FileOps) -> str:
    """Where the content of a listed file stands now: a live one may have been sealed, a sealed one archived."""
    try:
        if not file.is_live:
            if ops.exists(file.path) or sealed_range(file.path) is None:
                return file.path
            log, first_seq = _log_of(file.path), (sealed_range(file.path) or (0, 0))[0]
        elif file.first_seq in {0, first_seq_of(ops, file.path)}:
            return file.path
        else:
            log, first_seq = file.path, file.first_seq
        for place in names_beside(ops, log)[0]:
            if (sealed_range(place) or (0, 0))[0] == first_seq:
                return place
    except FileNotFoundError:
        pass
    except OSError as error:
        raise unreadable_log(file.path, error) from error
    return file.path


def _log_of(path: str) -> str:
    """The log that a sealed segment is of, whether it stands beside it or the other way round."""
    return plain_name(path).rpartition(".")[0]


def first_seq_of(ops: FileOps, path: str) -> int:
    """`seq` of the first event of a file; 0 for a file that has none near its beginning. Raises OSError."""
    event = _first_event(ops, path)
    return (seq_of(event) or 0) if event is not None else 0


def last_event_of(ops: FileOps, path: str) -> tuple[int, bytes] | None:
    """`seq` and line of the last terminated event of a file; None when it has none. Raises OSError."""
    if compression_of(path) is None:
        lines: Sequence[bytes] = _last_lines(ops, path)
    else:
        lines = deque((raw for _, raw, is_whole in content_lines(ops, path) if is_whole), maxlen=_LOOKED_AT)
    for raw in reversed(lines):
        event = None if is_blank(raw) else decode(raw)
        seq = seq_of(event) if event is not None else None
        if seq is not None:
            return seq, raw
    return None


def _live(ops: FileOps, path: str) -> LogFile | None:
    try:
        return LogFile(path, first_seq_of(ops, path), is_live=True)
    except FileNotFoundError:
        return None


def _sealed(ops: FileOps, path: str) -> LogFile:
    first, last = sealed_range(path) or (first_seq_of(ops, path), 0)
    return LogFile(path, first, last)


def _fill(ops: FileOps, sealed: Sequence[LogFile], others: Sequence[str], *, end: int) -> list[LogFile]:
    """What files that others have named hold of the seqs below *end* that no segment has."""
    holes = _holes(sealed, end)
    found: list[LogFile] = []
    for first, _, path in sorted(_candidates(ops, others)) if holes else ():
        if not any(first <= high for _, high in holes):
            continue
        try:
            last = (last_event_of(ops, path) or (first, b""))[0]
            wanted = [(max(low, first), min(high, last)) for low, high in holes if low <= last and first <= high]
            found += [_part(ops, path, first, last, span) for span in wanted]
        except OSError as error:
            raise unreadable_log(path, error) from error
        holes = [left for hole in holes for left in _without(hole, first, last)]
    return found


def _holes(sealed: Sequence[LogFile], end: int) -> list[tuple[int, int]]:
    holes, following = [], 1
    for file in sealed:
        if file.first_seq > following:
            holes.append((following, file.first_seq - 1))
        following = max(following, (file.last_seq or file.first_seq) + 1)
    return [*holes, (following, end - 1)] if following < end else holes


def _without(hole: tuple[int, int], first: int, last: int) -> list[tuple[int, int]]:
    low, high = hole
    parts = [(low, min(high, first - 1)), (max(low, last + 1), high)]
    return [part for part in dict.fromkeys(parts) if part[0] <= part[1]]


def _candidates(ops: FileOps, others: Sequence[str]) -> Iterator[tuple[int, bool, str]]:
    """Those of the files that begin as a log of ours does, by their first seq; plain ones before compressed ones."""
    for path in others:
        try:
            event = _first_event(ops, path)
        except (OSError, LogDamagedError):  # a directory, a pipe, a file of somebody else
            continue
        seq = seq_of(event) if event is not None and is_chained(event) and "prev" in event else None
        if seq is not None:
            yield seq, compression_of(path) is not None, path


def _part(ops: FileOps, path: str, first: int, last: int, span: tuple[int, int]) -> LogFile:
    """The lines of a file that hold the seqs of *span*."""
    low, high = span
    file = LogFile(path, low, high)
    if low == first and high == last:
        return file
    begins, ends, before = 0, None, 0
    for number, (offset, raw, _) in enumerate(content_lines(ops, path), 1):
        event = None if is_blank(raw) else decode(raw)
        seq = seq_of(event) if event is not None else None
        if seq is not None and seq < low:
            begins, before = offset + len(raw) + 1, number
        elif seq is not None and seq > high:
            ends = offset
            break
    return replace(file, begins=begins, ends=ends, lines_before=before)


def _first_event(ops: FileOps, path: str) -> Mapping[str, Any] | None:
    """The first line that is an event with a seq, as far as it was looked for."""
    for number, (_, raw, is_terminated) in enumerate(content_lines(ops, path)):
        event = None if is_blank(raw) or not is_terminated else decode(raw)
        if event is not None and seq_of(event) is not None:
            return event
        if number == _LOOKED_AT:
            break
    return None


def _last_lines(ops: FileOps, path: str) -> list[bytes]:
    """The last terminated lines of a plain file, in order: enough to find one that is whole."""
    descriptor = ops.open(path, os.O_RDONLY)
    try:
        end = terminated_size(ops, descriptor, ops.size(descriptor))
        length = _TAIL_BYTES
        while True:
            start = max(0, end - length)
            lines = read_exactly(ops, descriptor, end - start, start).split(b"\n")[:-1]
            whole = lines if start == 0 else lines[1:]
            if start == 0 or any(not is_blank(raw) and decode(raw) is not None for raw in whole):
                return whole
            length *= 4
    finally:
        close_quietly(ops, descriptor)
