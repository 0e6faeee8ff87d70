"""What shape an answer has: how many series, whether it is empty while all is well, whose time it states."""

from __future__ import annotations

import promql_parser as pp

from gatekeeper.evidence.prometheus.promql import children, matchers_of, nodes, selectors, text_of
from gatekeeper.evidence.prometheus.promql_facts import constant_fallbacks, has_selector, rate_calls, recording_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet
    from typing import TypeGuard

_COMPARISONS = frozenset({"==", "!=", ">", "<", ">=", "<="})
_ABSENCE = frozenset({"absent", "absent_over_time"})
_KEEPS_SERIES = frozenset({"topk", "bottomk", "limitk", "limit_ratio", "count_values"})
_ONE_SERIES = frozenset({"absent", "absent_over_time", "scalar", "vector", "time", "pi"})
_RIGHT_HAND_APART = frozenset({"/", "%", "unless"})
_JOINS = (pp.VectorMatchCardinality.ManyToOne, pp.VectorMatchCardinality.OneToMany)
_COUNTING = frozenset({"sum", "count"})
_NEEDS_TWO = frozenset({"rate", "increase", "irate", "delta", "idelta", "deriv", "predict_linear"})
_COUNTERS = frozenset({"rate", "increase", "irate"})


def is_absence(expr: pp.Expr) -> bool:
    """Whether the answer is that something is absent: there is none while it is present."""
    expr = _without_parentheses(expr)
    if isinstance(expr, pp.AggregateExpr):
        return is_absence(expr.expr)
    return isinstance(expr, pp.Call) and expr.func.name in _ABSENCE


def is_nan_without_series(expr: pp.Expr) -> bool:
    """Whether `scalar` alone makes an answer of missing series: NaN, which no rule takes for a value."""
    inside = list(nodes(expr))
    return (
        any(isinstance(node, pp.Call) and node.func.name == "scalar" for node in inside)
        and not any(isinstance(node, pp.Call) and node.func.name in _ABSENCE for node in inside)
        and not any(_is_comparison(node) for node in inside)
        and not constant_fallbacks(expr)
    )


def filters_inside(expr: pp.Expr) -> tuple[str, ...]:
    """Comparisons without `bool` on whose series the whole answer rests: without any it is empty.

    A divisor is left out: `a / (b > 0)` asks for no answer where there is no traffic.
    """
    return tuple(dict.fromkeys(_filters(expr)))


def quantiles_without_le(expr: pp.Expr) -> tuple[str, ...]:
    """Aggregations of classic buckets right inside `histogram_quantile` that drop `le`."""
    found = [
        text_of(inner)
        for node in nodes(expr)
        if isinstance(node, pp.Call) and node.func.name == "histogram_quantile"
        for inner in (_without_parentheses(node.args[1]),)
        if isinstance(inner, pp.AggregateExpr)
        and not _keeps(inner, "le")
        and all((one.name or "").endswith("_bucket") for one in selectors(inner))
    ]
    return tuple(dict.fromkeys(found))


def rates_of_sums(expr: pp.Expr) -> tuple[str, ...]:
    """Rates of a subquery over an aggregation."""
    found = [
        text_of(node)
        for node in nodes(expr)
        if isinstance(node, pp.Call)
        and node.func.name in _COUNTERS
        and isinstance(node.args[0], pp.SubqueryExpr)
        and isinstance(_without_parentheses(node.args[0].expr), pp.AggregateExpr)
    ]
    return tuple(dict.fromkeys(found))


def rates_above_zero(expr: pp.Expr) -> tuple[str, ...]:
    """Rates that are compared with 0: what stands for "has it ever happened"."""
    found = [
        call
        for node in nodes(expr)
        if _is_comparison(node)
        for side, other in ((node.lhs, node.rhs), (node.rhs, node.lhs))
        if number(other) == 0
        for call in rate_calls(side)
    ]
    return tuple(dict.fromkeys(found))


def counts_at_top(expr: pp.Expr) -> bool:
    """Whether the answer is a sum or a count of series."""
    expr = _without_parentheses(expr)
    return isinstance(expr, pp.AggregateExpr) and str(expr.op) in _COUNTING


def may_be_several(expr: pp.Expr, fixed: AbstractSet[str] = frozenset()) -> bool:
    """Whether the number of series in the answer depends on how many the source has.

    Args:
        expr: the query.
        fixed: labels that have one value in all series that are read, such as those that are bound.
    """
    expr = _without_parentheses(expr)
    if isinstance(expr, pp.AggregateExpr):
        if str(expr.op) in _KEEPS_SERIES:
            return number(expr.param) != 1
        return bool(expr.modifier) and not (_is_by(expr) and _labels(expr) <= fixed)
    if isinstance(expr, pp.BinaryExpr):
        several = [may_be_several(side, fixed) for side in (expr.lhs, expr.rhs) if not _is_scalar(side)]
        return any(several) if str(expr.op) == "or" else bool(several) and all(several)
    if isinstance(expr, pp.Call):
        if expr.func.name == "histogram_quantile":
            fixed = fixed | {"le"}
        elif expr.func.name in _ONE_SERIES:
            return False
        return any(may_be_several(child, fixed) for child in children(expr) if not _is_scalar(child))
    if isinstance(expr, pp.UnaryExpr | pp.SubqueryExpr):
        return may_be_several(expr.expr, fixed)
    return isinstance(expr, pp.VectorSelector | pp.MatrixSelector) and "instance" not in fixed


