"""Budgets of allowed worsening: exact decimals, both directions, relative budgets, unusable baselines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import Whole, answer, decide, found, requested, told


def budgeted(**guardrail: Any) -> dict[str, Any]:
    """The change that gives the small policy this one guardrail."""
    return {"guardrails": [{"metric": "errors", "op": "<=", **guardrail}]}


def values(value: object, baseline: object) -> dict[str, Any]:
    """The change of the guarded metric and of its baseline."""
    return {"metrics": {"errors": value}, "baseline": {"metrics": {"errors": baseline}}}


@pytest.mark.parametrize(
    ("value", "baseline", "budget", "left"),
    [
        (0.013, 0.012, 0.001, 0.0),  # in doubles 0.013 - 0.012 is 0.0010000000000000009
        (0.3, 0.1, 0.2, 0.0),  # and 0.3 - 0.1 is 0.19999999999999998
        (1.1, 1.0, 0.1, 0.0),
        (0.0130000001, 0.012, 0.001, -1e-10),
        (0.0085, 0.0075, 0.001, 0.0),
        (0.005, 0.0075, 0.001, 0.0035),
        (371, 351, 20, 0),
        (372, 351, 20, -1),
        (1e21, 0, 1e21, 0.0),
        (0.1 + 0.2, 0.1, 0.2, -4e-17),  # 0.30000000000000004 by its shortest text
        (5e-324, 0, 0, -5e-324),
        (1e-200, -1e-200, 1e-200, -1e-200),
    ],
)
def test_a_worsening_equal_to_its_budget_is_within_it(
    value: float, baseline: float, budget: float, left: float
) -> None:
    """Numbers are the decimals that their shortest text states, and nothing is rounded before it is compared."""
    decision = decide(budgeted(budget_delta=budget), values(value, baseline))
    finding = found(decision, "budget:errors")
    assert finding.outcome.value == ("VIOLATED" if left < 0 else "PASS")
    assert finding.margin == left
    assert (finding.observed, finding.baseline, finding.limit) == (value, baseline, budget)
    if left < 0:
        assert answer(decision) == ("REJECT", ["budget_violation:errors"], [])


@pytest.mark.parametrize(
    ("op", "value", "outcome"),
    [
        ("<=", 1.1, "PASS"),
        ("<", 1.2, "VIOLATED"),
        ("<=", 0.5, "PASS"),
        (">=", 0.9, "PASS"),
        (">", 0.8, "VIOLATED"),
        (">=", 1.5, "PASS"),
    ],
)
def test_worse_is_up_or_down_as_the_operator_says(op: str, value: float, outcome: str) -> None:
    """An improvement uses no budget, however large it is."""
    policy = {"guardrails": [{"metric": "errors", "op": op, "budget_delta": 0.1}]}
    assert told(decide(policy, values(value, 1.0)), "budget:errors")[0] == outcome


@pytest.mark.parametrize(
    ("value", "baseline", "ratio", "outcome", "left"),
    [
        (102, 100, 0.02, "PASS", 0.0),
        (102.1, 100, 0.02, "VIOLATED", -0.1),
        (-98, -100, 0.02, "PASS", 0.0),  # the ratio is of the baseline's absolute value
        (-97, -100, 0.02, "VIOLATED", -1.0),
        (0.0102, 0.01, 0.02, "PASS", 0.0),
        (0.33, 0.3, 0.1, "PASS", 0.0),
    ],
)
def test_a_relative_budget_is_a_share_of_the_baselines_size(
    value: float, baseline: float, ratio: float, outcome: str, left: float
) -> None:
    """Exactly, and with a negative baseline too."""
    decision = decide(budgeted(budget_ratio=ratio), values(value, baseline))
    finding = found(decision, "budget_ratio:errors")
    assert (finding.outcome.value, finding.margin, finding.limit) == (outcome, left, ratio)
    assert decision.reason_codes == (() if outcome == "PASS" else ("budget_violation:errors",))


def test_both_budgets_are_asked() -> None:
    """Each has its finding, the code is listed once."""
    decision = decide(budgeted(threshold=200, budget_delta=10, budget_ratio=0.05), values(120, 100))
    assert [told(decision, f"{rule}:errors")[0] for rule in ("guardrail", "budget", "budget_ratio")] == [
        "PASS",
        "VIOLATED",
        "VIOLATED",
    ]
    assert answer(decision) == ("REJECT", ["budget_violation:errors"], [])
    assert told(decide(budgeted(budget_delta=30, budget_ratio=0.05), values(120, 100)), "budget:errors")[0] == "PASS"


def test_a_value_that_breaks_limit_and_budget_is_listed_under_both() -> None:
    """The guardrail's code comes first."""
    decision = decide(snapshot={"metrics": {"errors": 0.013}})
    assert answer(decision) == ("REJECT", ["guardrail_violation:errors", "budget_violation:errors"], [])
    assert found(decision, "guardrail:errors").margin == -0.003
    assert found(decision, "budget:errors").margin == -0.0045


