"""The lines of the branch as its commits hold them: for whoever must not trust a copy."""

from __future__ import annotations

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.git.history import UnreadableObjectsError, commits_of, contents_of
from gatekeeper.model.line import decode, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.ledger.git.command import Git

_STEP = 64
"""So many commits are gone back at a time."""


def lines_up_to(git: Git, tip: str, *, after: int) -> Iterator[bytes]:
    """The lines behind seq *after*, in order, without newlines; blank ones left out.

    Raises:
        StateUnreadableError: the local repository does not hold them.
    """
    is_behind = after <= 0
    try:
        commits = commits_of(git, tip)
        start = 0 if is_behind else _place_of(git, commits, after)
        for content in contents_of(git, commits[start:], before=commits[start - 1] if start else None):
            for line in content.split(b"\n"):
                if is_blank(line):
                    continue
                is_behind = is_behind or _seq_on(line) > after
                if is_behind:
                    yield line
    except UnreadableObjectsError as error:
        raise StateUnreadableError(
            f"{git.repository} cannot be read: {error}", remedy="make it anew with `gatekeeper log rebuild`"
        ) from error


def last_seq_of(git: Git, tip: str) -> int:
    """The highest seq near the end of the branch; 0 when it has none. Raises as `lines_up_to` does."""
    last = 0
    try:
        commits = commits_of(git, tip)
        for end in range(len(commits), 0, -_STEP):
            for content in contents_of(git, commits[max(0, end - _STEP) : end]):
                last = max(last, *(_seq_on(line) for line in content.split(b"\n")))
            if last:
                break
    except UnreadableObjectsError as error:
        raise StateUnreadableError(
            f"{git.repository} cannot be read: {error}", remedy="make it anew with `gatekeeper log rebuild`"
        ) from error
    return last


def _place_of(git: Git, commits: Sequence[str], after: int) -> int:
    """Index of a commit from which on all lines behind *after* stand: few are read where *after* is near the end."""
    for end in range(len(commits), 0, -_STEP):
        start = max(0, end - _STEP)
        first = next(
            (line for content in contents_of(git, commits[start:end]) for line in content.split(b"\n") if line), b""
        )
        if 0 < _seq_on(first) <= after + 1:
            return start
    return 0


def _seq_on(line: bytes) -> int:
    event = decode(line)
    return (seq_of(event) or 0) if event is not None else 0
