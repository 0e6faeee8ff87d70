"""The files of a log, opened for the readers that go through them on all cores."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from gatekeeper.cli.progress import ReadingProgress
from gatekeeper.errors import unreadable_log
from gatekeeper.ledger.address import only_remote
from gatekeeper.ledger.compression import ZSTD, compression_of, content_blocks, zstd_library
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.log_files import log_files
from gatekeeper.ledger.segments import where_now
from gatekeeper.replay.blocks import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gatekeeper.ledger.segment_names import LogFile

_KEPT_OPEN = 128
"""Files that are kept open while a log is read; sealed ones beyond that are opened when they are read."""


@contextmanager
def opened_log(paths: tuple[str, ...], *, after: int = 0) -> Iterator[list[Source]]:
    """All that `--log` names, in chain order, less the segments that hold nothing behind seq *after*.

    A live file that is rotated meanwhile is read on to its end, and what takes its name is not.

    Raises:
        LogError: a file does not exist or cannot be read, a ledger cannot be reached.
        UsageError: one is zstd, and the library is not installed.
    """
    remote = only_remote(paths)
    if remote is not None:
        from gatekeeper.cli.remote import source_of

        yield [source_of(remote, after=after)]
        return
    ops, sources = FileOps(), list[Source]()
    files = [file for file in log_files(paths, ops) if file.last_seq is None or file.last_seq > after]
    try:
        for number, file in enumerate(files):
            keeps_open = file.is_live or len(files) - number <= _KEPT_OPEN
            sources.append(_source(file, ops, keeps_open=keeps_open))
        yield sources
    finally:
        for source in sources:
            if source.descriptor is not None:
                os.close(source.descriptor)


@contextmanager
def watched(doing: str) -> Iterator[Callable[[int, int], None] | None]:
    """What a reader tells its progress to; None where nobody looks on."""
    progress = ReadingProgress(doing, sys.stderr)
    try:
        yield progress.show if progress.is_watched else None
    finally:
        progress.clear()


def _source(file: LogFile, ops: FileOps, *, keeps_open: bool) -> Source:
    place = where_now(file, ops)
    kind = compression_of(place)
    if kind == ZSTD:
        zstd_library()
    if kind is not None:
        return Source(
            place, file.begins, file.ends, file.lines_before, lambda start: content_blocks(ops, place, start=start)
        )
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC) if keeps_open else None
    except OSError as error:
        raise unreadable_log(place, error) from error
    return Source(place, file.begins, file.ends, file.lines_before, descriptor=descriptor)
