"""Notes of a REJECT that a remote ledger could not take: this machine keeps them until its next call can record them.

The files are those of `markers`; here is the lock under which calls of one machine read, add to and remove them.
"""

from __future__ import annotations

import os

from gatekeeper.ledger import markers
from gatekeeper.ledger.address import state_path
from gatekeeper.ledger.fsops import FileOps, close_quietly, make_directories, read_all, write_durably

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

    def recorded_words(self, events: Sequence[Mapping[str, Any]]) -> str:
        """What people should be told of the *events* that they have become."""
        return markers.recorded_words(self._path, events)

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

    def read(self) -> bytes:
        """What stands there; `markers.to_be_recorded` says what the log needs of it. Raises OSError."""
        return read_all(self._ops, markers.marker_path(self._path)) or b""

    def remove(self, data: bytes, bad: Sequence[bytes]) -> list[str]:
        """What was read as *data* is in the log; what people should be told. Raises OSError.

        What others have added since it was read stays.

        Args:
            bad: lines of it that are no notes; they are kept aside.
        """
        told = markers.set_aside(self._ops, self._path, bad)
        found, place = self.read(), markers.marker_path(self._path)
        if found != data:  # nothing of it is left where another process was first
            if found.startswith(data):
                write_durably(self._ops, place, found[len(data) :])
        elif self._ops.exists(place):
            markers.remove(self._ops, self._path)
        return told
