"""Remarks at their boundaries: a remark too many is read by nobody, a remark too few protects nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.model.policy import Operator
from gatekeeper.model.reasons import HOLD_CATEGORIES
from gatekeeper.model.stages import DEFAULT_STAGES
from gatekeeper.review.advice import Beside
from gatekeeper.review.advice_limits import is_healthy
from gatekeeper.review.cases_beside import CasesBeside
from gatekeeper.review.load import load_policy_document
from gatekeeper.review.warnings import warnings_for
from tests.review.documents import encoded, policies

HOLD = {"retry_after_seconds": 300, "owners": ["sre"]}
QUIET: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1",
    "primary": [{"metric": "goal", "direction": "up", "min_lift": 0.1}],
    "guardrails": [],
    "constraints": [{"kind": "must_be_zero", "metric": "leaks"}],
    "missing_data_policy": {"max_freshness_seconds": 300, "on_missing_baseline": "DEGRADE"},
    "promotion_gate": {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 1000},
    "stages": ["DRY_RUN", "CANARY_20", "ROLLOUT_100"],
    "stage_policy": {"min_stage_seconds": 900},
    "holds": dict.fromkeys(HOLD_CATEGORIES, HOLD),
}
"""Nothing is to say about it."""


def said(*, beside: Beside | None = None, **parts: Any) -> list[tuple[str, str, str]]:
    """Code without its prefix, pointer and rule of every remark about `QUIET` with other parts."""
    loaded = load_policy_document(encoded({**QUIET, **parts}))
    return [(one.code.removeprefix("policy."), one.pointer, one.rule) for one in warnings_for(loaded, beside=beside)]


def guardrail(op: str, threshold: float | None = None, **more: Any) -> dict[str, Any]:
    """A guardrail of metric `m`, which lies between 1 and 10."""
    limit = {} if threshold is None else {"threshold": threshold}
    return {"metric": "m", "op": op, "range": [1, 10], **limit, **more}


def codes(*guardrails: dict[str, Any], **parts: Any) -> list[str]:
    """The codes that are said about these guardrails."""
    return [code for code, _, _ in said(guardrails=list(guardrails), **parts)]


def test_nothing_is_to_say_about_the_policy_of_these_tests() -> None:
    """Or the tests below would show something else."""
    assert said() == []


NEVER, ALWAYS = ["limit_never_fires"], ["limit_always_fires"]


@pytest.mark.parametrize(
    ("op", "threshold", "expected"),
    [
        *(("<=", 10, NEVER), ("<=", 9.9, []), ("<=", 1, []), ("<=", 0.9, ALWAYS)),
        *(("<", 10.1, NEVER), ("<", 10, []), ("<", 1.1, []), ("<", 1, ALWAYS)),
        *((">=", 1, NEVER), (">=", 1.1, []), (">=", 10, []), (">=", 10.1, ALWAYS)),
        *((">", 0.9, NEVER), (">", 1, []), (">", 9.9, []), (">", 10, ALWAYS)),
    ],
)
def test_a_threshold_is_held_against_the_bounds_of_the_range(op: str, threshold: float, expected: list[str]) -> None:
    """Bounds are values that the metric can have: `<= 10` never fires, `< 10` does at 10."""
    assert codes(guardrail(op, threshold)) == expected


@given(
    op=st.sampled_from(Operator),
    low=st.integers(-4, 4),
    width=st.integers(1, 4),
    threshold=st.integers(-10, 10).map(lambda halves: halves / 2),
)
def test_what_is_said_of_a_threshold_is_true_of_every_value(
    op: Operator, low: int, width: int, threshold: float
) -> None:
    """Asked of every quarter within the range: none violates, all do, or neither is said."""
    values = [low + quarter / 4 for quarter in range(4 * width + 1)]
    healthy = [is_healthy(op, value, threshold) for value in values]
    found = codes({"metric": "m", "op": op.value, "threshold": threshold, "range": [low, low + width]})
    assert ("limit_never_fires" in found) == all(healthy)
    assert ("limit_always_fires" in found) == (not any(healthy))


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (guardrail("<=", budget_delta=9), NEVER),  # from 1 to 10 is a worsening of 9, which is within it
        (guardrail("<=", budget_delta=8.9), []),
        (guardrail(">=", budget_delta=9), NEVER),
        (guardrail(">=", budget_ratio=0.9), NEVER),  # from 10 to 1 is 90 %
        (guardrail(">=", budget_ratio=0.89), []),
        (guardrail("<=", budget_ratio=1), []),  # from 1 to 10 is 900 %
        (guardrail("<=", budget_ratio=1, range=[6, 12]), NEVER),  # from 6 to 12 is 100 %
        (guardrail("<=", budget_ratio=0.99, range=[6, 12]), []),
        (guardrail("<=", budget_ratio=1, range=[0, 1]), []),  # any rise from nearly 0 is more
        (guardrail(">=", budget_ratio=1, range=[0, 1]), NEVER),  # nothing falls by more than itself
        (guardrail(">=", budget_ratio=1, range=[-1, 1]), []),
        (guardrail("<=", budget_delta=0), ["budget_of_zero"]),
        (guardrail("<=", budget_ratio=0), ["budget_of_zero"]),
        (guardrail("<=", budget_ratio=1.01), ["budget_ratio_above_one"]),
    ],
)
def test_a_budget_is_held_against_the_range(one: dict[str, Any], expected: list[str]) -> None:
    """By hand: the largest worsening from any baseline within the range."""
    assert codes(one) == expected


@given(
    op=st.sampled_from(Operator),
    low=st.integers(-4, 4),
    width=st.integers(1, 4),
    budget=st.integers(1, 20).map(lambda quarters: quarters / 4),
    key=st.sampled_from(["budget_delta", "budget_ratio"]),
)
def test_a_budget_that_is_said_never_to_fire_is_exceeded_by_no_pair_of_values(
    op: Operator, low: int, width: int, budget: float, key: str
) -> None:
    """Asked of every pair of halves within the range; a baseline of 0 has no ratio."""
    values = [low + half / 2 for half in range(2 * width + 1)]
    sign = 1 if op.lower_is_better else -1
    is_exceeded = any(
        sign * (value - base) > budget * (abs(base) if key == "budget_ratio" else 1)
        for value in values
        for base in values
        if base or key == "budget_delta"
    )
    if "limit_never_fires" in codes({"metric": "m", "op": op.value, key: budget, "range": [low, low + width]}):
        assert not is_exceeded
    elif key == "budget_delta":
        assert is_exceeded


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (guardrail("<=", 5, budget_delta=4), ["budget_beyond_threshold"]),  # from 1 the threshold comes at 4
        (guardrail("<=", 5, budget_delta=3.9), []),
        (guardrail(">=", 5, budget_delta=5), ["budget_beyond_threshold"]),  # from 10 it comes at 5
        (guardrail(">=", 5, budget_delta=4.9), []),
        (guardrail("<=", 0.3, budget_delta=0.2, range=[0.1, 1]), ["budget_beyond_threshold"]),  # exactly, in decimals
        (
            {"metric": "m", "op": "<=", "threshold": 5, "budget_delta": 5},
            ["guardrail_without_range", "budget_beyond_threshold"],
        ),
        ({"metric": "m", "op": "<=", "threshold": -5, "budget_delta": 5}, ["guardrail_without_range"]),
        ({"metric": "m", "op": ">=", "threshold": 5, "budget_delta": 5}, ["guardrail_without_range"]),
    ],
)
def test_a_budget_that_the_threshold_overtakes_is_said(one: dict[str, Any], expected: list[str]) -> None:
    """It would never be the reason of a REJECT."""
    assert codes(one) == expected


OVER = ["overlapping_guardrails"]
NOT_BOTH = ["contradicting_rules"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (guardrail("<=", 5), guardrail("<=", 6), OVER),
        (guardrail("<=", 5), guardrail("<", 5), OVER),
        (guardrail(">=", 5), guardrail(">", 4), OVER),
        (guardrail("<=", 5, stages=["CANARY_20"]), guardrail("<=", 6), []),
        (guardrail("<=", 5), guardrail("<=", 6, stages=["CANARY_20"]), OVER),
        (guardrail("<=", 5), guardrail("<=", 6, enforcement="observe"), []),
        (guardrail("<=", 5), {**guardrail("<=", 6), "metric": "other"}, []),
        (guardrail("<=", 5), guardrail(">=", 5), []),  # 5 satisfies both
        (guardrail("<=", 5), guardrail(">=", 5.1), NOT_BOTH),
        (guardrail("<", 5), guardrail(">=", 5), NOT_BOTH),
        (guardrail("<=", 5), guardrail(">", 5), NOT_BOTH),
        (guardrail("<", 5), guardrail(">", 4), []),
        (guardrail("<=", 5, stages=["CANARY_20"]), guardrail(">=", 6, stages=["ROLLOUT_100"]), []),
    ],
)
def test_two_thresholds_of_one_metric_are_held_against_each_other(
    first: dict[str, Any], second: dict[str, Any], expected: list[str]
) -> None:
    """In either order."""
    assert codes(first, second) == expected
    assert codes(second, first) == expected


def test_the_looser_of_two_is_the_one_that_is_named() -> None:
    """It is the one that may go."""
    loose, strict = guardrail("<=", 6), guardrail("<=", 5)
    assert said(guardrails=[strict, loose]) == [("overlapping_guardrails", "/guardrails/1/threshold", "guardrail:m")]
    assert said(guardrails=[loose, strict]) == [("overlapping_guardrails", "/guardrails/0/threshold", "guardrail:m")]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({"metric": "leaks", "op": "<=", "threshold": 3, "range": [0, 9]}, ["constraint_covers_guardrail"]),
        ({"metric": "leaks", "op": "<", "threshold": 0, "range": [-9, 9]}, ["contradicting_rules"]),
        ({"metric": "leaks", "op": ">=", "threshold": 3, "range": [0, 9]}, ["contradicting_rules"]),
        ({"metric": "leaks", "op": ">=", "threshold": -3, "range": [-9, 9]}, []),
        ({"metric": "leaks", "op": "<=", "threshold": 3, "range": [0, 9], "enforcement": "observe"}, []),
    ],
)
def test_a_guardrail_is_held_against_the_constraint_of_its_metric(one: dict[str, Any], expected: list[str]) -> None:
    """0 is the only value that a must_be_zero lets through."""
    assert codes(one) == expected


def test_a_constraint_at_fewer_stages_leaves_the_guardrail_something_to_decide() -> None:
    """At the other stages it is the only rule."""
    one = {"metric": "leaks", "op": "<=", "threshold": 3, "range": [0, 9]}
    few = [{"kind": "must_be_zero", "metric": "leaks", "stages": ["CANARY_20"]}]
    assert codes(one, constraints=few) == []


@pytest.mark.parametrize(
    ("direction", "op", "expected"),
    [
        ("up", ">=", ["primary_is_guardrail"]),
        ("down", "<=", ["primary_is_guardrail"]),
        ("up", "<=", ["primary_against_guardrail"]),
        ("down", ">", ["primary_against_guardrail"]),
    ],
)
def test_a_goal_is_held_against_its_guardrail(direction: str, op: str, expected: list[str]) -> None:
    """A goal that its guardrail calls harm is a slip; one that it shares is worth knowing."""
    assert codes(guardrail(op, 5), primary=[{"metric": "m", "direction": direction}]) == expected


@pytest.mark.parametrize(
    ("stages", "places"),
    [
        (["CANARY_20", "ROLLOUT_100"], []),  # fivefold
        (["CANARY_19.9", "ROLLOUT_100"], [1]),
        (["CANARY_0.7", "CANARY_3.5", "CANARY_17.5", "CANARY_60", "ROLLOUT_100"], []),
        (["DRY_RUN", "SHADOW", "CANARY_1", "CANARY_10", "CANARY_90", "ROLLOUT_100"], [3, 4]),
        (list(DEFAULT_STAGES), []),
    ],
)
def test_a_step_of_more_than_five_times_is_said(stages: list[str], places: list[int]) -> None:
    """Five times is allowed, exactly; the first canary has nothing to be compared with."""
    expected = [("canary_jump", f"/stages/{place}", f"stage:{stages[place]}") for place in places]
    assert said(stages=stages) == expected


def hold(**times: float | str) -> list[str]:
    """What is said of one category with these times."""
    category = "evidence_missing"
    holds = {**QUIET["holds"], category: {"owners": ["sre"], "retry_after_seconds": 0, **times}}
    return [code for code, _, _ in said(holds=holds)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (
            {"retry_after_seconds": 300, "deadline_seconds": 300, "escalate_after_seconds": 300},
            ["deadline_before_retry"],
        ),
        ({"retry_after_seconds": 300, "deadline_seconds": 301, "escalate_after_seconds": 300}, []),
        ({"deadline_seconds": 1800}, ["escalation_after_deadline"]),  # 1800 is the default of the escalation
        ({"deadline_seconds": 1801}, []),
        ({"retry_after_seconds": 1801}, ["escalation_before_retry"]),
        ({"retry_after_seconds": 1800}, []),
    ],
)
def test_the_times_of_a_hold_are_held_against_each_other(times: dict[str, float], expected: list[str]) -> None:
    """Defaults count as if they were written."""
    assert hold(**times) == expected


def test_only_an_outage_that_rejects_is_said() -> None:
    """A missing ticket that rejects is what the policy is for."""
    ends = {"deadline_seconds": 7200, "on_deadline": "REJECT"}
    found = {category: said(holds={**QUIET["holds"], category: {**HOLD, **ends}}) for category in HOLD_CATEGORIES}
    assert [str(category) for category in HOLD_CATEGORIES if found[category]] == [
        "observation_missing",
        "observation_invalid",
        "observation_stale",
    ]


def test_an_owner_that_is_written_is_an_owner() -> None:
    """`owner` by default belongs to nobody; `owner` as a word may be a team's name."""
    assert said(holds={**QUIET["holds"], "evidence_missing": {"owners": ["owner"]}}) == []


