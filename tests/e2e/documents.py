"""The hand-out's shared inputs (P0, S0, L0), their times at a distance from now as the hand-out states them."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

Document = dict[str, Any]

P0: Document = {
    "policy_id": "checkout-api",
    "policy_version": "7",
    "primary": [{"metric": "conversion_lift", "direction": "up", "min_lift": 0.0}],
    "guardrails": [
        {"metric": "error_rate", "op": "<=", "threshold": 0.02, "budget_delta": 0.005},
        {"metric": "latency_p99_ms", "op": "<=", "threshold": 400, "budget_delta": 25},
    ],
    "constraints": [
        {"kind": "must_be_zero", "metric": "data_loss_events"},
        {"kind": "must_be_false", "metric": "kill_switch"},
    ],
    "missing_data_policy": {
        "required_metrics": ["latency_p99_ms"],
        "on_missing": "DEGRADE",
        "on_missing_baseline": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
        "on_stale": "DEGRADE",
    },
    "promotion_gate": {
        "required_for_stages": ["ROLLOUT_100"],
        "min_sample_size": 100000,
        "require_ci_low_gt": 0.0,
        "on_not_ready": "DEGRADE",
    },
}

HEALTHY: Document = {
    "error_rate": 0.004,
    "latency_p99_ms": 310,
    "data_loss_events": 0,
    "kill_switch": False,
    "conversion_lift": 0.012,
}
HARMFUL: Document = {**HEALTHY, "error_rate": 0.19}
BLIND: Document = {name: value for name, value in HEALTHY.items() if name != "error_rate"}
"""S0 without `error_rate`, which only a guardrail names."""

PROMOTED: Document = {"conversion_lift": {"sample_size": 250000, "ci_low": 0.004, "effect_estimate": 0.012}}


def policy(**changes: Any) -> Document:
    """P0 with other values at the top."""
    return {**deepcopy(P0), **changes}


def before_now(seconds: float) -> str:
    """The time so long ago, RFC 3339."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def snapshot(
    metrics: Document, *, name: str = "", age: float = 10, more: int = 0, promotion: Document | None = None
) -> Document:
    """S0 with these metrics and L0 as its baseline.

    Args:
        name: makes it another snapshot than one with equal metrics.
        age: seconds since `collected_at`.
        more: so many further metrics, which no rule asks for.
        promotion: the statistics part.
    """
    times = {"collected_at": before_now(age), "window": "5m", "watermark_event_time": before_now(age + 30)}
    document: Document = {
        "metrics": {**metrics, **{f"further_metric_{number:03}": number / 7 for number in range(more)}},
        "baseline": {"metrics": {"error_rate": 0.003, "latency_p99_ms": 300}, "_meta": dict(times)},
        "_meta": {
            **times,
            "snapshot_id": name,
            "freshness_seconds": 30,
            "sources": [{"name": "prometheus", "watermark_event_time": times["watermark_event_time"]}],
        },
    }
    if promotion is not None:
        document["promotion"] = promotion
    return document


def text(document: Document) -> str:
    """As a file holds it."""
    return json.dumps(document, ensure_ascii=False)
