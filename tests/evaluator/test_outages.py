"""A source that is down: what went wrong while collecting decides, and nothing that follows from it does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import Whole, answer, decide, found, told

DOWN = "observation_missing:source_unavailable"
STRICT: dict[str, Any] = {
    "missing_data_policy": {
        "required_metrics": ["errors", "leaks", "banned"],
        "on_missing": "REJECT",
        "on_missing_baseline": "REJECT",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
        "on_stale": "REJECT",
    }
}
"""Whatever can be a rollback is one."""
LATER = {"from_stage": "DRY_RUN", "stage": "CANARY_10", "stage_entered_at": "2026-02-18T00:50:00Z"}
RULES = ("freshness", "skew", "window")


def down(*metrics: str, code: str = DOWN) -> dict[str, Any]:
    """The values of these metrics are gone, and their observations say why."""
    return {
        "metrics": dict.fromkeys(metrics),
        "observations": {metric: {"problem": {"code": code, "detail": "connection refused"}} for metric in metrics},
    }


@pytest.mark.parametrize("context", [{}, LATER])
@pytest.mark.parametrize("precedence", ["violations_first", "evidence_first"])
def test_an_outage_of_the_monitoring_never_rolls_back(precedence: str, context: dict[str, Any]) -> None:
    """No watermark anywhere, `on_stale: REJECT`: the outage is the one reason, and the times are not asked."""
    policy = {"stage_policy": {}, "missing_data_policy": {**STRICT["missing_data_policy"], "precedence": precedence}}
    decision = decide(policy, down("errors", "leaks", "banned"), **context)
    assert answer(decision) == ("DEGRADE", [DOWN], ["banned", "errors", "leaks"])
    assert [told(decision, rule) for rule in RULES] == [("NOT_EVALUATED", None)] * 3


def test_the_outage_of_one_source_leaves_the_times_of_the_others() -> None:
    """The metric that was collected is fresh, in step and passes; the one without watermark is charged for nothing."""
    sources = [
        {"name": "prom", "metrics": ["errors"]},
        {"name": "dwh", "watermark_event_time": "2026-02-18T00:59:40Z", "metrics": ["leaks", "banned"]},
    ]
    decision = decide(STRICT, {**down("errors"), "_meta": {"sources": sources}})
    assert answer(decision) == ("DEGRADE", [DOWN], ["errors"])
    freshness = found(decision, "freshness")
    assert (freshness.outcome.value, freshness.observed, freshness.source) == ("PASS", 30, "dwh")
    assert told(decision, "skew") == ("PASS", None)
    assert told(decision, "constraint:leaks") == ("PASS", None)


def test_old_evidence_beside_an_outage_is_still_old() -> None:
    """`on_stale` decides what the age of the metrics means that were collected."""
    meta = {"watermark_event_time": "2026-02-18T00:50:10Z"}
    decision = decide(STRICT, {**down("errors"), "_meta": meta})
    assert answer(decision) == ("REJECT", ["observation_stale:over_freshness_budget"], ["errors"])
    assert found(decision, "freshness").observed == 600
    undated = decide(STRICT, down("errors"))
    assert answer(undated)[1] == ["observation_missing:freshness_seconds"]


def test_the_age_of_a_metric_with_a_problem_is_not_the_age_of_the_evidence() -> None:
    """Its watermark is of another reading: ten minutes old, while all that is judged is ten seconds old."""
    observations = {
        "errors": {"watermark_event_time": "2026-02-18T00:50:10Z", "problem": {"code": DOWN}},
        "leaks": {"watermark_event_time": "2026-02-18T01:00:00Z"},
        "banned": {"watermark_event_time": "2026-02-18T01:00:00Z"},
    }
    decision = decide(STRICT, {"observations": observations})
    assert answer(decision) == ("DEGRADE", [DOWN], ["errors"])
    assert found(decision, "freshness").observed == 10


def test_a_laggard_whose_metrics_have_a_problem_is_not_skew() -> None:
    """Its problem says what is wrong already; without the problem the lag would reject."""
    sources = [
        {"name": "prom", "watermark_event_time": "2026-02-18T00:58:40Z", "metrics": ["errors"]},
        {"name": "dwh", "watermark_event_time": "2026-02-18T01:00:00Z", "metrics": ["leaks", "banned"]},
    ]
    partial = "evidence_missing:partial_response"
    noted = {"observations": {"errors": {"problem": {"code": partial}}}, "_meta": {"sources": sources}}
    assert answer(decide(STRICT, noted)) == ("DEGRADE", [partial], ["errors"])
    assert answer(decide(STRICT, {"_meta": {"sources": sources}}))[1] == ["observation_stale:watermark_skew"]


def test_a_window_is_asked_of_the_metrics_without_a_problem() -> None:
    """The window of a metric with a problem began nowhere; the others' lies within the stage."""
    policy = {**STRICT, "stage_policy": {}}
    watermark = {"watermark_event_time": "2026-02-18T00:59:40Z"}
    observations = {**down("errors")["observations"], "leaks": watermark, "banned": watermark}
    window = {"_meta": {"window": "5m"}, "baseline": {"_meta": {"window": "5m"}}}
    decision = decide(policy, {**down("errors"), "observations": observations, **window}, **LATER)
    assert answer(decision) == ("DEGRADE", [DOWN], ["errors"])
    finding = found(decision, "window")
    assert (finding.outcome.value, finding.observed) == ("PASS", "2026-02-18T00:54:40.000000Z")


def test_a_missing_value_without_a_problem_is_undated_evidence_as_before() -> None:
    """Nobody says that the source was down: a null without a watermark is judged by the policy."""
    decision = decide(STRICT, {"metrics": {"errors": None}})
    assert answer(decision)[:2] == (
        "REJECT",
        ["observation_missing:required_metric", "observation_missing:freshness_seconds"],
    )


def test_observations_that_cannot_be_read_are_a_problem_of_every_metric() -> None:
    """They hold, and no time is asked of any metric."""
    decision = decide(STRICT, {"observations": Whole(["errors"])})
    assert answer(decision)[:2] == ("DEGRADE", ["observation_invalid:bad_response"])
    assert told(decision, "freshness") == ("NOT_EVALUATED", None)
