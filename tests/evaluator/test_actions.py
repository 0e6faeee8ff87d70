"""A hold says what would end it, an answer says what comes next, and DRY_RUN shows the plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import coming, decide, requested


def test_requested_actions_are_sorted_unique_and_end_with_the_next_check() -> None:
    """By canonical bytes, however many rules ask for the same."""
    decision = decide(
        {"evidence": {"required": ["ticket_link", "change_id"]}},
        {"metrics": {"errors": ..., "banned": ...}, "baseline": {"metrics": {"errors": ...}}},
        change_class="stateful_or_irreversible",
    )
    assert requested(decision) == [
        ("attach_evidence", {"name": "change_id"}),
        ("attach_evidence", {"name": "ticket_link"}),
        ("collect_approval", {"stage": "CANARY_10"}),
        ("collect_metric", {"metric": "banned"}),
        ("collect_metric", {"metric": "errors"}),
        ("rerun_gate_check", {"stage": "CANARY_10"}),
    ]


@pytest.mark.parametrize("metrics", [{}, {"leaks": 1}])
def test_only_a_hold_requests_actions(metrics: dict[str, Any]) -> None:
    """ACCEPT and REJECT request none."""
    assert decide(snapshot={"metrics": metrics}).requested_actions == ()


def test_a_hold_has_no_next_action() -> None:
    """Nothing goes on and nothing goes back."""
    assert coming(decide(snapshot={"metrics": {"errors": ...}})) == []


@pytest.mark.parametrize(
    ("stage", "percent"), [("SHADOW", 0), ("CANARY_10", 10), ("CANARY_25", 25), ("ROLLOUT_100", 100)]
)
def test_an_accept_sets_the_percent_of_its_stage(stage: str, percent: int) -> None:
    """The share of traffic that the stage stands for."""
    assert coming(decide(stage=stage)) == [("set_percent", {"percent": percent})]


def test_a_dry_run_plans_all_stages_whatever_its_verdict() -> None:
    """The rules asked on entering each stage and the references it needs."""
    policy: dict[str, Any] = {
        "guardrails": [
            {"metric": "errors", "op": "<=", "threshold": 0.01, "budget_ratio": 0.1},
            {"metric": "slow", "op": "<=", "threshold": 400, "stages": ["ROLLOUT_100"]},
        ],
        "primary": [{"metric": "sales", "direction": "up"}],
        "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 5},
        "missing_data_policy": {
            "required_metrics": ["sales"],
            "max_freshness_seconds": 60,
            "max_watermark_skew_seconds": 60,
        },
        "stages": ["DRY_RUN", "CANARY_1", "ROLLOUT_100"],
        "stage_policy": {"min_stage_seconds": 60},
        "evidence": {"required": ["change_id"]},
    }
    constraints = ["constraint:leaks", "constraint:banned"]
    guardrail = ["guardrail:errors", "budget_ratio:errors"]
    start = ["required:sales", "freshness", "skew"]
    expected = [
        {"stage": "DRY_RUN", "percent": 0, "rules": [*start, *constraints, *guardrail], "evidence": ["change_id"]},
        {
            "stage": "CANARY_1",
            "percent": 1,
            "rules": [*start, "stage_wait", "window", *constraints, *guardrail],
            "evidence": ["change_id", "approval"],
        },
        {
            "stage": "ROLLOUT_100",
            "percent": 100,
            "rules": [
                *start,
                "stage_wait",
                "window",
                *constraints,
                *guardrail,
                "guardrail:slow",
                "promotion:sales:sample_size",
                "promotion:sales:assignment_stable",
            ],
            "evidence": ["change_id", "approval"],
        },
    ]
    for metrics, verdict in (({"sales": 1}, "ACCEPT"), ({"sales": 1, "leaks": 1}, "REJECT"), ({}, "DEGRADE")):
        decision = decide(
            policy,
            {"metrics": metrics, "_meta": {"freshness_seconds": 1}},
            stage="DRY_RUN",
            evidence={"change_id": "CHG-1"},
            change_class="stateful_or_irreversible",
        )
        assert decision.verdict.value == verdict
        assert coming(decision)[-1] == ("plan", {"stages": expected})
    assert [name for name, _ in coming(decide(stage="SHADOW"))] == ["set_percent"]


def test_the_plan_names_nothing_that_is_not_asked() -> None:
    """Neither limits nor waits nor approvals that the policy does not state; the window alone without a wait."""

    def planned(policy: dict[str, Any], **context: Any) -> dict[str, Any]:
        (plan,) = [params for name, params in coming(decide(policy, stage="DRY_RUN", **context)) if name == "plan"]
        (canary,) = [stage for stage in plan["stages"] if stage["stage"] == "CANARY_10"]
        return {"rules": canary["rules"], "evidence": canary["evidence"]}

    rules = ["constraint:leaks", "constraint:banned", "guardrail:errors", "budget:errors"]
    assert planned({}) == {"rules": rules, "evidence": []}
    assert planned({"stage_policy": {}}) == {"rules": ["window", *rules], "evidence": []}
    assert planned({"evidence": {"required": ["approval"]}}) == {"rules": rules, "evidence": ["approval"]}
    assert planned({}, change_class="stateful_or_irreversible") == {"rules": rules, "evidence": ["approval"]}
