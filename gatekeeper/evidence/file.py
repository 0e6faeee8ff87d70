"""Evidence from a file: the bytes are read here, what they mean is `model.snapshot`'s business."""

from __future__ import annotations

import os

from gatekeeper.documents.load import read_file
from gatekeeper.errors import SnapshotError
from gatekeeper.model.snapshot import Snapshot, read_snapshot


def load_snapshot(source: str | os.PathLike[str] | bytes) -> Snapshot:
    """The snapshot in a file, or in bytes that are at hand.

    Args:
        source: path of a JSON file, or the bytes of one (SPEC 4: flat or wrapped form).

    Raises:
        SnapshotError: the file cannot be read, or holds no JSON object.
        DocumentError: not strict JSON, a duplicate key included; names line and column.
        CanonicalError: text that has no canonical form.
    """
    return read_snapshot(source) if isinstance(source, bytes) else read_snapshot_file(source)


def read_snapshot_file(path: str | os.PathLike[str]) -> Snapshot:
    """The snapshot in the file at *path*; raises what `load_snapshot` raises."""
    remedy = 'give the path of a JSON file of evidence: {"metrics": {…}, "_meta": {…}}'
    return read_snapshot(read_file(path, what="snapshot", error=SnapshotError, remedy=remedy), source=os.fspath(path))
