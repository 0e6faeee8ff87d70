"""Logs to export, and what stands in the exports, read by libraries that know nothing of gatekeeper."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from gatekeeper.cli.opened import opened_log
from gatekeeper.export.copy import Copied, opened_copy
from gatekeeper.export.lake.files import opened_lake
from gatekeeper.export.lake.writer import Sizes, Written, write_lake
from gatekeeper.export.lines import lines_of
from gatekeeper.export.position import lines_behind
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.model.canonical import GENESIS_DIGEST
from gatekeeper.model.event import encode_line, line_digest, seal
from gatekeeper.model.times import MICROSECONDS, format_time, require_time
from gatekeeper.replay.holes import Holes
from tests.doubles import MemoryLedger
from tests.ledger.checking import Unflushed
from tests.ledger.drafts import decision

NOON = "2026-02-18T12:00:00Z"
_numbers = count(1)


def chain(*times: str, ledger: MemoryLedger | None = None) -> list[bytes]:
    """Lines of decisions of as many runs, appended at these times; with *ledger*, behind what it has."""
    ledger = MemoryLedger() if ledger is None else ledger
    begin = len(ledger.lines)
    for time in times:
        ledger.clock.moment = require_time(time)
        ledger.append([decision(f"r{next(_numbers)}")], expect=None, actor="t")
    return ledger.lines[begin:]


def write(path: Path, lines: list[bytes]) -> Path:
    """A log of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def founding(run: str, verdict: str = "ACCEPT", **fields: Any) -> bytes:
    """A line as a driver of the founding kind writes it: no kind, no seq, no chain."""
    return json.dumps({"run_id": run, "stage": "CANARY_10", "decision": verdict, **fields}).encode()


def into_file(log: Path, copy: Path, ops: FileOps | None = None) -> Copied:
    """`log export --to`."""
    with opened_copy(ops or Unflushed(), str(copy)) as target:
        position = target.position
        with opened_log((str(log),), after=max(0, position.seq - 1)) as sources:
            lines = lines_of(sources, Holes(), from_seq=position.seq)
            return target.take(lines_behind(lines, position, copy.name))


def into_lake(log: Path, lake: Path, ops: FileOps | None = None, sizes: Sizes | None = None) -> Written:
    """`log export --parquet`."""
    ops = ops or Unflushed()
    with (
        opened_lake(ops, str(lake)) as target,
        opened_log((str(log),), after=max(0, target.position.seq - 1)) as sources,
    ):
        lines = lines_of(sources, Holes(), from_seq=target.position.seq)
        return write_lake(ops, target, lines_behind(lines, target.position, lake.name), sizes)


def ask(lake: Path, select: str = "line", rest: str = "ORDER BY filename, file_row_number") -> list[tuple[Any, ...]]:
    """What DuckDB answers on all files of a lake; times are asked in UTC."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        files = "read_parquet($files, hive_partitioning = true, filename = true, file_row_number = true)"
        query = f"SELECT {select} FROM {files} {rest}"
        return connection.execute(query, {"files": f"{lake}/*/*.parquet"}).fetchall()


def lines_in(lake: Path) -> list[bytes]:
    """The lines of all rows, by seq; those without one first."""
    return [line.encode() for (line,) in ask(lake, rest="ORDER BY seq NULLS FIRST, line")]


def names_in(lake: Path) -> list[str]:
    """The Parquet files, relative to the lake."""
    return sorted(str(path.relative_to(lake)) for path in lake.rglob("*.parquet"))


def long_log(path: Path, events: int, *, every_seconds: int, line_bytes: int = 1000) -> Path:
    """A log of so many decisions, one after the other in so much time, each line at least so long."""
    moment, prev = require_time("2026-02-18T00:00:00Z"), GENESIS_DIGEST
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for seq in range(1, events + 1):
            draft = decision(f"r{seq}", evidence_refs={"note": f"{seq} " * (line_bytes // (len(str(seq)) + 1))})
            line = encode_line(seal(draft, seq=seq, prev=prev, ts=format_time(moment)))
            file.write(line + b"\n")
            prev, moment = line_digest(line), moment + every_seconds * MICROSECONDS
    return path
