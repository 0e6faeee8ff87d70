"""Single changes to the text of a YAML file, as `patch` makes them in JSON: comments and layout stay.

Each function checks itself: what the new text says must be what the change makes of the old document, and no comment
may go but those on lines that are taken out. Where that cannot be, it raises `UnchangeableError`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from gatekeeper.documents.patch import WIDEST
from gatekeeper.documents.patches import UnchangeableError
from gatekeeper.documents.pointers import pointers_in, put_in, rename, take_out, value_at
from gatekeeper.documents.yaml_reading import parse_yaml
from gatekeeper.errors import DocumentError
from gatekeeper.model.document import escape_pointer, unescape_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

_BOM = b"\xef\xbb\xbf"
_COMMENT = re.compile(r"#[^\r\n]*")
_WORD = re.compile(r"[A-Za-z_./<=][A-Za-z0-9_./<>=%-]*")


def removed(data: bytes, pointer: str) -> bytes:
    """*data* without the item or member at *pointer*, and without the comments on its lines."""
    parent = pointer.rpartition("/")[0]
    text = _Text(data)
    siblings = text.children(parent)
    place = siblings.index(pointer)

    change = partial(take_out, pointer=pointer)

    if len(siblings) == 1:
        start, end = text.value_span(parent, is_block=False)
        empty = "{}" if text.is_mapping(parent) else "[]"
        return text.changed(start, end, f"{text.gap(start)}{empty}", pointer, change)
    start, end = text.span(pointer)
    if not text.is_flow(parent) and text.begins_line(start):
        start, end = text.line_start(start), text.behind_line(end)
        return text.changed(start, end, "", pointer, change, loses=text.comments(start, end))
    if place + 1 < len(siblings):
        end = text.span(siblings[place + 1])[0]
    else:
        start = text.span(siblings[place - 1])[1]
    return text.changed(start, end, "", pointer, change)


def put(data: bytes, pointer: str, value: Any) -> bytes:
    """*data* with *value* at *pointer*: for the one that stands there, or as the last member of the mapping around."""
    parent, _, token = pointer.rpartition("/")
    text, change = _Text(data), partial(put_in, pointer=pointer, value=value)
    if text.has(pointer):
        is_block = not text.is_flow(pointer) and isinstance(value, list) and value != []
        start, end = text.value_span(pointer, is_block=is_block)
        written = text.items(value, text.column(start)) if is_block else text.gap(start) + text.like(pointer, value)
        return text.changed(start, end, written.lstrip("\r\n ") if is_block else written, pointer, change)
    members, name = text.children(parent), _word(unescape_pointer(token))
    if text.is_flow(parent):
        end = text.span(members[-1])[1] if members else text.value_span(parent)[0] + 1
        return text.changed(end, end, f"{', ' if members else ''}{name}: {_flow(value)}", pointer, change)
    column = text.column(text.span(members[0])[0])
    end = text.line_end(text.span(members[-1])[1])
    head = f"{text.newline}{' ' * column}{name}:"
    flow = f" {_flow(value)}"
    is_block = isinstance(value, list) and column + len(name) + len(flow) >= WIDEST
    return text.changed(end, end, head + (text.items(value, column) if is_block else flow), pointer, change)


def renamed(data: bytes, pointer: str, name: str) -> bytes:
    """*data* with another name for the member at *pointer*; the mapping has none of that name."""
    text = _Text(data)
    change = partial(rename, pointer=pointer, name=name)
    return text.changed(*text.key_span(pointer), _word(name), pointer, change)


class _Text:
    """A document with the places of its parts."""

    def __init__(self, data: bytes) -> None:
        import yaml

        self._document = parse_yaml(data)
        self._mark = _BOM if data.startswith(_BOM) else b""
        self.text = data.decode("utf-8-sig")
        self.newline = "\r\n" if "\r\n" in self.text else "\n"
        self._keys: dict[str, Any] = {}
        self._values: dict[str, Any] = {}
        self._scalars: list[tuple[int, int]] = []
        waiting: list[tuple[str, Any]] = [("", yaml.compose(self.text, Loader=yaml.SafeLoader))]
        while waiting:
            pointer, node = waiting.pop()
            self._values[pointer] = node
            if isinstance(node, yaml.ScalarNode):
                self._scalars.append((node.start_mark.index, self._end(node)))
            elif isinstance(node, yaml.SequenceNode):
                waiting += [(f"{pointer}/{index}", inner) for index, inner in enumerate(node.value)]
            else:
                for key, inner in node.value:
                    place = f"{pointer}/{escape_pointer(key.value)}"
                    self._keys[place] = key
                    self._scalars.append((key.start_mark.index, key.end_mark.index))
                    waiting.append((place, inner))
        self._scalars.sort()

    def has(self, pointer: str) -> bool:
        return pointer in self._values

    def is_flow(self, pointer: str) -> bool:
        """Whether a value is written in brackets, or is no list or mapping at all."""
        return getattr(self._values[pointer], "flow_style", True) is True

    def is_mapping(self, pointer: str) -> bool:
        return isinstance(value_at(self._document, pointer), dict)

    def children(self, pointer: str) -> list[str]:
        """Pointers of what stands in a list or mapping, in the order of the text."""
        return pointers_in(self._document, pointer)

    def key_span(self, pointer: str) -> tuple[int, int]:
        key = self._keys[pointer]
        return key.start_mark.index, key.end_mark.index

    def span(self, pointer: str) -> tuple[int, int]:
        """Where a member with its name, or an item with its dash, begins and ends."""
        node = self._values[pointer]
        start = node.start_mark.index
        if pointer in self._keys:
            start = self.key_span(pointer)[0]
        elif pointer and not self.is_flow(pointer.rpartition("/")[0]):
            start = self.text.rindex("-", 0, start)
        return start, self._end(node)

    def value_span(self, pointer: str, *, is_block: bool = True) -> tuple[int, int]:
        """Where a value begins and ends; what replaces lines of a member by one word begins behind its colon."""
        node = self._values[pointer]
        start = node.start_mark.index
        if not is_block and not self.is_flow(pointer) and pointer in self._keys:
            start = self.text.index(":", self.key_span(pointer)[1]) + 1
        return start, self._end(node)

    def gap(self, start: int) -> str:
        """What parts a word at *start* from a colon before it."""
        return " " if self.text[:start].endswith(":") else ""

    def like(self, pointer: str, value: Any) -> str:
        """A value written as the one at *pointer*: without quotes where that has none."""
        is_plain = getattr(self._values[pointer], "style", '"') is None
        return _word(value) if is_plain and isinstance(value, str) else _flow(value)

    def items(self, values: list[Any], column: int) -> str:
        """A list with a line for each item."""
        return "".join(f"{self.newline}{' ' * column}- {_flow(value)}" for value in values)

    def column(self, index: int) -> int:
        return index - self.line_start(index)

    def line_start(self, index: int) -> int:
        return self.text.rfind("\n", 0, index) + 1

    def begins_line(self, index: int) -> bool:
        return not self.text[self.line_start(index) : index].strip()

    def line_end(self, index: int) -> int:
        end = self.text.find("\n", index)
        end = len(self.text) if end < 0 else end
        return end - 1 if self.text[end - 1 : end] == "\r" else end

    def behind_line(self, index: int) -> int:
        end = self.text.find("\n", index)
        return len(self.text) if end < 0 else end + 1

    def comments(self, start: int = 0, end: int | None = None) -> Counter[str]:
        """The comments from *start* to *end*: what begins with `#` outside of keys and values."""
        found: Counter[str] = Counter()
        at = start
        last = len(self.text) if end is None else end
        for begins, ends in [*self._scalars, (last, last)]:
            if ends > at:
                found.update(_COMMENT.findall(self.text, at, max(at, min(begins, last))))
                at = max(at, ends)
        return found

    def changed(
        self, start: int, end: int, new: str, pointer: str,
        change: Callable[[Any], None], *, loses: Counter[str] | None = None,
    ) -> bytes:  # fmt: skip
        """The text with *new* from *start* to *end*.

        Raises UnchangeableError where it does not say what *change* makes of the document, or lacks a comment.
        """
        data = self._mark + (self.text[:start] + new + self.text[end:]).encode()
        change(self._document)
        try:
            is_meant = parse_yaml(data) == self._document
        except DocumentError:
            is_meant = False
        if not is_meant or self.comments() - (loses or Counter()) - _Text(data).comments():
            raise UnchangeableError(f"{pointer}")
        return data

    def _end(self, node: Any) -> int:
        """Where the text of a node ends; the library counts empty lines and comments behind it as its own."""
        while getattr(node, "flow_style", True) is not True:
            node = node.value[-1][1] if isinstance(node.value[-1], tuple) else node.value[-1]
        start, end = node.start_mark.index, node.end_mark.index
        return start + len(self.text[start:end].rstrip()) if getattr(node, "style", None) in {"|", ">"} else int(end)


def _word(text: str) -> str:
    """Text without quotes where all readers take it for text, else in quotes."""
    if _WORD.fullmatch(text):
        try:
            if parse_yaml(f"[{text}]".encode()) == [text]:
                return text
        except DocumentError:
            pass
    return _flow(text)


def _flow(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)
