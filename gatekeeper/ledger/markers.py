"""A REJECT that could not be recorded leaves a note beside the log; the next call makes it an event.

Going back is always possible: the caller was told REJECT, and the run must not go forward because a
disk was full at that moment.
"""

from __future__ import annotations

import os

from gatekeeper.errors import CanonicalError
from gatekeeper.ledger.fsops import write_all, write_durably
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.fold import apply
from gatekeeper.model.line import decode, is_blank
from gatekeeper.model.run import RunState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    from gatekeeper.ledger.fsops import FileOps
    from gatekeeper.model.run import Run

    class Fold(Protocol):
        """The state as the log has it: a fold, or a view."""

        def run(self, run_id: str) -> Run | None:
            """The run, None when it is unknown."""
            ...

        def has_policy(self, digest: str, schema_version: int) -> bool:
            """Whether the log has the document."""
            ...


_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, CanonicalError)


def marker_path(path: str) -> str:
    """Where the notes for the log at *path* stand."""
    return f"{path}.unrecorded"


def leave(ops: FileOps, path: str, drafts: Sequence[Mapping[str, Any]]) -> None:
    """Add *drafts*, one a line, to the notes and wait for the device. Raises OSError."""
    data = b"".join(canonical_bytes(draft) + b"\n" for draft in drafts)
    descriptor = ops.open(marker_path(path), os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = ops.size(descriptor)
        if size and ops.pread(descriptor, 1, size - 1) != b"\n":
            data = b"\n" + data
        write_all(ops, descriptor, data)
        ops.flush(descriptor)
    finally:
        ops.close(descriptor)
    ops.flush_directory(os.path.dirname(path) or ".")


def to_be_recorded(data: bytes, fold: Fold) -> tuple[list[dict[str, Any]], list[bytes]]:
    """The notes as drafts for the log as it is now, and the lines that are no such note.

    Ids are made anew, since others may have gone on; a run that is STOPPED already needs nothing.
    """
    moved: dict[str, Run | None] = {}
    chosen: list[dict[str, Any]] = []
    bad: list[bytes] = []
    for line in data.split(b"\n"):
        if is_blank(line):
            continue
        try:
            draft = _draft_for(decode(line), fold, moved)
        except _MALFORMED:
            bad.append(line)
            continue
        if draft is not None:
            chosen.append(draft)
    return chosen, bad


def _draft_for(note: dict[str, Any] | None, fold: Fold, moved: dict[str, Run | None]) -> dict[str, Any] | None:
    """The note as a draft, None when the log needs it no more. Raises one of `_MALFORMED` for what is no note."""
    if note is None:
        raise ValueError("no JSON object")
    kind, run_id = note["kind"], note.get("run_id")
    if run_id is None:
        if kind != "policy":
            raise ValueError("only a policy belongs to no run")
        is_known = fold.has_policy(note["policy_digest"], note["schema_version"])
        return None if is_known else {**note, "from_marker": True}
    if kind not in {"decision", "action"} or (kind == "decision" and note["decision"]["verdict"] != "REJECT"):
        raise ValueError("a note can only take a run back")
    run = moved[run_id] if run_id in moved else fold.run(run_id)
    if run is not None and run.state is RunState.STOPPED:
        return None
    draft = {**note, "from_marker": True}
    if run is not None:
        draft["event_id"] = run.next_decision_id(note["stage"]) if kind == "decision" else run.next_event_id(kind)
    moved[run_id] = apply(run, draft)
    canonical_bytes(draft)
    return draft


def keep_aside(ops: FileOps, path: str, lines: Sequence[bytes]) -> str:
    """Put lines that are no notes into a file of their own; its place. Raises OSError."""
    number = 1
    while ops.exists(f"{marker_path(path)}.bad-{number}"):
        number += 1
    place = f"{marker_path(path)}.bad-{number}"
    write_durably(ops, place, b"".join(line + b"\n" for line in lines))
    return place


def set_aside(ops: FileOps, path: str, lines: Sequence[bytes]) -> list[str]:
    """`keep_aside`, if there are any; what people should be told. Raises OSError."""
    if not lines:
        return []
    kept = keep_aside(ops, path, lines)
    return [f"{len(lines)} lines of {marker_path(path)} are no notes of a REJECT: kept in {kept}"]


def recorded_words(path: str, events: Sequence[Mapping[str, Any]]) -> str:
    """What people should be told of the *events* that notes have become."""
    return f"recorded from {marker_path(path)}: {', '.join(str(event['event_id']) for event in events)}"


def remove(ops: FileOps, path: str) -> None:
    """All notes are in the log."""
    ops.remove(marker_path(path))
    ops.flush_directory(os.path.dirname(path) or ".")
