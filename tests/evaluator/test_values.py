"""A value that is no measurement passes no rule, and a missing one is never zero."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import answer, decide, found, told

NO_NUMBERS: list[Any] = ["0.004", "1_000", "nan", "", True, False, [0.004], [], {}, {"value": 0.004}]


def test_healthy_evidence_is_accepted() -> None:
    """The small policy accepts its healthy evidence, so that every other test shows one change."""
    decision = decide()
    assert answer(decision) == ("ACCEPT", [], [])
    assert [finding.rule for finding in decision.findings] == [
        "change_class",
        "policy",
        "history",
        "freshness",
        "skew",
        "window",
        "constraint:leaks",
        "constraint:banned",
        "guardrail:errors",
        "budget:errors",
    ]


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_a_guardrail_takes_nothing_that_can_be_bent_into_a_number(value: object) -> None:
    """Text, booleans, lists and objects are invalid, for the threshold and for the budget."""
    decision = decide(snapshot={"metrics": {"errors": value}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:guardrail_value"], ["errors"])
    assert told(decision, "guardrail:errors") == ("INVALID", "observation_invalid:guardrail_value")
    assert told(decision, "budget:errors") == ("INVALID", "observation_invalid:guardrail_value")


@pytest.mark.parametrize("changes", [{"errors": None}, {"errors": ...}])
def test_a_missing_guardrail_metric_is_not_zero(changes: dict[str, Any]) -> None:
    """Null and absent are missing, under the guardrail's code."""
    decision = decide(snapshot={"metrics": changes})
    assert answer(decision) == ("DEGRADE", ["observation_missing:guardrail_metric"], ["errors"])


def test_a_missing_constraint_metric_is_not_healthy() -> None:
    """Both kinds of constraint need their metric, whether or not it is listed as required."""
    decision = decide(snapshot={"metrics": {"leaks": ..., "banned": None}})
    assert answer(decision) == ("DEGRADE", ["observation_missing:constraint_metric"], ["banned", "leaks"])


@pytest.mark.parametrize("wanted", ["DEGRADE", "REJECT"])
def test_on_missing_decides_what_a_missing_metric_means(wanted: str) -> None:
    """The policy's `on_missing` gives the verdict."""
    decision = decide({"missing_data_policy": {"on_missing": wanted}}, {"metrics": {"errors": ...}})
    assert decision.verdict.value == wanted


def test_absence_has_one_code_however_many_rules_name_the_metric() -> None:
    """Required over constraint over guardrail."""
    both = {"guardrails": [{"metric": "leaks", "op": "<=", "threshold": 1}]}
    decision = decide(both, {"metrics": {"leaks": ...}})
    assert decision.reason_codes == ("observation_missing:constraint_metric",)
    assert told(decision, "guardrail:leaks") == ("MISSING", "observation_missing:constraint_metric")
    required = {**both, "missing_data_policy": {"required_metrics": ["leaks"]}}
    decision = decide(required, {"metrics": {"leaks": ...}})
    assert decision.reason_codes == ("observation_missing:required_metric",)
    for rule in ("required:leaks", "constraint:leaks", "guardrail:leaks"):
        assert told(decision, rule) == ("MISSING", "observation_missing:required_metric")


@pytest.mark.parametrize("value", [0, 0.0, -0.0])
def test_must_be_zero_accepts_zero_only(value: float) -> None:
    """Zero in every spelling is healthy."""
    finding = found(decide(snapshot={"metrics": {"leaks": value}}), "constraint:leaks")
    assert (finding.outcome.value, finding.op, finding.limit) == ("PASS", "==", 0)
    assert finding.limit is not False


