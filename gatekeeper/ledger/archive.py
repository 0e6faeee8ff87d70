"""Compressing sealed segments. The archive is on the device and was read back before the original goes."""

from __future__ import annotations

import os
from hashlib import sha256

from gatekeeper.errors import LogDamagedError, LogError
from gatekeeper.ledger.compression import GZIP, SUFFIXES, ZSTD, content_blocks, seek_table, zstd_library
from gatekeeper.ledger.fsops import close_quietly, make_directories, read_all, remove_quietly, write_all, write_durably
from gatekeeper.ledger.segment_names import archives_path, names_beside, plain_name
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gatekeeper.ledger.fsops import FileOps

FRAME_BYTES = 1 << 20
"""What is decompressed to read one line of a zstd archive."""

ZSTD_LEVEL, GZIP_LEVEL = 9, 9
"""Higher zstd levels gain a twentieth and take 50 times as long: docs/guides/retention.md has the figures."""


@dataclass(frozen=True)
class Archived:
    """A segment that was compressed: where it is now, and its length in bytes before and after."""

    path: str
    size: int
    packed: int


def archive(ops: FileOps, path: str, *, compression: str, directory: str | None) -> Iterator[Archived]:
    """Compress each sealed segment of the log at *path* that is plain, oldest first.

    Args:
        compression: `zstd` or `gzip`.
        directory: where the archives go; None: beside the log.

    Raises:
        LogError: a segment could not be compressed; it is as it was, and so are those behind it.
        UsageError: the library for zstd is not installed.
    """
    packer = _packer(compression)
    ending = next(suffix for suffix, kind in SUFFIXES.items() if kind == compression)
    try:
        if directory is not None:
            _add_directory(ops, path, directory)
        plain = [found for found in names_beside(ops, path)[0] if plain_name(found) == found]
    except OSError as error:
        raise _failed(path, error) from error
    for segment in plain:
        place = segment if directory is None else os.path.join(directory, os.path.basename(segment))
        try:
            done = _pack(ops, segment, place + ending, packer)
        except OSError as error:
            raise _failed(segment, error) from error
        if done is not None:
            yield done


def _pack(ops: FileOps, segment: str, target: str, packer: Callable[[], _Packer]) -> Archived | None:
    """One segment; None when another process has archived it meanwhile. Raises OSError, LogError."""
    try:
        lock = ops.open(segment, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        ops.lock(lock)
        if not ops.exists(segment):
            return None
        stem, ending = os.path.splitext(target)
        temporary = f"{stem}.tmp{ending}"
        size, digest = _write(ops, segment, temporary, packer())
        if not _reads_back(ops, temporary, digest):
            remove_quietly(ops, temporary)
            raise LogError(
                f"the archive of {segment} does not read back as it should: the segment was not removed",
                remedy="look at the disk, then ask again",
            )
        ops.replace(temporary, target)
        ops.flush_directory(os.path.dirname(target) or ".")
        packed = _size(ops, target)
        ops.remove(segment)  # a crash may bring it back: then it is read instead of the archive, and archived again
        return Archived(target, size, packed)
    finally:
        close_quietly(ops, lock)


def _write(ops: FileOps, segment: str, temporary: str, packer: _Packer) -> tuple[int, str]:
    """Write the archive and wait for the device; the content's length and digest."""
    size, seen = 0, sha256()
    descriptor = ops.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        ops.make_like(descriptor, segment)
        for frame in _frames(content_blocks(ops, segment)):
            seen.update(frame)
            size += len(frame)
            write_all(ops, descriptor, packer.pack(frame))
        write_all(ops, descriptor, packer.end())
        ops.flush(descriptor)
    except BaseException:
        close_quietly(ops, descriptor)
        remove_quietly(ops, temporary)
        raise
    ops.close(descriptor)
    return size, seen.hexdigest()


class _Packer:
    """Compresses frame by frame; `end` gives what stands behind the last."""

    def pack(self, frame: bytes) -> bytes:
        """The frame, compressed on its own."""
        raise NotImplementedError

    def end(self) -> bytes:
        """Nothing, unless the format wants something."""
        return b""


class _Gzip(_Packer):
    """Members of their own, one behind the other: `zcat` prints them as one."""

    def pack(self, frame: bytes) -> bytes:
        import gzip

        return gzip.compress(frame, GZIP_LEVEL, mtime=0)


class _Zstd(_Packer):
    """Frames of their own, and a seek table behind them."""

    def __init__(self) -> None:
        self._compress = zstd_library().ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress
        self._frames: list[tuple[int, int]] = []

    def pack(self, frame: bytes) -> bytes:
        packed: bytes = self._compress(frame)
        self._frames.append((len(packed), len(frame)))
        return packed

    def end(self) -> bytes:
        return seek_table(self._frames)


def _packer(compression: str) -> Callable[[], _Packer]:
    if compression == ZSTD:
        zstd_library()
        return _Zstd
    if compression == GZIP:
        return _Gzip
    raise ValueError(f"no such compression: {compression}")


def _frames(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The content in pieces of about FRAME_BYTES that end behind a line."""
    rest = b""
    for block in blocks:
        rest += block
        end = rest.rfind(b"\n") + 1
        if end >= FRAME_BYTES or len(rest) >= 4 * FRAME_BYTES:
            yield rest[: end or len(rest)]
            rest = rest[end or len(rest) :]
    if rest:
        yield rest


def _reads_back(ops: FileOps, path: str, digest: str) -> bool:
    seen = sha256()
    try:
        for block in content_blocks(ops, path):
            seen.update(block)
    except LogDamagedError:
        return False
    return seen.hexdigest() == digest


def _size(ops: FileOps, path: str) -> int:
    descriptor = ops.open(path, os.O_RDONLY)
    try:
        return ops.size(descriptor)
    finally:
        close_quietly(ops, descriptor)


def _add_directory(ops: FileOps, path: str, directory: str) -> None:
    """Note where archived segments stand, before the first one does."""
    target, here = os.path.abspath(directory), os.path.dirname(os.path.abspath(path))
    make_directories(ops, target)
    if target == here:
        return
    is_inside = target.startswith(os.path.join(here, ""))
    listed = read_all(ops, archives_path(path)) or b""
    line = os.fsencode(os.path.relpath(target, here) if is_inside else target)
    if line not in listed.split(b"\n"):
        write_durably(ops, archives_path(path), listed + line + b"\n")


def _failed(path: str, error: OSError) -> LogError:
    return LogError(
        f"{path} could not be archived: {error.strerror or error}",
        remedy="make room or mend the permissions, then ask again: nothing was lost",
    )