@pytest.mark.parametrize("baseline", [..., None])
def test_without_any_baseline_the_founding_form_passes_and_says_so(baseline: object) -> None:
    """NOT_EVALUATED without a code where the policy does not say what it means, with a note."""
    decision = decide({"missing_data_policy": {"on_missing_baseline": ...}}, {"baseline": baseline})
    assert answer(decision) == ("ACCEPT", [], [])
    assert told(decision, "budget:errors") == ("NOT_EVALUATED", None)
    assert any("baseline" in note for note in decision.notes)
    assert decide({"missing_data_policy": {"on_missing_baseline": ...}}).notes == ()
    assert decide().notes == ()


@pytest.mark.parametrize("wanted", ["DEGRADE", "REJECT"])
def test_without_any_baseline_the_policy_decides(wanted: str) -> None:
    """`on_missing_baseline` where it is stated."""
    decision = decide({"missing_data_policy": {"on_missing_baseline": wanted}}, {"baseline": ...})
    assert answer(decision) == (wanted, ["observation_missing:baseline_metric"], ["baseline.errors"])
    assert decision.notes == ()


@pytest.mark.parametrize("part", [{"metrics": {}}, {"metrics": {"errors": None}}, {}, {"other": 1}])
def test_a_baseline_that_lacks_a_budgeted_metric_holds(part: dict[str, Any]) -> None:
    """Also where `on_missing_baseline` is not stated: this is not the founding form."""
    decision = decide({"missing_data_policy": {"on_missing_baseline": ...}}, {"baseline": Whole(part)})
    assert answer(decision) == ("DEGRADE", ["observation_missing:baseline_metric"], ["baseline.errors"])
    assert requested(decision)[0] == ("collect_baseline", {"metric": "errors"})


