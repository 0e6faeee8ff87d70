"""A collection file held against the policies that it feeds: what they ask for and it does not bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import FileMetric, HttpMetric, Kind, PrometheusMetric, SqlMetric
from gatekeeper.evidence.lint.remarks import metric_pointer
from gatekeeper.model.policy import ConstraintKind, Direction, Enforcement, Operator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gatekeeper.evidence.collection import Collection, MetricSpec
    from gatekeeper.model.policy import Guardrail, Policy


def policy_remarks(collection: Collection, policies: Sequence[Policy]) -> Iterator[Problem]:
    """Every remark about what the policies ask for, ages and windows apart."""
    for policy in policies:
        yield from _uncollected(collection, policy)
        yield from _without_baseline(collection, policy)
        yield from _kinds(collection, policy)
        yield from _ranges(collection, policy)
        yield from _statistics(collection, policy)
    if policies:
        yield from _unused(collection, policies)


def policy_metrics(policy: Policy) -> dict[str, str]:
    """Metric -> the first rule that needs it; what only watches is not needed."""
    enforced = [one for one in policy.guardrails if one.enforcement is Enforcement.ENFORCE]
    needed: dict[str, str] = {}
    for metric in policy.missing_data_policy.required_metrics:
        needed.setdefault(metric, "required_metrics")
    for constraint in policy.constraints:
        needed.setdefault(constraint.metric, f"constraint {constraint.kind}")
    for guardrail in enforced:
        needed.setdefault(guardrail.metric, "guardrail")
    if policy.promotion_gate is not None:
        for primary in policy.primary:
            needed.setdefault(primary.metric, "primary")
    return needed


def has_budget(guardrail: Guardrail) -> bool:
    """Whether it is measured against a baseline, and decides."""
    budgets = (guardrail.budget_delta, guardrail.budget_ratio)
    return guardrail.enforcement is Enforcement.ENFORCE and any(budget is not None for budget in budgets)


def has_baseline(spec: MetricSpec, collection: Collection) -> bool | None:
    """Whether a baseline of the metric is collected; None where only its source knows."""
    if isinstance(spec, PrometheusMetric):
        if spec.query is None:
            return spec.baseline_query is not None
        return spec.bind and bool(collection.labels) and all(one.baseline for one in collection.labels.values())
    if isinstance(spec, SqlMetric):
        return spec.columns.baseline is not None
    return spec.baseline_pointer is not None if isinstance(spec, HttpMetric) else None


def _uncollected(collection: Collection, policy: Policy) -> Iterator[Problem]:
    for metric, rule in policy_metrics(policy).items():
        if metric not in collection.metrics:
            message = f"{metric} ({rule} of policy {policy.policy_id}) is collected by nobody: every check of it holds"
            yield Problem("collection.metric_not_collected", "/metrics", message, f'add "{metric}" to metrics')


_BASELINE_REMEDIES = {
    PrometheusMetric: ("", "state a baseline for every label and bind them, or state baseline_query"),
    SqlMetric: ("columns", "name a column for baseline"),
    HttpMetric: ("", "state baseline_pointer"),
}


def _without_baseline(collection: Collection, policy: Policy) -> Iterator[Problem]:
    for metric in dict.fromkeys(one.metric for one in policy.guardrails if has_budget(one)):
        spec = collection.metrics.get(metric)
        if spec is not None and has_baseline(spec, collection) is False:
            key, remedy = _BASELINE_REMEDIES[type(spec)]
            message = f"policy {policy.policy_id} gives {metric} a budget, and no baseline of it is collected"
            pointer = metric_pointer(metric, *([key] if key else []))
            yield Problem("collection.budget_without_baseline", pointer, message, remedy)


def _kinds(collection: Collection, policy: Policy) -> Iterator[Problem]:
    """Values that are true or false, where a number is compared."""
    compared = {one.metric: "guardrail" for one in policy.guardrails if one.enforcement is Enforcement.ENFORCE}
    compared |= {one.metric: one.kind.value for one in policy.constraints if one.kind is ConstraintKind.MUST_BE_ZERO}
    for metric, rule in compared.items():
        spec = collection.metrics.get(metric)
        if spec is not None and not isinstance(spec, FileMetric) and spec.kind is Kind.BOOLEAN:
            message = f"{metric} is read as true or false, and {rule} of policy {policy.policy_id} compares a number"
            remedy = "kind count or number here, or must_be_false in the policy"
            yield Problem("collection.kind_mismatch", metric_pointer(metric, "kind"), message, remedy)


def _ranges(collection: Collection, policy: Policy) -> Iterator[Problem]:
    """Thresholds that no value within the range of its metric can violate."""
    for guardrail in policy.guardrails:
        spec, limit = collection.metrics.get(guardrail.metric), guardrail.threshold
        bounds = None if spec is None or isinstance(spec, FileMetric) else spec.range
        if bounds is None or limit is None:
            continue
        low, high = bounds
        never = {
            Operator.LE: limit >= high,
            Operator.LT: limit > high,
            Operator.GE: limit <= low,
            Operator.GT: limit < low,
        }
        if never[guardrail.op]:
            message = (
                f"no value in [{low:g}, {high:g}] violates {guardrail.metric} {guardrail.op.value} {limit:g} of policy "
                f"{policy.policy_id}: it can never trip"
            )
            remedy = "check the unit of both: percent or ratio, seconds or milliseconds"
            yield Problem(
                "collection.threshold_outside_range", metric_pointer(guardrail.metric, "range"), message, remedy
            )


def _statistics(collection: Collection, policy: Policy) -> Iterator[Problem]:
    """Primaries whose source brings no statistics: the promotion gate waits for them for ever."""
    gate = policy.promotion_gate
    for primary in policy.primary if gate is not None else ():
        assert gate is not None
        spec = collection.metrics.get(primary.metric)
        if spec is None or isinstance(spec, FileMetric):
            continue
        bound = "ci_low" if primary.direction is Direction.UP else "ci_high"
        stated = {name for name, column in vars(spec.columns).items() if column} if isinstance(spec, SqlMetric) else ()
        lacking = []
        if gate.min_sample_size is not None and "sample_size" not in stated:
            lacking.append("sample_size")
        if gate.require_ci_low_gt is not None and bound not in stated:
            lacking.append(bound)
        if primary.min_lift is not None and not {"effect_estimate", bound} & set(stated):
            lacking.append("effect_estimate")
        if lacking:
            message = (
                f"the promotion gate of policy {policy.policy_id} asks {', '.join(lacking)} of {primary.metric}, "
                f"which nothing here brings: {' and '.join(gate.required_for_stages)} can never be entered"
            )
            remedy = "name columns for them in a metric of an sql source, or take it from a file"
            pointer = metric_pointer(primary.metric, *(["columns"] if isinstance(spec, SqlMetric) else []))
            yield Problem("collection.statistics_missing", pointer, message, remedy)


def _unused(collection: Collection, policies: Sequence[Policy]) -> Iterator[Problem]:
    known = {
        metric
        for policy in policies
        for metric in (
            *policy_metrics(policy),
            *(one.metric for one in policy.guardrails),
            *(one.metric for one in policy.primary),
        )
    }
    names = " or ".join(dict.fromkeys(policy.policy_id for policy in policies))
    for name in collection.metrics:
        if name not in known:
            message = f"no rule of policy {names} names {name}"
            yield Problem("collection.metric_unused", metric_pointer(name), message, "a misspelt name, or leave it out")
