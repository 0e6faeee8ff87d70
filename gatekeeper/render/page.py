"""What a result looks like before anybody knows the format: blocks that text and markdown both print.

A table is described once, here; its JSON form stands beside it in `Page.document`. The classes are plain,
because every check builds them and a dataclass costs half a millisecond at start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.report import Report

BAD, HELD, GOOD, QUIET, PLAIN = "bad", "held", "good", "quiet", ""
"""Tones: what a terminal may colour. They never carry meaning that the words lack."""

VERDICT_TONES = {"ACCEPT": GOOD, "REJECT": BAD, "DEGRADE": HELD}


class Layout:
    """What the caller knows of the place that the text goes to.

    Attributes:
        width: columns; lines are longer only where one word is.
        colour: whether a terminal looks on that wants ANSI colours.
        unicode: False where only ASCII can be shown.
    """

    __slots__ = ("colour", "unicode", "width")

    def __init__(self, width: int = 80, *, colour: bool = False, unicode: bool = True) -> None:
        self.width = width
        self.colour = colour
        self.unicode = unicode


class Column:
    """A heading; `right` aligns numbers, `code` marks names and codes, `plain` values say what they are."""

    __slots__ = ("code", "heading", "plain", "right")

    def __init__(self, heading: str, *, right: bool = False, code: bool = False, plain: bool = False) -> None:
        self.heading = heading
        self.right = right
        self.code = code
        self.plain = plain


class Row:
    """One cell per column, and a sentence that belongs to the row as a whole."""

    __slots__ = ("cells", "detail", "tone")

    def __init__(self, *cells: str, detail: str = "", tone: str = PLAIN) -> None:
        self.cells = cells
        self.detail = detail
        self.tone = tone


class Table:
    """Rows under headings. `detail` heads the rows' sentences; `empty` is said where there is no row."""

    __slots__ = ("columns", "detail", "empty", "rows", "title")

    def __init__(
        self,
        columns: tuple[Column, ...],
        rows: list[Row],
        *,
        title: str = "",
        detail: str = "what it says",
        empty: str = "none",
    ) -> None:
        self.columns = columns
        self.rows = rows
        self.title = title
        self.detail = detail
        self.empty = empty


class Fields:
    """Label and values; each value begins a line of its own. `code` marks values that are names and codes.

    Pairs without a value are left out.
    """

    __slots__ = ("code", "pairs", "title")

    def __init__(self, pairs: list[tuple[str, list[str]]], *, title: str = "", code: bool = False) -> None:
        self.pairs = [(label, values) for label, values in pairs if values]
        self.title = title
        self.code = code


class Lines:
    """Sentences, one a line; left out when there is none."""

    __slots__ = ("lines", "title", "tone")

    def __init__(self, lines: list[str], *, title: str = "", tone: str = PLAIN) -> None:
        self.lines = lines
        self.title = title
        self.tone = tone


class Command:
    """A command line to copy: broken only where a shell goes on reading; what is no plain word is quoted."""

    __slots__ = ("title", "words")

    def __init__(self, words: list[str], *, title: str = "") -> None:
        self.words = [_quoted(word) for word in words]
        self.title = title


def _quoted(word: str) -> str:
    # the names that gatekeeper accepts need no quotes; a forged log may hold others
    if word and word.isascii() and all(letter.isalnum() or letter in "._:/@=-" for letter in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


Block = Table | Fields | Lines | Command


class Page:
    """A result: a headline, blocks, and what the machine formats print.

    Attributes:
        headline: begins with `[OK]`, `[STOP]` or `[HOLD]` for a decision.
        document: what `-o json` prints.
        records: what `-o ndjson` prints, one line each; bytes are recorded lines and pass through.
        report: what `-o sarif` and `-o junit` print; None where the command has neither.
    """

    __slots__ = ("blocks", "document", "headline", "records", "report", "tone")

    def __init__(
        self,
        headline: str,
        blocks: list[Block],
        *,
        document: Mapping[str, Any],
        records: list[Mapping[str, Any] | bytes] | None = None,
        tone: str = PLAIN,
        report: Report | None = None,
    ) -> None:
        self.headline = headline
        self.blocks = blocks
        self.document = document
        self.report = report
        self.records = [document] if records is None else records
        self.tone = tone
