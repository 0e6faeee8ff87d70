"""Entering a later stage: the wait, and windows that reach back into the stage before."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import answer, coming, decide, found, requested, told

ENTERED = "2026-02-18T00:50:00Z"
WINDOW = "observation_stale:window_before_stage"
WAIT = "precondition_unknown:stage_wait_not_elapsed"
STAGED: dict[str, Any] = {"stage_policy": {"min_stage_seconds": 600}}
MOVING = {"from_stage": "CANARY_10", "stage": "CANARY_25", "stage_entered_at": ENTERED}


def meta(**facts: Any) -> dict[str, Any]:
    """The change of `_meta`, with a window of 5 m that the baseline shares."""
    return {"_meta": {"window": "5m", **facts}, "baseline": {"_meta": {"window": facts.get("window", "5m")}}}


@pytest.mark.parametrize(
    ("seconds", "outcome", "margin"), [(600, "PASS", 10.0), (610, "PASS", 0.0), (611, "NOT_READY", -1.0)]
)
def test_a_stage_lasts_as_long_as_the_policy_says(seconds: int, outcome: str, margin: float) -> None:
    """610 s have passed; equal is enough."""
    decision = decide({"stage_policy": {"min_stage_seconds": seconds}}, meta(), **MOVING)
    wait = found(decision, "stage_wait")
    assert (wait.outcome.value, wait.observed, wait.limit, wait.margin) == (outcome, 610, seconds, margin)
    if outcome == "PASS":
        assert answer(decision) == ("ACCEPT", [], [])
    else:
        assert answer(decision) == ("DEGRADE", [WAIT], [])
        assert requested(decision) == [
            ("wait_until", {"time": "2026-02-18T01:00:11.000000Z"}),
            ("rerun_gate_check", {"stage": "CANARY_25"}),
        ]


@pytest.mark.parametrize(
    "context",
    [
        {"from_stage": None, "stage_entered_at": None},
        {"from_stage": None, "stage_entered_at": "2026-02-18T01:00:00Z"},
        {"from_stage": "CANARY_10", "stage": "CANARY_10", "stage_entered_at": "2026-02-18T01:00:00Z"},
        {"from_stage": "CANARY_10", "stage": "CANARY_25", "stage_entered_at": None},
    ],
)
def test_neither_wait_nor_window_is_asked_at_the_first_check_or_when_remaining(context: dict[str, Any]) -> None:
    """Both rules stay NOT_EVALUATED; no `window` is needed."""
    decision = decide(STAGED, **context)
    assert answer(decision) == ("ACCEPT", [], [])
    assert told(decision, "stage_wait") == ("NOT_EVALUATED", None)
    assert told(decision, "window") == ("NOT_EVALUATED", None)


def test_without_stage_policy_neither_is_asked() -> None:
    """And there is no finding on the wait."""
    decision = decide(None, {"_meta": {"collected_at": "2026-02-18T00:50:01Z"}}, **MOVING)
    assert answer(decision) == ("ACCEPT", [], [])
    assert told(decision, "window") == ("NOT_EVALUATED", None)
    assert "stage_wait" not in [finding.rule for finding in decision.findings]


def test_a_stage_policy_without_wait_still_asks_the_window() -> None:
    """Evidence from before the stage says nothing about it."""
    decision = decide({"stage_policy": {}}, meta(watermark_event_time="2026-02-18T00:54:59Z"), **MOVING)
    assert told(decision, "stage_wait") == ("NOT_EVALUATED", None)
    assert answer(decision) == ("DEGRADE", [WINDOW], [])


@pytest.mark.parametrize(
    ("facts", "is_inside"),
    [
        ({"watermark_event_time": "2026-02-18T00:55:00Z"}, True),
        ({"watermark_event_time": "2026-02-18T00:54:59.999999Z"}, False),
        ({"collected_at": "2026-02-18T00:55:00Z"}, True),
        ({"collected_at": "2026-02-18T00:54:59Z"}, False),
        ({"watermark_event_time": "2026-02-18T00:56:00Z", "window": "6m"}, True),
        ({"watermark_event_time": "2026-02-18T00:56:00Z", "window": "6m1ms"}, False),
        ({"watermark_event_time": "2026-02-18T01:00:00Z", "window": "1h"}, False),
    ],
)
def test_a_window_that_began_before_the_stage_confirms_nothing(facts: dict[str, Any], is_inside: bool) -> None:
    """It begins at the watermark, else at `collected_at`, minus its length."""
    decision = decide(STAGED, {**meta(**facts), "metrics": {"errors": 0.0086 if is_inside else 0.5}}, **MOVING)
    if is_inside:
        assert told(decision, "window") == ("PASS", None)
        assert decision.reason_codes == ("budget_violation:errors",)
    else:
        assert answer(decision) == ("DEGRADE", [WINDOW], [])
        assert told(decision, "window") == ("STALE", WINDOW)
        assert told(decision, "guardrail:errors") == ("STALE", WINDOW)
        assert found(decision, "guardrail:errors").would_be == "guardrail_violation:errors"


def test_when_the_window_will_fit_is_said() -> None:
    """The stage was entered at 00:50; a window of 5 m fits from 00:55 on."""
    decision = decide(STAGED, meta(watermark_event_time="2026-02-18T00:52:00Z"), **MOVING)
    assert requested(decision) == [
        ("collect_metric", {"metric": "banned"}),
        ("collect_metric", {"metric": "errors"}),
        ("collect_metric", {"metric": "leaks"}),
        ("wait_until", {"time": "2026-02-18T00:55:00.000000Z"}),
        ("rerun_gate_check", {"stage": "CANARY_25"}),
    ]
    window = found(decision, "window")
    assert (window.observed, window.limit) == ("2026-02-18T00:47:00.000000Z", "2026-02-18T00:50:00.000000Z")


def test_a_violated_constraint_counts_whatever_its_window() -> None:
    """Harm is harm, the finding stays a violation."""
    decision = decide(STAGED, {**meta(watermark_event_time="2026-02-18T00:52:00Z"), "metrics": {"leaks": 1}}, **MOVING)
    assert answer(decision) == ("REJECT", ["constraint_violation:leaks"], [])
    assert told(decision, "constraint:banned") == ("STALE", WINDOW)


def test_when_remaining_a_violation_counts_whatever_its_window() -> None:
    """The window began in an earlier stage, and users are harmed now."""
    decision = decide(
        STAGED,
        {**meta(watermark_event_time="2026-02-18T00:40:00Z"), "metrics": {"errors": 0.5}},
        from_stage="CANARY_25",
        stage="CANARY_25",
        stage_entered_at=ENTERED,
    )
    assert decision.reason_codes == ("guardrail_violation:errors", "budget_violation:errors")


@pytest.mark.parametrize("window", [None, "often", "0s", 300, ""])
def test_evidence_without_a_window_cannot_be_placed_in_the_stage(window: object) -> None:
    """A length that does not parse is as good as none."""
    decision = decide(STAGED, {"_meta": {"window": window}, "baseline": ...}, **MOVING)
    assert "observation_missing:window" in decision.reason_codes
    assert "window" in decision.missing
    assert told(decision, "window") == ("MISSING", "observation_missing:window")
    assert told(decision, "guardrail:errors") == ("MISSING", "observation_missing:window")


def test_a_window_that_begins_nowhere_holds() -> None:
    """Neither a watermark nor `collected_at`."""
    decision = decide(STAGED, meta(collected_at=None), **MOVING)
    assert answer(decision) == ("DEGRADE", ["observation_missing:watermark_event_time"], ["watermark_event_time"])
    assert told(decision, "window") == ("MISSING", "observation_missing:watermark_event_time")
    assert "wait_until" not in [name for name, _ in requested(decision)]


def test_a_window_that_no_time_places_is_no_pass() -> None:
    """The time is invalid, which is one trouble and not two."""
    decision = decide(STAGED, meta(collected_at="yesterday"), **MOVING)
    assert answer(decision) == ("DEGRADE", ["observation_invalid:collected_at"], ["collected_at"])
    assert told(decision, "window") == ("NOT_EVALUATED", None)


def test_each_metrics_window_begins_at_its_own_watermark() -> None:
    """The laggard's window reaches back, the others' do not."""
    sources = [
        {"name": "prom", "watermark_event_time": "2026-02-18T01:00:00Z", "metrics": ["errors", "banned"]},
        {"name": "dwh", "watermark_event_time": "2026-02-18T00:53:00Z", "metrics": ["leaks"]},
    ]
    decision = decide(STAGED, meta(sources=sources), **MOVING)
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert told(decision, "constraint:leaks") == ("STALE", WINDOW)
    assert (found(decision, "window").metric, found(decision, "window").source) == ("leaks", "dwh")


def test_the_earliest_window_is_shown_when_all_fit() -> None:
    """However the metrics are ordered."""
    early = {"name": "a", "watermark_event_time": "2026-02-18T00:58:00Z", "metrics": ["errors"]}
    late = {"name": "b", "watermark_event_time": "2026-02-18T00:59:00Z", "metrics": ["banned", "leaks"]}
    other_way = [{**early, "metrics": ["leaks"]}, {**late, "metrics": ["banned", "errors"]}]
    for sources in ([early, late], other_way):
        window = found(decide(STAGED, meta(sources=sources), **MOVING), "window")
        assert (window.outcome.value, window.observed) == ("PASS", "2026-02-18T00:53:00.000000Z")
        assert window.limit == "2026-02-18T00:50:00.000000Z"


def test_statistics_have_no_window() -> None:
    """A primary that no other rule reads is gathered since the rollout began."""
    policy = {
        **STAGED,
        "primary": [{"metric": "sales", "direction": "up"}],
        "promotion_gate": {"required_for_stages": ["CANARY_25"], "min_sample_size": 10},
    }
    old = {"sales": {"watermark_event_time": "2026-02-18T00:52:00Z"}}
    snapshot = {**meta(), "observations": old, "promotion": {"sales": {"sample_size": 10}}}
    assert answer(decide(policy, snapshot, **MOVING)) == ("ACCEPT", [], [])
    required = {**policy, "missing_data_policy": {"required_metrics": ["sales"]}}
    assert answer(decide(required, {**snapshot, "metrics": {"sales": 1}}, **MOVING))[1] == [WINDOW]


def test_a_window_as_long_as_an_age_breaks_nothing() -> None:
    """It begins before the first year that a time can state."""
    decision = decide(STAGED, meta(window="999999y"), **MOVING)
    assert answer(decision)[1] == [WINDOW]
    assert found(decision, "window").observed is None


def test_the_next_wait_is_told_with_an_accept() -> None:
    """Counted from this ACCEPT when entering, from the one that entered when remaining, and never in the past."""
    entering = decide(STAGED, meta(), **MOVING)
    assert coming(entering) == [
        ("set_percent", {"percent": 25}),
        ("wait_until", {"time": "2026-02-18T01:10:10.000000Z"}),
    ]
    remaining: dict[str, Any] = {"from_stage": "CANARY_25", "stage": "CANARY_25"}
    assert coming(decide(STAGED, stage_entered_at="2026-02-18T00:55:00Z", **remaining))[1] == (
        "wait_until",
        {"time": "2026-02-18T01:05:00.000000Z"},
    )
    assert coming(decide(STAGED, stage_entered_at="2026-02-18T00:40:00Z", **remaining))[1] == (
        "wait_until",
        {"time": "2026-02-18T01:00:10.000000Z"},
    )
    unknown = decide(STAGED, stage_entered_at=None, **remaining)
    assert coming(unknown)[1] == ("wait_until", {"time": "2026-02-18T01:10:10.000000Z"})
    last = decide(STAGED, stage="ROLLOUT_100", from_stage="ROLLOUT_100", stage_entered_at=ENTERED)
    assert coming(last) == [("set_percent", {"percent": 100})]


def test_a_wait_beyond_the_last_year_ends_with_it() -> None:
    """No time after the year 9999 can be stated."""
    decision = decide({"stage_policy": {"min_stage_seconds": 1e15}}, meta(), **MOVING)
    assert requested(decision)[0] == ("wait_until", {"time": "9999-12-31T23:59:59.999999Z"})
