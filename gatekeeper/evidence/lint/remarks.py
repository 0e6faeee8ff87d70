"""What the review of a collection file can say: every code with its severity, and where a metric stands."""

from __future__ import annotations

from gatekeeper.documents.diagnostics import Severity
from gatekeeper.model.document import escape_pointer

DEFECTS = (
    "collection.answers_without_series",
    "collection.budget_without_baseline",
    "collection.coverage_never_met",
    "collection.filters_at_top",
    "collection.freshness_never_met",
    "collection.guard_without_target",
    "collection.kind_mismatch",
    "collection.metric_not_collected",
    "collection.metric_undated",
    "collection.quantile_out_of_bounds",
    "collection.quantile_without_le",
    "collection.rate_must_be_zero",
    "collection.statistics_missing",
    "collection.threshold_above_buckets",
    "collection.threshold_outside_range",
    "collection.window_missing",
    "collection.window_too_short",
)
"""They make the gate's answer wrong or impossible."""

WARNINGS = (
    "collection.buckets_unknown",
    "collection.constant_fallback",
    "collection.coverage_off",
    "collection.coverage_tight",
    "collection.credentials_in_clear",
    "collection.filters_inside",
    "collection.freshness_tight",
    "collection.looks_ahead",
    "collection.looks_back",
    "collection.metric_unused",
    "collection.name_pattern",
    "collection.not_boolean",
    "collection.rate_of_sum",
    "collection.scrape_interval_assumed",
    "collection.several_series",
    "collection.sides_differ",
    "collection.skew_tight",
    "collection.source_unused",
    "collection.sql_not_read_only",
    "collection.window_exceeded",
    "collection.window_exceeds_stage",
)
"""They are worth a second look."""

SEVERITIES = {**dict.fromkeys(DEFECTS, Severity.ERROR), **dict.fromkeys(WARNINGS, Severity.WARNING)}
"""Code -> severity of all that is said of a file that loads; `docs/formats/collection-lint.md` explains each."""


def metric_pointer(name: str, *rest: str) -> str:
    """JSON Pointer of a metric, or of a key of it."""
    return "/".join(("/metrics", escape_pointer(name), *rest))


def source_pointer(name: str, *rest: str) -> str:
    """JSON Pointer of a source, or of a key of it."""
    return "/".join(("/sources", escape_pointer(name), *rest))
