"""Several sources: whose metrics are old, who lags, and what a source without watermark means."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evaluator.build import Whole, answer, decide, found, requested, told

LIMITS = {"missing_data_policy": {"max_freshness_seconds": 120, "max_watermark_skew_seconds": 60}}
FRESH = {"missing_data_policy": {"max_freshness_seconds": 120}}
SKEW = {"missing_data_policy": {"max_watermark_skew_seconds": 60}}
STALE = "observation_stale:over_freshness_budget"
LISTED: dict[str, Any] = {"name": "prom", "watermark_event_time": "2026-02-18T01:00:00Z"}


def meta(**facts: Any) -> dict[str, Any]:
    """The change of `_meta`."""
    return {"_meta": facts}


def test_staleness_is_charged_to_the_metrics_of_the_source() -> None:
    """An old warehouse makes its own metric stale and leaves the others alone."""
    sources = [
        {**LISTED, "metrics": ["errors", "banned"]},
        {"name": "dwh", "watermark_event_time": "2026-02-18T00:50:10Z", "metrics": ["leaks"]},
    ]
    decision = decide(FRESH, meta(sources=sources))
    assert answer(decision) == ("DEGRADE", [STALE], [])
    freshness = found(decision, "freshness")
    assert (freshness.source, freshness.metric, freshness.observed) == ("dwh", "leaks", 600)
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert told(decision, "constraint:leaks") == ("STALE", STALE)
    assert requested(decision)[0] == ("collect_metric", {"metric": "leaks"})


def test_an_old_source_of_an_unused_metric_holds_nothing() -> None:
    """Only metrics that are asked can be too old."""
    sources = [LISTED, {"name": "dwh", "watermark_event_time": "2026-02-17T00:00:00Z", "metrics": ["unused"]}]
    assert answer(decide(FRESH, meta(sources=sources))) == ("ACCEPT", [], [])
    assert answer(decide(LIMITS, meta(sources=sources))) == ("ACCEPT", [], [])


def test_a_metrics_watermark_is_the_oldest_stated_for_it() -> None:
    """Of its observation's, its source's, and that of a source that lists no metrics; `_meta`'s only without these."""
    old, new = "2026-02-18T00:50:10Z", "2026-02-18T01:00:00Z"
    listed, for_all = {"name": "a", "metrics": ["errors"]}, {"name": "b"}
    for of_observation, of_source, of_all in ((old, new, new), (new, old, new), (new, new, old)):
        decision = decide(
            FRESH,
            {
                "observations": {"errors": {"watermark_event_time": of_observation, "source": "a"}},
                **meta(
                    sources=[
                        {**listed, "watermark_event_time": of_source},
                        {**for_all, "watermark_event_time": of_all},
                    ]
                ),
            },
        )
        assert told(decision, "guardrail:errors") == ("STALE", STALE)
    decision = decide(
        FRESH,
        {
            "observations": {"errors": {"watermark_event_time": new}},
            **meta(watermark_event_time=old, sources=[{**LISTED, "metrics": ["leaks"]}]),
        },
    )
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert told(decision, "constraint:leaks") == ("PASS", None)
    assert told(decision, "constraint:banned") == ("STALE", STALE)


@pytest.mark.parametrize(
    ("lagging", "is_late"),
    [("2026-02-18T00:59:00Z", False), ("2026-02-18T00:58:59Z", True), ("2026-02-18T00:58:45Z", True)],
)
def test_a_source_behind_the_newest_is_charged_with_its_lag(lagging: str, is_late: bool) -> None:
    """Each alone is fresh; equal to the limit is allowed."""
    sources = [LISTED, {"name": "dwh", "watermark_event_time": lagging}]
    decision = decide(LIMITS, meta(sources=sources))
    skew = found(decision, "skew")
    if is_late:
        assert answer(decision) == ("DEGRADE", ["observation_stale:watermark_skew"], [])
        assert (skew.outcome.value, skew.source) == ("STALE", "dwh")
        assert told(decision, "guardrail:errors") == ("STALE", "observation_stale:watermark_skew")
        assert told(decision, "freshness") == ("PASS", None)
    else:
        assert answer(decision) == ("ACCEPT", [], [])
        assert (skew.outcome.value, skew.observed, skew.margin) == ("PASS", 60, 0)


