"""SPEC 3 beyond keys and types: each rule is broken alone, and its boundary is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.review.rules import policy_problems
from tests.review.documents import FULL, MISSING, changed, errors, refusal

DEFAULT = ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100"]
ONE_RULE: dict[str, Any] = {
    "policy_id": "x",
    "policy_version": "1",
    "guardrails": [{"metric": "m", "op": "<=", "threshold": 1}],
}

BROKEN: list[tuple[str, Any, str, str]] = [
    ("policy_id", "", "/policy_id", "policy.empty_text"),
    ("policy_id", " \t", "/policy_id", "policy.empty_text"),
    ("policy_version", "", "/policy_version", "policy.empty_text"),
    ("primary/0/metric", "", "/primary/0/metric", "policy.empty_text"),
    ("guardrails/0/metric", "", "/guardrails/0/metric", "policy.empty_text"),
    ("constraints/0/metric", "", "/constraints/0/metric", "policy.empty_text"),
    ("missing_data_policy/required_metrics", ["a", ""], "/missing_data_policy/required_metrics/1", "policy.empty_text"),
    ("evidence/required", [" "], "/evidence/required/0", "policy.empty_text"),
    ("holds/evidence_missing/owners", ["sre", ""], "/holds/evidence_missing/owners/1", "policy.empty_text"),
    ("holds/evidence_missing/owners", [], "/holds/evidence_missing/owners", "policy.empty_list"),
    ("guardrails/0/budget_delta", -0.001, "/guardrails/0/budget_delta", "policy.out_of_bounds"),
    ("guardrails/0/budget_ratio", -1, "/guardrails/0/budget_ratio", "policy.out_of_bounds"),
    ("guardrails/0/range", [1, 1], "/guardrails/0/range", "policy.bad_range"),
    ("guardrails/0/range", [1, 0.5], "/guardrails/0/range", "policy.bad_range"),
    ("guardrails/0/stages", [], "/guardrails/0/stages", "policy.empty_list"),
    ("guardrails/0/stages", ["CANARY_10", "CANARY_11"], "/guardrails/0/stages/1", "policy.unknown_stage"),
    ("constraints/0/stages", [], "/constraints/0/stages", "policy.empty_list"),
    ("constraints/0/stages", ["canary_10"], "/constraints/0/stages/0", "policy.unknown_stage"),
    ("guardrails/0/runbook", "runbooks.example.com", "/guardrails/0/runbook", "policy.bad_url"),
    ("guardrails/0/runbook", "javascript:alert(1)", "/guardrails/0/runbook", "policy.bad_url"),
    ("guardrails/0/runbook", "https://", "/guardrails/0/runbook", "policy.bad_url"),
    ("guardrails/0/runbook", "https://example.com/a b", "/guardrails/0/runbook", "policy.bad_url"),
    ("guardrails/0/runbook", "https://example.com/\x1b[2J", "/guardrails/0/runbook", "policy.bad_url"),
    ("guardrails/0/runbook", "https://u:secret@example.com/", "/guardrails/0/runbook", "policy.bad_url"),
    ("constraints/0/runbook", "ftp://example.com", "/constraints/0/runbook", "policy.bad_url"),
    ("promotion_gate/required_for_stages", [], "/promotion_gate/required_for_stages", "policy.empty_list"),
    ("promotion_gate/required_for_stages", ["X"], "/promotion_gate/required_for_stages/0", "policy.unknown_stage"),
    ("promotion_gate/min_sample_size", -1, "/promotion_gate/min_sample_size", "policy.out_of_bounds"),
    ("primary", [], "/promotion_gate", "policy.gate_without_primary"),
    ("primary", MISSING, "/promotion_gate", "policy.gate_without_primary"),
    ("stage_policy/min_stage_seconds", 0, "/stage_policy/min_stage_seconds", "policy.out_of_bounds"),
    ("stage_policy/min_stage_seconds", -5, "/stage_policy/min_stage_seconds", "policy.out_of_bounds"),
    ("holds/evidence_missing/deadline_seconds", 0, "/holds/evidence_missing/deadline_seconds", "policy.out_of_bounds"),
    (
        "holds/evidence_missing/deadline_seconds",
        MISSING,
        "/holds/evidence_missing/on_deadline",
        "policy.deadline_missing",
    ),
    ("holds/guardrail_violation", {}, "/holds/guardrail_violation", "policy.unknown_key"),
    ("stages", [], "/stages", "policy.stage_order"),
]

_AGES = ["max_freshness_seconds", "max_watermark_skew_seconds", "max_baseline_age_seconds"]
_HOLD_TIMES = ["retry_after_seconds", "escalate_after_seconds", "deadline_seconds"]
SECONDS = [
    "stage_policy/min_stage_seconds",
    *(f"missing_data_policy/{key}" for key in _AGES),
    *(f"holds/evidence_missing/{key}" for key in _HOLD_TIMES),
]


@pytest.mark.parametrize(("path", "value", "pointer", "code"), BROKEN)
def test_a_broken_rule_is_named_at_its_place(path: str, value: Any, pointer: str, code: str) -> None:
    """The policy does not load, and the rule is said once, where it is broken."""
    found = errors(changed(FULL, path, value))
    assert (pointer, code) in found
    assert [one for one in found if one[0] == pointer] == [(pointer, code)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("guardrails/0/budget_delta", 0),
        ("guardrails/0/range", [-1, -0.5]),
        ("guardrails/0/threshold", -3),
        ("guardrails/0/metric", " "),
        ("guardrails/0/runbook", "HTTPS://example.com?a=b@c"),
        ("primary/0/min_lift", -0.5),
        ("promotion_gate/min_sample_size", 0),
        ("promotion_gate/require_ci_low_gt", -1),
        ("missing_data_policy/max_freshness_seconds", 0),
        ("missing_data_policy/required_metrics", []),
        ("missing_data_policy/required_metrics", ["a", "a"]),
        ("stage_policy/min_stage_seconds", 0.001),
        ("stage_policy", {}),
        ("evidence/required", []),
        ("holds/evidence_missing/retry_after_seconds", 0),
        ("holds/evidence_missing/on_deadline", MISSING),
        ("holds", {}),
        ("guardrails/0/threshold", MISSING),
        ("guardrails", []),
        ("constraints", []),
    ],
)
def test_what_the_rules_allow_loads(path: str, value: Any) -> None:
    """A boundary that is refused by one step too far would stop a sound policy."""
    assert refusal(changed(FULL, path, value)) == []


@pytest.mark.parametrize("path", SECONDS)
def test_a_time_beyond_the_calendar_is_refused(path: str) -> None:
    """A deadline in the year 40000 would crash the gate when the hold begins; 100 years are allowed."""
    assert errors(changed(FULL, path, 1e12)) == [(f"/{path}", "policy.out_of_bounds")]
    assert errors(changed(FULL, path, 3_153_600_000)) == []
    assert errors(changed(FULL, path, -1)) == [(f"/{path}", "policy.out_of_bounds")]


@pytest.mark.parametrize(
    "stages",
    [
        ["CANARY_1", "ROLLOUT_100"],
        ["SHADOW", "CANARY_0.5", "CANARY_0.75", "CANARY_99.9", "ROLLOUT_100"],
        ["DRY_RUN", "CANARY_10", "ROLLOUT_100"],
        DEFAULT,
    ],
)
def test_stage_lists_that_spec_allows_load(stages: list[str]) -> None:
    """DRY_RUN and SHADOW may be left out, percentages may be decimals."""
    assert refusal({**ONE_RULE, "stages": stages}) == []


@pytest.mark.parametrize(
    ("stages", "pointer", "code"),
    [
        (["CANARY_10", "CANARY_10", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["CANARY_10", "CANARY_10.0", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["CANARY_25", "CANARY_10", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["SHADOW", "DRY_RUN", "CANARY_10", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["CANARY_10", "SHADOW", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["CANARY_10", "ROLLOUT_100", "DRY_RUN"], "/stages/2", "policy.stage_order"),
        (["ROLLOUT_100", "CANARY_10"], "/stages/1", "policy.stage_order"),
        (["DRY_RUN", "DRY_RUN", "CANARY_10", "ROLLOUT_100"], "/stages/1", "policy.stage_order"),
        (["DRY_RUN", "CANARY_10"], "/stages", "policy.stage_order"),
        (["DRY_RUN", "SHADOW", "ROLLOUT_100"], "/stages", "policy.stage_order"),
        (["CANARY_100", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY_0", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY_-1", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY_05", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY_1e1", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY", "ROLLOUT_100"], "/stages/0", "policy.unknown_stage"),
        (["CANARY_10", "ROLLOUT"], "/stages/1", "policy.unknown_stage"),
    ],
)
def test_stage_lists_out_of_order_are_refused(stages: list[str], pointer: str, code: str) -> None:
    """A rollout that goes back, jumps to 100 or never ends is a slip in the file."""
    assert errors({**ONE_RULE, "stages": stages}) == [(pointer, code)]


def test_a_stage_that_the_policy_leaves_out_may_not_be_named() -> None:
    """A rule for CANARY_25 in a policy without that step would be asked nowhere."""
    guardrail = {**ONE_RULE["guardrails"][0], "stages": ["CANARY_25"]}
    assert refusal({**ONE_RULE, "guardrails": [guardrail]}) == []  # among the default stages
    found = errors({**ONE_RULE, "guardrails": [guardrail], "stages": ["CANARY_20", "ROLLOUT_100"]})
    assert found == [("/guardrails/0/stages/0", "policy.unknown_stage")]


@pytest.mark.parametrize("key", ["threshold", "budget_delta", "budget_ratio"])
def test_one_limit_of_any_kind_makes_a_guardrail(key: str) -> None:
    """Threshold, absolute and relative budget are each enough alone."""
    assert refusal({**ONE_RULE, "guardrails": [{"metric": "m", "op": ">", key: 1}]}) == []


def test_a_guardrail_that_limits_nothing_is_refused() -> None:
    """It would look like protection in review and be none."""
    found = errors({**ONE_RULE, "guardrails": [*ONE_RULE["guardrails"], {"metric": "m", "op": "<=", "range": [0, 1]}]})
    assert found == [("/guardrails/1", "policy.guardrail_without_limit")]


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"guardrails": [], "constraints": []},
        {"guardrails": [{"metric": "m", "op": "<=", "threshold": 1, "enforcement": "observe"}]},
    ],
)
def test_a_policy_that_enforces_nothing_is_refused(rules: dict[str, Any]) -> None:
    """It would accept everything."""
    assert errors({"policy_id": "x", "policy_version": "1", **rules}) == [("", "policy.no_rule")]


def test_one_constraint_is_enough_beside_watched_guardrails() -> None:
    """Mandatory is one enforced guardrail or constraint, not both."""
    watched = {**ONE_RULE["guardrails"][0], "enforcement": "observe"}
    constraint = {"kind": "must_be_zero", "metric": "z"}
    assert refusal({**ONE_RULE, "guardrails": [watched], "constraints": [constraint]}) == []


def test_the_same_primary_twice_is_refused_at_the_second() -> None:
    """Two statements about one goal cannot both hold."""
    primary = {"metric": "lift", "direction": "up"}
    found = errors({**ONE_RULE, "primary": [primary, {**primary, "metric": "other"}, {**primary, "direction": "down"}]})
    assert found == [("/primary/2/metric", "policy.duplicate_primary")]


def test_an_unknown_hold_category_gets_the_one_that_was_meant() -> None:
    """`holds` takes the five categories that a hold can have."""
    lines = refusal({**ONE_RULE, "holds": {"observation_mising": {}}})
    assert len(lines) == 1
    assert 'did you mean "observation_missing"?' in lines[0]


def test_a_category_that_is_unknown_and_no_object_is_told_both() -> None:
    """One round of corrections for one place, too."""
    found = errors({**ONE_RULE, "holds": {"observation": 7}})
    assert sorted(found) == [("/holds/observation", "policy.unknown_key"), ("/holds/observation", "policy.wrong_type")]


@pytest.mark.parametrize(
    "category",
    ["observation_missing", "observation_invalid", "observation_stale", "evidence_missing", "precondition_unknown"],
)
def test_each_hold_category_may_be_named(category: str) -> None:
    """The five of SPEC 5, an empty object included."""
    assert refusal({**ONE_RULE, "holds": {category: {}}}) == []


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*FULL]), _JSON), st.sampled_from([*FULL]), _JSON)
def test_the_rules_pass_over_what_has_the_wrong_type(document: dict[str, Any], key: str, junk: Any) -> None:
    """They are asked of documents that pydantic has refused, to name all problems at once."""
    for candidate in (document, {**FULL, key: junk}, {**FULL, key: [junk]}, {**FULL, key: {"metric": junk}}):
        assert isinstance(policy_problems(candidate, lambda _pointer: True), list)
