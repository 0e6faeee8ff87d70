"""What is kept of segments that were removed on purpose.

Their seqs, the signed checkpoint that covers them, and the hashes by which the rest can still be proven against
later checkpoints.
"""

from __future__ import annotations

import json
import re

from gatekeeper.errors import LogDamagedError
from gatekeeper.ledger.fsops import read_all, write_durably
from gatekeeper.ledger.segment_names import pruned_path
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.times import parse_time
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.ledger.fsops import FileOps

VERSION = 1
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
_HASH = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class Pruned:
    """Lines that were removed: all from seq 1 on.

    Attributes:
        last_seq, digest: of the last of them; the next line's `prev` is this digest.
        pruned_at: when the last of them were removed, as an event's `ts`.
        checkpoint: the signed note that covers them, as it was given.
        subtrees: hashes of the complete subtrees of their Merkle tree (RFC 6962), first leaf first.
    """

    last_seq: int
    digest: str
    pruned_at: str
    checkpoint: str
    subtrees: tuple[bytes, ...]

    @property
    def covered(self) -> int:
        """How many lines of the log the checkpoint covers. Raises ValueError: it does not say."""
        _, size, *rest = self.checkpoint.split("\n", 3)
        if len(rest) < 2:
            raise ValueError("its checkpoint is none")
        return int(size)

    def __str__(self) -> str:
        seqs = "seq 1 was" if self.last_seq == 1 else f"seq 1 to {self.last_seq} were"
        lines = "1 line" if self.covered == 1 else f"{self.covered} lines"
        return f"{seqs} pruned on {self.pruned_at[:10]}, under a signed checkpoint of {lines}"


def read_pruned(ops: FileOps, path: str) -> Pruned | None:
    """What is kept of the removed part of the log at *path*; None where nothing was removed.

    Raises:
        LogDamagedError: the file is not as it was written.
        OSError: it cannot be read.
    """
    data = read_all(ops, pruned_path(path))
    if data is None:
        return None
    try:
        return _read(json.loads(data))
    except (ValueError, KeyError, TypeError) as error:
        raise LogDamagedError(
            f"{pruned_path(path)} is not as it was written: {error}",
            remedy="bring a copy of it back: without it nobody can prove what was removed",
        ) from None


def _read(document: Any) -> Pruned:
    last_seq, digest, checkpoint = document["last_seq"], document["digest"], document["checkpoint"]
    pruned_at = document["pruned_at"]
    if document["v"] != VERSION or document["first_seq"] != 1 or type(last_seq) is not int or last_seq < 1:
        raise ValueError("it states no seqs from 1 on")
    if not isinstance(checkpoint, str) or not _DIGEST.match(digest) or parse_time(pruned_at) is None:
        raise ValueError("it states no digest, no time or no checkpoint")
    if not all(_HASH.match(one) for one in document["subtrees"]):
        raise ValueError("it states something else than hashes")
    subtrees = tuple(bytes.fromhex(one) for one in document["subtrees"])
    pruned = Pruned(last_seq, digest, pruned_at, checkpoint, subtrees)
    if pruned.covered < last_seq:
        raise ValueError("its checkpoint does not cover what was removed")
    return pruned


def write_pruned(ops: FileOps, path: str, pruned: Pruned) -> None:
    """Keep it, on the device before this returns. Raises OSError."""
    document = {
        "v": VERSION,
        "first_seq": 1,
        "last_seq": pruned.last_seq,
        "digest": pruned.digest,
        "pruned_at": pruned.pruned_at,
        "checkpoint": pruned.checkpoint,
        "subtrees": [one.hex() for one in pruned.subtrees],
    }
    write_durably(ops, pruned_path(path), canonical_bytes(document) + b"\n")