def test_the_laggard_is_charged_and_not_the_newest() -> None:
    """Only the laggard's metrics are stale, and only where one of them is asked."""
    late = {"name": "dwh", "watermark_event_time": "2026-02-18T00:58:50Z"}
    sources = [{**LISTED, "metrics": ["errors", "banned"]}, {**late, "metrics": ["leaks"]}]
    decision = decide(LIMITS, meta(sources=sources))
    assert told(decision, "constraint:leaks") == ("STALE", "observation_stale:watermark_skew")
    assert told(decision, "guardrail:errors") == ("PASS", None)
    skew = found(decision, "skew")
    assert (skew.metric, skew.observed, skew.limit, skew.margin) == ("leaks", 70, 60, -10)
    newest_unused = [{**LISTED, "metrics": ["unused"]}, {**late, "metrics": ["leaks"]}]
    assert decide(SKEW, meta(sources=newest_unused)).reason_codes == ("observation_stale:watermark_skew",)


def test_one_source_has_no_skew_and_none_is_not_evaluated() -> None:
    """A single source is as new as the newest."""
    assert found(decide(SKEW, meta(sources=[LISTED])), "skew").observed == 0
    assert told(decide(SKEW), "skew") == ("NOT_EVALUATED", None)
    assert told(decide(SKEW, meta(sources=[])), "skew") == ("NOT_EVALUATED", None)


@pytest.mark.parametrize("limits", [FRESH, SKEW, LIMITS])
@pytest.mark.parametrize("source", [{"name": "dwh"}, {"name": "dwh", "watermark_event_time": None}, "dwh", None, 7])
def test_a_listed_source_without_watermark_holds(limits: dict[str, Any], source: object) -> None:
    """Where a freshness or a skew limit needs it, whatever else is stated."""
    decision = decide(limits, meta(freshness_seconds=1, sources=[LISTED, source]))
    code = "observation_missing:watermark_event_time"
    assert answer(decision) == ("DEGRADE", [code], ["watermark_event_time"])
    for rule, limit in (("freshness", "max_freshness_seconds"), ("skew", "max_watermark_skew_seconds")):
        is_asked = limit in limits["missing_data_policy"]
        assert told(decision, rule) == (("MISSING", code) if is_asked else ("NOT_EVALUATED", None))


def test_a_name_that_is_no_text_is_no_name() -> None:
    """The finding stays readable for every reader of the log."""
    decision = decide(FRESH, meta(sources=[{"name": ["dwh"]}]))
    assert found(decision, "freshness").source is None


@pytest.mark.parametrize("sources", ["prom", {"name": "prom"}, 7, False])
def test_sources_that_are_no_list_count_as_one_without_watermark(sources: object) -> None:
    """What was to be listed cannot be read."""
    decision = decide(FRESH, meta(freshness_seconds=1, sources=Whole(sources)))
    assert answer(decision) == ("DEGRADE", ["observation_missing:watermark_event_time"], ["watermark_event_time"])


@pytest.mark.parametrize("listed", [None, [], "errors", 7])
def test_a_source_that_lists_no_metrics_answers_for_all(listed: object) -> None:
    """An empty or unreadable list charges nobody less."""
    sources = [{"name": "dwh", "watermark_event_time": "2026-02-18T00:50:10Z", "metrics": listed}]
    decision = decide(FRESH, meta(sources=sources))
    assert [told(decision, rule)[0] for rule in ("guardrail:errors", "constraint:leaks")] == ["STALE", "STALE"]


def test_an_undated_source_of_an_unused_metric_holds_nothing() -> None:
    """It lists only what no rule reads."""
    decision = decide(LIMITS, meta(sources=[LISTED, {"name": "dwh", "metrics": ["unused", 7, []]}]))
    assert answer(decision) == ("ACCEPT", [], [])


def test_of_several_time_troubles_the_finding_shows_the_first_kind() -> None:
    """Invalid, then missing, then the worst age."""
    stale = {"name": "a", "watermark_event_time": "2026-02-18T00:57:00Z", "metrics": ["errors"]}
    older = {"name": "b", "watermark_event_time": "2026-02-18T00:56:00Z", "metrics": ["leaks"]}
    undated = {"name": "c", "metrics": ["banned"]}
    wrong = {"name": "d", "watermark_event_time": "?", "metrics": ["banned"]}
    finding = found(decide(FRESH, meta(freshness_seconds=1, sources=[stale, older])), "freshness")
    assert (finding.outcome.value, finding.observed, finding.source) == ("STALE", 250, "b")
    swapped = [{**stale, "metrics": ["leaks"]}, {**older, "metrics": ["errors"]}]
    finding = found(decide(FRESH, meta(freshness_seconds=1, sources=swapped)), "freshness")
    assert (finding.observed, finding.source, finding.margin) == (250, "b", -130)
    finding = found(decide(FRESH, meta(freshness_seconds=1, sources=[stale, older, undated])), "freshness")
    assert (finding.outcome.value, finding.source) == ("MISSING", "c")
    finding = found(decide(FRESH, meta(freshness_seconds=1, sources=[stale, older, wrong])), "freshness")
    assert finding.outcome.value == "INVALID"