@pytest.mark.parametrize(("window_seconds", "expected"), [(None, []), (300, []), (299.9, ["freshness_exceeds_window"])])
def test_freshness_is_held_against_the_window_that_is_known(window_seconds: float | None, expected: list[str]) -> None:
    """Without a collection file nobody knows the window."""
    assert [code for code, _, _ in said(beside=Beside(window_seconds=window_seconds))] == expected


@pytest.mark.parametrize(("lag", "expected"), [(300, ["skew_limit_never_fires"]), (299, [])])
def test_skew_is_held_against_freshness(lag: float, expected: list[str]) -> None:
    """A source that lags more than the oldest allowed age is stale before it is skewed."""
    part = {**QUIET["missing_data_policy"], "max_watermark_skew_seconds": lag}
    assert [code for code, _, _ in said(missing_data_policy=part)] == expected


def test_promotion_before_the_first_users_and_none_before_all_are_said() -> None:
    """The first canary is entered from a stage where nobody met the change."""
    gate = {"required_for_stages": ["DRY_RUN", "CANARY_20"], "min_sample_size": 1}
    assert said(promotion_gate=gate) == [
        ("no_promotion_at_100", "/promotion_gate/required_for_stages", "promotion"),
        ("promotion_without_exposure", "/promotion_gate/required_for_stages/0", "promotion"),
        ("promotion_without_exposure", "/promotion_gate/required_for_stages/1", "promotion"),
    ]


