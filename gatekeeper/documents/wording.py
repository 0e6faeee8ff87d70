"""What is wrong with keys and types, in sentences: what was found and what is allowed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gatekeeper.documents.problem import Problem
from gatekeeper.documents.shapes import describe, keys_of, shape_at, suggestion, words_of
from gatekeeper.model.document import NotADouble, escape_pointer
from gatekeeper.model.snapshot import json_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBER = "a finite number that every reader of JSON keeps, integers up to 2^53-1"
_LONGEST_SHOWN = 60  # characters of a value in a message


def pointer_of(path: Sequence[str | int]) -> str:
    """JSON Pointer of a path of keys and indexes."""
    return "".join(f"/{escape_pointer(str(step))}" for step in path)


def shown(value: object) -> str:
    """The type and, for a scalar, the text of a value, on one line: `text "400"`."""
    kind = json_type(value)
    if value is None or isinstance(value, (list, dict)):
        return kind
    text = str(value) if isinstance(value, NotADouble) else json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return f"{kind} {text}"


def no_object(shape: type, document: object, *, kind: str, at: Sequence[str | int], form: str) -> Problem:
    """A file that is no object, or a part of one."""
    code = f"{kind}.wrong_type"
    if at:
        return Problem(code, pointer_of(at), f"found {shown(document)}; allowed: {describe(shape)}")
    remedy = f"write {form}" if form else ""
    return Problem(code, "", f"a {kind} is one JSON object, found {json_type(document)}", remedy)


@dataclass(frozen=True)
class Part:
    """A file, or the part of it at *at*, that must be a value of the dataclass *shape*."""

    shape: type
    kind: str
    at: tuple[str | int, ...] = ()

    def takes(self, path: Sequence[str | int], value: object, at_key: bool) -> bool:  # noqa: FBT001
        """Whether what `odd_places` tells is none here: null where anything may stand."""
        return value is None and not at_key and shape_at(self.shape, path) is Any

    def odd_problem(self, path: Sequence[str | int], value: object, at_key: bool) -> Problem:  # noqa: FBT001
        """What is wrong with what `odd_places` tells."""
        if at_key:
            return self._problem("bad_text", path, "the key holds half of a surrogate pair", at_key=True)
        if isinstance(value, (list, dict)):
            return self._problem("too_deep", path, "nested too deeply")
        if value is None:
            allowed = describe(shape_at(self.shape, path))
            return self._problem("null", path, f"found null; allowed: {allowed}, or leave the key out")
        if isinstance(value, NotADouble):
            return self._problem("not_a_number", path, f"found {shown(value)}; allowed: {_NUMBER}")
        return self._problem("bad_text", path, f"{shown(value)} holds half of a surrogate pair")

    def type_problem(self, error: Mapping[str, Any]) -> Problem:
        """What is wrong according to one error of pydantic (`ValidationError.errors()`)."""
        kind, path, value = str(error["type"]), list(error["loc"]), error["input"]
        if kind == "unexpected_keyword_argument":
            keys = keys_of(shape_at(self.shape, path[:-1]))
            message = f"unknown key; {suggestion(str(path[-1]), keys)}allowed: {', '.join(keys)}"
            return self._problem("unknown_key", path, message, at_key=True)
        if kind in {"too_short", "too_long"} or (kind == "missing" and isinstance(path[-1], int)):
            where = path[:-1] if kind == "missing" else path
            allowed = describe(shape_at(self.shape, where))
            return self._problem("wrong_length", where, f"found a list of another length; allowed: {allowed}")
        shape = shape_at(self.shape, path)
        if kind == "missing":
            return self._problem("missing_key", path, f"the key is missing; allowed: {describe(shape)}")
        words = words_of(shape)
        if words and isinstance(value, str):
            message = f"found {shown(value)}; {suggestion(value, words)}allowed: {describe(shape)}"
            return self._problem("unknown_value", path, message)
        return self._problem("wrong_type", path, f"found {shown(value)}; allowed: {describe(shape)}")

    def _problem(self, word: str, path: Sequence[str | int], message: str, *, at_key: bool = False) -> Problem:
        return Problem(f"{self.kind}.{word}", pointer_of((*self.at, *path)), message, at_key=at_key)
