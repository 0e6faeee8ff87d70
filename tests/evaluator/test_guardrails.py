"""Thresholds: which side is healthy, what equality means, ranges, observing, stages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import answer, decide, found, told


def guarded(**guardrail: Any) -> dict[str, Any]:
    """The change that gives the small policy this one guardrail."""
    return {"guardrails": [{"metric": "errors", **guardrail}]}


@pytest.mark.parametrize(
    ("op", "value", "outcome", "margin"),
    [
        ("<=", 0.009, "PASS", 0.001),
        ("<=", 0.01, "PASS", 0.0),
        ("<=", 0.011, "VIOLATED", -0.001),
        ("<", 0.009, "PASS", 0.001),
        ("<", 0.01, "VIOLATED", 0.0),
        ("<", 0.011, "VIOLATED", -0.001),
        (">=", 0.009, "VIOLATED", -0.001),
        (">=", 0.01, "PASS", 0.0),
        (">=", 0.011, "PASS", 0.001),
        (">", 0.009, "VIOLATED", -0.001),
        (">", 0.01, "VIOLATED", 0.0),
        (">", 0.011, "PASS", 0.001),
    ],
)
def test_the_operator_states_the_healthy_side(op: str, value: float, outcome: str, margin: float) -> None:
    """Each operator below, at and above its threshold; the margin is exact and positive on the healthy side."""
    decision = decide(guarded(op=op, threshold=0.01), {"metrics": {"errors": value}})
    finding = found(decision, "guardrail:errors")
    assert (finding.outcome.value, finding.margin) == (outcome, margin)
    assert (finding.observed, finding.op, finding.limit) == (value, op, 0.01)
    if outcome == "VIOLATED":
        assert answer(decision) == ("REJECT", ["guardrail_violation:errors"], [])
    else:
        assert answer(decision) == ("ACCEPT", [], [])


def test_a_negative_zero_is_zero() -> None:
    """It equals the threshold 0 and is not beyond it."""
    assert told(decide(guarded(op=">=", threshold=0), {"metrics": {"errors": -0.0}}), "guardrail:errors")[0] == "PASS"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, None),
        (1, None),
        (0.5, None),
        (97.3, "observation_invalid:out_of_range"),
        (1.07, "observation_invalid:out_of_range"),
        (-0.001, "observation_invalid:out_of_range"),
    ],
)
def test_a_value_outside_its_range_is_no_measurement(value: float, code: str | None) -> None:
    """Bounds belong to the range; nothing is clamped or rescaled."""
    decision = decide(guarded(op=">=", threshold=-1, range=[0, 1]), {"metrics": {"errors": value}})
    if code is None:
        assert answer(decision) == ("ACCEPT", [], [])
    else:
        assert answer(decision) == ("DEGRADE", [code], ["errors"])
        assert told(decision, "guardrail:errors") == ("INVALID", code)


def test_out_of_range_hides_a_violation() -> None:
    """97.3 percent breaks a threshold of 0.01, but it is no reading of that metric."""
    decision = decide(guarded(op="<=", threshold=0.01, range=[0, 1]), {"metrics": {"errors": 97.3}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:out_of_range"], ["errors"])


def test_observing_changes_neither_verdict_nor_missing() -> None:
    """What it would have said stands in the finding."""
    watched = {"metric": "slow", "op": "<=", "threshold": 400, "budget_delta": 20, "enforcement": "observe"}
    policy = {"guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01}, watched]}
    for value, would_be in (
        (300, None),
        (500, "guardrail_violation:slow"),
        ("x", "observation_invalid:guardrail_value"),
        (None, "observation_missing:guardrail_metric"),
    ):
        decision = decide(policy, {"metrics": {"slow": value}, "baseline": {"metrics": {"slow": 299}}})
        assert answer(decision) == ("ACCEPT", [], [])
        assert decision.requested_actions == ()
        assert told(decision, "guardrail:slow") == ("OBSERVED", None)
        assert found(decision, "guardrail:slow").would_be == would_be
    budget = found(decide(policy, {"metrics": {"slow": 320}, "baseline": {"metrics": {"slow": 299}}}), "budget:slow")
    assert (budget.outcome.value, budget.code, budget.would_be) == ("OBSERVED", None, "budget_violation:slow")
    assert budget.margin == -1


def test_the_times_of_an_observed_metric_hold_nothing() -> None:
    """Its watermark may be a year old or in the future."""
    policy = {
        "guardrails": [
            {"metric": "errors", "op": "<=", "threshold": 0.01},
            {"metric": "slow", "op": "<=", "threshold": 400, "enforcement": "observe"},
        ],
        "missing_data_policy": {"max_freshness_seconds": 120},
    }
    snapshot: dict[str, Any] = {"metrics": {"slow": 500}, "_meta": {"freshness_seconds": 10}}
    for stated, would_be in (
        ("2025-02-18T01:00:00Z", "observation_stale:over_freshness_budget"),
        ("2027-02-18T01:00:00Z", "observation_invalid:watermark_event_time"),
    ):
        snapshot["observations"] = {"slow": {"watermark_event_time": stated}}
        decision = decide(policy, snapshot)
        assert answer(decision) == ("ACCEPT", [], [])
        assert found(decision, "guardrail:slow").would_be == would_be


@pytest.mark.parametrize("stage", ["SHADOW", "CANARY_25"])
def test_a_rule_is_asked_at_its_stages_only(stage: str) -> None:
    """Elsewhere it is NOT_EVALUATED, which is no pass and needs no metric."""
    policy = {
        "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01, "budget_delta": 1, "stages": ["CANARY_25"]}],
        "constraints": [{"kind": "must_be_zero", "metric": "leaks", "stages": ["CANARY_25"]}],
    }
    decision = decide(policy, {"metrics": {"errors": 0.5, "leaks": 3}}, stage=stage)
    rules = ("guardrail:errors", "budget:errors", "constraint:leaks")
    if stage == "SHADOW":
        assert answer(decision) == ("ACCEPT", [], [])
        assert [told(decision, rule) for rule in rules] == [("NOT_EVALUATED", None)] * 3
        assert answer(decide(policy, {"metrics": {"errors": ...}}, stage=stage)) == ("ACCEPT", [], [])
        undated = {"observations": {"errors": {"watermark_event_time": "?"}, "leaks": {"watermark_event_time": "?"}}}
        assert answer(decide(policy, undated, stage=stage)) == ("ACCEPT", [], [])
    else:
        assert answer(decision) == ("REJECT", ["constraint_violation:leaks", "guardrail_violation:errors"], [])


@pytest.mark.parametrize("stages", [["CANARY_10"], ["CANARY_50"]])
def test_a_guardrail_without_threshold_has_no_finding_on_one(stages: list[str]) -> None:
    """Asked or not: a rule that the policy does not state is not listed."""
    decision = decide(guarded(op="<=", budget_delta=1, stages=stages))
    assert [finding.rule for finding in decision.findings if "errors" in finding.rule] == ["budget:errors"]


def test_a_metric_between_two_guardrails_is_judged_by_both() -> None:
    """A corridor: the first holds, the second is broken."""
    corridor = [
        {"metric": "errors", "op": "<=", "threshold": 0.01},
        {"metric": "errors", "op": ">=", "threshold": 0.009},
    ]
    decision = decide({"guardrails": corridor})
    outcomes = [finding.outcome.value for finding in decision.findings if finding.rule == "guardrail:errors"]
    assert outcomes == ["PASS", "VIOLATED"]
    assert answer(decision) == ("REJECT", ["guardrail_violation:errors"], [])
