"""The objects of a collection document, each with its place and with the type that decides how it is read.

Everything here looks at the document as it stands and passes over what has another form than it should:
`structure` names that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.collection import SourceType
from gatekeeper.model.document import escape_pointer
from gatekeeper.model.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TYPES: Mapping[str, SourceType] = {member.value: member for member in SourceType}


@dataclass(frozen=True)
class TypedPart:
    """One object of `sources` or `metrics`.

    Attributes:
        path: where it stands.
        type: of the source, or of the metric's source.
        content: the object.
    """

    path: tuple[str, str]
    type: SourceType
    content: Mapping[str, Any]

    @property
    def pointer(self) -> str:
        """JSON Pointer of the object."""
        return f"/{self.path[0]}/{escape_pointer(self.path[1])}"


def type_named(word: object) -> SourceType | None:
    """The type that *word* names."""
    return _TYPES.get(word) if isinstance(word, str) else None


def members(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The members of the object under *key*; none where there is no object."""
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def typed_sources(document: Mapping[str, Any]) -> Iterator[TypedPart]:
    """Every source whose type is known."""
    for name, content in members(document, "sources").items():
        if isinstance(content, dict) and (kind := type_named(content.get("type"))) is not None:
            yield TypedPart(("sources", name), kind, content)


def typed_metrics(document: Mapping[str, Any]) -> Iterator[TypedPart]:
    """Every metric whose source is there and has a type that is known."""
    types = {part.path[1]: part.type for part in typed_sources(document)}
    for name, content in members(document, "metrics").items():
        if isinstance(content, dict) and isinstance(source := content.get("source"), str) and source in types:
            yield TypedPart(("metrics", name), types[source], content)
