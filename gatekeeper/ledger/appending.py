"""One write and one flush: all lines of an append reach the device, or none is left behind."""

from __future__ import annotations

import errno
import os

from gatekeeper.errors import LogError, LogInDoubtError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.ledger.fsops import FileOps

_REMEDY = "make room or mend the permissions, then call again: nothing was recorded and the state is unchanged"


def append_durably(
    ops: FileOps,
    descriptor: int,
    path: str,
    *,
    size: int,
    data: bytes,
    meanwhile: Callable[[], None],
    starts_early: bool = False,
) -> None:
    """Put *data* behind the first *size* bytes of the log and wait until it is on the device.

    Of a file that is new its name is waited for too, data first.

    Args:
        meanwhile: done between the write and the wait; nothing of it may outlive an error.
        starts_early: let the device write while that is done; it pays for a process that appends again and again.

    After a failed flush the system may take the pages for clean, so a second flush would prove
    nothing: it is never tried again, the lines are cut off.

    Raises:
        LogError: it could not be written, and nothing of it is left.
        LogInDoubtError: not even cutting it off worked.
    """
    try:
        _write_whole(ops, descriptor, data)
        if starts_early:
            _start_writing(ops, descriptor, size, len(data))
        meanwhile()
        ops.flush(descriptor)
        if size == 0:
            ops.flush_directory(os.path.dirname(path))
    except OSError as error:
        _cut_back(ops, descriptor, path, size=size, cause=error)
        raise unwritable(path, error) from error


def _write_whole(ops: FileOps, descriptor: int, data: bytes) -> None:
    written = ops.write(descriptor, data)
    if written != len(data):
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes were taken")


def _start_writing(ops: FileOps, descriptor: int, offset: int, length: int) -> None:
    try:  # noqa: SIM105 - contextlib is not worth its import on this path
        ops.start_writing(descriptor, offset, length)
    except OSError:  # a hint: the flush will say whether the device takes them
        pass


def new_file_words(path: str, *, last_seq: int) -> str:
    """What people are told of a log that begins with this append."""
    if last_seq:
        return f"{path} is a new file and goes on from seq {last_seq}"
    return f"new log created at {path}"


def unwritable(path: str, error: OSError) -> LogError:
    """The error for people."""
    return LogError(f"{path} cannot be written: {error.strerror or error}", remedy=_REMEDY)


def _cut_back(ops: FileOps, descriptor: int, path: str, *, size: int, cause: OSError) -> None:
    try:
        ops.truncate(descriptor, size)
    except OSError as error:
        if _size_or_none(ops, descriptor) == size:
            return
        raise LogInDoubtError(
            f"{path} cannot be written ({cause.strerror or cause}), and what was begun cannot be cut off "
            f"({error.strerror or error}): the event counts as recorded if its line is whole",
            remedy="make the disk writable, then look with `gatekeeper status`: the next call cuts a torn line off",
        ) from cause
    try:
        ops.flush(descriptor)  # of the cut, not of the lost lines: else a power cut could bring them back
    except OSError:
        return


def _size_or_none(ops: FileOps, descriptor: int) -> int | None:
    try:
        return ops.size(descriptor)
    except OSError:
        return None


def open_for_appending(ops: FileOps, path: str) -> int:
    """The log, created when there is none."""
    return ops.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
