"""What a query answers while every target is there and down: each of its series has the value 0."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import promql_parser as pp

from gatekeeper.evidence.prometheus.promql_shapes import number

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_KEEPS = frozenset({"sum", "min", "max", "avg", "topk", "bottomk", "quantile"})
_COUNTS = frozenset({"count", "group"})
_KEEPS_OVER_TIME = frozenset({"sum_over_time", "min_over_time", "max_over_time", "avg_over_time", "last_over_time"})
_COUNTS_OVER_TIME = frozenset({"count_over_time", "present_over_time", "timestamp"})
_RATES = frozenset({"rate", "increase", "irate", "delta", "idelta", "deriv", "changes", "resets"})
_SAME = frozenset({"abs", "ceil", "floor", "round", "scalar", "vector", "sort", "sort_desc", "sgn"})


def value_of_zeros(expr: pp.Expr) -> float | None:
    """The value; None where there is none, or where it is not known. A count of series is 1."""
    if isinstance(expr, pp.ParenExpr):
        return value_of_zeros(expr.expr)
    if isinstance(expr, pp.VectorSelector | pp.MatrixSelector):
        return 0.0
    if isinstance(expr, pp.SubqueryExpr):
        return value_of_zeros(expr.expr)
    if isinstance(expr, pp.UnaryExpr):
        inner = value_of_zeros(expr.expr)
        return None if inner is None else -inner
    if isinstance(expr, pp.AggregateExpr):
        inner = value_of_zeros(expr.expr)
        return inner if inner is None or str(expr.op) in _KEEPS else 1.0 if str(expr.op) in _COUNTS else None
    if isinstance(expr, pp.Call):
        return _of_call(expr)
    if isinstance(expr, pp.BinaryExpr):
        return _of_operator(expr)
    return number(expr)


def _of_call(expr: pp.Call) -> float | None:
    inner = value_of_zeros(expr.args[0]) if expr.args else None
    name = expr.func.name
    if inner is None or name in _KEEPS_OVER_TIME | _SAME:
        return inner
    if name in _COUNTS_OVER_TIME:
        return 1.0
    return 0.0 if name in _RATES else None


def _of_operator(expr: pp.BinaryExpr) -> float | None:
    left, right, op = value_of_zeros(expr.lhs), value_of_zeros(expr.rhs), str(expr.op)
    if op == "or":
        return right if left is None else left
    if left is None or right is None:
        return None
    if op in _COMPARISONS:
        holds = _COMPARISONS[op](left, right)
        if expr.modifier is not None and expr.modifier.return_bool:
            return float(holds)
        return left if holds else None
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](left, right)
    return left if op == "and" else None
