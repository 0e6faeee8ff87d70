"""What one append leaves on the branch: a commit that adds one file, named by the seq of its first line."""

from __future__ import annotations

import os

from gatekeeper.ledger.git.remote import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.ledger.git.command import Git

NEXT_REF = "refs/gatekeeper/next"
"""What was made last stands here until it is pushed, so that git keeps its objects."""

DIRECTORY = "events"
_SIGNATURE = "gatekeeper <gatekeeper@localhost>"
_SUFFIX = ".ndjson"
_DIGITS = 9
_NAMED_EVENTS = 20
_DRAWN_BYTES = 12


class NotMadeError(Exception):
    """Git could not make the commit: the local repository is damaged, or the disk is full."""


def place_of(seq: int) -> str:
    """Path of the file whose first line has this seq; a directory has at most a thousand entries."""
    name = f"{seq:0{_DIGITS}d}"
    return f"{DIRECTORY}/{name[:-6]}/{name[-6:-3]}/{name}{_SUFFIX}"


def seq_of_place(path: str) -> int | None:
    """The seq in a path; None for a path that is none of ours."""
    name = path.rpartition("/")[2].removesuffix(_SUFFIX)
    if not (name.isascii() and name.isdecimal()) or len(name) < _DIGITS:
        return None
    seq = int(name)
    return seq if place_of(seq) == path else None


def make_commit(git: Git, events: Sequence[Mapping[str, Any]], data: bytes, *, parent: str | None, seconds: int) -> str:
    """Make the commit that adds these lines behind *parent* (None: the branch begins); its id.

    Its message holds a number drawn for it, so that no two writers ever make the same commit: what stands on the
    branch then tells whose push was taken.

    Args:
        events: what the lines hold.
        data: the lines, each with its newline.
        seconds: since 1970, the time of the commit.

    Raises:
        NotMadeError: it could not be made.
    """
    message = f"{_message(events)}\nAppend: {os.urandom(_DRAWN_BYTES).hex()}\n".encode("utf-8", "replace")
    begins = [f"commit {NEXT_REF}", "mark :1", f"committer {_SIGNATURE} {seconds} +0000", f"data {len(message)}"]
    onto = [f"from {parent}"] if parent is not None else []
    adds = [*onto, f"M 100644 inline {place_of(int(events[0]['seq']))}", f"data {len(data)}"]
    stream = b"\n".join([*(line.encode() for line in begins), message, *(line.encode() for line in adds), data])
    if parent is None:
        stream = b"reset " + NEXT_REF.encode() + b"\n\n" + stream
    ended = git.run("fast-import", "--quiet", "--force", "--done", data=stream + b"get-mark :1\ndone\n")
    commit = ended.out.decode("ascii", "replace").strip()
    if ended.code != 0 or not commit:
        raise NotMadeError(words_of(ended))
    return commit


def _message(events: Sequence[Mapping[str, Any]]) -> str:
    """The event of the commit, or how many, and then their ids."""
    ids = [_plain(str(event.get("event_id", ""))) for event in events]
    if len(ids) == 1:
        return f"{ids[0]}\n"
    first, last = events[0].get("seq"), events[-1].get("seq")
    more = [f"and {len(ids) - _NAMED_EVENTS} more"] if len(ids) > _NAMED_EVENTS else []
    return "\n".join([f"{ids[-1]} (seq {first} to {last})", "", *ids[:_NAMED_EVENTS], *more, ""])


def _plain(text: str) -> str:
    """A name as one line of a message can hold it."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:200]
