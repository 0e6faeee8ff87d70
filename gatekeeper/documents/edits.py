"""Change single values in a JSON file and leave every other byte as its author wrote it."""

from __future__ import annotations

import json

from gatekeeper.model.document import escape_pointer, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WIDEST = 120
"""Columns up to which a list stays on one line."""

_BOM = b"\xef\xbb\xbf"
_SCAN = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode  # where a value ends is all that is asked of it


def edited(data: bytes, values: Mapping[str, Any]) -> bytes:
    """*data* with other values at some places.

    A value that is there is replaced in place. A member that is not is put behind its object's last one, laid out
    as that one is.

    Args:
        data: a document that `parse_json` reads.
        values: JSON Pointer -> the value that shall stand there; the object around each exists and has a member.

    Returns:
        The new bytes; a byte order mark and the kind of line ends are kept.
    """
    mark = _BOM if data.startswith(_BOM) else b""
    for pointer, value in values.items():
        text = data.decode("utf-8-sig")
        places = {found: _index(text, *place) for found, place in locate(data).items()}
        if pointer in places:
            start = places[pointer]
            _, end = _SCAN(text, start)
            text = text[:start] + _written(value, text, start) + text[end:]
        else:
            text = _with_member(text, places, pointer, value)
        data = mark + text.encode()
    return data


def _with_member(text: str, places: Mapping[str, int], pointer: str, value: Any) -> str:
    parent, _, token = pointer.rpartition("/")
    key = token.replace("~1", "/").replace("~0", "~")
    members, _ = _SCAN(text, places[parent])
    last = f"{parent}/{escape_pointer(list(members)[-1])}"
    key_start = places[last + "#"]
    lead = text[len(text[:key_start].rstrip()) : key_start]  # what parts the members: a space, or a line and its indent
    _, behind = _SCAN(text, places[last])
    head = f"{text[:behind]},{lead}{json.dumps(key, ensure_ascii=False)}: "
    return head + _written(value, head, len(head)) + text[behind:]


def _index(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def _written(value: Any, text: str, start: int) -> str:
    """*value* as it stands at *start* of *text*: on one line where it fits, else an item a line."""
    flat = json.dumps(value, ensure_ascii=False)
    line_start = text.rfind("\n", 0, start) + 1
    line = text[line_start:start]
    if not isinstance(value, list) or not value or len(line) + len(flat) < WIDEST:
        return flat
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text else "\n"
    items = [json.dumps(item, ensure_ascii=False) for item in value]
    separator = f",{newline}{indent}{_unit(text)}"
    return f"[{separator[1:]}{separator.join(items)}{newline}{indent}]"


def _unit(text: str) -> str:
    """One step of indentation, as the first member of the document shows it."""
    for line in text.splitlines()[1:]:
        if line.strip():
            return line[: len(line) - len(line.lstrip())] or "  "
    return "  "
