"""Expressions of GitHub Actions, as far as our workflows use them: what it does not know, it refuses.

Source: docs.github.com, "Evaluate expressions in workflows and actions": strings compare without regard to case, values
of different types as numbers (so the text 'true' is not the boolean true), `&&` and `||` answer with an operand.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STATUS_FUNCTIONS = ("always", "success", "failure", "cancelled")

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)|(?P<sign>&&|\|\||==|!=|[!().,]))"
)
_FIELD = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


@dataclass(frozen=True)
class Status:
    """How the job, or the composite action, stands: what `success()` and the like answer."""

    failed: bool = False
    cancelled: bool = False

    def answer(self, function: str) -> bool:
        """One of STATUS_FUNCTIONS."""
        return {
            "always": True,
            "success": not self.failed and not self.cancelled,
            "failure": self.failed,
            "cancelled": self.cancelled,
        }[function]


def holds(condition: str, contexts: Mapping[str, Any], status: Status) -> bool:
    """An `if:`; without a status function in it, `success()` is understood."""
    text = condition.strip()
    whole = _FIELD.fullmatch(text)
    text = whole[1] if whole else text
    value = _truth(_Reader(text, contexts, status).whole())
    names_status = any(re.search(rf"\b{name}\s*\(", text) for name in STATUS_FUNCTIONS)
    return value and (names_status or status.answer("success"))


def filled(text: str, contexts: Mapping[str, Any], status: Status) -> str:
    """*text* with every `${{ … }}` evaluated."""
    return _FIELD.sub(lambda match: as_text(_Reader(match[1], contexts, status).whole()), text)


def as_text(value: Any) -> str:
    """A value as GitHub writes it into a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    assert isinstance(value, (str, int)), value
    return str(value)


class _Reader:
    """Reads one expression and evaluates it on the way."""

    def __init__(self, text: str, contexts: Mapping[str, Any], status: Status) -> None:
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            assert match is not None, f"not understood: {text[position:]!r} in {text!r}"
            kind = match.lastgroup or ""
            self._tokens.append((kind, match[kind]))
            position = match.end()
        self._text = text
        self._contexts = contexts
        self._status = status

    def whole(self) -> Any:
        value = self._or()
        assert not self._tokens, f"not understood: {self._tokens} in {self._text!r}"
        return value

    def _next_is(self, *signs: str) -> bool:
        return bool(self._tokens) and self._tokens[0][0] == "sign" and self._tokens[0][1] in signs

    def _take(self, sign: str | None = None) -> str:
        kind, text = self._tokens.pop(0)
        assert sign is None or (kind, text) == ("sign", sign), f"{sign} expected in {self._text!r}"
        return text

    def _or(self) -> Any:
        value = self._and()
        while self._next_is("||"):
            self._take()
            other = self._and()
            value = value if _truth(value) else other
        return value

    def _and(self) -> Any:
        value = self._equality()
        while self._next_is("&&"):
            self._take()
            other = self._equality()
            value = other if _truth(value) else value
        return value

    def _equality(self) -> Any:
        value = self._not()
        while self._next_is("==", "!="):
            sign = self._take()
            value = _equal(value, self._not()) == (sign == "==")
        return value

    def _not(self) -> Any:
        if self._next_is("!"):
            self._take()
            return not _truth(self._not())
        return self._value()

    def _value(self) -> Any:
        if self._next_is("("):
            self._take()
            value = self._or()
            self._take(")")
            return value
        kind, text = self._tokens.pop(0)
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return float(text)
        assert kind == "name", self._text
        if text in {"true", "false", "null"}:
            return {"true": True, "false": False, "null": None}[text]
        return self._call(text) if self._next_is("(") else self._looked_up(text)

    def _call(self, function: str) -> Any:
        self._take("(")
        arguments: list[Any] = []
        while not self._next_is(")"):
            arguments.append(self._or())
            if self._next_is(","):
                self._take()
        self._take(")")
        if function in STATUS_FUNCTIONS:
            assert not arguments
            return self._status.answer(function)
        if function == "fromJSON":
            return json.loads(as_text(arguments[0]))
        assert function in {"startsWith", "contains"}, f"unknown function {function}"
        text, part = (as_text(argument).lower() for argument in arguments)
        return text.startswith(part) if function == "startsWith" else part in text

    def _looked_up(self, context: str) -> Any:
        """A context must be there; what it does not hold is null, as it is with GitHub."""
        value: Any = self._contexts[context]
        while self._next_is("."):
            self._take()
            name = self._take()
            value = value.get(name) if isinstance(value, dict) else None
        return value


def _truth(value: Any) -> bool:
    return value not in (None, False, 0, "")


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    if type(left) is type(right):
        return bool(left == right)
    one, other = _number(left), _number(right)
    return one == other


def _number(value: Any) -> float:
    if value is None or value == "":
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