def labels_fixed(expr: pp.Expr) -> frozenset[str]:
    """Labels that every selector matches with `=`."""
    each = [
        {label for label, op, _ in matchers_of(node) if op == "="}
        for node in nodes(expr)
        if isinstance(node, pp.VectorSelector)
    ]
    return frozenset.intersection(*map(frozenset, each)) if each else frozenset()


def evaluation_time(expr: pp.Expr) -> str | None:
    """What in a query whose value is a time states when something was evaluated; None where nothing does.

    That is `timestamp` of an expression or of what a rule recorded, and a value that rests on no series: `time()` in
    `vector(time()) and up`. `time() - max(age_seconds)` is a time that was measured.
    """
    for node in nodes(expr):
        if isinstance(node, pp.Call) and node.func.name == "timestamp":
            inner = _without_parentheses(node.args[0])
            if not isinstance(inner, pp.VectorSelector) or recording_rules(inner):
                return text_of(node)
    return next((text_of(part) for part in _values(expr) if not has_selector(part)), None)


def no_vector(expr: pp.Expr) -> str | None:
    """What a query is instead of a vector or a number: a range of samples, or a text."""
    inner = _without_parentheses(expr)
    if isinstance(inner, pp.MatrixSelector | pp.SubqueryExpr):
        return "a range of samples"
    return "a text" if isinstance(inner, pp.StringLiteral) else None


def samples_needed(expr: pp.Expr) -> tuple[tuple[str, float, int], ...]:
    """Calls over a range of samples: text, seconds of the range, how many samples it must hold to answer at all."""
    found = [
        (text_of(node), argument.range.total_seconds(), 2 if node.func.name in _NEEDS_TWO else 1)
        for node in nodes(expr)
        if isinstance(node, pp.Call) and node.func.name not in _ABSENCE
        for argument in node.args
        if isinstance(argument, pp.MatrixSelector)
    ]
    return tuple(dict.fromkeys(found))


def number(expr: pp.Expr | None) -> float | None:
    """The number that stands there; None for anything else."""
    if expr is None:
        return None
    expr = _without_parentheses(expr)
    return float(expr.val) if isinstance(expr, pp.NumberLiteral) else None


def _values(expr: pp.Expr) -> Iterator[pp.Expr]:
    """The parts that the value of *expr* is one of; other parts only decide whether there is one."""
    expr = _without_parentheses(expr)
    if isinstance(expr, pp.AggregateExpr):
        yield from _values(expr.expr)
    elif isinstance(expr, pp.BinaryExpr) and str(expr.op) in {"and", "unless", "or"}:
        yield from _values(expr.lhs)
        yield from _values(expr.rhs) if str(expr.op) == "or" else ()
    else:
        yield expr


def _filters(expr: pp.Expr) -> Iterator[str]:
    expr = _without_parentheses(expr)
    if isinstance(expr, pp.AggregateExpr | pp.UnaryExpr):
        yield from _filters(expr.expr)
    elif isinstance(expr, pp.Call):
        for argument in expr.args:
            yield from _filters(argument)
    elif _is_comparison(expr):
        if not (expr.modifier is not None and expr.modifier.return_bool):
            yield text_of(expr)
    elif isinstance(expr, pp.BinaryExpr) and str(expr.op) != "or" and not _is_join(expr):
        yield from _filters(expr.lhs)
        yield from () if str(expr.op) in _RIGHT_HAND_APART else _filters(expr.rhs)


def _is_join(expr: pp.BinaryExpr) -> bool:
    """Whether one side only lends labels to the other: `* on (pod) group_left (version) (y == 1)`."""
    return expr.modifier is not None and expr.modifier.card in _JOINS


def _is_comparison(node: pp.Expr) -> TypeGuard[pp.BinaryExpr]:
    return isinstance(node, pp.BinaryExpr) and str(node.op) in _COMPARISONS


def _is_scalar(expr: pp.Expr) -> bool:
    """Whether it is one number whatever series there are."""
    expr = _without_parentheses(expr)
    if isinstance(expr, pp.Call):
        return expr.func.name in {"scalar", "time", "pi"}
    if isinstance(expr, pp.BinaryExpr):
        return _is_scalar(expr.lhs) and _is_scalar(expr.rhs)
    return isinstance(expr, pp.NumberLiteral | pp.StringLiteral)


def _keeps(expr: pp.AggregateExpr, label: str) -> bool:
    return (label in _labels(expr)) == _is_by(expr) if expr.modifier is not None else False


def _is_by(expr: pp.AggregateExpr) -> bool:
    return expr.modifier is None or expr.modifier.type == pp.AggModifierType.By


def _labels(expr: pp.AggregateExpr) -> set[str]:
    return set() if expr.modifier is None else set(expr.modifier.labels)


def _without_parentheses(expr: pp.Expr) -> pp.Expr:
    while isinstance(expr, pp.ParenExpr):
        expr = expr.expr
    return expr
