"""Warnings of `policy check`: each comes where it should, and none where the policy answers it."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.documents.diagnostics import Severity
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.review.load import check_policy_document, load_policy_document
from gatekeeper.review.warnings import warnings_for
from tests.review.documents import FULL, MISSING, changed, encoded

HOLD = {"retry_after_seconds": 300, "owners": ["sre"]}
QUIET = {
    **changed(changed(FULL, "constraints/0/stages", MISSING), "guardrails/0/threshold", 0.5),
    "stages": ["DRY_RUN", "SHADOW", "CANARY_4", "CANARY_20", "ROLLOUT_100"],
    "holds": dict.fromkeys(HOLD_CATEGORIES, HOLD),
}
del QUIET["suppressions"]
QUIET["guardrails"][0]["stages"] = ["CANARY_20", "ROLLOUT_100"]
GUARDRAIL = QUIET["guardrails"][0]
CONSTRAINT = QUIET["constraints"][0]


def warned(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Pointer and code of every warning."""
    return [(one.pointer, one.code) for one in warnings_for(load_policy_document(encoded(document)))]


def test_a_policy_that_answers_everything_has_no_warning() -> None:
    """Warnings that cannot be silenced are not read."""
    assert warned(QUIET) == []


@pytest.mark.parametrize(
    ("path", "value", "pointer", "code"),
    [
        (
            "missing_data_policy/on_missing_baseline",
            MISSING,
            "/missing_data_policy",
            "policy.budget_without_baseline_rule",
        ),
        ("guardrails/0/range", MISSING, "/guardrails/0", "policy.guardrail_without_range"),
        ("guardrails/0/range", [0.6, 1], "/guardrails/0/threshold", "policy.limit_always_fires"),
        ("guardrails/0/threshold", 1.5, "/guardrails/0/threshold", "policy.limit_never_fires"),
        ("guardrails/0/budget_ratio", 2, "/guardrails/0/budget_ratio", "policy.budget_ratio_above_one"),
        ("promotion_gate", MISSING, "", "policy.no_promotion_gate"),
        ("missing_data_policy/max_freshness_seconds", MISSING, "/missing_data_policy", "policy.no_freshness_limit"),
        (
            "missing_data_policy/precedence",
            "evidence_first",
            "/missing_data_policy/precedence",
            "policy.evidence_first",
        ),
        (
            "missing_data_policy/required_metrics",
            ["error_rate", "data_loss_events", "error_rate"],
            "/missing_data_policy/required_metrics/2",
            "policy.duplicate_required_metric",
        ),
        ("constraints", [CONSTRAINT, CONSTRAINT], "/constraints/1", "policy.duplicate_constraint"),
        ("guardrails", [GUARDRAIL, GUARDRAIL], "/guardrails/1", "policy.duplicate_guardrail"),
        ("policy_version", "May 7", "/policy_version", "policy.version_not_a_name"),
    ],
)
def test_what_a_policy_leaves_open_is_warned_about(path: str, value: Any, pointer: str, code: str) -> None:
    """One warning with a stable code, at the place that answers it."""
    assert warned(changed(QUIET, path, value)) == [(pointer, code)]


def test_ho_04_a_guardrail_whose_unit_nobody_wrote_down_is_warned_about() -> None:
    """HO-04: a percent for a ratio passes by arithmetic; with a range stated it is invalid evidence."""
    success = {"metric": "success_rate", "op": ">=", "threshold": 0.99, "budget_delta": 0.005}
    errors = {"metric": "new_errors", "op": "<=", "threshold": 5, "budget_delta": 4}
    success_only = {**QUIET, "missing_data_policy": {**QUIET["missing_data_policy"], "required_metrics": []}}
    assert warned({**success_only, "guardrails": [success, errors]}) == [
        ("/guardrails/0", "policy.guardrail_without_range"),
        ("/guardrails/1", "policy.guardrail_without_range"),
    ]
    assert (
        warned({**success_only, "guardrails": [{**success, "range": [0, 1]}, {**errors, "range": [0, 1000000]}]}) == []
    )