@pytest.mark.parametrize("value", [1, -1, 0.5, 1e-300])
def test_must_be_zero_is_violated_by_any_other_number(value: float) -> None:
    """However small and on either side of zero."""
    decision = decide(snapshot={"metrics": {"leaks": value}})
    assert answer(decision) == ("REJECT", ["constraint_violation:leaks"], [])
    assert found(decision, "constraint:leaks").observed == value


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_must_be_zero_takes_numbers_only(value: object) -> None:
    """False is not zero."""
    decision = decide(snapshot={"metrics": {"leaks": value}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:constraint_value"], ["leaks"])


@pytest.mark.parametrize("value", [False, 0, 0.0])
def test_must_be_false_accepts_false_and_zero(value: object) -> None:
    """The two spellings of false."""
    finding = found(decide(snapshot={"metrics": {"banned": value}}), "constraint:banned")
    assert (finding.outcome.value, finding.op) == ("PASS", "==")
    assert finding.limit is False


@pytest.mark.parametrize("value", [True, 1, 1.0])
def test_must_be_false_is_violated_by_true_and_one(value: object) -> None:
    """The two spellings of true."""
    decision = decide(snapshot={"metrics": {"banned": value}})
    assert answer(decision) == ("REJECT", ["constraint_violation:banned"], [])


@pytest.mark.parametrize("value", [2, -1, 0.5, "false", "", [], [False], {}])
def test_must_be_false_takes_nothing_else(value: object) -> None:
    """Whatever a language would call false or true is invalid."""
    decision = decide(snapshot={"metrics": {"banned": value}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:constraint_value"], ["banned"])


@pytest.mark.parametrize(
    ("metric", "value", "told_of_it"),
    [
        ("errors", 0.008, ("PASS", None)),
        ("errors", True, ("INVALID", "observation_invalid:guardrail_value")),
        ("leaks", 3, ("PASS", None)),
        ("leaks", False, ("INVALID", "observation_invalid:constraint_value")),
        ("banned", True, ("PASS", None)),
        ("banned", False, ("PASS", None)),
        ("banned", [], ("INVALID", "observation_invalid:constraint_value")),
        ("banned", 1, ("PASS", None)),
        ("banned", 2, ("INVALID", "observation_invalid:constraint_value")),
        ("other", 5, ("PASS", None)),
        ("other", True, ("PASS", None)),
        ("other", "text", ("INVALID", "observation_invalid:guardrail_value")),
        ("other", None, ("MISSING", "observation_missing:required_metric")),
    ],
)
def test_a_required_metric_is_one_that_its_rules_can_judge(
    metric: str, value: object, told_of_it: tuple[str, str | None]
) -> None:
    """Its kind follows from the rules that name it; one that no rule names is a number or a boolean."""
    decision = decide({"missing_data_policy": {"required_metrics": [metric]}}, {"metrics": {metric: value}})
    assert told(decision, f"required:{metric}") == told_of_it


@pytest.mark.parametrize(
    ("code", "outcome", "verdict"),
    [
        ("observation_missing:empty_result", "MISSING", "DEGRADE"),
        ("observation_missing:source_unavailable", "MISSING", "DEGRADE"),
        ("observation_invalid:multiple_series", "INVALID", "DEGRADE"),
        ("observation_stale:window_coverage", "STALE", "DEGRADE"),
        ("evidence_missing:partial_response", "MISSING", "DEGRADE"),
        ("precondition_unknown:variant_mapping_ambiguous", "NOT_READY", "DEGRADE"),
    ],
)
def test_a_problem_while_collecting_decides_before_the_value(code: str, outcome: str, verdict: str) -> None:
    """A value that would violate confirms nothing, and one that would pass passes nothing."""
    for value in (0.008, 0.5, None):
        decision = decide(
            snapshot={"metrics": {"errors": value}, "observations": {"errors": {"problem": {"code": code}}}}
        )
        assert answer(decision) == (verdict, [code], ["errors"])
        assert told(decision, "guardrail:errors") == (outcome, code)
        assert told(decision, "budget:errors") == (outcome, code)


def test_a_problem_of_a_constraint_hides_its_violation() -> None:
    """The one thing that comes before a violated constraint, besides missing and invalid."""
    problem = {"observations": {"leaks": {"problem": {"code": "observation_invalid:query_failed"}}}}
    decision = decide(snapshot={"metrics": {"leaks": 7}, **problem})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:query_failed"], ["leaks"])


def test_an_empty_result_follows_on_missing() -> None:
    """`empty_result` is a missing metric; trouble with a source is never more than a hold."""
    for code, verdict in (("empty_result", "REJECT"), ("source_unavailable", "DEGRADE")):
        decision = decide(
            {"missing_data_policy": {"on_missing": "REJECT"}},
            {"observations": {"errors": {"problem": {"code": f"observation_missing:{code}"}}}},
        )
        assert decision.verdict.value == verdict


@pytest.mark.parametrize(
    "observation",
    [
        {"problem": "broken"},
        {"problem": {"code": "guardrail_violation:errors"}},
        {"problem": {"code": "change_refused:stopped"}},
        {"problem": {"code": "evidence_missing:change_id"}},
        {"problem": {"code": "observation_missing:"}},
        {"problem": {"code": 7}},
        {"problem": {}},
        {"problem": False},
        "text",
        [],
        7,
    ],
)
def test_a_problem_that_cannot_be_read_is_a_bad_response(observation: object) -> None:
    """No snapshot can state harm, an approval or a reference by way of a problem."""
    decision = decide(snapshot={"observations": {"errors": observation}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:bad_response"], ["errors"])


@pytest.mark.parametrize("observations", ["text", [], 7, True])
def test_observations_that_cannot_be_read_confirm_no_metric(observations: object) -> None:
    """Every metric asked has a problem then."""
    decision = decide(snapshot={"observations": observations})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:bad_response"], ["banned", "errors", "leaks"])


@pytest.mark.parametrize("observation", [None, {}, {"problem": None}, {"source": 7}])
def test_an_observation_without_problem_changes_nothing(observation: object) -> None:
    """Null is "none", wherever it stands."""
    assert answer(decide(snapshot={"observations": {"errors": observation}})) == ("ACCEPT", [], [])


def test_a_problem_of_an_unused_metric_has_no_effect() -> None:
    """Only metrics that a rule reads can hold a run."""
    decision = decide(
        snapshot={
            "metrics": {"unused": float("nan")},
            "observations": {"unused": {"problem": {"code": "observation_invalid:bad_response"}}},
        }
    )
    assert answer(decision) == ("ACCEPT", [], [])


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), float("-inf"), 2**53, -(2**53), 1e17, pytest.param(10**5000, id="long")]
)
def test_a_number_that_no_log_can_hold_is_invalid(value: float) -> None:
    """It becomes null with a problem when the snapshot is read, and its text is kept."""
    decision = decide(snapshot={"metrics": {"errors": value}})
    assert answer(decision) == ("DEGRADE", ["observation_invalid:bad_response"], ["errors"])
    assert isinstance(found(decision, "guardrail:errors").observed, str)


def test_a_value_that_is_there_is_shown_before_its_text() -> None:
    """The text stands in where there is no value."""
    failed = {"problem": {"code": "observation_invalid:query_failed"}, "value_text": "n/a"}
    shown = [
        found(decide(snapshot={"metrics": {"errors": value}, "observations": {"errors": failed}}), rule).observed
        for value in (0.5, None)
        for rule in ("guardrail:errors", "budget:errors")
    ]
    assert shown == [0.5, 0.5, "n/a", "n/a"]


@pytest.mark.parametrize("observation", [{}, {"problem": None}])
def test_a_value_that_is_missing_is_not_shown_by_its_old_text(observation: dict[str, Any]) -> None:
    """A reader of a hold must not meet a healthy number where nothing was observed."""
    policy = {"missing_data_policy": {"required_metrics": ["errors"]}}
    observations = {"errors": {**observation, "value_text": "0.008"}}
    for value in (None, ...):
        decision = decide(policy, {"metrics": {"errors": value}, "observations": observations})
        for rule in ("required:errors", "guardrail:errors", "budget:errors"):
            finding = found(decision, rule)
            assert (finding.outcome.value, finding.observed) == ("MISSING", None)


def test_the_source_of_a_value_is_named() -> None:
    """By its observation, else by the source that lists it."""
    sources = [{"name": "prom", "watermark_event_time": "2026-02-18T01:00:00Z", "metrics": ["errors"]}]
    snapshot: dict[str, Any] = {"_meta": {"sources": sources}}
    assert found(decide(snapshot=snapshot), "guardrail:errors").source == "prom"
    snapshot["observations"] = {"errors": {"source": "warehouse"}}
    assert found(decide(snapshot=snapshot), "guardrail:errors").source == "warehouse"
    assert found(decide(snapshot=snapshot), "constraint:leaks").source is None


def test_metrics_that_are_no_object_leave_every_metric_missing() -> None:
    """A flat reading of such a file has none of the metrics."""
    decision = decide(snapshot={"metrics": [1, 2]})
    assert decision.verdict.value == "DEGRADE"
    assert decision.missing == ("banned", "errors", "leaks")
