"""Walking a document along a JSON Pointer (RFC 6901) that leads somewhere in it, and changing what stands there."""

from __future__ import annotations

from gatekeeper.model.document import escape_pointer, unescape_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def path_to(document: Any, pointer: str) -> list[str | int]:
    """The names and places that a pointer goes through."""
    steps: list[str | int] = []
    for token in pointer.split("/")[1:]:
        steps.append(int(token) if isinstance(document, list) else unescape_pointer(token))
        document = document[steps[-1]]
    return steps


def value_at(document: Any, pointer: str) -> Any:
    """What stands there."""
    for step in path_to(document, pointer):
        document = document[step]
    return document


def pointers_in(document: Any, pointer: str) -> list[str]:
    """Pointers of what stands in the list or object there, in the order of the text."""
    value = value_at(document, pointer)
    names = value if isinstance(value, dict) else map(str, range(len(value)))
    return [f"{pointer}/{escape_pointer(name)}" for name in names]


def take_out(document: Any, pointer: str) -> None:
    """Remove the item or member at *pointer*."""
    holder, key = _holder(document, pointer)
    del holder[key]


def put_in(document: Any, pointer: str, value: Any) -> None:
    """Let *value* stand at *pointer*, where a member may be missing."""
    holder, key = _holder(document, pointer)
    holder[key] = value


def rename(document: Any, pointer: str, name: str) -> None:
    """Give the member at *pointer* another name."""
    holder, key = _holder(document, pointer)
    holder[name] = holder.pop(key)


def _holder(document: Any, pointer: str) -> tuple[Any, str | int]:
    parent, _, token = pointer.rpartition("/")
    holder = value_at(document, parent)
    return holder, int(token) if isinstance(holder, list) else unescape_pointer(token)
