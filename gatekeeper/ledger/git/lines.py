"""The lines of a commit, as the branch holds them: for whoever must not trust a copy."""

from __future__ import annotations

from gatekeeper.errors import StateUnreadableError
from gatekeeper.ledger.chain import seq_of
from gatekeeper.ledger.git.history import UnreadableObjectsError, contents_of, files_of
from gatekeeper.model.line import decode, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.ledger.git.command import Git

_END = 1 << 60  # behind every seq


def lines_of_commit(git: Git, commit: str, *, after: int) -> Iterator[bytes]:
    """The lines behind seq *after*, in order, without newlines; blank ones left out.

    Raises:
        StateUnreadableError: the local repository does not hold them.
    """
    is_behind = after <= 0
    try:
        for content in contents_of(git, files_of(git, commit, after=after)):
            for line in content.split(b"\n"):
                if is_blank(line):
                    continue
                if not is_behind:
                    event = decode(line)
                    is_behind = event is not None and (seq_of(event) or 0) > after
                if is_behind:
                    yield line
    except UnreadableObjectsError as error:
        raise _unreadable(git, error) from error


def last_seq_of(git: Git, commit: str) -> int:
    """The highest seq in the last file of a commit; 0 when it has none. Raises as `lines_of_commit` does."""
    try:
        events = [
            decode(line)
            for content in contents_of(git, files_of(git, commit, after=_END))
            for line in content.split(b"\n")
        ]
    except UnreadableObjectsError as error:
        raise _unreadable(git, error) from error
    return max((seq_of(event) or 0 for event in events if event is not None), default=0)


def _unreadable(git: Git, error: UnreadableObjectsError) -> StateUnreadableError:
    return StateUnreadableError(
        f"{git.repository} cannot be read: {error}", remedy="rebuild it with `gatekeeper log rebuild`"
    )
