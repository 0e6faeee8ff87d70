"""Strict JSON: bytes to a value, with what lenient readers drop told apart.

Duplicate keys are refused. A number that is no finite double (NaN, Infinity, 1e400, an integer
beyond ±(2^53-1), also where it is written 1e17) is read as `NotADouble`, which is its text: whoever
reads the document decides what that means, and no such number ever takes part in arithmetic. A file
that people review may hold none of these, nor a few things more: `odd_places`.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from gatekeeper.errors import DocumentError
from gatekeeper.model.canonical import MAX_SAFE_INTEGER, is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gatekeeper.errors import InputRefusedError

    Path = tuple[str | int, ...]

DEEPEST = 16
"""Levels of nesting that a reviewed file may have; a policy has four."""

MOST_LEVELS = 200
"""Levels of nesting that any document may have: far fewer than what a reader, however it is called, can walk down."""

_REMEDY = "write one JSON document (RFC 8259) in UTF-8, each key once"
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_LONGEST_SAFE_INTEGER = 16  # digits of 2^53-1


class NotADouble(str):
    """Text of a number that no finite double can hold."""

    __slots__ = ()


class _DuplicateKeyError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def parse_json(data: bytes, *, source: str = "-") -> Any:
    """The value of one JSON document.

    Args:
        data: UTF-8 bytes; a byte order mark is passed over.
        source: where they came from, for the message.

    Raises:
        DocumentError: not UTF-8, not JSON, nested too deeply, or a key twice in one object; the
            message names source, line and column.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(f"{source}:{line}: not UTF-8 at byte {error.start}", remedy=_REMEDY, line=line) from None
    try:
        value = _DECODER.decode(text)
    except _DuplicateKeyError as error:
        line, column, pointer = _locate_duplicate(text)
        raise DocumentError(
            f"{source}:{line}:{column}: duplicate key {error.key!r} at {pointer}",
            remedy="keep one of the two: readers of JSON silently use the last",
            line=line,
            column=column,
        ) from None
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{source}:{error.lineno}:{error.colno}: not JSON: {error.msg}",
            remedy=_REMEDY,
            line=error.lineno,
            column=error.colno,
        ) from None
    except RecursionError:
        raise too_deep(source) from None
    if data.count(b"[") + data.count(b"{") > MOST_LEVELS and _levels(value) > MOST_LEVELS:
        raise too_deep(source)
    return value


def is_yaml(source: str) -> bool:
    """Whether the name of a policy or collection file says that YAML is in it (`documents.yaml_reading`), not JSON."""
    return source.lower().endswith((".yaml", ".yml"))


def is_document_file(name: str) -> bool:
    """Whether a name in a folder is that of a reviewed file, in either language."""
    return is_yaml(name) or name.endswith(".json")


def too_deep(source: str) -> DocumentError:
    """The refusal of a document of more than `MOST_LEVELS`."""
    return DocumentError(f"{source}: nested too deeply, more than {MOST_LEVELS} levels", remedy="flatten the document")


def _levels(value: object) -> int:
    """How deeply lists and objects stand in one another; without recursion, since the depth is the author's."""
    levels, within = 0, [value]
    while within := [one for one in within if isinstance(one, (dict, list))]:
        within = [inner for one in within for inner in (one.values() if isinstance(one, dict) else one)]
        levels += 1
    return levels


def parse_document(data: bytes, source: str, *, error: type[InputRefusedError]) -> Any:
    """The JSON value in *data*. Raises *error* for bytes that are not strict JSON, with line and column."""
    try:
        return parse_json(data, source=source)
    except DocumentError as refused:
        raise error(refused.message, remedy=refused.remedy) from refused


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return members


def _integer(text: str) -> int | NotADouble:
    if len(text) > _LONGEST_SAFE_INTEGER + 1:
        return NotADouble(text)
    number = int(text)
    return number if is_number(number) else NotADouble(text)


def number_of(text: str) -> float | NotADouble:
    """The value of a number as JSON writes it."""
    return _float(text) if "." in text or "e" in text or "E" in text else _integer(text)


