"""Sealing the live file: it gets the name of its seqs, and a new one begins with a head that vouches for it.

The head is on the device, under a name of its own, before the live file is renamed; then it takes the log's
place. A crash between the two renames leaves a log without a live file: the next append lets the head follow,
or, where it does not fit, begins an empty one. Nothing is lost either way.
"""

from __future__ import annotations

import os
import sqlite3

from gatekeeper.errors import LogError
from gatekeeper.ledger import torn
from gatekeeper.ledger.appending import open_for_appending, unwritable
from gatekeeper.ledger.fsops import close_quietly, read_all, remove_quietly, write_all
from gatekeeper.ledger.projection_fold import StaleFoldError
from gatekeeper.ledger.projection_view import ProjectionView
from gatekeeper.ledger.sealing import seal_all, take_all
from gatekeeper.ledger.segment_heads import head_end, run_states, used_policies
from gatekeeper.ledger.segment_names import next_path, sealed_path
from gatekeeper.ledger.segments import first_seq_of, last_event_of
from gatekeeper.model.event import line_digest
from gatekeeper.model.line import decode
from gatekeeper.model.segment import Sealed, head_drafts, is_head, stood_on
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from gatekeeper.ledger.following import Follower
    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.ledger.sealing import Sealed as SealedLines

_HEADS_SHARE = 4
_BULK_RUNS = 200
"""From so many runs on a faster encoder repays its import."""


@dataclass(frozen=True)
class Rotation:
    """A segment that was sealed.

    Attributes:
        path: where it stands now.
        first_seq, last_seq, events, size: what it holds; `size` in bytes.
        head_events: how many events the new live file begins with.
        warnings: what people should be told.
    """

    path: str
    first_seq: int
    last_seq: int
    events: int
    size: int
    head_events: int
    warnings: tuple[str, ...] = ()


def rotate_now(follower: Follower, *, now: int, actor: str, larger_than: int) -> Rotation | None:
    """What `log rotate` does: take the lock, and seal the live file if it has events and that many bytes.

    Raises:
        LogError: it could not be done; the log is as it was.
    """
    ops, path = follower.ops, follower.path
    try:
        if not ops.exists(path):
            return None
        lock = follower.lock()
        try:
            descriptor = open_for_appending(ops, path)
            try:
                size = follower.make_ready(descriptor)
            finally:
                close_quietly(ops, descriptor)
            return rotate(follower, size, now=now, actor=actor) if size > larger_than else None
        finally:
            close_quietly(ops, lock)
    except OSError as error:
        raise unwritable(path, error) from error


def before_append(
    follower: Follower, descriptor: int, size: int, *, now: int, actor: str, limit: int | None
) -> tuple[int, int]:
    """Seal a live file that has grown past its *limit*, or mend a rotation cut short.

    Failing costs nothing but a warning: the append goes on with the file as it is.

    Returns:
        The descriptor and the size of the file that is live now.
    """
    ops, path = follower.ops, follower.path
    try:
        if size == 0:
            is_new = finish(follower)
        else:
            done = rotate(follower, size, now=now, actor=actor) if _is_due(ops, path, size, limit) else None
            follower.warnings += done.warnings if done is not None else ()
            is_new = done is not None
    except (OSError, LogError) as error:
        follower.warnings.append(f"{path} was not rotated: {error}")
        is_new = not ops.exists(path)
    if not is_new:
        return descriptor, size
    fresh = open_for_appending(ops, path)
    try:
        size = follower.make_ready(fresh)
    except BaseException:
        close_quietly(ops, fresh)
        raise
    close_quietly(ops, descriptor)
    return fresh, size


def _is_due(ops: FileOps, path: str, size: int, limit: int | None) -> bool:
    """Whether the file has grown by *limit* bytes since its head, and so far that heads stay a small part of all."""
    if limit is None:
        return False
    head = head_end(ops, path)
    return size - head > max(limit, _HEADS_SHARE * head)


