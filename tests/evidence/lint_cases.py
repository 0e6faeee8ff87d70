"""What a review must tell of a file and its policy, each case with a twin that is mended and of which it must not."""

from __future__ import annotations

from typing import Any

from tests.evidence.lint_files import POLICY, SOUND
from tests.review.documents import MISSING

PROM: dict[str, Any] = SOUND["sources"]["prom"]
GUARDRAIL = {"metric": "errors", "op": "<=", "threshold": 0.02}

# code, pointer, what is spoilt in the file, in the policy, what mends it in the file, in the policy
Case = tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]

POLICY_CASES: list[Case] = [
    (
        *("metric_not_collected", "/metrics"),
        *({}, {"missing_data_policy__required_metrics": ["errors", "erors"]}),
        *({}, {"missing_data_policy__required_metrics": ["errors"]}),
    ),
    (
        *("metric_not_collected", "/metrics"),
        *({"metrics__leaks": MISSING}, {}),
        *({}, {}),
    ),
    (
        *("metric_not_collected", "/metrics"),
        *({"metrics__lift": MISSING, "sources__dwh": MISSING}, {}),
        *({"metrics__lift": MISSING, "sources__dwh": MISSING}, {"promotion_gate": MISSING}),
    ),
    (
        *("budget_without_baseline", "/metrics/errors"),
        *({"metrics__errors__bind": False}, {}),
        *({"metrics__errors__bind": False}, {"guardrails__0": GUARDRAIL}),
    ),
    (
        *("budget_without_baseline", "/metrics/latency"),
        *({"metrics__latency__baseline_query": MISSING}, {}),
        *({"metrics__latency__baseline_query": MISSING}, {"guardrails__1__enforcement": "observe"}),
    ),
    (
        *("budget_without_baseline", "/metrics/errors"),
        *({"labels__track": {"variant": "canary"}}, {}),
        *({"labels__track": {"variant": "canary"}}, {"guardrails__0": GUARDRAIL}),
    ),
    (
        *("budget_without_baseline", "/metrics/queue"),
        *({"metrics__queue__baseline_pointer": MISSING}, {}),
        *({"metrics__queue__baseline_pointer": MISSING}, {"guardrails__2": {**GUARDRAIL, "metric": "queue"}}),
    ),
    (
        *("budget_without_baseline", "/metrics/lift/columns"),
        *(
            {"metrics__lift__columns__baseline": MISSING},
            {"guardrails": [*POLICY["guardrails"], {**POLICY["guardrails"][1], "metric": "lift"}]},
        ),
        *({}, {"guardrails": [*POLICY["guardrails"], {**POLICY["guardrails"][1], "metric": "lift"}]}),
    ),
    (
        *("kind_mismatch", "/metrics/leaks/kind"),
        *({"metrics__leaks__kind": "boolean"}, {}),
        *({"metrics__leaks__kind": "number"}, {}),
    ),
    (
        *("kind_mismatch", "/metrics/errors/kind"),
        *({"metrics__errors__kind": "boolean"}, {}),
        *({"metrics__errors__kind": "number"}, {}),
    ),
    (
        *("threshold_outside_range", "/metrics/errors/range"),
        *({}, {"guardrails__0__threshold": 1}),
        *({}, {"guardrails__0__threshold": 0.99}),
    ),
    (
        *("threshold_outside_range", "/metrics/errors/range"),
        *({}, {"guardrails__0": {"metric": "errors", "op": "<", "threshold": 1.01}}),
        *({}, {"guardrails__0": {"metric": "errors", "op": "<", "threshold": 1}}),
    ),
    (
        *("threshold_outside_range", "/metrics/errors/range"),
        *({}, {"guardrails__0": {"metric": "errors", "op": ">=", "threshold": 0}}),
        *({}, {"guardrails__0": {"metric": "errors", "op": ">", "threshold": 0}}),
    ),
    (
        *("threshold_outside_range", "/metrics/errors/range"),
        *({}, {"guardrails__0": {"metric": "errors", "op": ">", "threshold": -0.01}}),
        *({}, {"guardrails__0": {"metric": "errors", "op": ">=", "threshold": 0.01}}),
    ),
    (
        *("statistics_missing", "/metrics/lift/columns"),
        *({"metrics__lift__columns__sample_size": MISSING}, {}),
        *({"metrics__lift__columns__sample_size": MISSING}, {"promotion_gate__min_sample_size": MISSING}),
    ),
    (
        *("statistics_missing", "/metrics/lift/columns"),
        *({}, {"primary__0__direction": "down"}),
        *({"metrics__lift__columns__ci_high": "high"}, {"primary__0__direction": "down"}),
    ),
    (
        *("statistics_missing", "/metrics/lift/columns"),
        *(
            {"metrics__lift__columns__effect_estimate": MISSING, "metrics__lift__columns__ci_low": MISSING},
            {"promotion_gate__require_ci_low_gt": MISSING},
        ),
        *({"metrics__lift__columns__effect_estimate": MISSING}, {}),
    ),
    (
        *("statistics_missing", "/metrics/errors"),
        *({}, {"primary": [*POLICY["primary"], {"metric": "errors", "direction": "down"}]}),
        *({}, {}),
    ),
    (
        *("metric_unused", "/metrics/queue"),
        *({}, {"guardrails": [one for one in POLICY["guardrails"] if one["metric"] != "queue"]}),
        *({}, {}),
    ),
]

