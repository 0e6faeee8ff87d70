"""Every disk call that the ledger makes on its own files, and nothing else.

One small class, so that a test can count the calls, let the n-th fail, or kill the process at it.
SQLite makes its own calls; what it keeps can be rebuilt from the log at any time.
"""

from __future__ import annotations

import fcntl
import os
import stat
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_flush_data = getattr(os, "fdatasync", os.fsync)  # macOS has fsync only
_WRITE_NOW = 2  # SYNC_FILE_RANGE_WRITE


@cache
def _early_write() -> Callable[[int, int, int, int], int] | None:
    """`sync_file_range` of the C library, which Python does not offer; None where there is none (not Linux)."""
    import ctypes  # costs more than one append: only a process that appends again and again comes here

    try:
        call = ctypes.CDLL(None).sync_file_range
    except (OSError, AttributeError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return call


class FileOps:
    """Plain calls of the operating system; each raises OSError as the system does."""

    def open(self, path: str, flags: int) -> int:
        """A file descriptor; new files get the permissions that the umask leaves of 0666.

        Never waits for another end: a pipe in a log's place fails at the first look instead of hanging a job.
        """
        return os.open(path, flags | os.O_NONBLOCK, 0o666)

    def close(self, descriptor: int) -> None:
        """Close; a lock held through this descriptor is released."""
        os.close(descriptor)

    def lock(self, descriptor: int) -> None:
        """Wait for the exclusive lock of an open file; it ends with the descriptor or the process."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def lock_shared(self, descriptor: int) -> None:
        """Wait until nobody has the exclusive lock, and keep it away; others may do the same meanwhile."""
        fcntl.flock(descriptor, fcntl.LOCK_SH)

    def try_lock(self, descriptor: int) -> bool:
        """The same without waiting: False while somebody else has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def make_pipe(self, path: str) -> None:
        """Create a named pipe, with the permissions that the umask leaves of 0666."""
        os.mkfifo(path, 0o666)

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """Wait until there is something to read, so long at most."""
        import select  # only a writer that waits for others comes here

        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        return bool(waiting.poll(seconds * 1000))

    def read_pipe(self, descriptor: int, length: int) -> bytes:
        """What a pipe has just now, up to *length* bytes."""
        return os.read(descriptor, length)

    def size(self, descriptor: int) -> int:
        """Length in bytes."""
        return os.fstat(descriptor).st_size

    def pread(self, descriptor: int, length: int, offset: int) -> bytes:
        """Up to *length* bytes from *offset* on; fewer only at the end of the file or at a signal."""
        return os.pread(descriptor, length, offset)

    def write(self, descriptor: int, data: bytes) -> int:
        """One write; the number of bytes that it took."""
        return os.write(descriptor, data)

    def start_writing(self, descriptor: int, offset: int, length: int) -> None:
        """Let the device begin with these bytes now. It promises nothing: `flush` is what waits for them."""
        begin = _early_write()
        if begin is not None:
            begin(descriptor, offset, length, _WRITE_NOW)

    def flush(self, descriptor: int) -> None:
        """Wait until the file's data, and what is needed to find them, are on the device."""
        _flush_data(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        """Cut the file to *length* bytes."""
        os.ftruncate(descriptor, length)

    def make_like(self, descriptor: int, path: str) -> None:
        """Give an open file the permissions of the one at *path*, and its owner where that is allowed."""
        found = os.stat(path)
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
            try:  # noqa: SIM105 - contextlib is not worth its import on this path
                os.fchown(descriptor, found.st_uid, found.st_gid)
            except PermissionError:  # another user's log that this one may append to
                pass
        if stat.S_IMODE(own.st_mode) != stat.S_IMODE(found.st_mode):
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode))

    def flush_directory(self, path: str) -> None:
        """Wait until the names in a directory are on the device."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def exists(self, path: str) -> bool:
        """Whether something has this name."""
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def length(self, path: str) -> int:
        """Length in bytes of the file that has this name, without opening it: a database's locks end at any close."""
        return os.stat(path).st_size

    def make_directory(self, path: str) -> None:
        """Create one directory."""
        os.mkdir(path)

    def list_directory(self, path: str) -> list[str]:
        """Names in a directory."""
        return os.listdir(path)

    def replace(self, source: str, target: str) -> None:
        """Rename over *target*, in one step."""
        os.replace(source, target)

    def remove(self, path: str) -> None:
        """Remove a file."""
        os.unlink(path)


def close_quietly(ops: FileOps, descriptor: int) -> None:
    """Close; what an error here could tell is known already: a flush says whether data arrived."""
    try:  # noqa: SIM105 - contextlib is not worth its import on this path
        ops.close(descriptor)
    except OSError:
        pass


def remove_quietly(ops: FileOps, path: str) -> None:
    """Remove a file that nobody needs; one that stays is removed another time."""
    try:  # noqa: SIM105 - contextlib is not worth its import on this path
        ops.remove(path)
    except OSError:
        pass


def read_all(ops: FileOps, path: str) -> bytes | None:
    """A small file as a whole; None when there is none."""
    try:
        descriptor = ops.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return read_exactly(ops, descriptor, ops.size(descriptor), 0)
    finally:
        close_quietly(ops, descriptor)


def read_exactly(ops: FileOps, descriptor: int, length: int, offset: int) -> bytes:
    """The bytes from *offset* on, *length* of them unless the file ends before."""
    data = ops.pread(descriptor, length, offset)
    while len(data) < length:
        more = ops.pread(descriptor, length - len(data), offset + len(data))
        if not more:
            break
        data += more
    return data


def write_all(ops: FileOps, descriptor: int, data: bytes) -> None:
    """Write *data* in as many calls as the system wants."""
    while data:
        data = data[ops.write(descriptor, data) :]


def write_durably(ops: FileOps, path: str, data: bytes) -> None:
    """Put *data* at *path* so that a reader finds all of it or what stood there before, a crash included."""
    temporary = f"{path}.tmp"
    descriptor = ops.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(ops, descriptor, data)
        ops.flush(descriptor)
    finally:
        ops.close(descriptor)
    ops.replace(temporary, path)
    ops.flush_directory(os.path.dirname(path) or ".")


def make_directories(ops: FileOps, path: str) -> None:
    """Create a directory and those above it; each new name is flushed in the one that holds it."""
    if not path or ops.exists(path):
        return
    parent = os.path.dirname(path)
    make_directories(ops, parent)
    try:
        ops.make_directory(path)
    except FileExistsError:  # another process was first
        return
    ops.flush_directory(parent or ".")
