"""YAML as another way to write a JSON document: the same content is the same value, with line and column.

The library (PyYAML, extra `yaml`) makes tokens of the text and knows where each stands; what they mean is decided here
and in `yaml_scalars`, by JSON's data model. What JSON does not have is refused, never read as something near it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gatekeeper.documents.yaml_scalars import DoubtfulScalarError, plain_value
from gatekeeper.errors import DocumentError, UsageError
from gatekeeper.model.document import MOST_LEVELS, escape_pointer, too_deep

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMEDY = "write one YAML document in UTF-8, each key once"
_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\U00010000-\U0010ffff]|[\u2028\u2029\ufeff]")
"""Characters that YAML does not have, or takes for line breaks where JSON and editors do not."""

_REMEDIES = (
    ("found character '\\t'", "a tab, where YAML takes spaces only", "indent and separate with spaces"),
    (
        "expected chomping or indentation indicators",
        "`>` and `|` begin a text of several lines",
        'put the operator in quotes: ">="',
    ),
    ("mapping values are not allowed", "`: ` within a text without quotes", "put the text in quotes"),
    (
        "expected ',' or",
        "a list or mapping in brackets is not closed, or a text in it holds one of {}[]",
        "close it, or put the text in quotes",
    ),
    ("that cannot start any token", "a text without quotes cannot begin like this", "put the text in quotes"),
)
"""Part of what the library says -> what to say in its place, and the remedy."""


def parse_yaml(data: bytes, *, source: str = "-") -> Any:
    """The JSON value of one YAML document.

    Raises:
        DocumentError: not UTF-8, not YAML, or something that JSON's data model does not have: an anchor, alias, tag,
            merge key, date, second document, a key that is no text or stands twice, a word that readers of YAML take
            for different things. The message names source, line and column.
        UsageError: the library is not installed.
    """
    return _Reading(data, source).value


def locate_yaml(data: bytes) -> dict[str, tuple[int, int]]:
    """As `model.document.locate`, of a YAML document that parses."""
    return _Reading(data, "-").places


def _library(source: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{source}: a YAML file needs the library PyYAML, which is not installed",
            remedy="python -m pip install 'pyyaml>=6.0.2', or write the file as JSON",
        ) from None
    return yaml


class _Open:
    """A list or mapping whose end has not come."""

    __slots__ = ("key", "pointer", "value")

    def __init__(self, value: Any, pointer: str) -> None:
        self.value = value
        self.pointer = pointer
        self.key: str | None = None


class _Reading:
    """One document, from its events: what it says, and where."""

    def __init__(self, data: bytes, source: str) -> None:
        self._source = source
        self._open: list[_Open] = []
        self.value: Any = None
        self.places: dict[str, tuple[int, int]] = {}
        library = _library(source)
        text = self._text(data)
        documents = 0
        for event in self._events(library, text):
            kind = type(event)
            if kind is library.DocumentStartEvent:
                documents += 1
                self._document(event, text, documents)
            elif kind in {library.MappingStartEvent, library.SequenceStartEvent}:
                self._begin({} if kind is library.MappingStartEvent else [], event)
            elif kind in {library.MappingEndEvent, library.SequenceEndEvent}:
                self._open.pop()
            elif kind is library.ScalarEvent:
                self._scalar(event)
            elif kind is library.AliasEvent:
                raise self._refused(event.start_mark, "an alias (`*`) stands for another part", "write that part out")
        if not documents:
            raise DocumentError(f"{source}:1:1: there is no document in it", remedy=_REMEDY)

    def _text(self, data: bytes) -> str:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            message = f"{self._source}:{line}: not UTF-8 at byte {error.start}"
            raise DocumentError(message, remedy=_REMEDY, line=line) from None
        found = _FORBIDDEN.search(text)
        if found:
            line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
            message = f"the character U+{ord(found[0]):04X} cannot stand in a YAML file"
            raise self._error(line, column, message, f'write "\\u{ord(found[0]):04x}", in double quotes')
        return text

    def _events(self, library: Any, text: str) -> Iterator[Any]:
        loader = library.SafeLoader(text)
        while True:
            try:
                if not loader.check_event():
                    return
                event = loader.get_event()
            except library.MarkedYAMLError as error:
                raise self._no_yaml(str(error.problem), error.problem_mark or error.context_mark) from None
            except (ValueError, OverflowError):  # \U00110000
                raise self._refused(
                    loader.get_mark(), "an escape that stands for no character", "write the character itself"
                ) from None
            yield event

    def _document(self, event: Any, text: str, number: int) -> None:
        if number > 1:
            raise self._refused(event.start_mark, "a second document begins here", "one file is one document")
        if event.explicit and text[event.start_mark.index] == "%":
            remedy = "leave the line out: it changes what the rest means"
            raise self._refused(event.start_mark, "a directive (`%`)", remedy)

    def _begin(self, value: Any, event: Any) -> None:
        if self._awaits_key():
            raise self._refused(event.start_mark, "a key that is no text", "write one text before the colon")
        pointer = self._take(value, event)
        self._open.append(_Open(value, pointer))
        if len(self._open) > MOST_LEVELS:
            raise too_deep(self._source)

    def _scalar(self, event: Any) -> None:
        value = self._value(event)
        if not self._awaits_key():
            self._take(value, event)
            return
        self._only_text(event)
        if not isinstance(value, str):
            raise self._refused(event.start_mark, "a key that is no text", "put the key in quotes")
        self._key(value, event)

    def _value(self, event: Any) -> Any:
        text: str = event.value
        if event.style is None:
            self._only_text(event)
            try:
                return plain_value(text)
            except DoubtfulScalarError as doubt:
                is_key = self._awaits_key() and text != "<<"
                remedy = "put the key in quotes" if is_key else doubt.remedy
                raise self._refused(event.start_mark, doubt.message, remedy) from None
        if event.style in {"|", ">"} and not text:
            message = f"`{event.style}` begins a text of several lines, and none follows"
            raise self._refused(event.start_mark, message, f'put it in quotes: "{event.style}"')
        # JSON writes a character beyond U+FFFF as two escapes; YAML would keep the halves
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def _key(self, key: str, event: Any) -> None:
        within = self._open[-1]
        pointer = f"{within.pointer}/{escape_pointer(key)}"
        if key in within.value:
            message = f"duplicate key {key!r} at {pointer}"
            raise self._refused(event.start_mark, message, "keep one of the two: readers of YAML silently use the last")
        within.key = key
        self.places["#" + pointer] = _place(event.start_mark)

    def _take(self, value: Any, event: Any) -> str:
        """Put a value where it belongs; its pointer."""
        self._only_text(event)
        pointer = ""
        if not self._open:
            self.value = value
        else:
            within = self._open[-1]
            if within.key is None:
                pointer = f"{within.pointer}/{len(within.value)}"
                within.value.append(value)
            else:
                pointer = f"{within.pointer}/{escape_pointer(within.key)}"
                within.value[within.key] = value
                within.key = None
        self.places[pointer] = _place(event.start_mark)
        return pointer

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _only_text(self, event: Any) -> None:
        if event.anchor is not None:
            raise self._refused(event.start_mark, "an anchor (`&`), which nothing may repeat", "leave it out")
        if event.tag is not None:
            remedy = "leave it out: quotes make a text, a number stands without"
            raise self._refused(event.start_mark, "a tag (`!`)", remedy)

    def _no_yaml(self, problem: str, mark: Any) -> DocumentError:
        for part, message, remedy in _REMEDIES:
            if part in problem:
                return self._refused(mark, f"not YAML: {message}", remedy)
        return self._refused(mark, f"not YAML: {problem}", _REMEDY)

    def _refused(self, mark: Any, message: str, remedy: str) -> DocumentError:
        return self._error(*_place(mark), message, remedy)

    def _error(self, line: int, column: int, message: str, remedy: str) -> DocumentError:
        return DocumentError(f"{self._source}:{line}:{column}: {message}", remedy=remedy, line=line, column=column)


def _place(mark: Any) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1
