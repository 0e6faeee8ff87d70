"""Single changes to the text of a JSON file: every other byte stays as its author wrote it.

Each function checks itself: what the new text says must be what the change makes of the old document.
"""

from __future__ import annotations

import json

from gatekeeper.model.document import escape_pointer, locate, parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BOM = b"\xef\xbb\xbf"
_SCAN = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode  # where a value ends is all that is asked of it


def removed(data: bytes, pointer: str) -> bytes:
    """*data* without the item or member at *pointer*, and without the comma that parted it."""
    parent, _, token = pointer.rpartition("/")
    text = _Text(data)
    siblings = text.children(parent)
    place = siblings.index(pointer)
    start, end = text.span(pointer)
    if place + 1 < len(siblings):
        end = text.span(siblings[place + 1])[0]
    elif place:
        start = text.span(siblings[place - 1])[1]
    else:  # it was alone: the brackets close up
        outer = text.span(parent)
        start, end = text.value_start(parent) + 1, outer[1] - 1

    def take_out(holder: Any, key: str | int) -> None:
        del holder[key]

    return text.changed(start, end, "", parent, token, take_out)


def replaced(data: bytes, pointer: str, value: Any) -> bytes:
    """*data* with another value at *pointer*, which stands there already."""
    parent, _, token = pointer.rpartition("/")
    text = _Text(data)

    def put(holder: Any, key: str | int) -> None:
        holder[key] = value

    return text.changed(text.value_start(pointer), text.span(pointer)[1], _json(value), parent, token, put)


def renamed(data: bytes, pointer: str, name: str) -> bytes:
    """*data* with another name for the member at *pointer*; the object has none of that name."""
    parent, _, token = pointer.rpartition("/")
    text = _Text(data)
    start = text.span(pointer)[0]
    _, end = _SCAN(text.text, start)

    def rename(holder: Any, key: str | int) -> None:
        holder[name] = holder.pop(key)

    return text.changed(start, end, _json(name), parent, token, rename)


def added(data: bytes, pointer: str, name: str, value: Any) -> bytes:
    """*data* with one more member, in front, in the object at *pointer*; laid out as its first one is."""
    text = _Text(data)
    opened = text.value_start(pointer) + 1
    members = text.children(pointer)
    start = text.span(members[0])[0] if members else opened
    behind = f",{text.text[opened:start] or ' '}" if members else ""  # what parts the bracket from its first member

    def put(holder: Any, key: str | int) -> None:
        holder[key] = value

    return text.changed(start, start, f"{_json(name)}: {_json(value)}{behind}", pointer, escape_pointer(name), put)


class _Text:
    """A document with the places of its parts."""

    def __init__(self, data: bytes) -> None:
        self._mark = _BOM if data.startswith(_BOM) else b""
        self._document = parse_json(data)
        self.text = data.decode("utf-8-sig")
        lines = [0]
        for line in self.text.split("\n"):
            lines.append(lines[-1] + len(line) + 1)
        self._places = {pointer: lines[line - 1] + column - 1 for pointer, (line, column) in locate(data).items()}

    def children(self, pointer: str) -> list[str]:
        """Pointers of what stands in a list or object, in the order of the text."""
        value = self._at(pointer)
        names = value if isinstance(value, dict) else map(str, range(len(value)))
        return [f"{pointer}/{escape_pointer(name)}" for name in names]

    def value_start(self, pointer: str) -> int:
        return self._places[pointer]

    def span(self, pointer: str) -> tuple[int, int]:
        """Where an item, or a member with its name, begins and ends."""
        start = self._places.get(pointer + "#", self._places[pointer])
        _, end = _SCAN(self.text, self._places[pointer])
        return start, end

    def changed(
        self, start: int, end: int, new: str, parent: str, token: str, change: Callable[[Any, str | int], None]
    ) -> bytes:
        """The text with *new* from *start* to *end*.

        Raises RuntimeError where it does not say what *change* makes of the document.
        """
        data = self._mark + (self.text[:start] + new + self.text[end:]).encode()
        holder = self._at(parent)
        change(holder, int(token) if isinstance(holder, list) else _unescaped(token))
        if parse_json(data) != self._document:
            raise RuntimeError(f"a change at {parent}/{token} would have changed something else")
        return data

    def _at(self, pointer: str) -> Any:
        value = self._document
        for token in pointer.split("/")[1:]:
            value = value[int(token)] if isinstance(value, list) else value[_unescaped(token)]
        return value


def _unescaped(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
