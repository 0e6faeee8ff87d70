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
        checkpoint: the signed note that covers them, as it was given.
        subtrees: hashes of the complete subtrees of their Merkle tree (RFC 6962), first leaf first.
    """

    last_seq: int
    digest: str
    checkpoint: str
    subtrees: tuple[bytes, ...]


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
    if document["v"] != VERSION or document["first_seq"] != 1 or type(last_seq) is not int or last_seq < 1:
        raise ValueError("it states no seqs from 1 on")
    if not isinstance(checkpoint, str) or not _DIGEST.match(digest):
        raise ValueError("it states no digest or no checkpoint")
    if not all(_HASH.match(one) for one in document["subtrees"]):
        raise ValueError("it states something else than hashes")
    return Pruned(last_seq, digest, checkpoint, tuple(bytes.fromhex(one) for one in document["subtrees"]))


def write_pruned(ops: FileOps, path: str, pruned: Pruned) -> None:
    """Keep it, on the device before this returns. Raises OSError."""
    document = {
        "v": VERSION,
        "first_seq": 1,
        "last_seq": pruned.last_seq,
        "digest": pruned.digest,
        "checkpoint": pruned.checkpoint,
        "subtrees": [one.hex() for one in pruned.subtrees],
    }
    write_durably(ops, pruned_path(path), canonical_bytes(document) + b"\n")