def _float(text: str) -> float | NotADouble:
    number = float(text)
    if not is_number(number):
        return NotADouble(text)
    # 250.0 and 250 are one number (RFC 8785), and logged as 250: it is that from the beginning
    return int(number) if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER else number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=NotADouble
)


def has_odd_places(document: Any) -> bool:
    """Whether there is anything that `odd_places` tells."""
    return next(odd_places(document), None) is not None


def odd_places(document: Any, levels: int = DEEPEST) -> Iterator[tuple[Path, Any, bool]]:
    """Values that no reviewed file can hold, and names; without recursion, since the depth is the author's.

    Args:
        document: a JSON value as `parse_json` reads it.
        levels: how deep lists and objects may stand in one another.

    Yields:
        path, value, and whether it is the name at the path that is odd; a list or object is one too deep.
    """
    waiting: list[tuple[Path, Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (dict, list)):
            if len(path) >= levels:
                yield path, value, False
                continue
            members = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(((*path, key), inner) for key, inner in members)
        if value is None or isinstance(value, NotADouble) or not is_unicode(value):
            yield path, value, False
        if path and not is_unicode(path[-1]):
            yield path, value, True


def is_unicode(value: object) -> bool:
    """Whether *value* is anything but text with half of a surrogate pair."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def escape_pointer(key: str) -> str:
    """One reference token of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def unescape_pointer(token: str) -> str:
    """The name that `escape_pointer` made *token* of."""
    return token.replace("~1", "/").replace("~0", "~")


def locate(data: bytes) -> dict[str, tuple[int, int]]:
    """JSON Pointer -> line and column (from 1) of every value of a document that parses.

    The key `"#" + pointer`, which is no pointer, gives where the member's name stands.
    """
    from bisect import bisect_right  # only where a reviewer is told of places

    begins = [0, *(found.end() for found in re.finditer("\n", data.decode("utf-8-sig")))]
    lines = ((pointer, index, bisect_right(begins, index)) for pointer, index in offsets(data).items())
    return {pointer: (line, index - begins[line - 1] + 1) for pointer, index, line in lines}


def offsets(data: bytes) -> dict[str, int]:
    """The same, as indices into the document's text without its byte order mark."""
    positions: dict[str, int] = {}
    text = data.decode("utf-8-sig")
    _walk(text, _SPACE.match(text, 0).end(), "", positions, None)  # type: ignore[union-attr]
    return positions


def _locate_duplicate(text: str) -> tuple[int, int, str]:
    found: list[tuple[int, str]] = []
    _walk(text, _SPACE.match(text, 0).end(), "", {}, found)  # type: ignore[union-attr]
    index, pointer = found[0] if found else (0, "/")
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index), pointer


def _walk(
    text: str,
    index: int,
    pointer: str,
    positions: dict[str, int],
    duplicates: list[tuple[int, str]] | None,
) -> int:
    """Note where the value at *index* and all below it stand; the index behind it."""
    positions[pointer] = index
    opening = text[index]
    if opening == '"':
        return scanstring(text, index + 1, True)[1]  # type: ignore[no-any-return]  # noqa: FBT003
    if opening not in "{[":
        return _SCALAR.match(text, index).end()  # type: ignore[union-attr]
    index, number, seen = index + 1, 0, set[str]()
    while True:
        index = _skip(text, index)
        if text[index] in "}]":
            return index + 1
        if text[index] == ",":
            index = _skip(text, index + 1)
        token = str(number)
        if opening == "{":
            start = index
            token, index = scanstring(text, index + 1, True)  # noqa: FBT003
            child = f"{pointer}/{escape_pointer(token)}"
            positions["#" + child] = start
            if token in seen and duplicates is not None:
                duplicates.append((start, child))
            seen.add(token)
            index = _skip(text, _skip(text, index) + 1)
        index = _walk(text, index, f"{pointer}/{escape_pointer(token)}", positions, duplicates)
        number += 1


def _skip(text: str, index: int) -> int:
    return _SPACE.match(text, index).end()  # type: ignore[union-attr]
