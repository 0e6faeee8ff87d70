"""Where a machine keeps its copy of a branch: what may be lost at any time, and how far it was trusted last."""

from __future__ import annotations

import json
import os

from gatekeeper.ledger.fsops import FileOps, make_directories, read_all, remove_quietly, write_all
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class CacheOps(FileOps):
    """The disk calls for a copy: the device is not waited for, the branch has it all."""

    def flush(self, descriptor: int) -> None:
        """Nothing to wait for."""

    def flush_directory(self, path: str) -> None:
        """Nothing to wait for."""


@dataclass(frozen=True)
class Level:
    """How far the mirror follows the branch.

    Attributes:
        commit: whose files it holds, all of them.
        size: of the mirror then, in bytes.
        boot: of the machine when that was noted: what was not flushed is not trusted after another start.
    """

    commit: str
    size: int
    boot: str


class Cache:
    """The directory with the local repository, the mirror, and the note of its level.

    Args:
        directory: for this branch alone; made when it is first needed.
        ops: the disk calls.
    """

    def __init__(self, directory: str, ops: FileOps) -> None:
        self.directory = directory
        self.repository = os.path.join(directory, "repository.git")
        self.mirror = os.path.join(directory, "log.ndjson")
        self._level = os.path.join(directory, "level.json")
        self._ops = ops

    def make(self) -> None:
        """Make the directory where it is missing, for this user alone. Raises OSError."""
        if not self._ops.exists(self.directory):
            make_directories(self._ops, self.directory)
            os.chmod(self.directory, 0o700)

    def level(self) -> Level | None:
        """The note as it stands; None where there is none that counts."""
        try:
            stated: Any = json.loads(read_all(self._ops, self._level) or b"null")
            level = Level(**stated) if isinstance(stated, dict) else None
        except (OSError, ValueError, TypeError):
            return None
        return level if level is not None and level.boot == boot_id() else None

    def note_level(self, commit: str, size: int) -> None:
        """The mirror holds all files of *commit*, and is so long. Raises OSError."""
        text = json.dumps({"commit": commit, "size": size, "boot": boot_id()})
        temporary = f"{self._level}.next"
        descriptor = self._ops.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_all(self._ops, descriptor, text.encode("ascii"))
        finally:
            self._ops.close(descriptor)
        self._ops.replace(temporary, self._level)

    def forget_level(self) -> None:
        """Trust nothing of it any more."""
        remove_quietly(self._ops, self._level)

    def mirror_size(self) -> int:
        """Its length in bytes; 0 when there is none."""
        try:
            return self._ops.length(self.mirror)
        except OSError:
            return 0


def boot_id() -> str:
    """Another one after each start of the machine; empty where the system does not tell."""
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
