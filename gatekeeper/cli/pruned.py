"""What of a log was removed on purpose, for the readers that would take it for missing."""

from __future__ import annotations

import os

from gatekeeper.cli.output import say_once
from gatekeeper.errors import LogDamagedError, unreadable_log
from gatekeeper.ledger.address import only_remote
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.pruned import read_pruned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.ledger.pruned import Pruned


def pruned_of(paths: tuple[str, ...]) -> Pruned | None:
    """What is kept of the removed part of the log that `--log` names; of several the one that reaches furthest.

    Raises:
        LogDamagedError, LogError: it cannot be read.
    """
    if only_remote(paths) is not None:
        return None  # nothing is ever removed there
    found = [one for one in map(_read, _logs(paths)) if one is not None]
    return max(found, key=lambda one: one.last_seq, default=None)


def pruned_words(pruned: Pruned | None) -> tuple[str, ...]:
    """What people are told where it matters."""
    return () if pruned is None else (f"gatekeeper: {pruned}",)


def _logs(paths: tuple[str, ...]) -> list[str]:
    from gatekeeper.cli.compose import has_pattern

    if len(paths) == 1 and not has_pattern(paths[0]):
        return [paths[0]]
    from gatekeeper.ledger.log_files import log_files

    return [file.path for file in log_files(paths) if file.is_live]


def _read(path: str) -> Pruned | None:
    path = os.path.abspath(path)
    try:
        return read_pruned(FileOps(), path)
    except OSError as error:
        raise unreadable_log(path, error) from error


def known_pruned(paths: tuple[str, ...]) -> Pruned | None:
    """For a report, the same; where it cannot be known, that is said and what is gone counts as missing."""
    try:
        return pruned_of(paths)
    except LogDamagedError as error:
        say_once(f"gatekeeper: {error}")
        return None


def last_seq_of(pruned: Pruned | None) -> int:
    """The last seq of what was removed on purpose; 0 when nothing was."""
    return 0 if pruned is None else pruned.last_seq