TIME_CASES: list[Case] = [
    # settle 30 + align 15 + scrape 15 = 60 when nobody is late; 75 forgives one lost scrape
    (
        *("freshness_never_met", "/sources/prom"),
        *({}, {"missing_data_policy__max_freshness_seconds": 59.9}),
        *({}, {"missing_data_policy__max_freshness_seconds": 75}),
    ),
    (
        *("freshness_tight", "/sources/prom"),
        *({}, {"missing_data_policy__max_freshness_seconds": 60}),
        *({}, {"missing_data_policy__max_freshness_seconds": MISSING}),
    ),
    (
        *("freshness_tight", "/sources/prom"),
        *({}, {"missing_data_policy__max_freshness_seconds": 74.9}),
        *({"evaluate_at": {}}, {"missing_data_policy__max_freshness_seconds": 31}),
    ),
    (
        *("freshness_never_met", "/sources/prom"),
        *({"evaluate_at": {"settle_seconds": 200}}, {"missing_data_policy__max_baseline_age_seconds": MISSING}),
        *({"evaluate_at": {"settle_seconds": 89}}, {"missing_data_policy__max_baseline_age_seconds": MISSING}),
    ),
    (
        *("freshness_never_met", "/sources/prom"),
        *({}, {"missing_data_policy__max_baseline_age_seconds": 59}),
        *(
            {"metrics__errors__bind": False},
            {
                "missing_data_policy__max_baseline_age_seconds": 59,
                "guardrails__0": GUARDRAIL,
                "guardrails__1": {**GUARDRAIL, "metric": "latency"},
            },
        ),
    ),
    (
        *("metric_undated", "/metrics/queue"),
        *({"metrics__queue__watermark_pointer": MISSING}, {}),
        *(
            {"metrics__queue__watermark_pointer": MISSING},
            {"missing_data_policy": {"required_metrics": ["errors"]}},
        ),
    ),
    (
        *("metric_undated", "/metrics/lift/columns"),
        *({"metrics__lift__columns__watermark": MISSING}, {"missing_data_policy__max_freshness_seconds": MISSING}),
        *({}, {"missing_data_policy__max_freshness_seconds": MISSING}),
    ),
    (
        *("skew_tight", "/sources/slow"),
        *(
            {"sources__slow": {**PROM, "scrape_interval_seconds": 30}, "metrics__leaks__source": "slow"},
            {"missing_data_policy__max_watermark_skew_seconds": 29},
        ),
        *(
            {"sources__slow": {**PROM, "scrape_interval_seconds": 30}, "metrics__leaks__source": "slow"},
            {"missing_data_policy__max_watermark_skew_seconds": 30},
        ),
    ),
    (
        *("skew_tight", "/sources/slow"),
        *(
            {"sources__slow": {**PROM, "scrape_interval_seconds": 30}, "metrics__leaks__source": "slow"},
            {"missing_data_policy__max_watermark_skew_seconds": 14},
        ),
        *({}, {"missing_data_policy__max_watermark_skew_seconds": 14}),  # within one server two scrapes are one
    ),
    (
        *("window_exceeds_stage", "/window"),
        *({"window": "15m1s"}, {}),
        *({"window": "15m"}, {}),
    ),
    (
        *("window_exceeds_stage", "/window"),
        *({}, {"stage_policy__min_stage_seconds": 299}),
        *({}, {"stage_policy": {}}),
    ),
]

SOURCE_CASES: list[Case] = [
    (
        *("source_unused", "/sources/spare"),
        *({"sources__spare": PROM}, {}),
        *({"sources__spare": PROM, "metrics__leaks__source": "spare"}, {}),
    ),
    (
        *("sql_not_read_only", "/sources/dwh/url"),
        *({"sources__dwh__url": "snowflake://gate@shop/facts"}, {}),
        *({"sources__dwh__url": "${WAREHOUSE_URL}"}, {}),
    ),
    (
        *("credentials_in_clear", "/sources/svc/url"),
        *({"sources__svc": {"type": "http", "url": "http://svc/x", "headers": {"X-Api-Key": "${KEY}"}}}, {}),
        *({"sources__svc": {"type": "http", "url": "http://svc/x", "headers": {"X-Scope-OrgID": "shop"}}}, {}),
    ),
    (
        *("credentials_in_clear", "/sources/prom/url"),
        *({"sources__prom__url": "http://gate:${PROM_PASSWORD}@prom.example.com:9090"}, {}),
        *({"sources__prom__url": "http://gate:${PROM_PASSWORD}@127.0.0.1:9090"}, {}),
    ),
]