@pytest.mark.parametrize("value", ["0.004", True, [1], {}])
def test_a_baseline_value_that_is_no_number_holds(value: object) -> None:
    """Its violation cannot be told, the threshold is still asked."""
    decision = decide(snapshot={"baseline": {"metrics": {"errors": value}}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:baseline_value"], ["baseline.errors"])
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert found(decision, "budget:errors").baseline is None


@pytest.mark.parametrize("part", ["text", [], 7, False])
def test_a_baseline_part_that_is_no_object_is_invalid(part: object) -> None:
    """It is not the same as no baseline."""
    decision = decide({"missing_data_policy": {"on_missing_baseline": ...}}, {"baseline": part})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:baseline_value"], ["baseline.errors"])


def test_a_baseline_outside_the_metrics_range_is_invalid() -> None:
    """A baseline in percent makes every ratio look improved."""
    decision = decide(budgeted(budget_delta=0.1, range=[0, 1]), values(0.5, 97))
    assert answer(decision) == ("DEGRADE", ["observation_invalid:baseline_value"], ["baseline.errors"])
    assert answer(decide(budgeted(budget_delta=0.1, range=[0, 1]), values(1, 1))) == ("ACCEPT", [], [])


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_a_zero_baseline_has_no_relative_budget(zero: float) -> None:
    """Two percent of nothing is no limit; the absolute budget is asked all the same."""
    decision = decide(budgeted(budget_delta=1, budget_ratio=0.02), values(0.5, zero))
    assert answer(decision) == ("DEGRADE", ["observation_invalid:baseline_value"], ["baseline.errors"])
    assert told(decision, "budget:errors") == ("PASS", None)
    assert told(decision, "budget_ratio:errors") == ("INVALID", "observation_invalid:baseline_value")


@pytest.mark.parametrize(
    ("of_variant", "of_baseline", "is_comparable"),
    [
        ("5m", "5m", True),
        ("5m", "300s", True),
        ("1h", "60m", True),
        (..., ..., True),
        (None, ..., True),
        ("5m", "1h", False),
        ("5m", ..., False),
        (..., "5m", False),
        ("5m", "often", False),
        ("often", "often", False),
        (5, 5, False),
    ],
)
def test_windows_of_different_length_are_not_compared(of_variant: Any, of_baseline: Any, is_comparable: bool) -> None:
    """By length, and only where both state one or neither does."""
    meta: dict[str, Any] = {} if of_variant is ... else {"window": of_variant}
    of_base: dict[str, Any] = {} if of_baseline is ... else {"window": of_baseline}
    decision = decide(snapshot={"_meta": meta, "baseline": {"_meta": of_base}, "metrics": {"errors": 0.0086}})
    if is_comparable:
        assert told(decision, "budget:errors")[0] == "VIOLATED"
    else:
        assert answer(decision) == ("DEGRADE", ["precondition_unknown:baseline_window_mismatch"], [])
        assert told(decision, "budget:errors") == ("NOT_READY", "precondition_unknown:baseline_window_mismatch")
        assert found(decision, "budget:errors").margin is None


def test_a_window_beside_the_metrics_counts() -> None:
    """`_meta` fields may stand beside `metrics`, in the baseline too."""
    decision = decide(snapshot={"window": "5m", "baseline": {"window": "1h"}})
    assert decision.reason_codes == ("precondition_unknown:baseline_window_mismatch",)


@pytest.mark.parametrize(
    ("times", "code", "missing"),
    [
        ({"watermark_event_time": "2026-02-17T01:00:10Z"}, None, []),  # exactly a day
        ({"watermark_event_time": "2026-02-17T01:00:09Z"}, "observation_stale:baseline_age", []),
        ({"collected_at": "2026-02-17T01:00:10Z"}, None, []),
        ({"collected_at": "2026-02-17T01:00:09Z"}, "observation_stale:baseline_age", []),
        ({"watermark_event_time": "2026-02-18T01:00:00Z", "collected_at": "2020-02-17T01:00:09Z"}, None, []),
        ({"watermark_event_time": "2026-02-18T01:00:15Z"}, None, []),
        ({}, "observation_missing:watermark_event_time", ["watermark_event_time"]),
        (
            {"watermark_event_time": "2026-02-17T01:00:10"},
            "observation_invalid:watermark_event_time",
            ["watermark_event_time"],
        ),
        (
            {"watermark_event_time": "2026-02-18T01:00:16Z"},
            "observation_invalid:watermark_event_time",
            ["watermark_event_time"],
        ),
        ({"collected_at": "yesterday"}, "observation_invalid:collected_at", ["collected_at"]),
    ],
)
def test_the_age_of_a_baseline_is_limited_where_the_policy_says_so(
    times: dict[str, Any], code: str | None, missing: list[str]
) -> None:
    """By its watermark, else by `collected_at`; equal to the limit is young enough."""
    decision = decide({"missing_data_policy": {"max_baseline_age_seconds": 86400}}, {"baseline": {"_meta": times}})
    assert answer(decision) == (("DEGRADE", [code], missing) if code else ("ACCEPT", [], []))
    assert answer(decide(snapshot={"baseline": {"_meta": times}})) == ("ACCEPT", [], [])


def test_an_old_baseline_says_what_its_budget_would_be() -> None:
    """The finding is STALE and names the violation."""
    decision = decide(
        {"missing_data_policy": {"max_baseline_age_seconds": 60}},
        {"metrics": {"errors": 0.009}, "baseline": {"_meta": {"collected_at": "2026-02-17T01:00:00Z"}}},
    )
    finding = found(decision, "budget:errors")
    assert (finding.outcome.value, finding.would_be) == ("STALE", "budget_violation:errors")


def test_a_problem_of_the_baseline_decides_its_budgets_only() -> None:
    """And asks for the baseline, not for the metric."""
    problem = {"problem": {"code": "observation_missing:empty_result"}}
    decision = decide(snapshot={"baseline": {"observations": {"errors": problem}}})
    assert answer(decision) == ("DEGRADE", ["observation_missing:empty_result"], ["baseline.errors"])
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert requested(decision)[0] == ("collect_baseline", {"metric": "errors"})


@pytest.mark.parametrize(
    "observations", ["text", {"errors": "text"}, {"errors": {"problem": 7}}, {"errors": {"problem": {"code": "x:y"}}}]
)
def test_observations_of_the_baseline_that_cannot_be_read_hold(observations: object) -> None:
    """As for the variant."""
    decision = decide(snapshot={"baseline": {"observations": observations}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:bad_response"], ["baseline.errors"])


@pytest.mark.parametrize("observations", [None, {}, {"errors": None}, {"errors": {"problem": None}}])
def test_observations_of_the_baseline_without_problem_change_nothing(observations: object) -> None:
    """Null is "none"."""
    assert answer(decide(snapshot={"baseline": {"observations": observations}})) == ("ACCEPT", [], [])


def test_trouble_with_the_value_comes_before_trouble_with_the_baseline() -> None:
    """One finding for a rule: the first that applies."""
    decision = decide(snapshot={"metrics": {"errors": None}, "baseline": {"metrics": {"errors": "x"}}})
    assert told(decision, "budget:errors") == ("MISSING", "observation_missing:guardrail_metric")
    assert decision.missing == ("errors",)
    relative = budgeted(budget_ratio=0.02)
    assert told(decide(relative, values(None, 0)), "budget_ratio:errors")[0] == "MISSING"


def test_an_unusable_baseline_shows_no_violation_of_an_old_value() -> None:
    """Windows of different length are not compared, not even for `would_be`."""
    decision = decide(
        {"missing_data_policy": {"max_freshness_seconds": 5}},
        {"metrics": {"errors": 0.5}, "_meta": {"window": "5m", "freshness_seconds": 9}},
    )
    assert told(decision, "budget:errors") == ("STALE", "observation_stale:over_freshness_budget")
    assert found(decision, "budget:errors").would_be is None
    assert found(decision, "guardrail:errors").would_be == "guardrail_violation:errors"
