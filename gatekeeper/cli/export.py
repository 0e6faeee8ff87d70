"""`gatekeeper log export`: the recorded lines, on standard output, into a file that goes on, or as Parquet."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass

from gatekeeper.cli.damaged import as_documents, hole_words
from gatekeeper.cli.opened import opened_log, watched
from gatekeeper.cli.outcome import Outcome
from gatekeeper.cli.output import say_once
from gatekeeper.cli.present import page_outcome
from gatekeeper.cli.pruned import known_pruned, last_seq_of
from gatekeeper.errors import UsageError
from gatekeeper.export.lines import lines_of
from gatekeeper.export.position import Position, lines_behind
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.replay.holes import Holes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.cli.values import Values
    from gatekeeper.export.lines import Line
    from gatekeeper.replay.blocks import Source

STANDARD_OUTPUT = "-"
_CHUNK_BYTES = 1 << 20


def export(values: Values) -> Outcome:
    """All events, or those that the file or the lake does not have yet."""
    to, directory = values.optional_text("to"), values.optional_text("parquet")
    if directory is not None:
        return _into_lake(directory, values)
    if to is not None and to != STANDARD_OUTPUT:
        return _into_file(to, values)
    if values.text("output") == "json":
        raise UsageError(
            "what is exported is a line for each event, and json is one document",
            remedy="leave --output out, or export into a file with --to",
        )
    return Outcome(_recorded(values))


@dataclass(frozen=True)
class _Reading:
    """A log that is read: its files, its lines behind what was asked for, and words on what is not there, at the end.

    Attributes:
        holes: known once all lines were read.
    """

    sources: list[Source]
    lines: Iterator[Line]
    holes: Holes
    values: Values

    def words(self) -> tuple[str, ...]:
        """For people."""
        return hole_words(self.holes, known_pruned(self.values.texts("log")))


@contextmanager
def _reading(values: Values, position: Position, target: str) -> Iterator[_Reading]:
    """The log behind *position*. Raises LogError; InputRefusedError, where the lines are read."""
    paths = values.texts("log")
    holes = Holes(pruned_to=last_seq_of(known_pruned(paths)))
    after = max(0, position.seq - 1)
    with opened_log(paths, after=after) as sources, watched("exporting") as progress:
        lines = lines_of(sources, holes, from_seq=position.seq, progress=progress)
        yield _Reading(sources, lines_behind(lines, position, target), holes, values)


def _recorded(values: Values) -> Iterator[bytes]:
    with _reading(values, Position(), "") as log:
        waiting, size = list[bytes](), 0
        for line in log.lines:
            waiting += (line.data, b"\n")
            size += len(line.data) + 1
            if size >= _CHUNK_BYTES:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)
    for words in log.words():
        say_once(words)


def _into_file(path: str, values: Values) -> Outcome:
    from gatekeeper.export.copy import opened_copy
    from gatekeeper.render.export import copy_page

    with opened_copy(FileOps(), path) as copy, _reading(values, copy.position, path) as log:
        for source in log.sources:
            copy.refuse_own(source.path)
        done = copy.take(log.lines)
    document = {
        "file": os.path.abspath(path),
        "lines": done.lines,
        "size_bytes": done.size,
        "first_seq": done.first_seq,
        "last_seq": done.last_seq,
        "damaged": as_documents(log.holes.damaged),
    }
    return page_outcome(copy_page(document), values, stderr=log.words())


def _into_lake(directory: str, values: Values) -> Outcome:
    from gatekeeper.export.lake.files import files_in, missing_between, opened_lake
    from gatekeeper.export.lake.writer import write_lake
    from gatekeeper.render.export import lake_page

    ops = FileOps()
    with opened_lake(ops, directory) as lake, _reading(values, lake.position, directory) as log:
        done = write_lake(ops, lake, log.lines)
        missing = missing_between(files_in(ops, directory))
    document = {
        "directory": os.path.abspath(directory),
        "rows": sum(file.rows for file in done.files),
        "last_seq": done.position.seq,
        "files": [
            {"file": os.path.relpath(file.path, directory), "rows": file.rows, "size_bytes": file.size}
            for file in done.files
        ],
        "missing": [{"from_seq": first, "to_seq": last} for first, last in missing],
        "damaged": as_documents(log.holes.damaged),
        "out_of_place": done.out_of_place_count,
    }
    words = tuple(f"gatekeeper: {place}: its seq does not follow, passed over" for place in done.out_of_place)
    return page_outcome(lake_page(document), values, stderr=(*words, *log.words()))
