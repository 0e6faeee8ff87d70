"""Single changes to the text of a JSON file: every other byte stays as its author wrote it.

Each function checks itself: what the new text says must be what the change makes of the old document.
"""

from __future__ import annotations

import json
from functools import partial

from gatekeeper.documents.pointers import pointers_in, put_in, rename, take_out
from gatekeeper.model.document import offsets, parse_json, unescape_pointer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WIDEST = 120
"""Columns up to which a list stays on one line."""

_BOM = b"\xef\xbb\xbf"
_SCAN = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode  # where a value ends is all that is asked of it


def removed(data: bytes, pointer: str) -> bytes:
    """*data* without the item or member at *pointer*, and without the comma that parted it."""
    parent = pointer.rpartition("/")[0]
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
    return text.changed(start, end, "", pointer, partial(take_out, pointer=pointer))


def put(data: bytes, pointer: str, value: Any) -> bytes:
    """*data* with *value* at *pointer*: for the one that stands there, or as the last member of the object around."""
    parent, _, token = pointer.rpartition("/")
    text, change = _Text(data), partial(put_in, pointer=pointer, value=value)
    if text.has(pointer):
        start = text.value_start(pointer)
        return text.changed(start, text.span(pointer)[1], _written(value, text.text, start), pointer, change)
    opened, members = text.value_start(parent) + 1, text.children(parent)
    name = _json(unescape_pointer(token))
    if not members:
        return text.changed(opened, opened, f"{name}: {_json(value)}", pointer, change)
    behind = text.span(members[-1])[1]
    lead = text.lead(members[-1]) or (" " if len(members) == 1 else "")
    head = f",{lead}{name}: "
    whole = text.text[:behind] + head
    return text.changed(behind, behind, head + _written(value, whole, len(whole)), pointer, change)


def renamed(data: bytes, pointer: str, name: str) -> bytes:
    """*data* with another name for the member at *pointer*; the object has none of that name."""
    text = _Text(data)
    start = text.span(pointer)[0]
    _, end = _SCAN(text.text, start)
    change = partial(rename, pointer=pointer, name=name)
    return text.changed(start, end, _json(name), pointer, change)


class _Text:
    """A document with the places of its parts."""

    def __init__(self, data: bytes) -> None:
        self._mark = _BOM if data.startswith(_BOM) else b""
        self._document = parse_json(data)
        self.text = data.decode("utf-8-sig")
        self._places = offsets(data)

    def children(self, pointer: str) -> list[str]:
        """Pointers of what stands in a list or object, in the order of the text."""
        return pointers_in(self._document, pointer)

    def has(self, pointer: str) -> bool:
        return pointer in self._places

    def lead(self, pointer: str) -> str:
        """What parts a member from the one before: a space, or a line and its indent."""
        start = self.span(pointer)[0]
        return self.text[len(self.text[:start].rstrip()) : start]

    def value_start(self, pointer: str) -> int:
        return self._places[pointer]

    def span(self, pointer: str) -> tuple[int, int]:
        """Where an item, or a member with its name, begins and ends."""
        start = self._places.get("#" + pointer, self._places[pointer])
        _, end = _SCAN(self.text, self._places[pointer])
        return start, end

    def changed(self, start: int, end: int, new: str, pointer: str, change: Callable[[Any], None]) -> bytes:
        """The text with *new* from *start* to *end*.

        Raises RuntimeError where it does not say what *change* makes of the document.
        """
        data = self._mark + (self.text[:start] + new + self.text[end:]).encode()
        change(self._document)
        if parse_json(data) != self._document:
            raise RuntimeError(f"a change at {pointer} would have changed something else")
        return data


def _written(value: Any, text: str, start: int) -> str:
    """*value* as it stands at *start* of *text*: on one line where it fits, else an item a line."""
    flat = _json(value)
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if not isinstance(value, list) or not value or len(line) + len(flat) < WIDEST:
        return flat
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text else "\n"
    separator = f",{newline}{indent}{_unit(text)}"
    return f"[{separator[1:]}{separator.join(map(_json, value))}{newline}{indent}]"


def _unit(text: str) -> str:
    """One step of indentation, as the first member of the document shows it."""
    for line in text.splitlines()[1:]:
        if line.strip():
            return line[: len(line) - len(line.lstrip())] or "  "
    return "  "


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
