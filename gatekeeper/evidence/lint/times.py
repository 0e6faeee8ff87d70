"""Ages and windows that a policy limits, held against what evidence has when nobody is late.

A sample is up to one scrape old when it is asked for, and it is asked for `settle_seconds` back and up to
`align_seconds` before that; one scrape more is what a single lost scrape costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.documents.problem import Problem
from gatekeeper.evidence.collection import FileMetric, HttpMetric, PrometheusSource, SqlMetric
from gatekeeper.evidence.lint.policy import has_baseline, has_budget, policy_metrics
from gatekeeper.evidence.lint.remarks import metric_pointer, source_pointer
from gatekeeper.model.times import parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gatekeeper.evidence.collection import Collection
    from gatekeeper.model.policy import Policy


def time_remarks(collection: Collection, policies: Sequence[Policy]) -> Iterator[Problem]:
    """Every remark about ages."""
    for policy in policies:
        limits, asked = policy.missing_data_policy, policy_metrics(policy)
        yield from _age(collection, policy, "max_freshness_seconds", limits.max_freshness_seconds, asked)
        compared = {
            one.metric
            for one in policy.guardrails
            if has_budget(one)
            and one.metric in collection.metrics
            and has_baseline(collection.metrics[one.metric], collection)
        }
        yield from _age(collection, policy, "max_baseline_age_seconds", limits.max_baseline_age_seconds, compared)
        if limits.max_freshness_seconds is not None or limits.max_watermark_skew_seconds is not None:
            yield from _undated(collection, policy)
        if limits.max_watermark_skew_seconds is not None:
            yield from _skew(collection, policy, limits.max_watermark_skew_seconds)


def _age(
    collection: Collection, policy: Policy, key: str, limit: float | None, metrics: Iterable[str]
) -> Iterator[Problem]:
    if limit is None:
        return
    settle, align = collection.evaluate_at.settle_seconds, collection.evaluate_at.align_seconds
    for name, source in _asked_servers(collection, metrics).items():
        scrape = source.scrape_interval_seconds
        usual = settle + align + scrape
        parts = f"settle_seconds {settle:g} + align_seconds {align:g} + a scrape every {scrape:g} s"
        remedy = f"allow {usual + scrape:g} s in the policy, which forgives one lost scrape, or settle for less"
        if limit < usual:
            message = (
                f"{key} {limit:g} of policy {policy.policy_id} cannot be met by {name}: its samples are up to "
                f"{usual:g} s old when nobody is late ({parts})"
            )
            yield Problem("collection.freshness_never_met", source_pointer(name), message, remedy)
        elif limit < usual + scrape:
            message = (
                f"{key} {limit:g} of policy {policy.policy_id} holds after one lost scrape of {name}: its samples are "
                f"up to {usual:g} s old anyway ({parts})"
            )
            yield Problem("collection.freshness_tight", source_pointer(name), message, remedy)


def _undated(collection: Collection, policy: Policy) -> Iterator[Problem]:
    """What states no time of its own, where the policy asks how old it is."""
    for metric in policy_metrics(policy):
        spec = collection.metrics.get(metric)
        if isinstance(spec, SqlMetric) and spec.columns.watermark is None:
            pointer, remedy = metric_pointer(metric, "columns"), 'name a column: "watermark": "loaded_until"'
        elif isinstance(spec, HttpMetric) and spec.watermark_pointer is None:
            pointer, remedy = metric_pointer(metric), "state watermark_pointer"
        else:
            continue
        message = f"nothing dates {metric}, and policy {policy.policy_id} limits its age: every check of it holds"
        yield Problem("collection.metric_undated", pointer, message, remedy)


def _skew(collection: Collection, policy: Policy, limit: float) -> Iterator[Problem]:
    """Between two servers; within one, what lies within two scrapes counts as one."""
    servers = _asked_servers(collection, policy_metrics(policy))
    if len(servers) < 2:
        return
    name, source = max(servers.items(), key=lambda item: item[1].scrape_interval_seconds)
    if limit < source.scrape_interval_seconds:
        message = (
            f"max_watermark_skew_seconds {limit:g} of policy {policy.policy_id} is less than the "
            f"{source.scrape_interval_seconds:g} s between two scrapes of {name}: checks hold by chance"
        )
        remedy = f"allow {2 * source.scrape_interval_seconds:g} s, which forgives one lost scrape"
        yield Problem("collection.skew_tight", source_pointer(name), message, remedy)


def stage_remarks(collection: Collection, policies: Sequence[Policy], looks_back_seconds: float) -> Iterator[Problem]:
    """What a policy with a `stage_policy` asks of the window: that it lies within the stage.

    Args:
        looks_back_seconds: how far back the windows of the queries reach.
    """
    if any(isinstance(spec, FileMetric) for spec in collection.metrics.values()):
        return  # it brings its own
    longest = max(looks_back_seconds, (parse_duration(collection.window) or 0) / 1000)
    for policy in policies:
        if policy.stage_policy is None:
            continue
        least = policy.stage_policy.min_stage_seconds
        if not longest:
            message = (
                f"no window is stated, and no query has one: policy {policy.policy_id} has a stage_policy and holds at "
                "every later stage"
            )
            yield Problem("collection.window_missing", "/window", message, 'add "window": "5m", what the values are of')
        elif least is not None and longest > least:
            message = (
                f"snapshots look back {longest:g} s, and policy {policy.policy_id} lets a stage end after {least:g} s: "
                "until the window lies within the stage, checks of the next one hold"
            )
            remedy = "look back less, or let stages last longer"
            yield Problem("collection.window_exceeds_stage", "/window", message, remedy)


def _asked_servers(collection: Collection, metrics: Iterable[str]) -> dict[str, PrometheusSource]:
    """The Prometheus sources that bring one of *metrics*."""
    asked = {collection.metrics[metric].source for metric in metrics if metric in collection.metrics}
    return {
        name: source
        for name, source in collection.sources.items()
        if name in asked and isinstance(source, PrometheusSource)
    }
