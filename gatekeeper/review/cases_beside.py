"""Golden cases as the review of a policy sees them: which metrics their snapshots state.

Whether a case is sound is another command's business (`policy test`): what cannot be read is passed over.
"""

from __future__ import annotations

import os

from gatekeeper.documents.load import parsed
from gatekeeper.errors import GatekeeperError
from gatekeeper.model.document import is_document_file
from gatekeeper.model.snapshot import snapshot_from_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FOLDER = "golden"
"""Where the cases stand: in this folder beside the policy."""


class CasesBeside:
    """The golden cases beside policies; each folder is read once."""

    def __init__(self) -> None:
        self._folders: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}

    def metrics_of(self, policy: str) -> dict[str, Sequence[str]]:
        """Path of a case -> the metrics that its snapshot states, for the cases that name the policy at this path."""
        folder = os.path.join(os.path.dirname(policy), FOLDER)
        if folder not in self._folders:
            self._folders[folder] = _cases(folder)
        meant = os.path.abspath(policy)
        return {
            path: metrics
            for path, case in self._folders[folder]
            if _named(path, case) == meant and (metrics := _metrics(case))
        }


def _cases(folder: str) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name in names:
        path = os.path.join(folder, name)
        if is_document_file(name):
            try:
                with open(path, "rb") as file:
                    case = parsed(file.read(), path)
            except (OSError, GatekeeperError):
                continue
            if isinstance(case, dict):
                found.append((path, case))
    return found


def _named(path: str, case: Mapping[str, Any]) -> str | None:
    """The policy that a case names, from where the case stands."""
    name = case.get("policy")
    return os.path.abspath(os.path.join(os.path.dirname(path), name)) if isinstance(name, str) else None


def _metrics(case: Mapping[str, Any]) -> list[str]:
    snapshot = case.get("snapshot")
    if not isinstance(snapshot, dict):
        return []
    return list(snapshot_from_document(snapshot).document["metrics"])
