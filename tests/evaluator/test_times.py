"""Old evidence, evidence from the future, times without a zone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import Whole, answer, decide, found, told

LIMITS = {"missing_data_policy": {"max_freshness_seconds": 120, "max_watermark_skew_seconds": 60}}
FRESH = {"missing_data_policy": {"max_freshness_seconds": 120}}
SKEW = {"missing_data_policy": {"max_watermark_skew_seconds": 60}}
STALE = "observation_stale:over_freshness_budget"
LISTED: dict[str, Any] = {"name": "prom", "watermark_event_time": "2026-02-18T01:00:00Z"}


def meta(**facts: Any) -> dict[str, Any]:
    """The change of `_meta`."""
    return {"_meta": facts}


@pytest.mark.parametrize(
    ("facts", "age"),
    [
        ({"freshness_seconds": 120}, 120),
        ({"freshness_seconds": 120.5}, 120.5),
        ({"freshness_seconds": 121}, 121),
        ({"watermark_event_time": "2026-02-18T00:58:10Z"}, 120),
        ({"watermark_event_time": "2026-02-18T00:58:09.999999Z"}, 120.000001),
        ({"watermark_event_time": "2026-02-18T00:58:09Z"}, 121),
        ({"freshness_seconds": 4, "watermark_event_time": "2026-02-18T00:55:10Z"}, 300),
        ({"freshness_seconds": 290, "watermark_event_time": "2026-02-18T01:00:00Z"}, 290),
        ({"freshness_seconds": 1, "collected_at": "2026-02-18T00:00:10Z"}, 3600),
        ({"freshness_seconds": 1, "watermark_event_time": "2026-02-18T02:00:09+01:00"}, 10),
        ({"freshness_seconds": 0, "watermark_event_time": "2026-02-18T01:00:10Z"}, 10),
    ],
)
def test_the_worst_stated_age_counts_and_the_limit_is_fresh(facts: dict[str, Any], age: float) -> None:
    """Stated freshness, the watermark's age and the file's own age (10 s here)."""
    decision = decide(FRESH, meta(**facts))
    finding = found(decision, "freshness")
    assert (finding.observed, finding.limit, finding.op) == (age, 120, "<=")
    if age <= 120:
        assert answer(decision) == ("ACCEPT", [], [])
        assert finding.margin == 120 - age
    else:
        assert answer(decision) == ("DEGRADE", [STALE], [])
        assert finding.outcome.value == "STALE"
        assert told(decision, "guardrail:errors") == ("STALE", STALE)
        assert told(decision, "budget:errors") == ("STALE", STALE)
        assert told(decision, "constraint:leaks") == ("STALE", STALE)


def test_what_a_fractional_limit_allows_is_exact() -> None:
    """120.1 seconds are within 120.1 seconds, one microsecond more is not."""
    policy = {"missing_data_policy": {"max_freshness_seconds": 120.1}}
    assert decide(policy, meta(watermark_event_time="2026-02-18T00:58:09.9Z")).verdict.value == "ACCEPT"
    assert decide(policy, meta(watermark_event_time="2026-02-18T00:58:09.899999Z")).verdict.value == "DEGRADE"


@pytest.mark.parametrize("wanted", ["DEGRADE", "REJECT"])
def test_on_stale_decides_what_old_evidence_means(wanted: str) -> None:
    """For age, for missing freshness and for skew."""
    policy = {"missing_data_policy": {**LIMITS["missing_data_policy"], "on_stale": wanted}}
    old = decide(policy, meta(freshness_seconds=500))
    undated = decide(policy)
    lagging = decide(
        policy,
        meta(freshness_seconds=1, sources=[LISTED, {"name": "dwh", "watermark_event_time": "2026-02-18T00:58:59Z"}]),
    )
    assert (old.verdict.value, old.reason_codes) == (wanted, (STALE,))
    assert (undated.verdict.value, undated.reason_codes) == (wanted, ("observation_missing:freshness_seconds",))
    assert (lagging.verdict.value, lagging.reason_codes) == (wanted, ("observation_stale:watermark_skew",))


def test_a_file_time_alone_is_no_freshness() -> None:
    """A freshness limit needs `freshness_seconds` or a watermark."""
    decision = decide(FRESH)
    assert answer(decision) == ("DEGRADE", ["observation_missing:freshness_seconds"], ["freshness_seconds"])
    assert told(decision, "freshness") == ("MISSING", "observation_missing:freshness_seconds")
    assert found(decision, "freshness").limit == 120
    assert answer(decide(FRESH, {"_meta": ...})) == answer(decision)
    assert answer(decide(FRESH, {"_meta": "text"})) == answer(decision)


def test_without_a_limit_no_time_is_asked() -> None:
    """NOT_EVALUATED, whatever is stated."""
    decision = decide(snapshot=meta(freshness_seconds=9e9, sources=[{"name": "undated"}]))
    assert answer(decision) == ("ACCEPT", [], [])
    assert [told(decision, rule) for rule in ("freshness", "skew", "window")] == [("NOT_EVALUATED", None)] * 3


@pytest.mark.parametrize("limits", [{}, LIMITS])
@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"collected_at": "2026-02-18T01:00:00"}, "collected_at"),
        ({"collected_at": "yesterday"}, "collected_at"),
        ({"collected_at": 1771376400}, "collected_at"),
        ({"collected_at": "2026-02-18T01:00:15.000001Z"}, "collected_at"),
        ({"watermark_event_time": "2026-02-18T01:10:00Z"}, "watermark_event_time"),
        ({"watermark_event_time": "2026-02-18"}, "watermark_event_time"),
        ({"watermark_event_time": "2026-02-30T01:00:00Z"}, "watermark_event_time"),
        ({"watermark_event_time": []}, "watermark_event_time"),
        ({"watermark_event_time": False}, "watermark_event_time"),
        ({"freshness_seconds": -1}, "freshness_seconds"),
        ({"freshness_seconds": "30"}, "freshness_seconds"),
        ({"freshness_seconds": True}, "freshness_seconds"),
        ({"freshness_seconds": float("nan")}, "freshness_seconds"),
        ({"sources": [{"name": "prom", "watermark_event_time": "2026-02-18T01:00:00"}]}, "watermark_event_time"),
        (
            {"sources": [{**LISTED, "watermark_event_time": "2026-02-18T01:00:16Z", "metrics": ["leaks"]}]},
            "watermark_event_time",
        ),
    ],
)
def test_a_time_that_is_none_is_invalid_evidence_with_or_without_a_limit(
    limits: dict[str, Any], facts: dict[str, Any], name: str
) -> None:
    """No zone, no such day, no time at all, or more than 5 s ahead: an age from it would be fiction."""
    decision = decide(limits, meta(**{"freshness_seconds": 30, **facts}))
    code = f"observation_invalid:{name}"
    assert answer(decision) == ("DEGRADE", [code], [name])
    assert told(decision, "freshness") == ("INVALID", code)
    assert told(decision, "constraint:leaks") == ("INVALID", code)


@pytest.mark.parametrize("ahead", ["2026-02-18T01:00:12Z", "2026-02-18T01:00:15Z"])
def test_a_clock_a_few_seconds_ahead_is_normal(ahead: str) -> None:
    """Up to 5 s; the age is then zero, not negative."""
    decision = decide(
        LIMITS,
        meta(collected_at=ahead, watermark_event_time=ahead, sources=[{**LISTED, "watermark_event_time": ahead}]),
    )
    assert answer(decision) == ("ACCEPT", [], [])
    assert found(decision, "freshness").observed == 0


def test_a_stale_value_says_what_it_would_be() -> None:
    """An old violation is no confirmed harm for guardrails and budgets."""
    decision = decide(FRESH, {"metrics": {"errors": 0.19}, **meta(freshness_seconds=121)})
    assert answer(decision) == ("DEGRADE", [STALE], [])
    assert found(decision, "guardrail:errors").would_be == "guardrail_violation:errors"
    assert found(decision, "budget:errors").would_be == "budget_violation:errors"
    healthy = decide(FRESH, meta(freshness_seconds=121))
    assert found(healthy, "guardrail:errors").would_be is None
    assert found(healthy, "budget:errors").would_be is None
    assert found(healthy, "constraint:leaks").would_be is None


def test_a_violated_constraint_is_harm_at_any_age() -> None:
    """Old, undated or misdated: it happened."""
    for facts in ({"freshness_seconds": 99999}, {"collected_at": "yesterday"}, {}):
        decision = decide(FRESH, {"metrics": {"leaks": 2}, **meta(**facts)})
        assert decision.verdict.value == "REJECT"
        assert decision.reason_codes == ("constraint_violation:leaks",)


def test_an_old_problem_says_what_the_value_would_be() -> None:
    """A problem `observation_stale:*` leaves the value readable."""
    problem = {"problem": {"code": "observation_stale:window_coverage"}}
    decision = decide(
        snapshot={"metrics": {"errors": 0.5, "leaks": 4}, "observations": {"errors": problem, "leaks": problem}}
    )
    assert found(decision, "guardrail:errors").would_be == "guardrail_violation:errors"
    assert found(decision, "budget:errors").would_be == "budget_violation:errors"
    assert found(decision, "constraint:leaks").would_be == "constraint_violation:leaks"
    decision = decide(snapshot={"metrics": {"leaks": "four"}, "observations": {"leaks": problem}})
    assert found(decision, "constraint:leaks").would_be is None
    invalid = {"problem": {"code": "observation_invalid:multiple_series"}}
    decision = decide(snapshot={"metrics": {"errors": 0.5}, "observations": {"errors": invalid}})
    assert found(decision, "guardrail:errors").would_be is None


def test_the_watermark_of_an_observation_must_be_a_time() -> None:
    """It concerns its own metric only."""
    decision = decide(
        FRESH, {"observations": {"errors": {"watermark_event_time": "soon"}}, **meta(freshness_seconds=1)}
    )
    assert answer(decision) == ("DEGRADE", ["observation_invalid:watermark_event_time"], ["watermark_event_time"])
    assert told(decision, "constraint:leaks") == ("PASS", None)
    assert told(decision, "guardrail:errors")[0] == "INVALID"


def test_a_watermark_alone_states_an_age() -> None:
    """Neither `collected_at` nor `freshness_seconds` is needed beside it."""
    only = {"_meta": Whole({"watermark_event_time": "2026-02-18T00:59:00Z"})}
    decision = decide(FRESH, only)
    assert answer(decision) == ("ACCEPT", [], [])
    assert found(decision, "freshness").observed == 70


def test_of_several_wrong_times_the_first_is_named() -> None:
    """In the order in which `_meta` is read: one trouble, one code."""
    decision = decide(snapshot=meta(collected_at="?", watermark_event_time="?", freshness_seconds=-1))
    assert answer(decision) == ("DEGRADE", ["observation_invalid:collected_at"], ["collected_at"])


def test_the_clock_of_an_observation_may_be_ahead_as_far_as_any() -> None:
    """Five seconds are allowed, and not more."""
    for ahead, verdict in (("2026-02-18T01:00:15Z", "ACCEPT"), ("2026-02-18T01:00:15.000001Z", "DEGRADE")):
        assert decide(None, {"observations": {"errors": {"watermark_event_time": ahead}}}).verdict.value == verdict


def test_where_no_metric_is_asked_meta_must_still_be_fresh() -> None:
    """A stage without rules does not let old or misdated evidence pass."""
    elsewhere = {
        "guardrails": [],
        "constraints": [{"kind": "must_be_zero", "metric": "leaks", "stages": ["CANARY_50"]}],
    }
    limits = {**elsewhere, **LIMITS}
    assert answer(decide(limits, meta(freshness_seconds=121))) == ("DEGRADE", [STALE], [])
    assert answer(decide(limits))[1] == ["observation_missing:freshness_seconds"]
    assert answer(decide(elsewhere, meta(collected_at="?")))[1] == ["observation_invalid:collected_at"]
    assert answer(decide(limits, meta(freshness_seconds=1))) == ("ACCEPT", [], [])


def test_times_beside_the_metrics_count_where_meta_lacks_them() -> None:
    """And `_meta` wins where both state them."""
    assert answer(decide(FRESH, {"freshness_seconds": 500}))[1] == [STALE]
    assert answer(decide(FRESH, {"freshness_seconds": 500, **meta(freshness_seconds=1)})) == ("ACCEPT", [], [])
    beside = {"sources": [{"name": "dwh"}], **meta(freshness_seconds=1)}
    assert answer(decide(FRESH, beside))[1] == ["observation_missing:watermark_event_time"]
