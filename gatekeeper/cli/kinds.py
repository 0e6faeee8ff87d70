"""How the text of an option becomes a value, and what is refused.

One table for both ways of parsing: what the fast way refuses, typer refuses with the same sentence.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.cli.spec import Argument, Option

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_NAME = _LETTERS + "._-"
_RUN_ID = _NAME + ":/@"
_UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
          "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "B": 1}  # fmt: skip
_UNIT_LETTERS = "kKMGiB"
_LONGEST_NAME = 128
_LONGEST_RUN_ID = 512
_LONGEST_COUNT = 15  # digits; below 2^53, so that JSON can say it

SNAPSHOT = "snapshot"
"""The word that `--as-of` takes instead of a time: the snapshot's `collected_at`."""


class BadValueError(ValueError):
    """The text is no value of this kind; the message says what would be."""


class Ago(int):
    """A point in time stated as its distance from now, in milliseconds."""

    __slots__ = ()


class Seq(int):
    """A place in the log, where a time could stand as well."""

    __slots__ = ()


def convert(taker: Option | Argument, text: str) -> object:
    """The value that *text* states for *taker*. Raises BadValueError."""
    if taker.choices:
        return _choice(text, taker.choices)
    return KINDS[taker.kind](text)


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:  # bytes that Python hands on as lone surrogates: no event could hold them
            raise BadValueError(f"{text!r} is not UTF-8") from None
    return text


def _sentence(text: str) -> str:
    if not text.strip():
        raise BadValueError("it is empty; say it in a few words")
    return _text(text)


def _path(text: str) -> str:
    if not text:
        raise BadValueError("it is empty; a path is needed")
    if "\0" in text:
        raise BadValueError("a path cannot hold a NUL character")
    return text


def _name(text: str) -> str:
    if not text or len(text) > _LONGEST_NAME or text.strip(_NAME):
        raise BadValueError(f"{text!r} is no name; allowed are 1 to {_LONGEST_NAME} of A-Z a-z 0-9 . _ -")
    return text


def _run_id(text: str) -> str:
    if not text or len(text) > _LONGEST_RUN_ID or text.strip(_RUN_ID):
        raise BadValueError(f"{text!r} is no run id; allowed are 1 to {_LONGEST_RUN_ID} of A-Z a-z 0-9 . _ - : / @")
    return text


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _LONGEST_COUNT or int(text) < 1:
        raise BadValueError(f"{text!r} is no whole number from 1 up")
    return int(text)


def _bytes(text: str) -> int:
    digits = text.rstrip(_UNIT_LETTERS)
    factor = _UNITS.get(text[len(digits) :])
    if factor is None or not (digits.isascii() and digits.isdigit()) or len(digits) > _LONGEST_COUNT:
        raise BadValueError(f"{text!r} is no size; write it like 500000, 64MiB or 1GB")
    size = int(digits) * factor
    if not 0 < size < 10**_LONGEST_COUNT:
        raise BadValueError(f"{text!r} is no size from 1 byte up")
    return size


def _duration(text: str) -> int:
    from gatekeeper.model.times import parse_duration

    milliseconds = parse_duration(text)
    if milliseconds is None:
        raise BadValueError(f"{text!r} is no duration; write it like 90s, 30m, 1h30m or 7d")
    return milliseconds


def _time(text: str) -> int:
    from gatekeeper.model.times import parse_time

    microseconds = parse_time(text)
    if microseconds is None:
        raise BadValueError(f"{text!r} is no time; write it with its zone, like 2026-02-18T01:00:00Z")
    return microseconds


def _moment(text: str) -> int | str:
    if text == SNAPSHOT:
        return text
    try:
        return _time(text)
    except BadValueError as error:
        raise BadValueError(f"{error}, or the word {SNAPSHOT}") from None


def _since(text: str) -> int:
    from gatekeeper.model.times import parse_duration

    milliseconds = parse_duration(text)
    if milliseconds is not None:
        return Ago(milliseconds)
    try:
        return _time(text)
    except BadValueError as error:
        raise BadValueError(f"{error}, or as a distance like 7d") from None


def _before(text: str) -> int:
    if text.isascii() and text.isdigit():
        return Seq(_count(text))
    try:
        return _since(text)
    except BadValueError as error:
        raise BadValueError(f"{error}, or as a seq like 5000") from None


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise BadValueError(f"{text!r} has an empty name; write them like a,b")
    return names


def _choice(text: str, choices: tuple[str, ...]) -> str:
    for choice in choices:
        if text.casefold() == choice.casefold():
            return choice
    raise BadValueError(f"{text!r} is not one of {', '.join(choices)}{did_you_mean(text, choices)}")


def did_you_mean(word: str, words: tuple[str, ...]) -> str:
    """`; did you mean 'x'?` for the nearest of *words*, or nothing."""
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in words}
    near = get_close_matches(word.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


KINDS: dict[str, Callable[[str], object]] = {
    "text": _text,  # any UTF-8, also nothing
    "sentence": _sentence,  # words of a person
    "path": _path,  # str
    "name": _name,  # experiment, variant, stage (SPEC 2)
    "run_id": _run_id,
    "count": _count,  # int from 1
    "bytes": _bytes,  # the same, with a unit
    "duration": _duration,  # int, milliseconds
    "time": _time,  # int, microseconds since 1970
    "moment": _moment,  # the same, or the word `snapshot`
    "since": _since,  # the same, or Ago
    "before": _before,  # the same, or Seq
    "names": _names,  # tuple, split at commas
}
"""Kind -> converter. `flag` takes no text and stands in no table; `choice` is known by `choices`."""
