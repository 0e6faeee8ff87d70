"""What one append leaves on the branch: a commit on top of the one that was read, whose one file holds the lines.

The log is the history of the branch, not the content of its last commit. So a push costs the same however long the log
is (the receiving side looks through all files of the commit before), and whoever may only move the branch forward
can add to the log and change nothing of it.

The three objects are written here: that saves every append a process.
"""

from __future__ import annotations

import hashlib
import os
import zlib

from gatekeeper.errors import LogError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FILE = "events.ndjson"
"""The one file of a commit."""

_SIGNATURE = "gatekeeper <gatekeeper@localhost>"
_NAMED_EVENTS = 20
_DRAWN_BYTES = 12
_SHA256_DIGITS = 64


def make_commit(
    repository: str, events: Sequence[Mapping[str, Any]], data: bytes, *, parent: str | None, seconds: int
) -> str:
    """Make the commit that adds these lines behind *parent* (None: the branch begins); its id.

    Its message holds a number drawn for it, so that no two writers ever make the same commit: what stands on the
    branch then tells whose push was taken.

    Args:
        repository: a bare one.
        events: what the lines hold.
        data: the lines, each with its newline.
        seconds: since 1970, the time of the commit.

    Raises:
        LogError: it cannot be written.
    """
    kind = "sha256" if parent is not None and len(parent) == _SHA256_DIGITS else "sha1"
    message = f"{_message(events)}\nAppend: {os.urandom(_DRAWN_BYTES).hex()}\n"
    try:
        blob = _write(repository, kind, b"blob", data)
        tree = _write(repository, kind, b"tree", f"100644 {FILE}\0".encode() + bytes.fromhex(blob))
        behind = f"parent {parent}\n" if parent is not None else ""
        signed = f"author {_SIGNATURE} {seconds} +0000\ncommitter {_SIGNATURE} {seconds} +0000\n"
        text = f"tree {tree}\n{behind}{signed}\n{message}"
        return _write(repository, kind, b"commit", text.encode("utf-8", "replace"))
    except OSError as error:
        raise LogError(
            f"{repository} cannot be written: {error.strerror or error}",
            remedy="make room, or let XDG_CACHE_HOME name a place that can be written: nothing was recorded",
        ) from error


def _write(repository: str, kind: str, word: bytes, content: bytes) -> str:
    """Write one object, as git keeps them one by one; its id. Raises OSError."""
    stored = word + b" %d\0" % len(content) + content
    name = hashlib.new(kind, stored, usedforsecurity=False).hexdigest()
    directory = os.path.join(repository, "objects", name[:2])
    place, temporary = os.path.join(directory, name[2:]), os.path.join(directory, f"tmp_obj_{os.urandom(6).hex()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    except FileNotFoundError:
        os.makedirs(directory, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    try:
        rest = zlib.compress(stored, 1)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    os.replace(temporary, place)
    return name


def _message(events: Sequence[Mapping[str, Any]]) -> str:
    """The event of the commit, or the last of several and then all their ids."""
    ids = [_plain(str(event.get("event_id", ""))) for event in events]
    if len(ids) == 1:
        return f"{ids[0]}\n"
    first, last = events[0].get("seq"), events[-1].get("seq")
    more = [f"and {len(ids) - _NAMED_EVENTS} more"] if len(ids) > _NAMED_EVENTS else []
    return "\n".join([f"{ids[-1]} (seq {first} to {last})", "", *ids[:_NAMED_EVENTS], *more, ""])


def _plain(text: str) -> str:
    """A name as one line of a message can hold it."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:200]