def rotate(follower: Follower, size: int, *, now: int, actor: str) -> Rotation | None:
    """Seal the live file; None when it holds nothing but a head. The lock is held, the projection is level.

    Args:
        size: of the live file.
        now: microseconds since 1970, the clock's reading.

    Raises:
        LogError: it could not be done; the log is as it was.
        OSError: the same.
    """
    path, ops = follower.path, follower.ops
    last = last_event_of(ops, path) if size > head_end(ops, path) else None
    if last is None:
        return None
    first_seq, last_seq = first_seq_of(ops, path), last[0]
    target = sealed_path(path, first_seq, last_seq)
    if ops.exists(target):
        raise LogError(
            f"{target} exists already: the log was not rotated",
            remedy="compare the two files; move the one away that is not part of this log",
        )
    fold = follower.projection().fold
    try:
        if fold.pending or fold.connection.in_transaction:
            fold.flush()  # the tables are asked now
        events = _count(fold.connection, first_seq, last_seq)
        before = Sealed(os.path.basename(target), first_seq, last_seq, events, line_digest(last[1]))
        lines, told = _head(follower, before, now=now, actor=actor)
    except (sqlite3.Error, StaleFoldError) as error:
        raise LogError(
            f"{path} was not rotated: its state cannot be read ({error})", remedy="ask again; the next call mends it"
        ) from error
    _write_next(ops, path, lines.data)
    _put_in_place(ops, path, target)
    warnings = [*lines.warnings]
    if told is not None:
        warnings.append(f"an unfinished line was cut off and kept in {torn.file_as_told(ops, path, told)}")
    _project(follower, lines, target)
    return Rotation(target, first_seq, last_seq, events, size, len(lines.events), tuple(warnings))


def _project(follower: Follower, lines: SealedLines, target: str) -> None:
    """The state second: the new file, and where the old one is now."""
    fold = follower.projection().fold
    failures: list[Exception] = []
    try:
        fold.begin()
        fold.leave_file(os.path.basename(target))
        failures += take_all(lines, fold, offset=0)
    except (sqlite3.Error, StaleFoldError) as error:
        failures.append(error)
    follower.project(failures)


def finish(follower: Follower) -> bool:
    """After a rotation that was cut short: put the head, if it fits, in the place of the empty live file.

    The lock is held. True when the live file is another one now. Raises OSError.
    """
    ops, path = follower.ops, follower.path
    data = read_all(ops, next_path(path))
    if data is None:
        return False
    first = decode(data.partition(b"\n")[0]) if data.endswith(b"\n") else None
    head = follower.projection().head
    if first is None or not is_head(first) or (first.get("seq"), first.get("prev")) != (head.seq + 1, head.digest):
        ops.remove(next_path(path))
        return False
    ops.replace(next_path(path), path)
    ops.flush_directory(os.path.dirname(path))
    return True


def _head(follower: Follower, before: Sealed, *, now: int, actor: str) -> tuple[SealedLines, torn.Recovered | None]:
    """The new file's first lines, sealed, and the torn bytes that they tell of."""
    fold = follower.projection().fold
    runs = run_states(fold.connection)
    ids = [event_id for event_id in map(stood_on, runs) if event_id is not None]
    known = _tables(follower).known
    events = {event_id: event for event_id in ids if (event := known(event_id)) is not None}
    policies = used_policies(fold.connection, runs, actor=actor)
    drafts = head_drafts(before, runs, events, policies=len(policies), is_complete=fold.head.is_complete, actor=actor)
    told = torn.recovered(follower.ops, follower.path)
    lines = seal_all(
        [*drafts, *policies],
        policies=(),
        actor=actor,
        fold=fold,
        now=now,
        recovered=None if told is None else told.document,
        is_bulk=len(runs) > _BULK_RUNS,
    )
    return lines, told


def _tables(follower: Follower) -> ProjectionView:
    """The tables as they are; one that is damaged fails the rotation."""

    def fail(error: sqlite3.Error) -> NoReturn:
        raise error

    projection = follower.projection()
    return ProjectionView(
        projection.connection,
        path=follower.path,
        ops=follower.ops,
        repair=fail,
        is_complete=projection.head.is_complete,
        segment=projection.head.segment,
        warnings=(),
    )


def _count(connection: sqlite3.Connection, first_seq: int, last_seq: int) -> int:
    sql = "SELECT count(*) FROM events WHERE seq BETWEEN ? AND ?"
    return int(connection.execute(sql, (first_seq, last_seq)).fetchone()[0])


def _write_next(ops: FileOps, path: str, data: bytes) -> None:
    descriptor = ops.open(next_path(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        ops.make_like(descriptor, path)
        write_all(ops, descriptor, data)
        ops.flush(descriptor)
    except OSError:
        remove_quietly(ops, next_path(path))
        raise
    finally:
        close_quietly(ops, descriptor)


def _put_in_place(ops: FileOps, path: str, target: str) -> None:
    """The two renames, each on the device before the next. Where the second fails, the first is taken back."""
    ops.replace(path, target)
    try:
        ops.flush_directory(os.path.dirname(path))
        ops.replace(next_path(path), path)
    except OSError:
        ops.replace(target, path)
        ops.flush_directory(os.path.dirname(path))
        raise
    try:  # noqa: SIM105 - contextlib is not worth its import in this module
        ops.flush_directory(os.path.dirname(path))
    except OSError:  # both names are there; what a crash could undo, the next append mends
        pass
