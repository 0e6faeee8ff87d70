from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gatekeeper import Context, evaluate, load_policy, load_snapshot
from gatekeeper.evidence.reading import Side
from gatekeeper.model.times import format_time
from tests.evidence.http_support import code
from tests.evidence.parts_support import baseline, collected, read

META = {"collected_at": "2026-02-18T01:00:05Z", "window": "5m", "watermark_event_time": "2026-02-18T00:59:40Z"}


def part(
    baseline_meta: dict[str, Any] | None = None, meta: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A part with a baseline."""
    return {
        "metrics": {"rate": 0.01, "pii": 0},
        "_meta": META if meta is None else meta,
        "baseline": {"metrics": {"rate": 0.02}, "_meta": META if baseline_meta is None else baseline_meta, **more},
    }


def test_a_baseline_has_its_own_value_time_record_and_problem(tmp_path: Path) -> None:
    """It is of other people, and of another time."""
    observations = {
        "rate": {"query": "select base", "problem": {"code": "observation_invalid:out_of_range", "detail": "x"}}
    }
    stated = part({**META, "watermark_event_time": "2026-02-18T00:30:00Z"}, observations=observations)
    readings = read(tmp_path, stated, "rate", "pii")
    assert list(readings) == [("rate", Side.VARIANT), ("rate", Side.BASELINE), ("pii", Side.VARIANT)]
    reading = readings["rate", Side.BASELINE]
    assert (reading.value, code(reading)) == (0.02, "observation_invalid:out_of_range")
    assert format_time(reading.watermark or 0) == "2026-02-18T00:30:00.000000Z"
    assert reading.record["query"] == "select base"
    assert reading.statistics == {}
    assert readings["rate", Side.VARIANT].problem is None


def test_a_baseline_without_any_of_the_metrics_is_missing_and_not_absent(tmp_path: Path) -> None:
    """No baseline at all asks no budget; an empty one must not pass for that."""
    stated = {**part(), "baseline": {"metrics": {}, "_meta": META}}
    reading = baseline(tmp_path, stated)
    assert (reading.value, code(reading)) == (None, "observation_missing:baseline_metric")


@pytest.mark.parametrize("garbage", [[], "x", 5, False])
def test_a_baseline_that_is_no_object_is_a_problem(tmp_path: Path, garbage: object) -> None:
    """Dropped, it would ask no budget either."""
    assert code(baseline(tmp_path, {**part(), "baseline": garbage})) == "observation_invalid:bad_response"


@pytest.mark.parametrize(
    ("baseline_meta", "meta"),
    [
        ({**META, "window": "1h"}, META),
        ({**META, "window": None}, META),
        (META, {**META, "window": None}),
        ({**META, "window": "five"}, META),
        ({**META, "window": "five"}, {**META, "window": None}),
    ],
)
def test_a_baseline_over_another_window_measures_no_budget(
    tmp_path: Path, baseline_meta: dict[str, Any], meta: dict[str, Any]
) -> None:
    """The snapshot has one window for all; that of another metric must not make these two look alike."""
    reading = baseline(tmp_path, part(baseline_meta, meta))
    assert (reading.value, code(reading)) == (0.02, "observation_invalid:baseline_value")
    assert reading.window_milliseconds is None


@pytest.mark.parametrize(("one", "other"), [("5m", "5m"), ("5m", "300s"), (None, None)])
def test_windows_of_one_length_are_one_window(tmp_path: Path, one: str | None, other: str | None) -> None:
    """300 s are 5 m."""
    assert baseline(tmp_path, part({**META, "window": one}, {**META, "window": other})).problem is None


def test_a_baseline_that_was_only_collected_is_as_old_as_that(tmp_path: Path) -> None:
    """The collection that brings it is of now; the baseline is of 00:10."""
    reading = baseline(tmp_path, part({"collected_at": "2026-02-18T00:10:00Z", "window": "5m"}))
    assert (format_time(reading.watermark or 0), reading.problem) == ("2026-02-18T00:10:00.000000Z", None)


def test_a_baseline_without_any_time_is_not_of_now(tmp_path: Path) -> None:
    """Nobody knows how old it is."""
    assert code(baseline(tmp_path, part({"window": "5m"}))) == "observation_missing:watermark_event_time"


def test_a_baseline_from_the_future_is_invalid(tmp_path: Path) -> None:
    """As the evidence itself would be."""
    stated = part({**META, "watermark_event_time": "2026-02-18T02:00:00Z"})
    assert code(baseline(tmp_path, stated)) == "observation_invalid:watermark_event_time"


POLICY = {
    "policy_id": "parts",
    "policy_version": "1",
    "guardrails": [{"metric": "rate", "op": "<=", "threshold": 0.05, "budget_delta": 0.01}],
    "constraints": [{"kind": "must_be_zero", "metric": "pii"}],
    "missing_data_policy": {
        "required_metrics": ["rate", "pii"],
        "on_missing": "DEGRADE",
        "on_missing_baseline": "DEGRADE",
        "on_stale": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_baseline_age_seconds": 600,
    },
}
OLD = {**META, "watermark_event_time": "2026-02-18T00:40:00Z"}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "healthy": (part(), "ACCEPT"),
    "over the threshold": ({**part(), "metrics": {"rate": 0.06, "pii": 0}}, "REJECT"),
    "over the budget": ({**part(), "metrics": {"rate": 0.04, "pii": 0}}, "REJECT"),
    "not zero": ({**part(), "metrics": {"rate": 0.01, "pii": 1}}, "REJECT"),
    "one missing": ({**part(), "metrics": {"rate": 0.01}}, "DEGRADE"),
    "text for a number": ({**part(), "metrics": {"rate": "0.01", "pii": 0}}, "DEGRADE"),
    "true for zero": ({**part(), "metrics": {"rate": 0.01, "pii": True}}, "DEGRADE"),
    "stale": (part(meta=OLD), "DEGRADE"),
    "harm in stale data": ({**part(meta=OLD), "metrics": {"rate": 0.06, "pii": 0}}, "DEGRADE"),
    "only collected": (part(meta={"collected_at": META["collected_at"], "window": "5m"}), "DEGRADE"),
    "from the future": (part(meta={**META, "collected_at": "2026-02-18T02:00:00Z"}), "DEGRADE"),
    "baseline of another window": (part({**META, "window": "1h"}), "DEGRADE"),
    "baseline too old": (part(OLD), "DEGRADE"),
    "baseline collected too long ago": (part({"collected_at": "2026-02-18T00:40:00Z", "window": "5m"}), "DEGRADE"),
    "baseline without a time": (part({"window": "5m"}), "DEGRADE"),
    "no baseline": ({"metrics": {"rate": 0.01, "pii": 0}, "_meta": META}, "DEGRADE"),
    "empty baseline": ({**part(), "baseline": {"metrics": {}, "_meta": META}}, "DEGRADE"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_part_gets_the_verdict_that_it_gets_as_a_snapshot(tmp_path: Path, case: str) -> None:
    """Handing a file over through a collection must neither mend it nor spoil it."""
    document, verdict = CASES[case]
    (tmp_path / "policy.json").write_text(json.dumps(POLICY), encoding="utf-8")
    policy = load_policy(tmp_path / "policy.json")
    context = Context(stage="CANARY_10", evaluated_at="2026-02-18T01:00:10Z")
    alone = evaluate(policy, load_snapshot(json.dumps(document).encode()), context)
    assert alone.verdict == verdict
    decision = evaluate(policy, collected(tmp_path, document, "rate", "pii"), context)
    assert decision.verdict == verdict
    assert bool(decision.reason_codes) == bool(alone.reason_codes)
