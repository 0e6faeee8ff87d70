"""PromQL texts as values: which series a query reads, and the same query asked of one variant.

Nothing here asks a server. The parser is `promql_parser`, whose traps are kept inside this module: its `str()` does
not escape, its `walk()` and `transform()` take cubic time on a long chain of operators, nodes are replaced and never
changed, and `==` is identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import lru_cache

import promql_parser as pp

from gatekeeper.evidence.prometheus.promql_text import (
    PromqlError,
    duration_text,
    one_line,
    quoted,
    readable,
    with_window,
)
from gatekeeper.model.values import dataclass

__all__ = ["PromqlError", "Selector", "bind", "children", "nodes", "parse", "selectors", "text_of", "with_window"]

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_OPERATORS = (
    (pp.MatchOp.Equal, "="),
    (pp.MatchOp.NotEqual, "!="),
    (pp.MatchOp.Re, "=~"),
    (pp.MatchOp.NotRe, "!~"),
)

Matchers = list[tuple[str, str, str]]
"""Label name, operator, value."""


@dataclass(frozen=True)
class Selector:
    """Series that a query reads, and how far back.

    Attributes:
        name: the metric's name, from `{__name__="x"}` too; None where it is not stated or not with `=`.
        text: the bare selector: no range, no offset, no `@`; matchers sorted, values escaped.
        window_seconds: its own range and those of the subqueries around it; 0 for one instant.
        offset_seconds: its own offset and those of the subqueries around it; negative looks ahead.
        has_at: `@` fixes its time, or the time of a subquery around it.
    """

    name: str | None
    text: str
    window_seconds: float
    offset_seconds: float
    has_at: bool


@lru_cache(maxsize=512)  # a query is bound to both sides, then asked for its selectors; nodes never change
def parse(query: str) -> pp.Expr:
    """The expression that *query* states; `$window` has been replaced (`with_window`).

    Raises:
        PromqlError: too long, too deep, or not PromQL; says why in one line.
    """
    return _read(readable(query))


def selectors(expr: pp.Expr) -> tuple[Selector, ...]:
    """Each distinct selector of *expr*, in the order of the text."""
    return tuple(dict.fromkeys(_selectors(expr, 0.0, 0.0, has_at=False)))


def bind(query: str, labels: Mapping[str, str]) -> str:
    """*query* with each label set to its value in every selector, in one line, as it is sent and shown.

    A label that a selector matches with `=` gets the new value, one that it does not match is added. With no labels
    it is the query itself in its one-line form.

    Raises:
        PromqlError: a query that does not parse, a label matched with another operator than `=`, or a bad label.
    """
    for name in labels:
        if not _LABEL.fullmatch(name) or name == "__name__":
            raise PromqlError(f"{name!r} is no label that can be bound")
    expr = parse(query)
    if labels:
        expr = pp.transform(expr, post_visit=lambda node: _bound(node, labels))
    pretty = expr.prettify()
    text = one_line(pretty)
    if _read(text).prettify() != pretty:
        raise PromqlError("this query cannot be written in one line without changing what it says")
    return text


def text_of(expr: pp.Expr) -> str:
    """A part of a query in one line, for a message."""
    return one_line(expr.prettify())


def children(expr: pp.Expr) -> tuple[pp.Expr, ...]:
    """The expressions right inside *expr*, in the order of the text."""
    if isinstance(expr, pp.BinaryExpr):
        return expr.lhs, expr.rhs
    if isinstance(expr, pp.AggregateExpr):
        return (expr.expr,) if expr.param is None else (expr.param, expr.expr)
    if isinstance(expr, pp.Call):
        return tuple(expr.args)
    if isinstance(expr, pp.MatrixSelector):
        return (expr.vector_selector,)
    if isinstance(expr, pp.ParenExpr | pp.UnaryExpr | pp.SubqueryExpr):
        return (expr.expr,)
    return ()


def nodes(expr: pp.Expr) -> Iterator[pp.Expr]:
    """*expr* and every expression inside it, outer ones first."""
    yield expr
    for child in children(expr):
        yield from nodes(child)


def matchers_of(node: pp.VectorSelector) -> Matchers:
    """The matchers in the braces of a selector, each once, sorted.

    Raises:
        PromqlError: alternatives joined by `or`, which are MetricsQL.
    """
    if node.matchers.or_matchers:
        raise PromqlError(f"{text_of(node)}: `or` between matchers is MetricsQL, not PromQL")
    return sorted({(one.name, _operator(one.op), one.value) for one in node.matchers.matchers})


def bare(name: str | None, matchers: Matchers) -> str:
    """The text of a selector; the inverse of reading its name and `matchers_of`."""
    inside = ",".join(
        (label if _LABEL.fullmatch(label) else quoted(label)) + op + quoted(v) for label, op, v in matchers
    )
    return (name or "") + (f"{{{inside}}}" if inside else "")


@lru_cache(maxsize=512)  # many queries read the same few selectors
def _read(text: str) -> pp.Expr:
    try:
        expr = pp.parse(text)
        for node in nodes(expr):
            if isinstance(node, pp.VectorSelector):
                matchers_of(node)
    except PromqlError:
        raise
    except UnicodeEncodeError:
        raise PromqlError("it holds half of a surrogate pair, which is no text") from None
    except ValueError as error:
        raise PromqlError(" ".join(str(error).split())) from None
    return expr


def _selectors(node: pp.Expr, window: float, offset: float, *, has_at: bool) -> Iterator[Selector]:
    if isinstance(node, pp.VectorSelector):
        matchers = matchers_of(node)
        names = [value for label, op, value in matchers if (label, op) == ("__name__", "=")]
        yield Selector(
            name=node.name or (names[0] if len(names) == 1 else None),
            text=bare(node.name, matchers),
            window_seconds=window,
            offset_seconds=offset + _seconds(node.offset),
            has_at=has_at or node.at is not None,
        )
        return
    if isinstance(node, pp.MatrixSelector):
        window += _seconds(node.range)
    elif isinstance(node, pp.SubqueryExpr):
        window += _seconds(node.range)
        offset += _seconds(node.offset)
        has_at = has_at or node.at is not None
    for child in children(node):
        yield from _selectors(child, window, offset, has_at=has_at)


def _bound(node: pp.Expr, labels: Mapping[str, str]) -> pp.Expr | None:
    if not isinstance(node, pp.VectorSelector):
        return None
    matchers = matchers_of(node)
    for label, op, _ in matchers:
        if label in labels and op != "=":
            both = "`variant_query` and `baseline_query`"
            raise PromqlError(f"{text_of(node)} matches {label} with {op}: state {both}, or `bind: false`")
    kept = [one for one in matchers if one[0] not in labels]
    text = bare(node.name, [*kept, *((label, "=", value) for label, value in labels.items())])
    offset = _seconds(node.offset)
    at = f" {node.at}" if node.at is not None else ""
    return _read(text + at + (f" offset {duration_text(offset)}" if offset else ""))


def _operator(op: pp.MatchOp) -> str:
    return next(text for known, text in _OPERATORS if op == known)


def _seconds(duration: timedelta | None) -> float:
    return duration.total_seconds() if duration is not None else 0.0
