"""The Parquet files of a lake: their names, which of them is the last, and how far it reaches.

`DIR/date=2026-02-18/events-000000000001-000000000200.parquet` has the events of these seqs, all of them. Rows are
written in the order of the log and each file is complete once it has its name, so the last name tells where to go on.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from gatekeeper.errors import InputRefusedError, LogError
from gatekeeper.export.lake.library import parquet_library
from gatekeeper.export.position import Position
from gatekeeper.ledger.fsops import close_quietly, make_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ledger.fsops import FileOps

VERSION = 1
"""Of the columns and the layout: docs/formats/lake.md."""

METADATA = b"gatekeeper.lake"
"""Key of a file's metadata under which its position stands."""

LOCK = "_gatekeeper.lock"  # readers pass over names that begin like this
NO_DAY = "1970-01-01"
"""Day of lines without a time that no line with one stands before."""

_PARTITION = re.compile(r"date=\d{4}-\d\d-\d\d\Z")
_EVENTS = re.compile(r"events-(\d{12,})-(\d{12,})\.parquet\Z")
_LINES = re.compile(r"lines-(\d{12,})-(\d{6,})-(\d{6,})\.parquet\Z")
_UNFINISHED = re.compile(r"_\d+\.unfinished\Z")


@dataclass(frozen=True)
class LakeFile:
    """One file, by its name.

    Attributes:
        path: where it stands.
        first_seq, last_seq: of its events; None and the seq in front of them for a file of lines that have none.
        last_line: for such a file the number of its last line, counted from that event on; else 0.
    """

    path: str
    first_seq: int | None
    last_seq: int
    last_line: int = 0

    @property
    def day(self) -> str:
        """The day of its lines."""
        return os.path.basename(os.path.dirname(self.path)).removeprefix("date=")


@dataclass(frozen=True)
class Lake:
    """A lake that is gone on with.

    Attributes:
        directory: where it is.
        position: up to where it reaches.
        day: that of its last line.
    """

    directory: str
    position: Position
    day: str = NO_DAY


@contextmanager
def opened_lake(ops: FileOps, directory: str) -> Iterator[Lake]:
    """The lake in a directory; no other export writes to it meanwhile. The directory is made where there is none.

    Raises:
        InputRefusedError: its last file is not as gatekeeper wrote it, or another version did.
        LogError: it cannot be read or written.
        UsageError: the library is not installed.
    """
    parquet_library()
    lock: int | None = None
    try:
        try:
            make_directories(ops, directory)
            lock = ops.open(os.path.join(directory, LOCK), os.O_RDWR | os.O_CREAT)
            ops.lock(lock)
            files = files_in(ops, directory)
            lake = Lake(directory, Position())
            if files:
                lake = Lake(directory, position_in(files[-1].path), files[-1].day)
        except OSError as error:
            raise unwritable(directory, error) from error
        yield lake
    finally:
        if lock is not None:
            close_quietly(ops, lock)


def unwritable(directory: str, error: OSError) -> LogError:
    """The error for people."""
    reason = error.strerror or str(error)
    return LogError(
        f"{directory} cannot be written: {reason}", remedy="make room or mend the permissions, then ask again"
    )


def file_name(before: Position, first_seq: int | None, end: Position) -> str:
    """The name of a file whose rows stand behind *before* up to *end*; `first_seq` of its first event, if any."""
    if first_seq is None:
        return f"lines-{end.seq:012d}-{before.behind + 1:06d}-{end.behind:06d}.parquet"
    return f"events-{first_seq:012d}-{end.seq:012d}.parquet"


def unfinished_name() -> str:
    """A file on its way, which no reader takes for one of the lake's."""
    return f"_{os.getpid()}.unfinished"


def files_in(ops: FileOps, directory: str) -> list[LakeFile]:
    """The files in the order of the log. What an export that was killed has left is removed. Raises OSError."""
    found = []
    for partition in ops.list_directory(directory):
        if _PARTITION.match(partition) is None:
            continue
        for name in ops.list_directory(os.path.join(directory, partition)):
            path = os.path.join(directory, partition, name)
            events, lines = _EVENTS.match(name), _LINES.match(name)
            if events is not None:
                found.append(LakeFile(path, int(events[1]), int(events[2])))
            elif lines is not None:
                found.append(LakeFile(path, None, int(lines[1]), int(lines[3])))
            elif _UNFINISHED.match(name) is not None:
                ops.remove(path)
    return sorted(found, key=lambda file: (file.last_seq, file.last_line))


def missing_between(files: Sequence[LakeFile]) -> list[tuple[int, int]]:
    """Seqs that no file has between the first and the last that one has: first and last of each gap."""
    gaps, end = list[tuple[int, int]](), None
    for file in files:
        if file.first_seq is None:
            continue
        if end is not None and file.first_seq > end + 1:
            gaps.append((end + 1, file.first_seq - 1))
        end = file.last_seq
    return gaps


def metadata_of(position: Position) -> dict[bytes, bytes]:
    """What a file says of itself."""
    return {METADATA: json.dumps({"version": VERSION, **asdict(position)}).encode()}


def position_in(path: str) -> Position:
    """Up to where the log was exported when the file was written.

    Raises:
        InputRefusedError: it is not as gatekeeper wrote it, or another version did.
        UsageError: the library is not installed.
        OSError: it cannot be read.
    """
    library = parquet_library()
    try:
        document = json.loads(library.parquet.read_metadata(path).metadata[METADATA])
        if document.pop("version") == VERSION:
            return Position(**document)
    except (library.ArrowInvalid, ValueError, KeyError, TypeError):
        raise InputRefusedError(
            f"{path} is not as it was written", remedy="remove it: its rows are exported again"
        ) from None
    raise InputRefusedError(
        f"{path} was written by another version of gatekeeper", remedy="export into another directory"
    )
