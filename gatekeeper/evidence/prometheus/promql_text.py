"""A PromQL text before it is parsed: strings, comments, `$window`, and what the parser must not see.

The parser is compiled code that ends the process when a text is nested too deep, prints a trace of its own when a
number of seconds does not fit, and silently reads some texts as something else than the server does. Such texts are
refused here. All of it is about characters outside of strings and comments, so these are found first.
"""

from __future__ import annotations

import json
import re

from gatekeeper.model.times import parse_duration

LONGEST = 4096
"""Characters in a query; real ones have a few hundred."""
DEEPEST = 50
"""Brackets inside each other; with MOST_OPERATORS it keeps the parser within half a megabyte of stack."""
MOST_OPERATORS = 128
"""Operators in a query, label matchers included: a chain of them nests as deep as it is long."""

LONGEST_DURATION_MILLISECONDS = 100 * 365 * 86_400_000
"""A hundred years, for a range, a step or an offset; the server's and the parser's numbers end a little later."""

_TOKEN = re.compile(r""" "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `[^`]*` | \#[^\n]* | ["'`] """, re.VERBOSE)
_BYTE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\x[89a-fA-F][0-9a-fA-F]|\\[23][0-7]{2})")
_OPERATOR = re.compile(r"[-+*/%^=!<>]|\b(?:and|or|unless|atan2)\b", re.IGNORECASE)
_RANGE = re.compile(r"\[\s*([0-9a-z]+)\s*(?::\s*(?:([0-9a-z]+)\s*)?)?\]", re.ASCII)
_OFFSET = re.compile(r"\boffset\s*[-+]?\s*([0-9.][0-9a-z.+]*|nan\b|inf\b)", re.IGNORECASE | re.ASCII)
_AT = re.compile(r"@\s*(?:(?:start|end)\s*\(\s*\)|[0-9]{1,12}(?:\.[0-9]+)?(?![\w.]))", re.ASCII)
_WINDOW = re.compile(r"\$window(?![A-Za-z0-9_])")
_BRACKET = re.compile(r"[()\[\]{}]")
_VARIABLE = re.compile(r"\$(?:\{[^}]*\}|\w*)")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


class PromqlError(ValueError):
    """A PromQL text that is not sent; the message is one line and says why."""


def with_window(query: str, window: str | None) -> str:
    """*query* with the collection's *window* in the place of each `$window`.

    Only `$window` as a whole word outside of strings and comments is replaced: inside a string it may be a group of
    `label_replace`.

    Raises:
        PromqlError: `$window` without a window, or a window that is no duration.
    """
    pieces = _pieces(query)
    if not any(_WINDOW.search(text) for text, is_string in pieces if not is_string):
        return query
    if window is None:
        raise PromqlError("$window is used, but the collection states no `window`")
    if not _is_duration(window):
        raise PromqlError(f"the window {window!r} is no duration such as 5m")
    return "".join(text if is_string else _WINDOW.sub(window, text) for text, is_string in pieces)


def readable(query: str) -> str:
    """*query* as the parser may see it: without comments, strings in double quotes.

    Raises:
        PromqlError: a text that the parser would crash on or misread.
    """
    if len(query) > LONGEST:
        raise PromqlError(f"longer than {LONGEST} characters")
    pieces = _pieces(query)
    _refuse_the_unreadable("".join('""' if is_string else text for text, is_string in pieces))
    return "".join(_double_quoted(text) if is_string else text for text, is_string in pieces)


def quoted(value: str) -> str:
    """*value* as a PromQL string in double quotes, all in one line and in characters that show.

    Raises:
        PromqlError: half of a surrogate pair, which no server can be sent.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PromqlError(f"{value!a} is no text: it holds half of a surrogate pair") from None
    return _shown(json.dumps(value, ensure_ascii=False))


def one_line(pretty: str) -> str:
    """What the parser wrote on several lines, on one; strings keep their meaning."""
    out: list[str] = []
    end = 0
    for match in _LITERAL.finditer(pretty):
        out += [_joined(pretty[end : match.start()]), _shown(match.group())]
        end = match.end()
    return "".join([*out, _joined(pretty[end:])]).strip()


def duration_text(seconds: float) -> str:
    """Seconds, at least one millisecond or none, as a duration: 90.5 is `1m30s500ms`, -60 is `-1m`."""
    rest = abs(round(seconds * 1000))
    text = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return ("-" if seconds < 0 else "") + (text or "0s")


def _pieces(query: str) -> list[tuple[str, bool]]:
    """The text in order, comments left out, each piece with whether it is a string with its quotes."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in _TOKEN.finditer(query):
        piece = match.group()
        if piece in {'"', "'", "`"}:
            raise PromqlError(f"the string that begins at character {match.start() + 1} does not end")
        pieces.append((query[end : match.start()], False))
        pieces.append((" ", False) if piece[0] == "#" else (piece, True))
        end = match.end()
    return [*pieces, (query[end:], False)]


def _double_quoted(string: str) -> str:
    """A string with its quotes as the parser reads it right: it looks for escapes even between backticks."""
    if string[0] == "`":
        return quoted(string[1:-1])
    if match := _BYTE_ESCAPE.search(string):
        # The server takes these for bytes of UTF-8, the parser for characters.
        raise PromqlError(f"write the character itself instead of {match.group(1)} in {string}")
    return string


def _refuse_the_unreadable(code: str) -> None:
    """Refuse what must not reach the parser; *code* is the query with all strings empty."""
    if match := _VARIABLE.search(code):
        raise PromqlError(f"{match.group()} stands for nothing here: only $window is replaced")
    depth = deepest = 0
    for bracket in _BRACKET.findall(code):
        depth = max(0, depth + (1 if bracket in "([{" else -1))
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise PromqlError(f"more than {DEEPEST} brackets inside each other")
    if len(_OPERATOR.findall(code)) > MOST_OPERATORS:
        raise PromqlError(f"more than {MOST_OPERATORS} operators and label matchers")
    for bracket in re.finditer(r"\[", code):
        span = _RANGE.match(code, bracket.start())
        if span is None or not all(_is_duration(part) for part in span.groups() if part is not None):
            raise PromqlError("a range is a duration, or a duration and a step: [5m], [1h:1m], [1h:]")
    for offset in _OFFSET.finditer(code):
        if not _is_duration(offset.group(1)):
            raise PromqlError(f"an offset is a duration such as 5m, not {offset.group(1)}")
    for at in re.finditer("@", code):
        if not _AT.match(code, at.start()):
            raise PromqlError("@ takes start(), end() or unix seconds")


def _is_duration(text: str) -> bool:
    milliseconds = parse_duration(text)
    return milliseconds is not None and milliseconds <= LONGEST_DURATION_MILLISECONDS


def _joined(code: str) -> str:
    flat = re.sub(r"\s*\n\s*", " ", code)
    return flat.replace("( ", "(").replace(" )", ")")


def _shown(literal: str) -> str:
    return literal if literal.isprintable() else "".join(map(_escape, literal))


def _escape(char: str) -> str:
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
