"""A collection file and a policy of which a review has nothing to say, to be spoilt one thing at a time."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gatekeeper.evidence.lint.lint import lint
from gatekeeper.model.document import unescape_pointer
from gatekeeper.review.load import load_policy
from tests.review.documents import changed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatekeeper.documents.diagnostics import Diagnostic

SOUND: dict[str, Any] = {
    "sources": {
        "prom": {"type": "prometheus", "url": "https://prom.example.com", "scrape_interval_seconds": 15},
        "dwh": {"type": "sql", "url": "postgresql+psycopg://gate@db.example.com/warehouse"},
        "svc": {"type": "http", "url": "https://svc.example.com/health"},
    },
    "window": "5m",
    "labels": {"track": {"variant": "canary", "baseline": "stable"}},
    "evaluate_at": {"settle_seconds": 30, "align_seconds": 15},
    "metrics": {
        "errors": {
            "source": "prom",
            "query": (
                '(sum(rate(requests_total{code=~"5.."}[$window])) or 0 * sum(rate(requests_total[$window])))'
                " / sum(rate(requests_total[$window]))"
            ),
            "range": [0, 1],
            "min_coverage": 0.8,
        },
        "latency": {
            "source": "prom",
            "variant_query": 'histogram_quantile(0.95, sum by (le) (rate(seconds_bucket{track="canary"}[5m])))',
            "baseline_query": 'histogram_quantile(0.95, sum by (le) (rate(seconds_bucket{track="stable"}[5m])))',
        },
        "leaks": {"source": "prom", "query": "sum(leaks_total)", "bind": False, "kind": "count"},
        "killed": {"source": "prom", "query": "max(killswitch)", "bind": False, "kind": "boolean"},
        "lag": {
            "source": "prom",
            "query": "max(billing:lag)",
            "bind": False,
            "watermark": {"event_time_query": 'max(push_time_seconds{job="billing"})'},
        },
        "lift": {
            "source": "dwh",
            "query": "select rate, base, n, low, effect, loaded_until from lift",
            "columns": {
                "value": "rate",
                "baseline": "base",
                "watermark": "loaded_until",
                "sample_size": "n",
                "ci_low": "low",
                "effect_estimate": "effect",
            },
        },
        "queue": {"source": "svc", "pointer": "/depth", "baseline_pointer": "/before", "watermark_pointer": "/as_of"},
    },
}

POLICY: dict[str, Any] = {
    "policy_id": "shop",
    "policy_version": "1",
    "primary": [{"metric": "lift", "direction": "up", "min_lift": 0.01}],
    "guardrails": [
        {"metric": "errors", "op": "<=", "threshold": 0.02, "budget_delta": 0.001},
        {"metric": "latency", "op": "<=", "threshold": 0.4, "budget_ratio": 0.1},
        {"metric": "queue", "op": "<", "budget_ratio": 0.5},
        {"metric": "lag", "op": "<=", "threshold": 3600},
    ],
    "constraints": [
        {"kind": "must_be_zero", "metric": "leaks"},
        {"kind": "must_be_false", "metric": "killed"},
    ],
    "missing_data_policy": {
        "required_metrics": ["errors"],
        "max_freshness_seconds": 120,
        "max_baseline_age_seconds": 120,
        "max_watermark_skew_seconds": 60,
    },
    "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 1000, "require_ci_low_gt": 0},
    "stage_policy": {"min_stage_seconds": 900},
}


def file(**changes: Any) -> dict[str, Any]:
    """SOUND with the values at these places: `metrics__errors__range=[0, 2]`; `MISSING` takes a key out."""
    return _changed(SOUND, changes)


def policy(**changes: Any) -> dict[str, Any]:
    """POLICY with the values at these places."""
    return _changed(POLICY, changes)


def one(query: str | dict[str, Any], *, scrape: float | None = 15, **top: Any) -> dict[str, Any]:
    """A file with one metric, `m`, that is bound."""
    source = {"type": "prometheus", "url": "${PROM}", **({} if scrape is None else {"scrape_interval_seconds": scrape})}
    spec = {"query": query} if isinstance(query, str) else query
    labels = {"track": {"variant": "canary", "baseline": "stable"}}
    return {"sources": {"p": source}, "labels": labels, "metrics": {"m": {"source": "p", **spec}}, **top}


def _changed(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    for path, value in changes.items():
        document = changed(document, path.replace("__", "/"), value)
    return document


def written(document: object) -> bytes:
    """The bytes of a file with each key and each element on a line of its own."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def reviewed(
    document: Mapping[str, Any], policies: Sequence[Mapping[str, Any]] = (POLICY,), **given: Any
) -> list[Diagnostic]:
    """What is said of a file that loads, held against these policies."""
    loaded, found = lint(written(document), "c.json", policies=[load_policy(written(one)) for one in policies], **given)
    assert loaded is not None, [one.text("c.json") for one in found]
    return found


def told(document: Mapping[str, Any], policies: Sequence[Mapping[str, Any]] = (POLICY,)) -> list[tuple[str, str]]:
    """Code and pointer of each remark; that line and severity are right is asserted on the way."""
    found = reviewed(document, policies)
    for one in found:
        assert one.line == line_of(document, one.pointer), one
        assert one.message
        assert one.remedy
    return [(one.code.removeprefix("collection."), one.pointer) for one in found]


def line_of(document: object, pointer: str) -> int:
    """The line of `written` on which the value at *pointer* begins, or that of the nearest part around it.

    Found by indentation alone: with one space a level, a key of a path of n keys is indented by n spaces.
    """
    keys = [unescape_pointer(key) for key in pointer.split("/")[1:]]
    lines = written(document).decode().splitlines()
    line = 0
    for depth, key in enumerate(keys, start=1):
        for number in range(line + 1, len(lines)):
            text = lines[number]
            if len(text) - len(text.lstrip(" ")) < depth:
                return line + 1
            if re.match(rf"^ {{{depth}}}{re.escape(json.dumps(key))}:", text):
                line = number
                break
        else:
            return line + 1
    return line + 1
