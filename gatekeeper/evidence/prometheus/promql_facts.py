"""What a query does that its author may not have meant; each fact is a function of the parsed expression."""

from __future__ import annotations

import promql_parser as pp

from gatekeeper.evidence.prometheus.promql import Selector, children, matchers_of, nodes, selectors, text_of
from gatekeeper.model.values import dataclass

_COMPARISONS = frozenset({"==", "!=", ">", "<", ">=", "<="})
_RATES = frozenset({"increase", "rate", "irate", "delta", "idelta"})
_ANSWER_TO_NOTHING = frozenset({"absent", "absent_over_time", "scalar"})


@dataclass(frozen=True)
class HistogramQuantile:
    """A call of `histogram_quantile`.

    Attributes:
        text: the call.
        quantile: the number asked for; None where it is an expression.
        buckets: the selectors inside, with the windows that the call itself gives them.
    """

    text: str
    quantile: float | None
    buckets: tuple[Selector, ...]


def has_selector(expr: pp.Expr) -> bool:
    """Whether the query reads any series at all."""
    return any(isinstance(node, pp.VectorSelector) for node in nodes(expr))


def longest_window_seconds(expr: pp.Expr) -> float:
    """How far back the query looks, offsets apart; 0 where every selector is of one instant."""
    return max((selector.window_seconds for selector in selectors(expr)), default=0.0)


def recording_rules(expr: pp.Expr) -> tuple[str, ...]:
    """Names with a `:`: what a rule recorded, whose samples are as old as the rule's evaluation."""
    return tuple(dict.fromkeys(one.name for one in selectors(expr) if one.name is not None and ":" in one.name))


def uses_at(expr: pp.Expr) -> bool:
    """Whether `@` fixes a time somewhere: the answer then never grows old."""
    return any(isinstance(node, pp.VectorSelector | pp.SubqueryExpr) and node.at is not None for node in nodes(expr))


def filters_at_top(expr: pp.Expr) -> bool:
    """Whether the whole query is a comparison without `bool`: it answers nothing when all is well."""
    while isinstance(expr, pp.ParenExpr):
        expr = expr.expr
    return (
        isinstance(expr, pp.BinaryExpr)
        and str(expr.op) in _COMPARISONS
        and not (expr.modifier is not None and expr.modifier.return_bool)
    )


def constant_fallbacks(expr: pp.Expr) -> tuple[str, ...]:
    """Sides of an `or` that read no series, such as `vector(0)`."""
    found = [
        text_of(side)
        for node in nodes(expr)
        if isinstance(node, pp.BinaryExpr) and str(node.op) == "or"
        for side in (node.lhs, node.rhs)
        if not has_selector(side)
    ]
    return tuple(dict.fromkeys(found))


def answers_without_series(expr: pp.Expr) -> bool:
    """Whether the query may answer a value although none of its series exists: a dead source then reads as that value.

    True for `sum(x) or vector(0)`; false for `(sum(x) or vector(0)) / sum(y)`, which is empty without `y`.
    """
    if isinstance(expr, pp.VectorSelector):
        return False
    if isinstance(expr, pp.Call) and expr.func.name in _ANSWER_TO_NOTHING:
        return True
    if isinstance(expr, pp.BinaryExpr) and str(expr.op) == "or":
        return answers_without_series(expr.lhs) or answers_without_series(expr.rhs)
    if isinstance(expr, pp.BinaryExpr) and str(expr.op) == "unless":
        return answers_without_series(expr.lhs)
    return all(answers_without_series(child) for child in children(expr))


def rate_calls(expr: pp.Expr) -> tuple[str, ...]:
    """Calls of `increase`, `rate`, `irate`, `delta` and `idelta`: they miss what a counter was born with."""
    found = [text_of(node) for node in nodes(expr) if isinstance(node, pp.Call) and node.func.name in _RATES]
    return tuple(dict.fromkeys(found))


def name_patterns(expr: pp.Expr) -> tuple[str, ...]:
    """Selectors that match the metric's name by a pattern or by what it is not."""
    found = [
        text_of(node)
        for node in nodes(expr)
        if isinstance(node, pp.VectorSelector)
        and any(label == "__name__" and op != "=" for label, op, _ in matchers_of(node))
    ]
    return tuple(dict.fromkeys(found))


def histogram_quantiles(expr: pp.Expr) -> tuple[HistogramQuantile, ...]:
    """Calls of `histogram_quantile`, which never answers more than the highest finite bucket."""
    return tuple(
        HistogramQuantile(text_of(node), _number(node.args[0]), selectors(node.args[1]))
        for node in nodes(expr)
        if isinstance(node, pp.Call) and node.func.name == "histogram_quantile"
    )


def _number(expr: pp.Expr) -> float | None:
    while isinstance(expr, pp.ParenExpr):
        expr = expr.expr
    return float(expr.val) if isinstance(expr, pp.NumberLiteral) else None