@pytest.mark.parametrize("key", ["budget_delta", "budget_ratio"])
def test_each_kind_of_budget_needs_a_baseline_rule(key: str) -> None:
    """A budget that nothing checks is no budget."""
    bare = changed(QUIET, "guardrails/0", {"metric": "error_rate", "op": "<=", key: 0.5, "range": [0, 1]})
    assert warned(bare) == []
    without = changed(bare, "missing_data_policy/on_missing_baseline", MISSING)
    assert warned(without) == [("/missing_data_policy", "policy.budget_without_baseline_rule")]


def test_no_budget_needs_no_baseline_rule() -> None:
    """Thresholds alone are compared with nothing."""
    guardrail = {"metric": "error_rate", "op": "<=", "threshold": 0.5, "range": [0, 1]}
    document = changed(changed(QUIET, "guardrails/0", guardrail), "missing_data_policy/on_missing_baseline", MISSING)
    assert warned(document) == []


def test_a_gate_that_asks_for_nothing_is_warned_about() -> None:
    """It would let 100 percent pass without a statistic; one question is enough."""
    gate = {"required_for_stages": ["ROLLOUT_100"]}
    primary = {"metric": "lift", "direction": "up"}
    empty = {**QUIET, "promotion_gate": gate, "primary": [primary]}
    assert warned(empty) == [("/promotion_gate", "policy.promotion_gate_asks_nothing")]
    assert warned({**empty, "primary": [{**primary, "min_lift": 0}]}) == []
    assert warned({**empty, "promotion_gate": {**gate, "min_sample_size": 1}}) == []
    assert warned({**empty, "promotion_gate": {**gate, "require_ci_low_gt": 0}}) == []


def test_a_stage_where_no_enforced_rule_is_asked_is_warned_about() -> None:
    """Such a stage accepts whatever happens; a watched guardrail protects nobody."""
    document = changed(changed(QUIET, "constraints", []), "guardrails/0/stages", ["CANARY_20", "ROLLOUT_100"])
    bare = [("/stages/0", "policy.stage_without_rule"), ("/stages/1", "policy.stage_without_rule")]
    assert warned(document) == [*bare, ("/stages/2", "policy.stage_without_rule")]
    watched = {**GUARDRAIL, "enforcement": "observe"}
    watched.pop("stages")
    assert len(warned({**document, "guardrails": [*document["guardrails"], watched]})) == 3
    assert warned({**document, "guardrails": [*document["guardrails"], {**watched, "enforcement": "enforce"}]}) == []


def test_warnings_have_the_place_of_what_they_are_about() -> None:
    """A reviewer's tool marks the line; an absent part is marked at what holds it."""
    data = b"""{"policy_id": "x", "policy_version": "1",
 "guardrails": [{"metric": "m", "op": "<=", "threshold": 1}]}
"""
    loaded, found = check_policy_document(data, "p.json")
    assert loaded is not None
    assert [(one.line, one.column, one.code) for one in found] == [
        (1, 1, "policy.no_promotion_gate"),
        (1, 1, "policy.hold_category_unnamed"),
        (1, 1, "policy.no_freshness_limit"),
        (1, 1, "policy.no_stage_wait"),
        (2, 17, "policy.guardrail_without_range"),
    ]
    assert [one.severity for one in found] == [
        *(Severity.WARNING, Severity.INFO, Severity.WARNING, Severity.INFO, Severity.WARNING),
    ]
    assert all(one.remedy for one in found)


def test_a_warning_without_bytes_has_no_invented_place() -> None:
    """A policy from the log has no file, and so no line."""
    loaded = load_policy_document(encoded(changed(QUIET, "promotion_gate", MISSING)))
    (warning,) = warnings_for(loaded)
    assert (warning.line, warning.column) == (None, None)
    assert warning.text("p.json").startswith("p.json: (whole policy): no promotion gate")
