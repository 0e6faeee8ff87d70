"""Notes of a REJECT that a remote ledger could not take: this machine keeps them until its next call can record them.

The files are those of `markers`; here is the lock that one call holds from reading the notes to removing them.
"""

from __future__ import annotations

import os

from gatekeeper.ledger import markers
from gatekeeper.ledger.address import state_path
from gatekeeper.ledger.fsops import FileOps, close_quietly, make_directories, read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any, Self

    from gatekeeper.ledger.address import Address


class Notes:
    """Notes for one remote log.

    Args:
        address: of the log.
        directory: where they are kept; None: where this machine keeps its state (XDG).
    """

    def __init__(self, address: Address, directory: str | None = None, *, ops: FileOps | None = None) -> None:
        kept = state_path(address)
        self._path = kept if directory is None else os.path.join(directory, os.path.basename(kept))
        self._ops = ops if ops is not None else FileOps()

    @property
    def place(self) -> str:
        """The file of the notes."""
        return markers.marker_path(self._path)

    def exist(self) -> bool:
        """Whether there are any; a place where nobody may look has none."""
        try:
            return self._ops.exists(self.place)
        except OSError:
            return False

    def leave(self, drafts: Sequence[Mapping[str, Any]]) -> str | None:
        """Best effort: add *drafts*; the place, None where that failed."""
        try:
            make_directories(self._ops, os.path.dirname(self._path))
            with self.taken():
                markers.leave(self._ops, self._path, drafts)
        except OSError:
            return None
        return self.place

    def taken(self) -> TakenNotes:
        """The notes, locked until the end of a `with` block. Raises OSError."""
        return TakenNotes(self._path, self._ops)


class TakenNotes:
    """Notes that nobody else changes meanwhile."""

    def __init__(self, path: str, ops: FileOps) -> None:
        self._path = path
        self._ops = ops
        self._lock = -1
        self._bad: list[bytes] = []

    def __enter__(self) -> Self:
        self._lock = self._ops.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT)
        try:
            self._ops.lock(self._lock)
        except BaseException:
            close_quietly(self._ops, self._lock)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        close_quietly(self._ops, self._lock)

    def drafts(self, state: markers.Fold) -> list[dict[str, Any]]:
        """What the log needs of them, as it is now. Raises OSError."""
        data = read_all(self._ops, markers.marker_path(self._path)) or b""
        drafts, self._bad = markers.to_be_recorded(data, state)
        return drafts

    def remove(self) -> list[str]:
        """They are in the log; what people should be told. Lines that are no notes are kept aside. Raises OSError."""
        told = []
        if self._bad:
            kept = markers.keep_aside(self._ops, self._path, self._bad)
            told.append(f"{len(self._bad)} lines of {markers.marker_path(self._path)} are no notes: kept in {kept}")
        if self._ops.exists(markers.marker_path(self._path)):  # as a rule; another process may have been first
            markers.remove(self._ops, self._path)
        return told
