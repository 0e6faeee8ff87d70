"""What is collected while collections are measured: metrics of the lab's services, and a policy that judges five."""

from __future__ import annotations

from typing import Any

MANY = 20
FEW = 5

_REQUESTS, _ERRORS = "http_requests_total", 'http_requests_total{code=~"5.."}'
_SECONDS = "http_request_duration_seconds"
_QUICK = f'{_SECONDS}_bucket{{le="0.5"}}'


def metrics() -> dict[str, dict[str, Any]]:
    """`MANY` metrics as a team would watch them, name -> all of a metric but its source; the first `FEW` are judged."""
    found: dict[str, dict[str, Any]] = {
        "error_ratio_5m": {"query": _ratio(_ERRORS, _REQUESTS, "5m"), "range": [0, 1]},
        "p95_seconds_5m": {"query": _quantile("0.95", "5m")},
        "mean_seconds_5m": {"query": _ratio(f"{_SECONDS}_sum", f"{_SECONDS}_count", "5m")},
        "requests_5m": {"query": f"floor(sum(increase({_REQUESTS}[5m])))", "kind": "count"},
        "instances": {"query": 'count(up{job="checkout"})', "kind": "count"},
        "requests_per_second_5m": {"query": f"sum(rate({_REQUESTS}[5m]))"},
        "errors_per_second_5m": {"query": f"sum(rate({_ERRORS}[5m]))"},
        "slow_ratio_5m": {"query": f"1 - {_ratio(_QUICK, f'{_SECONDS}_count', '5m')}"},
        "instances_up_ratio": {"query": 'sum(up{job="checkout"}) / count(up{job="checkout"})', "range": [0, 1]},
        "error_ratio_10m": {"query": _ratio(_ERRORS, _REQUESTS, "10m"), "range": [0, 1]},
        "mean_seconds_10m": {"query": _ratio(f"{_SECONDS}_sum", f"{_SECONDS}_count", "10m")},
        "requests_per_second_10m": {"query": f"sum(rate({_REQUESTS}[10m]))"},
        "errors_per_second_10m": {"query": f"sum(rate({_ERRORS}[10m]))"},
    }
    for window, percents in (("5m", (50, 90, 99)), ("10m", (50, 90, 95, 99))):
        for percent in percents:
            found[f"p{percent}_seconds_{window}"] = {"query": _quantile(f"0.{percent}", window)}
    assert len(found) == MANY
    return found


def collection(url: str, *, count: int, **limits: float) -> dict[str, Any]:
    """A collection file that asks the server at *url* for so many metrics, variant and baseline."""
    asked = dict(list(metrics().items())[:count])
    return {
        "sources": {"prom": {"type": "prometheus", "url": url}},
        "window": "5m",
        "labels": {"variant": {"variant": "canary", "baseline": "baseline"}},
        "limits": limits,
        "metrics": {name: {"source": "prom", **metric} for name, metric in asked.items()},
    }


def policy() -> dict[str, Any]:
    """Judges the first `FEW` metrics; what the scenario `healthy` holds is accepted."""
    return {
        "policy_id": "bench-collected",
        "policy_version": "1",
        "primary": [{"metric": "requests_5m", "direction": "up"}],
        "guardrails": [
            {"metric": "error_ratio_5m", "op": "<=", "threshold": 0.05, "budget_delta": 0.02},
            {"metric": "p95_seconds_5m", "op": "<=", "threshold": 1, "budget_delta": 0.2},
            {"metric": "mean_seconds_5m", "op": "<=", "threshold": 0.5, "budget_ratio": 0.5},
            {"metric": "requests_5m", "op": ">=", "threshold": 100},
            {"metric": "instances", "op": ">=", "threshold": 1},
        ],
        "missing_data_policy": {
            "required_metrics": list(metrics())[:FEW],
            "on_missing": "DEGRADE",
            "max_freshness_seconds": 60,
            "max_watermark_skew_seconds": 60,
            "on_stale": "DEGRADE",
        },
    }


def _ratio(part: str, whole: str, window: str) -> str:
    return f"sum(rate({part}[{window}])) / sum(rate({whole}[{window}]))"


def _quantile(quantile: str, window: str) -> str:
    return f"histogram_quantile({quantile}, sum by (le) (rate({_SECONDS}_bucket[{window}])))"
