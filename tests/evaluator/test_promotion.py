"""Statistics that look ready and are not; statistics asked before safety, or where nobody asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluator.build import answer, decide, found, requested, told

if TYPE_CHECKING:
    from gatekeeper.model.decision import Decision

GATED: dict[str, Any] = {
    "primary": [{"metric": "sales", "direction": "up", "min_lift": 0.002}],
    "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 100000, "require_ci_low_gt": 0.0},
}
WON = {"sample_size": 100000, "effect_estimate": 0.003, "ci_low": 0.001, "ci_high": 0.005, "assignment_stable": True}
PARTS = ("sample_size", "assignment_stable", "ci_bound", "min_lift")
ENTER: dict[str, Any] = {"stage": "ROLLOUT_100", "from_stage": "CANARY_50", "looks": 3}
SAMPLE = "precondition_unknown:sample_size_not_reached"
SIGNIFICANCE = "precondition_unknown:significance_not_ready"
STABLE = "precondition_unknown:assignment_not_stable"


def part(**changes: Any) -> dict[str, Any]:
    """The statistics that won, changed; `...` leaves a field out."""
    statistics = {**WON, **changes}
    return {"promotion": {"sales": {name: value for name, value in statistics.items() if value is not ...}}}


def parts(decision: Decision) -> list[str]:
    """Outcomes of the four parts."""
    return [found(decision, f"promotion:sales:{name}").outcome.value for name in PARTS]


def test_statistics_that_won_are_accepted() -> None:
    """All parts pass, and the number of looks is shown."""
    decision = decide(GATED, part(), **ENTER)
    assert answer(decision) == ("ACCEPT", [], [])
    assert parts(decision) == ["PASS"] * 4
    assert decision.notes == ("statistics looked at 3 times",)
    sample, bound = found(decision, "promotion:sales:sample_size"), found(decision, "promotion:sales:ci_bound")
    assert (sample.observed, sample.op, sample.limit, sample.margin) == (100000, ">=", 100000, 0)
    assert (bound.observed, bound.op, bound.limit, bound.margin) == (0.001, ">", 0.0, 0.001)
    assert found(decision, "promotion:sales:min_lift").margin == 0.001
    assert found(decision, "promotion:sales:assignment_stable").observed is True


@pytest.mark.parametrize(
    ("changes", "code", "missing", "action"),
    [
        ({"sample_size": 99999}, SAMPLE, [], ("collect_sample", {"metric": "sales", "have": 99999, "need": 100000})),
        (
            {"sample_size": ...},
            SAMPLE,
            ["promotion.sales.sample_size"],
            ("collect_sample", {"metric": "sales", "have": None, "need": 100000}),
        ),
        ({"assignment_stable": False}, STABLE, [], None),
        ({"ci_low": 0.0}, SIGNIFICANCE, [], None),
        ({"ci_low": -0.001}, SIGNIFICANCE, [], None),
        ({"ci_low": ...}, SIGNIFICANCE, ["promotion.sales.ci_low"], ("collect_metric", {"metric": "sales"})),
        ({"ci_low": None}, SIGNIFICANCE, ["promotion.sales.ci_low"], ("collect_metric", {"metric": "sales"})),
        ({"effect_estimate": 0.0019}, SIGNIFICANCE, [], None),
    ],
)
def test_statistics_that_are_not_ready_hold(
    changes: dict[str, Any], code: str, missing: list[str], action: tuple[str, dict[str, Any]] | None
) -> None:
    """Too small, absent, or equal where more is asked."""
    decision = decide(GATED, part(**changes), **ENTER)
    assert answer(decision) == ("DEGRADE", [code], missing)
    wanted = [] if action is None else [action]
    assert requested(decision) == [*wanted, ("rerun_gate_check", {"stage": "ROLLOUT_100"})]


def test_on_not_ready_decides_what_it_means() -> None:
    """REJECT where the policy says so."""
    policy = {**GATED, "promotion_gate": {**GATED["promotion_gate"], "on_not_ready": "REJECT"}}
    for changes in ({"sample_size": 5}, {"ci_low": 0}, {"assignment_stable": False}):
        assert decide(policy, part(**changes), **ENTER).verdict.value == "REJECT"
    assert decide(policy, part(ci_low="x"), **ENTER).verdict.value == "DEGRADE"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sample_size", "184211"),
        ("sample_size", True),
        ("ci_low", "0.1"),
        ("ci_low", False),
        ("ci_low", float("nan")),
        ("ci_low", []),
        ("effect_estimate", "big"),
        ("effect_estimate", {}),
        ("assignment_stable", "true"),
        ("assignment_stable", 1),
    ],
)
def test_a_statistic_of_another_type_is_invalid(field: str, value: object) -> None:
    """Numbers only, and a boolean for the assignment."""
    decision = decide(GATED, part(**{field: value}), **ENTER)
    assert answer(decision) == ("DEGRADE", ["observation_invalid:promotion_value"], [f"promotion.sales.{field}"])


@pytest.mark.parametrize("stable", [None, ...])
def test_an_assignment_that_nobody_states_is_not_asked(stable: object) -> None:
    """SPEC 5.5: absent is not asked, and not counted as a pass."""
    decision = decide(GATED, part(assignment_stable=stable), **ENTER)
    assert answer(decision) == ("ACCEPT", [], [])
    assert told(decision, "promotion:sales:assignment_stable") == ("NOT_EVALUATED", None)


@pytest.mark.parametrize(("low", "verdict"), [(0.002, "ACCEPT"), (0.0019, "DEGRADE")])
def test_without_an_estimate_the_bound_must_reach_the_lift(low: float, verdict: str) -> None:
    """A bound at or above the lift shows at least that effect."""
    decision = decide(GATED, part(effect_estimate=..., ci_low=low), **ENTER)
    assert decision.verdict.value == verdict
    assert found(decision, "promotion:sales:min_lift").observed == low


@pytest.mark.parametrize("promotion", [..., None, {}, [], "won", {"sales": None}, {"sales": "won"}, {"other": WON}])
def test_statistics_that_are_not_there_hold(promotion: object) -> None:
    """Every part that is asked is missing."""
    decision = decide(GATED, {"promotion": promotion}, **ENTER)
    assert answer(decision) == (
        "DEGRADE",
        [SAMPLE, SIGNIFICANCE],
        ["promotion.sales.ci_low", "promotion.sales.effect_estimate", "promotion.sales.sample_size"],
    )
    assert parts(decision) == ["NOT_READY", "NOT_EVALUATED", "NOT_READY", "NOT_READY"]


@pytest.mark.parametrize(
    ("statistics", "code"),
    [
        ({"effect_estimate": -0.003, "ci_low": -0.005, "ci_high": -0.001}, None),
        ({"effect_estimate": -0.002, "ci_low": -0.005, "ci_high": -0.001}, None),
        ({"effect_estimate": -0.0019, "ci_low": -0.005, "ci_high": -0.001}, SIGNIFICANCE),
        ({"effect_estimate": -0.003, "ci_low": -0.005, "ci_high": 0.0}, SIGNIFICANCE),
        ({"effect_estimate": 0.003, "ci_low": 0.001, "ci_high": 0.005}, SIGNIFICANCE),
        ({"effect_estimate": ..., "ci_low": -0.005, "ci_high": -0.002}, None),
        ({"effect_estimate": ..., "ci_low": -0.005, "ci_high": -0.0019}, SIGNIFICANCE),
    ],
)
def test_a_metric_that_should_go_down_is_judged_by_its_upper_bound(
    statistics: dict[str, Any], code: str | None
) -> None:
    """Estimate and bound change sign; the lower bound is not asked."""
    policy = {**GATED, "primary": [{"metric": "sales", "direction": "down", "min_lift": 0.002}]}
    decision = decide(policy, part(**statistics), **ENTER)
    assert decision.reason_codes == (() if code is None else (code,))
    assert found(decision, "promotion:sales:ci_bound").observed == -statistics["ci_high"]


def test_an_absent_upper_bound_is_named() -> None:
    """For `down` it is `ci_high` that is missing."""
    policy = {**GATED, "primary": [{"metric": "sales", "direction": "down"}]}
    assert decide(policy, part(ci_high=...), **ENTER).missing == ("promotion.sales.ci_high",)


def test_only_the_parts_that_the_policy_states_are_asked() -> None:
    """Neither sample nor bound nor lift where none is stated."""
    policy = {
        "primary": [{"metric": "sales", "direction": "up"}],
        "promotion_gate": {"required_for_stages": ["ROLLOUT_100"]},
    }
    decision = decide(policy, part(sample_size=1, ci_low=-1), **ENTER)
    assert [finding.rule for finding in decision.findings if finding.rule.startswith("promotion")] == [
        "promotion:sales:assignment_stable"
    ]
    assert answer(decision) == ("ACCEPT", [], [])


def test_a_flat_part_is_that_of_the_only_primary() -> None:
    """With two primaries nobody knows whose it is."""
    flat = {"promotion": WON}
    assert answer(decide(GATED, flat, **ENTER)) == ("ACCEPT", [], [])
    two = {**GATED, "primary": [*GATED["primary"], {"metric": "visits", "direction": "up"}]}
    assert decide(two, flat, **ENTER).verdict.value == "DEGRADE"
    both = {"promotion": {"sales": WON, "visits": WON}}
    assert answer(decide(two, both, **ENTER)) == ("ACCEPT", [], [])
    own_part_first = {"promotion": {**WON, "sales": {**WON, "ci_low": -1}}}
    assert answer(decide(GATED, own_part_first, **ENTER)) == ("DEGRADE", [SIGNIFICANCE], [])


def test_safety_is_asked_first() -> None:
    """After failed safety promotion is NOT_EVALUATED, and the looks are not counted."""
    for changes, verdict in (({"errors": 0.19}, "REJECT"), ({"errors": None}, "DEGRADE")):
        decision = decide(GATED, {**part(sample_size=1), "metrics": changes}, **ENTER)
        assert decision.verdict.value == verdict
        assert parts(decision) == ["NOT_EVALUATED"] * 4
        assert decision.notes == ()
        assert not any(code.startswith("precondition") for code in decision.reason_codes)


def test_missing_references_do_not_stop_the_statistics() -> None:
    """Safety is metrics only, so one hold names all that is missing."""
    decision = decide({**GATED, "evidence": {"required": ["change_id"]}}, part(sample_size=1), **ENTER)
    assert decision.reason_codes == ("evidence_missing:change_id", SAMPLE)


@pytest.mark.parametrize("context", [{"stage": "CANARY_25"}, {"stage": "ROLLOUT_100", "from_stage": "ROLLOUT_100"}])
def test_elsewhere_statistics_are_only_watched(context: dict[str, Any]) -> None:
    """At other stages and when remaining: OBSERVED where the snapshot has them, without effect."""
    decision = decide(GATED, part(sample_size=5, ci_low="x", assignment_stable=False), **context)
    assert answer(decision) == ("ACCEPT", [], [])
    assert parts(decision) == ["OBSERVED"] * 4
    assert [found(decision, f"promotion:sales:{name}").would_be for name in PARTS] == [
        SAMPLE,
        STABLE,
        "observation_invalid:promotion_value",
        None,
    ]
    assert decision.notes == ()
    assert parts(decide(GATED, **context)) == ["NOT_EVALUATED"] * 4
    assert parts(decide(GATED, {"promotion": {"other": 1}}, **context)) == ["NOT_EVALUATED"] * 4
    assert parts(decide(GATED, part(sample_size=...), **context))[0] == "OBSERVED"


def test_a_problem_of_the_primary_decides_its_statistics() -> None:
    """They were computed from what went wrong."""
    problem = {"observations": {"sales": {"problem": {"code": "evidence_missing:partial_response"}}}}
    decision = decide(GATED, {**part(), **problem}, **ENTER)
    assert answer(decision) == ("DEGRADE", ["evidence_missing:partial_response"], ["sales"])
    assert parts(decision) == ["MISSING"] * 4
    unstated = decide(GATED, {**part(assignment_stable=...), **problem}, **ENTER)
    assert parts(unstated) == ["MISSING"] * 4


def test_old_statistics_confirm_nothing() -> None:
    """The primary's times count as asked, so freshness fails before promotion is reached."""
    policy = {**GATED, "missing_data_policy": {"max_freshness_seconds": 60}}
    old = {"sales": {"watermark_event_time": "2026-02-18T00:00:00Z"}}
    snapshot = {**part(), "observations": old, "_meta": {"freshness_seconds": 1}}
    decision = decide(policy, snapshot, **ENTER)
    assert answer(decision) == ("DEGRADE", ["observation_stale:over_freshness_budget"], [])
    assert parts(decision) == ["NOT_EVALUATED"] * 4
    watched = decide(policy, snapshot, stage="CANARY_25")
    assert answer(watched) == ("ACCEPT", [], [])
    assert found(watched, "promotion:sales:ci_bound").would_be == "observation_stale:over_freshness_budget"


def test_a_rollout_without_a_gate_says_so() -> None:
    """A note at 100 percent, and nowhere else."""
    assert any("promotion gate" in note for note in decide(stage="ROLLOUT_100").notes)
    assert decide(stage="CANARY_50").notes == ()
    assert not any("promotion gate" in note for note in decide(GATED, part(), **ENTER).notes)


def test_p_value_and_sequential_state_are_never_judged() -> None:
    """Whatever stands there."""
    assert answer(decide(GATED, part(p_value=1, sequential_test_state="stop"), **ENTER)) == ("ACCEPT", [], [])