@given(document=policies())
def test_every_policy_that_loads_can_be_reviewed(document: dict[str, Any]) -> None:
    """Whatever numbers and stages it has: a review that crashes reviews nothing."""
    for one in warnings_for(load_policy_document(encoded(document)), encoded(document)):
        assert one.line is not None
        assert one.message
        assert one.remedy


def test_cases_beside_a_policy_are_those_that_name_it(tmp_path: Any) -> None:
    """A case of another policy, a broken file and a list say nothing about this one."""
    golden = tmp_path / "golden"
    golden.mkdir()
    snapshot = {"leaks": 0, "laeks": 0, "_meta": {"window": "5m"}}
    for name, content in {
        "ours.json": {"policy": "../p.json", "snapshot": snapshot},
        "written.yaml": {"policy": "../p.json", "snapshot": {"metrics": {"goal": 1}}},
        "wrapped.json": {"policy": "../golden/../p.json", "snapshot": {"metrics": {"goal": 1}}},
        "theirs.json": {"policy": "../q.json", "snapshot": {"x": 1}},
        "list.json": [],
        "odd.json": {"policy": 7, "snapshot": 8},
    }.items():
        (golden / name).write_text(json.dumps(content))
    (golden / "broken.json").write_text("{")
    (golden / "notes.md").write_text("{}")
    found = CasesBeside().metrics_of(str(tmp_path / "p.json"))
    ours, wrapped, written = (str(golden / name) for name in ("ours.json", "wrapped.json", "written.yaml"))
    assert found == {ours: ["leaks", "laeks"], wrapped: ["goal"], written: ["goal"]}
    assert said(beside=Beside(case_metrics=found)) == [("metric_in_case_only", "", "metric:laeks")]
    assert CasesBeside().metrics_of(str(golden / "ours.json")) == {}
