"""Which module reads which type of source: the one line that a new type needs besides its module."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gatekeeper.evidence.collection import SourceType

if TYPE_CHECKING:
    from gatekeeper.evidence.round import OpensReader

READERS: dict[SourceType, str] = {
    SourceType.PROMETHEUS: "gatekeeper.evidence.prometheus.reader",
    SourceType.SQL: "gatekeeper.evidence.sql.reader",
    SourceType.HTTP: "gatekeeper.evidence.http.reader",
    SourceType.FILE: "gatekeeper.evidence.parts.reader",
}
"""Type -> module with a function `open_reader` (`round.OpensReader`); loaded only when a file has such a source."""


def opener(kind: SourceType) -> OpensReader:
    """The function that opens readers for sources of this type."""
    function: OpensReader = import_module(READERS[kind]).open_reader
    return function
