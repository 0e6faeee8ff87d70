"""Text that cannot do harm on a terminal or in a CI log, its width in columns, and line breaking.

A metric may have any name and a label any value, so everything that is shown goes through `printable`:
control characters, escape sequences, direction marks and line separators are written as escapes, and what
CI systems read as a command (`::error::` where a word begins, `##[group]`, `##vso[…]`) is broken up.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COLOURS = {"bad": "1;31", "held": "1;33", "good": "1;32", "quiet": "2"}

# Patterns are compiled when a text first needs them: most texts are plain ASCII, and start-up counts.
# C0, DEL, C1; soft hyphen, zero width and direction marks; line separators; surrogates; tags and selectors
_UNSEEN = (
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_NOT_ASCII = r"[^\x00-\x7f]"
_COMMAND_AT_WORD = r"(?<!\S)::"
_COMMAND_ANYWHERE = r"##(?=[\w.-]*\[)"
_ASCII = str.maketrans({"…": "...", "→": "->", "—": "-", "±": "+-", "·": "-", "≤": "<=", "≥": ">="})


def printable(text: str, *, unicode: bool = True) -> str:
    """*text* on one line, harmless wherever it is printed; pure ASCII when *unicode* is False."""
    if not text.isascii() or not text.isprintable():
        text = re.sub(_UNSEEN, _escape, text)
        if not unicode:
            text = re.sub(_NOT_ASCII, _escape, text.translate(_ASCII))
    if "::" in text:
        text = re.sub(_COMMAND_AT_WORD, r"\\::", text)
    if "##" in text:
        text = re.sub(_COMMAND_ANYWHERE, r"#\\#", text)
    return text


def columns(text: str) -> int:
    """Columns that *text* takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Break printable *text* at spaces into lines of *width* columns, led by *first*, then *rest*.

    A word that is longer than a line stays whole.
    """
    lines: list[str] = []
    lead, line = first, ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and columns(lead) + columns(longer) > width:
            lines.append(lead + line)
            lead, line = rest, word
        else:
            line = longer
    lines.append((lead + line).rstrip())
    return lines


def wrap_command(words: Iterable[str], width: int, *, lead: str) -> list[str]:
    """A command line in lines that a shell joins again: all but the last end in a backslash."""
    lines: list[str] = []
    line = ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if line and len(lead) + columns(longer) + 2 > width:
            lines.append(f"{lead}{line} \\")
            line = f"  {word}"
        else:
            line = longer
    return [*lines, lead + line]


def paint(text: str, tone: str, *, colour: bool) -> str:
    """*text* in the colour of its tone, where colours are wanted."""
    code = _COLOURS.get(tone)
    return f"\x1b[{code}m{text}\x1b[0m" if colour and code is not None else text


def pad(text: str, width: int, *, right: bool) -> str:
    """*text* filled with spaces to *width* columns."""
    space = " " * (width - columns(text))
    return space + text if right else text + space


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    if number < 0x100:  # two hex digits hold it
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # four hex digits hold it