def test_freshness_shows_the_worst_age_that_passes() -> None:
    """However the sources are listed, with the name of the oldest."""
    sources = [
        {"name": "a", "watermark_event_time": "2026-02-18T00:59:10Z", "metrics": ["leaks"]},
        {"name": "b", "watermark_event_time": "2026-02-18T00:59:00Z", "metrics": ["banned"]},
        {"name": "c", "watermark_event_time": "2026-02-18T00:59:20Z", "metrics": ["errors"]},
    ]
    for listed in (sources, sources[::-1]):
        decision = decide(LIMITS, meta(sources=listed))
        freshness, skew = found(decision, "freshness"), found(decision, "skew")
        assert (freshness.observed, freshness.margin, freshness.source) == (70, 50, "b")
        assert (skew.observed, skew.margin) == (20, 40)


def test_the_order_of_sources_changes_no_name() -> None:
    """Two sources of one metric, equally old: the finding names the same one whichever is listed first."""
    one = {"name": "a", "watermark_event_time": "2026-02-18T00:50:00Z", "metrics": ["errors"]}
    younger = {**one, "watermark_event_time": "2026-02-18T00:59:00Z"}
    for pair in (
        [one, {**one, "name": "b"}],
        [one, {**one, "name": None}],
        [{**one, "name": "b"}, {"name": "a"}],
        [one, {"name": "a", "metrics": ["errors"]}],
        [one, younger],
    ):
        assert decide(LIMITS, meta(sources=pair)) == decide(LIMITS, meta(sources=pair[::-1]))


def test_a_stale_finding_names_what_was_old() -> None:
    """The laggard, not the source that the value is said to come from."""
    sources = [LISTED, {"name": "dwh", "watermark_event_time": "2026-02-18T00:58:50Z"}]
    decision = decide(SKEW, {"observations": {"errors": {"source": "prom"}}, **meta(sources=sources)})
    assert found(decision, "guardrail:errors").source == "dwh"
    assert (
        found(
            decide(SKEW, {"metrics": {"errors": "x"}, **meta(sources=[{**LISTED, "metrics": ["errors"]}])}),
            "guardrail:errors",
        ).source
        == "prom"
    )


@pytest.mark.parametrize(("stated", "named"), [("probe", "probe"), (7, "prom"), (None, "prom")])
def test_an_old_observation_names_its_source(stated: object, named: str) -> None:
    """Else the source that lists the metric."""
    old = {"errors": {"watermark_event_time": "2026-02-18T00:50:00Z", "source": stated}}
    decision = decide(
        FRESH, {"observations": old, **meta(sources=[{**LISTED, "metrics": ["errors", "leaks", "banned"]}])}
    )
    assert found(decision, "freshness").source == named


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"watermark_event_time": "?"}, "observation_invalid:watermark_event_time"),
        ({}, "observation_missing:watermark_event_time"),
        ({"watermark_event_time": "2026-02-18T00:50:00Z"}, STALE),
    ],
)
@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_every_source_that_lists_a_metric_counts(first: dict[str, Any], code: str, names: tuple[str, str]) -> None:
    """A good one does not make up for a bad one, whichever comes first."""
    sources = [
        {"name": names[0], "metrics": ["errors"], **first},
        {"name": names[1], "metrics": ["errors"], "watermark_event_time": "2026-02-18T01:00:00Z"},
    ]
    decision = decide(FRESH, meta(freshness_seconds=1, sources=sources))
    assert decision.reason_codes == (code,)
    assert told(decision, "guardrail:errors")[1] == code


def test_metrics_that_share_one_source_of_two_are_not_of_one_age() -> None:
    """One is listed by the fresh source alone, one by the old source, too: only that one is old."""
    fresh = {**LISTED, "name": "a", "metrics": ["errors", "banned", "leaks"]}
    old = {"name": "b", "watermark_event_time": "2026-02-18T00:50:10Z", "metrics": ["leaks"]}
    decision = decide(FRESH, meta(sources=[fresh, old]))
    assert told(decision, "guardrail:errors") == ("PASS", None)
    assert told(decision, "constraint:leaks") == ("STALE", STALE)
