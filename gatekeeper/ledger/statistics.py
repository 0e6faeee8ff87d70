"""What stands in a log, counted: by its index where that knows all of it, else by reading every line."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter

from gatekeeper.errors import LogError, StateUnreadableError, unreadable_log
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.compression import compression_of
from gatekeeper.ledger.following import Follower
from gatekeeper.ledger.fsops import FileOps, close_quietly
from gatekeeper.ledger.log_files import log_files
from gatekeeper.ledger.projection import database_path
from gatekeeper.ledger.projection_schema import SIDE_FILES
from gatekeeper.ledger.pruned import read_pruned
from gatekeeper.ledger.segment_names import plain_name, sealed_range
from gatekeeper.ledger.segments import lines_of, where_now
from gatekeeper.model.event import line_digest
from gatekeeper.model.facts import kind_of, verdict_of
from gatekeeper.model.line import bulk_decoder, is_blank, is_chained
from gatekeeper.model.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.pruned import Pruned
    from gatekeeper.ledger.segment_names import LogFile

_KIND, _VERDICT = 0, 1  # places in a facet's body
_TOTALS = "SELECT segment, body, count FROM totals JOIN facets ON facets.id = facet"
_JUMPS = "SELECT segment, seq, previous FROM jumps ORDER BY segment, seq"
_LAST_LISTED = "SELECT number, last_seq FROM segments"


class Counts:
    """What was counted.

    Attributes:
        kinds, verdicts: events by them; verdicts are those of decisions.
        events: with a place in the chain; `unchained`: lines without `kind`; `damaged`: lines that hold no event.
        spans: first and last seq of each row of events without a gap.
        first_ts, last_ts, head_digest: of the first and last event, and of the last line.
        is_torn: whether something stands behind the last newline.
    """

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.events = self.unchained = self.damaged = 0
        self.spans: list[tuple[int, int]] = []
        self.first_ts: str | None = None
        self.last_ts: str | None = None
        self.head_digest: str | None = None
        self.is_torn = False

    def see(self, first: int, last: int) -> None:
        """Take the next seqs, which have no gap between them."""
        if self.spans and first <= self.spans[-1][1] + 1:
            self.spans[-1] = (self.spans[-1][0], max(last, self.spans[-1][1]))
        else:
            self.spans.append((first, last))

    def gaps(self) -> list[dict[str, int]]:
        """Seqs that are missing, the beginning of the log included."""
        ends = [0, *(last for _, last in self.spans)]
        return [
            {"from_seq": end + 1, "to_seq": first - 1}
            for end, (first, _) in zip(ends, self.spans, strict=False)
            if first > end + 1
        ]


def statistics(paths: Sequence[str], ops: FileOps | None = None) -> dict[str, Any]:
    """The document of `log stat`.

    Raises:
        LogError: a file cannot be read.
    """
    calls = ops if ops is not None else FileOps()
    files = log_files(paths, calls)
    path = os.path.abspath(paths[0]) if len(paths) == 1 and any(file.is_live for file in files) else None
    counts, state = (None, "none") if path is None else _from_index(calls, path, files)
    source = "index" if counts is not None else "lines"
    if counts is None:
        counts = _from_lines(calls, files)
    missing = counts.gaps()
    pruned = None if path is None or not missing else _pruned(calls, path)
    if pruned is not None and missing[0]["from_seq"] > pruned.last_seq:
        pruned = None  # it was brought back
    sizes = [_size(calls, where_now(file, calls)) for file in files]
    document = _document(
        path or list(paths),
        counts,
        size=sum(sizes),
        files=[_file(file, size) for file, size in zip(files, sizes, strict=True)],
        missing=missing,
        pruned=pruned,
    )
    return {**document, "projection": _projection(calls, path, state, sum(sizes)), "counted_by": source}


def shared_statistics(log: str, lines: Iterable[bytes]) -> dict[str, Any]:
    """The same of a ledger that is no file, by its lines; it has no files, and its state is its own business."""
    counts, decode, size, last = Counts(), bulk_decoder(), 0, None
    for last in lines:
        size += len(last) + 1
        _see_event(counts, decode(last))
    counts.head_digest = None if last is None else line_digest(last)
    return _document(log, counts, size=size, files=[], missing=counts.gaps())


def _document(
    log: str | list[str],
    counts: Counts,
    *,
    size: int,
    files: list[dict[str, Any]],
    missing: list[dict[str, int]],
    pruned: Pruned | None = None,
) -> dict[str, Any]:
    return {
        "log": log,
        "size_bytes": size,
        "files": files,
        "events": counts.events,
        "first_ts": counts.first_ts,
        "last_ts": counts.last_ts,
        "verdicts": dict(sorted(counts.verdicts.items())),
        "kinds": dict(sorted(counts.kinds.items())),
        "chain": {
            "first_seq": counts.spans[0][0] if counts.spans else None,
            "last_seq": counts.spans[-1][1] if counts.spans else None,
            "head": counts.head_digest,
            "pruned_to": None if pruned is None else pruned.last_seq,
            "pruned_at": None if pruned is None else pruned.pruned_at,
            "pruned_under": None if pruned is None else pruned.covered,
            "gaps": missing if pruned is None else _behind(missing, pruned.last_seq),
            "damaged": counts.damaged,
            "unchained": counts.unchained,
            "torn": counts.is_torn,
        },
        "projection": {"state": "none", "size_bytes": 0, "share": None},
        "counted_by": "lines",
    }


def _pruned(ops: FileOps, path: str) -> Pruned | None:
    """What was removed on purpose."""
    try:
        return read_pruned(ops, path)
    except OSError as error:
        raise unreadable_log(path, error) from error


def _behind(gaps: Sequence[dict[str, int]], seq: int) -> list[dict[str, int]]:
    """Less what they hold of the seqs up to this one."""
    return [{**gap, "from_seq": max(gap["from_seq"], seq + 1)} for gap in gaps if gap["to_seq"] > seq]


def _file(file: LogFile, size: int) -> dict[str, Any]:
    is_sealed = sealed_range(file.path) is not None
    kind = "sealed" if is_sealed else "live" if file.is_live else "rotated"
    return {
        "path": file.path,
        "kind": kind,
        "compression": compression_of(file.path),
        "first_seq": file.first_seq or None,
        "last_seq": file.last_seq,
        "size_bytes": size,
    }


def _projection(ops: FileOps, path: str | None, state: str, size: int) -> dict[str, Any]:
    """What is known of the database beside the log, and how large it is against the log."""
    places = [] if path is None else [database_path(path) + suffix for suffix in SIDE_FILES]
    length = sum(_size(ops, place) for place in places if ops.exists(place))
    return {"state": state, "size_bytes": length, "share": round(length / size, 4) if size else None}


def _size(ops: FileOps, path: str) -> int:
    try:
        descriptor = ops.open(path, os.O_RDONLY)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}", remedy="ask again") from error
    try:
        return ops.size(descriptor)
    finally:
        close_quietly(ops, descriptor)


def _from_index(ops: FileOps, path: str, files: Sequence[LogFile]) -> tuple[Counts | None, str]:
    """The counts by the index, None where it does not know all of the log; and its state as it was found."""
    follower = Follower(path, ops)
    if not ops.exists(database_path(path)):
        return None, "none"
    try:
        descriptor = ops.open(path, os.O_RDONLY)
    except OSError:
        return None, "unknown"
    try:
        if not follower.open_existing():
            return None, "unusable"
        projection = follower.projection()
        projection.begin_snapshot()
        size = ops.size(descriptor)
        state = "current" if projection.is_current(descriptor, size) else "behind"
        if not follower.level(descriptor, most=size):
            return None, state
        projection = follower.projection()
        counts = _count(projection.connection, files)
        if counts is not None:
            counts.head_digest = projection.head.digest
            counts.is_torn = size > projection.head.end
        return counts, state  # noqa: TRY300 - what fails above fails here, too
    except (OSError, sqlite3.Error, LogError, StateUnreadableError):
        return None, "unusable"
    finally:
        follower.drop()
        close_quietly(ops, descriptor)


def _count(connection: sqlite3.Connection, files: Sequence[LogFile]) -> Counts | None:
    """None where a file is not indexed, or lines were met that the index does not list."""
    names = {plain_name(os.path.basename(file.path)): file for file in files if not file.is_live}
    rows = connection.execute("SELECT number, name FROM segments").fetchall()
    present = {number for number, name in rows if name == "" or name in names}
    if not names.keys() <= {name for _, name in rows}:
        return None
    if any(segment in present for (segment,) in connection.execute("SELECT DISTINCT segment FROM odd")):
        return None
    counts = Counts()
    for segment, body, count in connection.execute(_TOTALS):
        if segment in present:
            _add(counts, json.loads(body), count)
    last_listed = dict(connection.execute(_LAST_LISTED).fetchall())
    listed = connection.execute("SELECT listed FROM head").fetchone()[0]
    jumps = [row for row in connection.execute(_JUMPS).fetchall() if row[0] in present]
    for at, (segment, seq, _) in enumerate(jumps):
        following = jumps[at + 1] if at + 1 < len(jumps) else None
        is_last = following is None or following[0] != segment
        last = (last_listed.get(segment) or listed) if following is None or is_last else following[2]
        counts.see(seq, last)
    if counts.spans:
        counts.first_ts, counts.last_ts = (_ts(connection, seq) for seq in (counts.spans[0][0], counts.spans[-1][1]))
    return counts


def _add(counts: Counts, facet: Sequence[Any], count: int) -> None:
    counts.events += count
    counts.kinds[facet[_KIND]] += count
    if facet[_KIND] == "decision" and facet[_VERDICT] is not None:
        counts.verdicts[facet[_VERDICT]] += count


def _ts(connection: sqlite3.Connection, seq: int) -> str | None:
    row = connection.execute("SELECT ts FROM events WHERE seq = ?", (seq,)).fetchone()
    return None if row is None or row[0] is None else format_time(row[0])


def _from_lines(ops: FileOps, files: Iterable[LogFile]) -> Counts:
    counts, decode = Counts(), bulk_decoder()
    last = None
    for file in files:
        for _, _, raw, is_terminated in lines_of(file, ops):
            if not is_terminated:
                counts.is_torn = True
            elif not is_blank(raw):
                last = raw
                _see_event(counts, decode(raw))
    counts.head_digest = None if last is None else line_digest(last)
    return counts


def _see_event(counts: Counts, event: Mapping[str, Any] | None) -> None:
    if event is None:
        counts.damaged += 1
        return
    verdict = verdict_of(event)
    if kind_of(event) == "decision" and verdict is not None:
        counts.verdicts[verdict] += 1
    if not is_chained(event):
        counts.unchained += 1
        return
    counts.events += 1
    counts.kinds[kind_of(event)] += 1
    seq, ts = seq_of(event), event.get("ts")
    if seq is not None:
        counts.see(seq, seq)
    if isinstance(ts, str):
        counts.first_ts = counts.first_ts or ts
        counts.last_ts = ts
