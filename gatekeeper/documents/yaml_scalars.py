"""What a word without quotes means in a YAML file: what it means in JSON, and to every reader of YAML.

Readers of YAML do not agree: version 1.1 of the language (PyYAML, and with it most tools that were written before 2021)
takes `on` for true, `012` for ten and `2026-02-18` for a date; version 1.2 takes the first for text, the second for
twelve and the third for text. A reviewer cannot know by which a file was meant. So `true`, `false`, `null` and numbers
that all of them read as JSON does are values, what all of them read as text is text, and the rest is refused with what
to write in its place. Sources: https://yaml.org/type/ (1.1) and YAML 1.2.2, section 10.3.2 (the core schema).
"""

from __future__ import annotations

import re

from gatekeeper.model.document import number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LITERALS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][-+]\d+)?)?", re.ASCII)

_TRUE = frozenset({"y", "yes", "on", "true"})
_FALSE = frozenset({"n", "no", "off", "false"})
_NULL = frozenset({"~", "null"})
_NOT_FINITE = re.compile(r"[-+]?(?:\.inf|\.nan|infinity|nan)", re.IGNORECASE)
_EXPONENT = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][-+]?\d+", re.ASCII)
_OTHER_NUMBER = re.compile(
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:e[-+]?\d+)?)",
    re.ASCII | re.IGNORECASE,
)
_SEXAGESIMAL = re.compile(r"[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[Tt \t].*)?", re.ASCII | re.DOTALL)

_QUOTE = "put it in quotes where text is meant"


class DoubtfulScalarError(ValueError):
    """A word that readers of YAML take for different things, or for something that JSON does not have.

    Attributes:
        message: what it is; the word itself only where it cannot be a secret.
        remedy: what to write in its place.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def plain_value(text: str) -> Any:
    """The JSON value of a scalar without quotes; numbers as `model.document` reads them.

    Raises:
        DoubtfulScalarError: it is not the same to all readers.
    """
    if text in _LITERALS:
        return _LITERALS[text]
    if _NUMBER.fullmatch(text):
        return number_of(text)
    doubt = _doubt(text)
    if doubt is not None:
        raise doubt
    return text


def _doubt(text: str) -> DoubtfulScalarError | None:
    folded = text.casefold()
    if not text:
        return DoubtfulScalarError(
            "there is no value here, which YAML reads as null",
            'write the value, "" for an empty text, or leave the key out',
        )
    for words, value in ((_TRUE, "true"), (_FALSE, "false"), (_NULL, "null")):
        if folded in words:
            message = f"`{text}` without quotes is {value} to some readers of YAML and text to others"
            return DoubtfulScalarError(message, f'write {value}, or "{text}" where text is meant')
    if text == "<<":
        return DoubtfulScalarError("`<<` merges another mapping into this one", "write out the keys that it brings")
    if text == "=":
        return DoubtfulScalarError("`=` without quotes is a type of its own to some readers of YAML", 'write "="')
    if _NOT_FINITE.fullmatch(text):
        return DoubtfulScalarError(f"`{text}` is no finite number, and JSON has no other", f"write a number; {_QUOTE}")
    if _EXPONENT.fullmatch(text):
        message = "a number with an exponent, but without point and sign, is text to some readers of YAML"
        return DoubtfulScalarError(message, f"write it as 1000, or as 1.0e+3; {_QUOTE}")
    if _OTHER_NUMBER.fullmatch(text):
        message = "a number in a form that JSON does not have, and of which readers of YAML make different ones"
        return DoubtfulScalarError(message, f"write it as 12, -0.5 or 1.0e+3; {_QUOTE}")
    if _SEXAGESIMAL.fullmatch(text):
        message = "digits with colons are a number of base 60 to some readers of YAML and text to others"
        return DoubtfulScalarError(message, "put it in quotes")
    if _DATE.fullmatch(text):
        return DoubtfulScalarError(
            "a date without quotes is a date to some readers of YAML and text to others", "put it in quotes"
        )
    return None
