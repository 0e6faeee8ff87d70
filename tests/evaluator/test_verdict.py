"""Which reasons decide: strength, the founding order, deadlines."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.model.context import PolicyDigests
from tests.evaluator.build import answer, decide, found, told

FOUNDING: dict[str, Any] = {"missing_data_policy": {"precedence": "evidence_first", "on_missing_baseline": ...}}
PLAIN: dict[str, Any] = {"baseline": ...}
EVERYTHING: dict[str, Any] = {
    "guardrails": [
        {"metric": "errors", "op": "<=", "threshold": 0.01},
        {"metric": "slow", "op": "<=", "threshold": 400},
    ],
    "missing_data_policy": {
        "required_metrics": ["sales"],
        "max_freshness_seconds": 60,
        "max_watermark_skew_seconds": 60,
        "on_missing_baseline": ...,
    },
    "evidence": {"required": ["change_id"]},
    "stage_policy": {"min_stage_seconds": 3600},
}
MOVING = {"from_stage": "CANARY_10", "stage": "CANARY_25", "stage_entered_at": "2026-02-18T00:50:00Z"}
CHANGED = PolicyDigests(run="sha256:aa", given="sha256:bb")


def test_harm_decides_over_lack_of_knowledge_and_keeps_what_is_missing() -> None:
    """Weaker reasons stay in findings and `missing`."""
    decision = decide(snapshot={"metrics": {"leaks": 3, "errors": ...}})
    assert answer(decision) == ("REJECT", ["constraint_violation:leaks"], ["errors"])
    assert told(decision, "guardrail:errors") == ("MISSING", "observation_missing:guardrail_metric")
    assert decision.requested_actions == ()


def test_reasons_stand_in_the_order_of_the_contract() -> None:
    """Preconditions, required, times, constraints, guardrails, references: each once."""
    decision = decide(
        EVERYTHING,
        {"metrics": {"leaks": "x", "slow": "x"}, "_meta": {"freshness_seconds": 61}},
        digests=CHANGED,
        history="incomplete",
        **MOVING,
    )
    assert decision.verdict.value == "DEGRADE"
    assert decision.reason_codes == (
        "precondition_unknown:policy_changed",
        "precondition_unknown:history_incomplete",
        "precondition_unknown:stage_wait_not_elapsed",
        "observation_missing:required_metric",
        "observation_stale:over_freshness_budget",
        "observation_missing:window",
        "observation_invalid:constraint_value",
        "observation_invalid:guardrail_value",
        "evidence_missing:change_id",
    )
    assert decision.missing == ("change_id", "leaks", "sales", "slow", "window")


def test_missing_is_sorted_and_without_repeats() -> None:
    """However many rules need the metric."""
    decision = decide(
        {"missing_data_policy": {"required_metrics": ["leaks"]}}, {"metrics": {"leaks": ..., "banned": ...}}
    )
    assert decision.missing == ("banned", "leaks")


def test_a_setting_that_rejects_has_the_strength_of_harm() -> None:
    """`on_missing: REJECT` decides together with violations, and a hold beside it stays out of the reasons."""
    decision = decide(
        {"missing_data_policy": {"on_missing": "REJECT"}, "evidence": {"required": ["change_id"]}},
        {"metrics": {"errors": ..., "leaks": 1}},
    )
    assert answer(decision) == (
        "REJECT",
        ["constraint_violation:leaks", "observation_missing:guardrail_metric"],
        ["change_id", "errors"],
    )


@pytest.mark.parametrize(
    ("metrics", "codes", "missing"),
    [
        ({"sales": ..., "leaks": 3}, ["observation_missing:required_metric"], ["sales"]),
        ({"leaks": 3}, ["observation_stale:over_freshness_budget"], []),
    ],
)
def test_in_the_founding_order_the_first_phase_decides_alone(
    metrics: dict[str, Any], codes: list[str], missing: list[str]
) -> None:
    """A missing or old metric hides a violated constraint: why this order is not the default."""
    policy = {
        **EVERYTHING,
        "missing_data_policy": {**EVERYTHING["missing_data_policy"], "precedence": "evidence_first"},
    }
    decision = decide(policy, {"metrics": {"sales": 1, "slow": 9, **metrics}, "_meta": {"freshness_seconds": 61}})
    assert answer(decision) == ("DEGRADE", codes, missing)
    assert told(decision, "constraint:leaks") == ("VIOLATED", "constraint_violation:leaks")


def test_skew_is_a_phase_after_freshness() -> None:
    """And comes before constraints."""
    policy = {"missing_data_policy": {"precedence": "evidence_first", "max_watermark_skew_seconds": 60}}
    sources = [
        {"name": "a", "watermark_event_time": "2026-02-18T01:00:00Z"},
        {"name": "b", "watermark_event_time": "2026-02-18T00:58:00Z"},
    ]
    decision = decide(policy, {"metrics": {"leaks": 3}, "_meta": {"sources": sources}})
    assert answer(decision) == ("DEGRADE", ["observation_stale:watermark_skew"], [])


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"leaks": 3, "banned": ...}, ("DEGRADE", ["observation_missing:constraint_metric"], ["banned"])),
        ({"leaks": "x", "banned": ...}, ("DEGRADE", ["observation_invalid:constraint_value"], ["leaks"])),
        ({"leaks": 3, "banned": True}, ("REJECT", ["constraint_violation:leaks", "constraint_violation:banned"], [])),
        ({"leaks": 3, "errors": ...}, ("REJECT", ["constraint_violation:leaks"], [])),
    ],
)
def test_a_missing_constraint_decides_before_violations_found_so_far(
    metrics: dict[str, Any], expected: tuple[str, list[str], list[str]]
) -> None:
    """Within the phase of the constraints, the first that cannot be judged; else all violations."""
    assert answer(decide(FOUNDING, {**PLAIN, "metrics": metrics})) == expected


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"errors": ..., "slow": 500}, ("DEGRADE", ["observation_missing:guardrail_metric"], ["errors"])),
        ({"errors": 0.5, "slow": ...}, ("REJECT", ["guardrail_violation:errors"], [])),
        ({"errors": 0.5, "slow": 500}, ("REJECT", ["guardrail_violation:errors"], [])),
        ({"errors": 0.001, "slow": 500}, ("REJECT", ["guardrail_violation:slow"], [])),
    ],
)
def test_within_guardrails_the_first_trouble_decides(
    metrics: dict[str, Any], expected: tuple[str, list[str], list[str]]
) -> None:
    """In policy order, alone."""
    policy = {**FOUNDING, "guardrails": EVERYTHING["guardrails"]}
    assert answer(decide(policy, {**PLAIN, "metrics": metrics})) == expected


def test_late_phases_decide_together_by_strength() -> None:
    """Windows, policy and run preconditions and approval stand with the references, after guardrails."""
    policy = {**FOUNDING, "evidence": {"required": ["change_id"]}, "stage_policy": {"min_stage_seconds": 3600}}
    decision = decide(policy, PLAIN, digests=CHANGED, history="incomplete", **MOVING)
    assert answer(decision) == (
        "DEGRADE",
        [
            "precondition_unknown:policy_changed",
            "precondition_unknown:history_incomplete",
            "precondition_unknown:stage_wait_not_elapsed",
            "observation_missing:window",
            "evidence_missing:change_id",
        ],
        ["change_id", "window"],
    )
    policy["evidence"] = {"required": ["change_id"], "on_missing": "REJECT"}
    decision = decide(policy, PLAIN, digests=CHANGED, **MOVING)
    assert (decision.verdict.value, decision.reason_codes) == ("REJECT", ("evidence_missing:change_id",))


def test_a_window_before_the_stage_does_not_hide_another_guardrails_harm() -> None:
    """In the founding order the window comes after guardrails."""
    policy = {**FOUNDING, "guardrails": EVERYTHING["guardrails"], "stage_policy": {}}
    snapshot = {
        **PLAIN,
        "metrics": {"errors": 0.5, "slow": 500},
        "observations": {"errors": {"watermark_event_time": "2026-02-18T00:51:00Z"}},
        "_meta": {"window": "5m", "watermark_event_time": "2026-02-18T01:00:00Z"},
    }
    decision = decide(policy, snapshot, **MOVING)
    assert answer(decision) == ("REJECT", ["guardrail_violation:slow"], [])
    snapshot["metrics"] = {"errors": 0.5, "slow": 300}
    decision = decide(policy, snapshot, **MOVING)
    assert answer(decision) == ("DEGRADE", ["observation_stale:window_before_stage"], [])


def test_an_unsafe_change_comes_before_all_phases() -> None:
    """In the founding order too."""
    decision = decide(FOUNDING, {"metrics": {"leaks": ...}}, change_class="unsafe_for_experiment")
    assert answer(decision) == ("REJECT", ["change_refused:unsafe_for_experiment"], [])


def test_promotion_is_the_last_phase() -> None:
    """References decide before it."""
    policy = {
        **FOUNDING,
        "primary": [{"metric": "sales", "direction": "up"}],
        "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 10},
        "evidence": {"required": ["change_id"]},
    }
    decision = decide(policy, PLAIN, stage="ROLLOUT_100")
    assert answer(decision) == ("DEGRADE", ["evidence_missing:change_id"], ["change_id"])
    decision = decide(policy, PLAIN, stage="ROLLOUT_100", evidence={"change_id": "CHG-1"})
    assert answer(decision)[1] == ["precondition_unknown:sample_size_not_reached"]


@pytest.mark.parametrize(
    ("deadline", "on_deadline", "verdict", "codes"),
    [
        ("2026-02-18T01:00:11Z", "REJECT", "DEGRADE", ["observation_missing:guardrail_metric"]),
        ("2026-02-18T01:00:10Z", "REJECT", "REJECT", ["change_refused:deadline_passed"]),
        ("2026-02-18T00:00:00Z", "REJECT", "REJECT", ["change_refused:deadline_passed"]),
        ("2026-02-18T00:00:00Z", "ESCALATE", "DEGRADE", ["observation_missing:guardrail_metric"]),
        ("2026-02-18T00:00:00Z", None, "DEGRADE", ["observation_missing:guardrail_metric"]),
    ],
)
def test_a_passed_deadline_ends_a_hold_only_where_the_policy_says_so(
    deadline: str, on_deadline: str | None, verdict: str, codes: list[str]
) -> None:
    """What was missing stays in `missing`."""
    missing = {"metrics": {"errors": ...}}
    decision = decide(snapshot=missing, deadline_at=deadline, on_deadline=on_deadline)
    assert answer(decision) == (verdict, codes, ["errors"])
    if verdict == "REJECT":
        finding = decision.findings[-1]
        assert (finding.rule, finding.outcome.value, finding.limit) == ("deadline", "VIOLATED", deadline)
    else:
        assert "deadline" not in [finding.rule for finding in decision.findings]
    is_over = deadline < "2026-02-18T01:00:10Z" and on_deadline != "REJECT"
    assert any("deadline" in note for note in decision.notes) == is_over


@pytest.mark.parametrize(("metrics", "verdict"), [({}, "ACCEPT"), ({"leaks": 1}, "REJECT")])
def test_a_deadline_touches_nothing_but_a_hold(metrics: dict[str, Any], verdict: str) -> None:
    """Its own verdict must still be DEGRADE."""
    decision = decide(snapshot={"metrics": metrics}, deadline_at="2026-02-18T00:00:00Z", on_deadline="REJECT")
    assert decision.verdict.value == verdict
    assert "change_refused:deadline_passed" not in decision.reason_codes


def test_a_deadline_applies_in_the_founding_order_too() -> None:
    """To the DEGRADE that results."""
    decision = decide(
        FOUNDING, {**PLAIN, "metrics": {"errors": ...}}, deadline_at="2026-02-18T00:00:00Z", on_deadline="REJECT"
    )
    assert answer(decision) == ("REJECT", ["change_refused:deadline_passed"], ["errors"])
    assert found(decision, "deadline").code == "change_refused:deadline_passed"
