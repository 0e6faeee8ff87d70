"""All files that `--log` means: a log with what stands beside it, several files, or a pattern over them."""

from __future__ import annotations

import os

from gatekeeper.errors import LogError, unreadable_log
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.lines import OWN_SUFFIXES
from gatekeeper.ledger.segment_names import LogFile, sealed_range
from gatekeeper.ledger.segments import files_of, first_seq_of, last_event_of, lines_of
from gatekeeper.model.line import decode, is_blank
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def log_files(paths: Sequence[str], ops: FileOps | None = None) -> list[LogFile]:
    """The files in chain order, each once; lines that two of them share are read from the first.

    Args:
        paths: a log is meant with the segments beside it; a pattern means the files that it fits.

    Raises:
        LogError: a file that was named does not exist or cannot be read.
    """
    calls = ops if ops is not None else FileOps()
    found: dict[str, LogFile] = {}
    for path in paths:
        for file in _named(calls, path):
            found.setdefault(os.path.realpath(file.path) + f":{file.begins}", file)
    files = list(found.values())
    if len(paths) == 1 and not _is_pattern(paths[0]):
        return files
    return _once(calls, sorted(files, key=lambda file: (file.first_seq, file.begins, file.path)))


def _named(ops: FileOps, path: str) -> list[LogFile]:
    from glob import glob

    if not _is_pattern(path):
        files = files_of(path, ops)
        if not files:
            raise unreadable_log(path, FileNotFoundError(2, "No such file or directory"))
        return files
    names = [name for name in sorted(glob(path)) if not _is_beside_a_log(name)]
    if not names:
        raise LogError(f"{path}: no file fits this pattern", remedy="check the path of the log")
    return [_one(ops, name) for name in names]


def _is_pattern(path: str) -> bool:
    from glob import has_magic

    return has_magic(path) and not os.path.exists(path)


def _is_beside_a_log(path: str) -> bool:
    """Whether it is one of the ledger's own files: `logs/decision.ndjson*` means the log's own only."""
    return any(sign in os.path.basename(path) for sign in OWN_SUFFIXES)


def _one(ops: FileOps, path: str) -> LogFile:
    seqs = sealed_range(path)
    if seqs is not None:
        return LogFile(path, *seqs)
    try:
        return LogFile(path, first_seq_of(ops, path), is_live=True)
    except OSError as error:
        raise unreadable_log(path, error) from error


def _once(ops: FileOps, files: Sequence[LogFile]) -> list[LogFile]:
    """The files less what each has from those before it, where that is the same to the byte."""
    kept: list[LogFile] = []
    end = 0
    for file in files:
        one: LogFile | None = file
        if file.begins == 0 and 0 < file.first_seq <= end:
            one = _without_copies(ops, kept, file, end)
        if one is not None:
            kept.append(one)
            if file is not files[-1]:
                end = max(end, _last_seq(ops, file))
    return kept


def _last_seq(ops: FileOps, file: LogFile) -> int:
    if file.last_seq is not None:
        return file.last_seq
    try:
        return (last_event_of(ops, file.path) or (0, b""))[0]
    except OSError as error:
        raise unreadable_log(file.path, error) from error


def _without_copies(ops: FileOps, before: Sequence[LogFile], file: LogFile, end: int) -> LogFile | None:
    """The file from its first line behind seq *end* on; None when it has none, all of it when its lines differ."""
    known = _events(ops, before, file.first_seq)
    for number, offset, raw, is_terminated in lines_of(file, ops):
        seq = _seq_of(raw) if is_terminated else None
        if seq is not None and seq > end:
            return replace(file, first_seq=seq, begins=offset, lines_before=number - 1)
        if not is_blank(raw) and raw != next(known, None):
            return file if is_terminated else None
    return None


def _events(ops: FileOps, files: Sequence[LogFile], first_seq: int) -> Iterator[bytes]:
    """The lines from a seq on, blank ones left out."""
    has_begun = False
    for file in files:
        if file.last_seq is not None and file.last_seq < first_seq:
            continue
        for _, _, raw, is_terminated in lines_of(file, ops):
            has_begun = has_begun or _seq_of(raw) == first_seq
            if has_begun and is_terminated and not is_blank(raw):
                yield raw


def _seq_of(raw: bytes) -> int | None:
    event = None if is_blank(raw) else decode(raw)
    return seq_of(event) if event is not None else None
