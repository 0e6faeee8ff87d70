"""Findings in words: every code of SPEC 5 has its own sentence and its own next step."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.render.codes import CODES
from gatekeeper.render.sentences import remedy, sentence
from tests.render.events import HEALTHY, OVER_LIMIT, finding

# SPEC 5's table, copied by hand: what stands behind each category
SPEC_CODES = {
    "constraint_violation": ["*"],
    "guardrail_violation": ["*"],
    "budget_violation": ["*"],
    "change_refused": ["unsafe_for_experiment", "deadline_passed", "stopped", "superseded"],
    "observation_missing": [
        "required_metric",
        "constraint_metric",
        "guardrail_metric",
        "empty_result",
        "baseline_metric",
        "freshness_seconds",
        "watermark_event_time",
        "window",
        "source_unavailable",
        "delayed_pipeline",
        "broken_dashboard_ref",
    ],
    "observation_invalid": [
        "constraint_value",
        "guardrail_value",
        "baseline_value",
        "promotion_value",
        "freshness_seconds",
        "collected_at",
        "watermark_event_time",
        "multiple_series",
        "out_of_range",
        "bad_response",
        "query_failed",
    ],
    "observation_stale": [
        "over_freshness_budget",
        "watermark_skew",
        "window_before_stage",
        "window_coverage",
        "baseline_age",
    ],
    "evidence_missing": ["change_id", "ticket_link", "*", "approval", "partial_response"],
    "precondition_unknown": [
        "sample_size_not_reached",
        "significance_not_ready",
        "assignment_not_stable",
        "variant_mapping_ambiguous",
        "stage_wait_not_elapsed",
        "baseline_window_mismatch",
        "policy_changed",
        "history_incomplete",
    ],
}
ALL_CODES = [f"{category}:{detail}" for category, details in SPEC_CODES.items() for detail in details]
LATER_CODES = [
    "change_refused:outside_change_window",
    "change_refused:frozen",
    "precondition_unknown:exposure_budget_exhausted",
]

M = "error_rate_5m"
SENTENCES: list[tuple[str, dict[str, Any], str]] = [
    ("violated", OVER_LIMIT, "error_rate_5m is 0.013, above its limit of <= 0.01 (margin -0.003)"),
    ("passed", HEALTHY, "p95_latency_ms_5m is 360, within its limit of <= 400 (margin 40)"),
    (
        "below",
        finding(
            "guardrail:ok", "VIOLATED", code="guardrail_violation:ok", metric="ok", observed=0.9, op=">=", limit=0.97
        ),
        "ok is 0.9, below its limit of >= 0.97",
    ),
    (
        "at",
        finding("guardrail:n", "VIOLATED", code="guardrail_violation:n", metric="n", observed=12, op="<", limit=12),
        "n is 12, at its limit of < 12",
    ),
    (
        "zero",
        finding(
            "constraint:pii", "VIOLATED", code="constraint_violation:pii", metric="pii", observed=3, op="==", limit=0
        ),
        "pii is 3, and it must be zero",
    ),
    (
        "false",
        finding(
            "constraint:f", "VIOLATED", code="constraint_violation:f", metric="f", observed=True, op="==", limit=False
        ),
        "f is true, and it must be false",
    ),
    (
        "budget",
        finding(
            f"budget:{M}",
            "VIOLATED",
            code=f"budget_violation:{M}",
            metric=M,
            observed=0.009,
            op="<=",
            limit=0.001,
            baseline=0.0075,
            margin=-0.0005,
        ),
        "error_rate_5m is 0.009 against a baseline of 0.0075, worse by more than its budget of 0.001 (margin -0.0005)",
    ),
    (
        "budget ratio",
        finding(f"budget_ratio:{M}", "PASS", metric=M, observed=101, op="<=", limit=0.02, baseline=100, margin=1),
        "error_rate_5m is 101 against a baseline of 100, within its budget of 0.02 of the baseline (margin 1)",
    ),
    (
        "age",
        finding(
            "freshness",
            "STALE",
            code="observation_stale:over_freshness_budget",
            observed=300,
            op="<=",
            limit=120,
            source="warehouse",
        ),
        "the evidence is 300 s old, over the limit of 120 s (source warehouse)",
    ),
    (
        "skew",
        finding(
            "skew", "STALE", code="observation_stale:watermark_skew", observed=90.5, op="<=", limit=60, source="dwh"
        ),
        "source dwh lags 90.5 s behind the newest source, over the limit of 60 s",
    ),
    (
        "stale value",
        finding(
            f"guardrail:{M}",
            "STALE",
            code="observation_stale:over_freshness_budget",
            metric=M,
            observed=0.02,
            op="<=",
            limit=0.01,
            source="prom",
            would_be=f"guardrail_violation:{M}",
        ),
        (
            "error_rate_5m is 0.02 and is older than the freshness limit, so it confirms nothing (source prom); "
            "the value would have been guardrail_violation:error_rate_5m"
        ),
    ),
    (
        "window",
        finding(
            "window",
            "STALE",
            code="observation_stale:window_before_stage",
            observed="2026-02-18T00:59:00Z",
            op=">=",
            limit="2026-02-18T01:00:00Z",
        ),
        (
            "the window of the evidence began at 2026-02-18T00:59:00Z, before the run entered its stage "
            "(2026-02-18T01:00:00Z)"
        ),
    ),
    (
        "watched",
        {**OVER_LIMIT, "outcome": "OBSERVED", "code": None, "would_be": f"guardrail_violation:{M}"},
        "error_rate_5m is 0.013, above its limit of <= 0.01 (margin -0.003); only watched, it decides nothing",
    ),
    (
        "watched and healthy",
        {**HEALTHY, "outcome": "OBSERVED"},
        "p95_latency_ms_5m is 360, within its limit of <= 400 (margin 40); only watched, it decides nothing",
    ),
    (
        "invalid text",
        finding(f"guardrail:{M}", "INVALID", code="observation_invalid:guardrail_value", metric=M, observed="0,01"),
        'error_rate_5m has a value that is no number: "0,01"',
    ),
    (
        "sample",
        finding(
            "promotion:cr:sample_size",
            "NOT_READY",
            code="precondition_unknown:sample_size_not_reached",
            metric="cr",
            observed=51200,
            op=">=",
            limit=100000,
        ),
        "cr has a sample of 51200, and 100000 is needed",
    ),
    (
        "no sample",
        finding(
            "promotion:cr:sample_size",
            "NOT_READY",
            code="precondition_unknown:sample_size_not_reached",
            metric="cr",
            op=">=",
            limit=100000,
        ),
        "cr has no sample size, and 100000 is needed",
    ),
    (
        "bound",
        finding(
            "promotion:a:b:ci_bound",
            "NOT_READY",
            code="precondition_unknown:significance_not_ready",
            metric="a:b",
            observed=-0.001,
            op=">",
            limit=0,
        ),
        "the confidence bound of a:b is -0.001, and > 0 is needed: nothing is proven yet",
    ),
    (
        "stage wait",
        finding(
            "stage_wait",
            "NOT_READY",
            code="precondition_unknown:stage_wait_not_elapsed",
            observed=600,
            op=">=",
            limit=900,
        ),
        "the run has been in its stage for 600 s, and 900 s are needed",
    ),
    (
        "deadline",
        finding(
            "deadline",
            "VIOLATED",
            code="change_refused:deadline_passed",
            observed="2026-02-20T00:00:00Z",
            op="<",
            limit="2026-02-19T00:00:00Z",
        ),
        "the hold has passed its deadline (2026-02-19T00:00:00Z), and its policy says REJECT",
    ),
    ("reference", finding("evidence:cab:7", "MISSING", code="evidence_missing:cab:7"), "evidence cab:7 is missing"),
    ("reference given", finding("evidence:change_id", "PASS", observed="CHG-1"), "evidence change_id is given (CHG-1)"),
    ("approved", finding("evidence:approval", "PASS"), "the stage is approved"),
    (
        "not asked",
        finding("promotion:cr:min_lift", "NOT_EVALUATED", metric="cr"),
        "min_lift of cr was not evaluated: it is not asked here, or safety did not pass",
    ),
    (
        "no limit of age",
        finding("freshness", "NOT_EVALUATED", op="<="),
        "no limit for the age of the evidence was asked",
    ),
    ("no limit of lag", finding("skew", "NOT_EVALUATED", op="<="), "no limit for the lag between sources was asked"),
    (  # every metric asked has a problem: a limit is stated, and the sentence must not deny it
        "nothing with an age",
        finding("freshness", "NOT_EVALUATED", op="<=", limit=120),
        "the age of the evidence was not evaluated: nothing with an age was collected",
    ),
    (
        "no source with an age",
        finding("skew", "NOT_EVALUATED", op="<=", limit=0),
        "the lag between sources was not evaluated: no source with an age was collected",
    ),
    (
        "nothing with a window",
        finding("window", "NOT_EVALUATED"),
        "the window was not evaluated: it is not asked here, or nothing with a window was collected",
    ),
]


@pytest.mark.parametrize("code", [*ALL_CODES, *LATER_CODES])
def test_no_reason_code_is_left_without_a_sentence_or_a_next_step(code: str) -> None:
    """Every code of SPEC 5 has a line; a reserved one at least its own next step."""
    shown = code.replace("*", "some_name")
    text = sentence(finding("guardrail:some_name", "VIOLATED", code=shown, metric="some_name"))
    step = remedy(shown)
    assert text
    assert "{" not in text + step
    assert "VIOLATED" not in text, "the fallback sentence stands in for a missing line"
    assert step != remedy("nobody:knows")


def test_the_table_of_codes_and_spec_do_not_drift_apart() -> None:
    """A line without a code in SPEC is only a category's last resort."""
    extra = {code for code in CODES if code not in ALL_CODES}
    assert set(ALL_CODES) <= set(CODES)
    assert extra == {
        "change_refused:*",
        "observation_missing:*",
        "observation_invalid:*",
        "observation_stale:*",
        "precondition_unknown:*",
    }


@pytest.mark.parametrize(
    ("given_finding", "said"), [case[1:] for case in SENTENCES], ids=[case[0] for case in SENTENCES]
)
def test_a_finding_says_what_was_seen_and_what_was_allowed(given_finding: dict[str, Any], said: str) -> None:
    """Sentences by hand for each outcome and each kind of rule."""
    assert sentence(given_finding) == said
