"""Reading logs through: one file or several, in order."""

from __future__ import annotations

from gatekeeper.errors import LogDamagedError, unreadable_log
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.codec import founding_decision
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.log_files import log_files
from gatekeeper.ledger.segments import files_of, last_event_of, lines_of
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


def read_file(ops: FileOps, path: str, *, start: int = 1) -> Iterator[tuple[Mapping[str, Any], bytes]]:
    """Events of one log from `seq` *start* on with their lines, sealed files first; nothing where there is none."""
    decode = bulk_decoder()
    for file in files_of(path, ops):
        if file.last_seq is not None and file.last_seq < start:
            continue
        for _, _, raw, is_terminated in lines_of(file, ops):
            event = decode(raw) if is_terminated and not is_blank(raw) else None
            if event is None:
                continue
            if not is_chained(event):
                event = founding_decision(event)
            if start <= 1 or (seq_of(event) or 0) >= start:
                yield event, raw


def refuse_forgetting(ops: FileOps, path: str, *, known: int) -> None:
    """Raise LogDamagedError if the log ends before seq *known*: a fold of it would let runs begin anew."""
    try:
        ends = (last_event_of(ops, file.path) for file in reversed(files_of(path, ops)))
        last = next((end[0] for end in ends if end is not None), 0)
    except OSError as error:
        raise unreadable_log(path, error) from error
    if last < known:
        raise LogDamagedError(
            f"{path} ends at seq {last}, and seq {known} has been seen: "
            f"rebuilding would forget what happened in {last + 1} to {known}",
            remedy=f"bring that part back; without it the log goes on at seq {known + 1} and runs stay as they are",
        )


def raw_lines(paths: Sequence[str], *, ops: FileOps | None = None) -> Iterator[tuple[str, int, bytes, bool]]:
    """Every line of several logs as bytes, for a reader that chooses what it parses.

    Args:
        paths: as for `log_files`.

    Returns:
        Path, line number from 1, bytes without the newline, and whether there was one. No blank lines.

    Raises:
        LogError: a file that was named does not exist or cannot be read.
        LogDamagedError: one that is compressed cannot be decompressed any further.
    """
    calls = ops if ops is not None else FileOps()
    for file in log_files(paths, calls):
        for number, _, raw, is_terminated in lines_of(file, calls):
            if not is_blank(raw) or not is_terminated:
                yield file.path, number, raw, is_terminated
