"""Evidence that another policy has read is taken over although this one would have read it otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evaluator import assess
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import Snapshot

POLICY: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01, "budget_delta": 0.1}],
    "missing_data_policy": {"max_freshness_seconds": 120, "max_watermark_skew_seconds": 60},
}
SNAPSHOT = Snapshot(
    {
        "metrics": {"errors": 0.004},
        "baseline": {"metrics": {"errors": 0.004}, "_meta": {"watermark_event_time": "2026-02-18T00:59:00Z"}},
        "_meta": {
            "sources": [
                {"name": "a", "watermark_event_time": "2026-02-18T00:59:40Z", "metrics": ["errors"]},
                {"name": "b", "watermark_event_time": "2026-02-18T01:00:00Z", "metrics": ["other"]},
            ]
        },
    }
)
NOW = Context(stage="CANARY_10", evaluated_at="2026-02-18T01:00:10Z")


def codes(policy: dict[str, Any], *, context: Context = NOW, snapshot: Snapshot = SNAPSHOT) -> tuple[str, ...]:
    """Reason codes after POLICY has read SNAPSHOT."""
    read, judgement = assess(policy_from_document(POLICY), SNAPSHOT, NOW)
    assert judgement[1] == ()
    return assess(policy_from_document(policy), snapshot, context, read)[1][1]


def changed(**missing: Any) -> dict[str, Any]:
    """POLICY with other rules for missing and old evidence."""
    return {**POLICY, "missing_data_policy": {**POLICY["missing_data_policy"], **missing}}


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        (changed(max_freshness_seconds=29), "observation_stale:over_freshness_budget"),
        (changed(max_watermark_skew_seconds=19), "observation_stale:watermark_skew"),
        (changed(max_baseline_age_seconds=69), "observation_stale:baseline_age"),
        (changed(required_metrics=["other"]), "observation_missing:required_metric"),
    ],
)
def test_a_policy_with_another_limit_on_age_reads_the_evidence_itself(policy: dict[str, Any], code: str) -> None:
    """It is 30 s old, 20 s behind the newest source, its baseline 70 s old."""
    assert codes(policy) == (code,)


def test_evidence_is_as_old_as_the_moment_says_that_is_asked() -> None:
    """Two minutes later it is 150 s old."""
    later = Context(stage="CANARY_10", evaluated_at="2026-02-18T01:02:10Z")
    assert codes(POLICY, context=later) == ("observation_stale:over_freshness_budget",)


def test_the_reading_of_one_snapshot_is_none_of_another() -> None:
    """An equal question on other evidence."""
    other = Snapshot({**SNAPSHOT.document, "metrics": {"errors": 0.02}})
    assert codes(POLICY, snapshot=other) == ("guardrail_violation:errors",)


def test_a_stage_that_is_to_be_left_is_read_with_its_window() -> None:
    """The second policy has a stage policy: it asks when the window began."""
    context = Context(
        stage="CANARY_25",
        evaluated_at="2026-02-18T01:00:10Z",
        from_stage="CANARY_10",
        stage_entered_at="2026-02-18T00:00:00Z",
    )
    read, _ = assess(policy_from_document(POLICY), SNAPSHOT, context)
    waits = policy_from_document({**POLICY, "stage_policy": {}})
    assert assess(waits, SNAPSHOT, context, read)[1][1] == ("observation_missing:window",)
