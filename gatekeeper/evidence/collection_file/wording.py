"""Sentences about keys and types of a collection file that the general ones do not cover; a sound file needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.problem import Problem
from gatekeeper.documents.shapes import keys_of, suggestion
from gatekeeper.documents.wording import pointer_of, shown
from gatekeeper.evidence.collection import METRIC_SHAPES, SOURCE_SHAPES, SourceType
from gatekeeper.model.document import NotADouble

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# what authors write who think of a product; the difference of letters alone would not lead there
_PRODUCTS = {
    **dict.fromkeys(("prom", "promql", "victoria", "victoriametrics", "thanos", "mimir", "cortex"), "prometheus"),
    **dict.fromkeys(("postgres", "postgresql", "mysql", "sqlite", "snowflake", "bigquery", "sqlalchemy"), "sql"),
    **dict.fromkeys(("https", "json", "rest", "url", "api"), "http"),
    **dict.fromkeys(("snapshot", "path", "stdin", "-"), "file"),
}
_UNSUPPORTED = {
    "trust_env": "is not supported: the environment's proxies and .netrc are never used; state proxy_url and headers",
}
_FAMILIES: Mapping[str, tuple[Mapping[SourceType, type], str]] = {
    "sources": (SOURCE_SHAPES, "{} sources"),
    "metrics": (METRIC_SHAPES, "metrics of {} sources"),
}


def no_object(key: str, name: str, content: object, allowed: str) -> Problem:
    """A source or metric that is no object."""
    word = "null" if content is None else "wrong_type"
    return Problem(f"collection.{word}", pointer_of((key, name)), f"found {shown(content)}; allowed: {allowed}")


def unknown_type(name: str, content: Mapping[str, Any]) -> Problem:
    """A source that does not say what it is."""
    return _unreadable_key("sources", name, "type", content, [member.value for member in SourceType])


def unknown_source(name: str, content: Mapping[str, Any], sources: Sequence[str]) -> Problem:
    """A metric that does not say where it is read."""
    return _unreadable_key("metrics", name, "source", content, sources)


def whose_key(problem: Problem, kind: SourceType) -> Problem:
    """The problem of an unknown key, saying whose key it is: `"pointer" belongs to metrics of http sources`."""
    part, _, *steps = problem.pointer.split("/")[1:]
    if not problem.at_key or len(steps) != 1:
        return problem
    key = steps[0]
    reason = _UNSUPPORTED[key] if key in _UNSUPPORTED else _owners(key)
    if reason is None:
        return problem
    allowed = ", ".join(keys_of(_FAMILIES[part][0][kind]))
    message = f'"{key}" {reason}; allowed for {kind.value}: {allowed}'
    return Problem(problem.code, problem.pointer, message, problem.remedy, at_key=True)


def _owners(key: str) -> str | None:
    """Who has such a key."""
    for shapes, words in _FAMILIES.values():
        types = [kind.value for kind, shape in shapes.items() if key in keys_of(shape)]
        if types:
            return f"belongs to {words.format(' and '.join(types))}"
    return None


def without_value(problem: Problem) -> Problem:
    """The problem of a value that may be a credential: what it is is not said."""
    if problem.code not in {"collection.wrong_type", "collection.not_a_number", "collection.bad_text"}:
        return problem
    message = "found a value of another type (not shown, it may be a credential); allowed: "
    if problem.code == "collection.bad_text":
        message = "holds half of a surrogate pair; allowed: "
    is_headers = problem.pointer.rpartition("/")[2] == "headers"
    return Problem(problem.code, problem.pointer, message + ("an object of texts" if is_headers else "text"))


def _unreadable_key(part: str, name: str, key: str, content: Mapping[str, Any], options: Sequence[str]) -> Problem:
    pointer = pointer_of((part, name, key))
    allowed = "allowed: " + (", ".join(f'"{option}"' for option in options) or "a name in sources, where there is none")
    value = content.get(key)
    if key not in content:
        return Problem("collection.missing_key", pointer, f"the key is missing; {allowed}")
    if value is None:
        return Problem("collection.null", pointer, f"found null; {allowed}")
    if not isinstance(value, str) or isinstance(value, NotADouble):
        return Problem("collection.wrong_type", pointer, f"found {shown(value)}; {allowed}")
    word = _PRODUCTS.get(value.strip().casefold(), value) if part == "sources" else value
    code = "collection.unknown_value" if part == "sources" else "collection.unknown_source"
    return Problem(code, pointer, f"found {shown(value)}; {suggestion(word, options)}{allowed}")
