"""Lines of a log that hold no event: named by number, on standard error and in json (SPEC 7)."""

from __future__ import annotations

import os

from gatekeeper.cli.compose import has_pattern, log_lines, open_ledger
from gatekeeper.ledger.address import is_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.pruned import Pruned
    from gatekeeper.model.exchange import LogLine
    from gatekeeper.replay.holes import Holes


def damaged_lines(paths: tuple[str, ...]) -> list[LogLine]:
    """The lines that hold no event; one log is read for them only where its history is incomplete."""
    is_one = len(paths) == 1 and not has_pattern(paths[0])
    is_there = is_one and (is_remote(paths[0]) or os.path.exists(paths[0]))
    if is_one and (open_ledger(paths[0]).view().is_complete or not is_there):
        return []
    return [line for line in log_lines(paths) if is_damaged(line)]


def is_damaged(line: LogLine) -> bool:
    """Whether it holds no event, and is no blank line either."""
    from gatekeeper.replay.lines import is_blank

    return line.event is None and not is_blank(line)


def as_documents(lines: Sequence[LogLine]) -> list[dict[str, Any]]:
    """`damaged` of json."""
    return [{"source": line.source, "line": line.number, "problem": line.problem} for line in lines]


def as_words(damaged: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The same for people."""
    return tuple(f"gatekeeper: {one['source']}:{one['line']}: {one['problem']} line, passed over" for one in damaged)


def hole_words(holes: Holes, pruned: Pruned | None) -> tuple[str, ...]:
    """What a reader could not see, for people: what was pruned, seqs that are missing, damaged lines."""
    words = tuple(
        f"gatekeeper: the log lacks seq {gap.from_seq}" + ("" if gap.to_seq == gap.from_seq else f" to {gap.to_seq}")
        for gap in holes.gaps
    )
    if holes.reaches_pruned:
        words = (f"gatekeeper: {pruned}", *words)
    return (*as_words(as_documents(holes.damaged)), *words)
