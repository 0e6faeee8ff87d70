"""Making sure what has become of a push: taken, not taken, or nobody can tell."""

from __future__ import annotations

import os
import time

from gatekeeper.errors import LedgerUnreachableError, LogError
from gatekeeper.ledger.git.remote import Pushed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.ledger.git.remote import Remote

_DOUBTS = 5
"""How often a push without an answer is repeated: the same commit onto the same one, which can be taken once only."""

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.02, 2.0

# What the receiving side says when another push has the branch's lock, or has just moved it.
_AT_THE_SAME_MOMENT = (
    "failed to update ref",
    "cannot lock ref",
    "failed to lock",
    "incorrect old value",
    "already exists",
)


def push_surely(remote: Remote, commit: str, *, expected: str | None, can_send: Callable[[], bool]) -> str:
    """Push, and again while there is no answer.

    Returns:
        `Pushed.TAKEN`; `Pushed.NOT_EXPECTED`: the branch stands elsewhere and has not taken *commit*;
        `Pushed.UNKNOWN`: it stands elsewhere, and may have gone on from *commit*: its history tells.

    Args:
        can_send: whether the local repository has what a push needs; False, and nothing can have been sent.

    Raises:
        LogError: the other side refuses it; nothing was recorded.
        LedgerUnreachableError: there is no answer: it may be recorded or not.
    """
    pushed = remote.push(commit, expected=expected)
    moved = Pushed.NOT_EXPECTED
    for attempt in range(_DOUBTS):
        if pushed.answer in {Pushed.TAKEN, Pushed.STOOD_THERE}:
            return Pushed.TAKEN
        if pushed.answer == Pushed.NOT_EXPECTED:
            return moved
        if pushed.answer == Pushed.REFUSED:
            return _refused(remote, commit, expected, pushed.reason) or moved
        if pushed.answer == Pushed.NOT_SENT and moved == Pushed.NOT_EXPECTED:
            raise remote.unreachable(f"{pushed.reason}; nothing was recorded")
        if not can_send():
            return moved
        moved = Pushed.UNKNOWN
        pause(attempt + 3)
        pushed = remote.push(commit, expected=expected)
    raise LedgerUnreachableError(
        f"{remote.address.shown} did not answer a push: the event may be recorded or not ({pushed.reason})",
        remedy="once it answers, ask the same again: an event that is recorded is not recorded twice",
    )


def pause(attempt: int) -> None:
    """Let others go first: a random while, longer from attempt to attempt."""
    longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10))
    time.sleep(longest * int.from_bytes(os.urandom(2), "big") / 65535)


def _refused(remote: Remote, commit: str, expected: str | None, reason: str) -> str | None:
    """A refusal by a rule, or by another push at the same moment? Where the branch stands tells."""
    tip = remote.tip()
    if tip == commit:
        return Pushed.TAKEN
    if tip != expected or any(words in reason for words in _AT_THE_SAME_MOMENT):
        return None
    raise LogError(
        f"{remote.address.shown} refuses to be written: {reason}",
        remedy=f"nothing was recorded: let this user push to {remote.address.branch} (rules, hooks of the repository)",
    )
