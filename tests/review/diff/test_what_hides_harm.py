"""Where a hold that is found first hides a REJECT, a stricter policy may stop less: each such way by an example."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import LOOSENS, TIGHTENS, Effect
from tests.review.diff.policies import Document, loaded
from tests.review.diff.questions import EVALUATED_AT, judge, moment

PHASED = {"precedence": "evidence_first"}
HELD_WITHOUT_BASELINE = {"on_missing_baseline": "DEGRADE"}
GATE: dict[str, Any] = {
    "primary": [{"metric": "p", "direction": "up"}],
    "promotion_gate": {"required_for_stages": ["CANARY_50"], "min_sample_size": 10, "on_not_ready": "REJECT"},
}


def guardrail(metric: str, limit: float, **more: Any) -> Document:
    """A guardrail that is healthy up to *limit*."""
    return {"metric": metric, "op": "<=", "threshold": limit, **more}


def policy(*guardrails: Document, missing: Document | None = None, **parts: Any) -> Document:
    """A policy with these rules."""
    document: Document = {"policy_id": "p", "policy_version": "1", "guardrails": list(guardrails), **parts}
    return {**document, "missing_data_policy": missing or {}}


CASES: dict[str, tuple[Document, Document, Document, Document]] = {
    # old policy, new policy, metrics, context: REJECT under the old one, DEGRADE under the new one
    "a metric that is required, under evidence_first": (
        policy(guardrail("a", 1), missing=PHASED),
        policy(guardrail("a", 1), missing={**PHASED, "required_metrics": ["b"]}),
        {"a": 2},
        {},
    ),
    "a guardrail that comes first": (
        policy(guardrail("a", 1), missing=PHASED),
        policy(guardrail("b", 1), guardrail("a", 1), missing=PHASED),
        {"a": 2},
        {},
    ),
    "the same guardrails in another order": (
        policy(guardrail("a", 1), guardrail("b", 1), missing=PHASED),
        policy(guardrail("b", 1), guardrail("a", 1), missing=PHASED),
        {"a": 2},
        {},
    ),
    "of three guardrails of one metric the first is wider": (
        policy(guardrail("a", 4), guardrail("a", 9, range=[0, 3]), guardrail("a", 4, range=[0, 99]), missing=PHASED),
        policy(guardrail("a", 6), guardrail("a", 9, range=[0, 3]), guardrail("a", 4, range=[0, 99]), missing=PHASED),
        {"a": 5},
        {},
    ),
    "a budget that needs a baseline": (
        policy(guardrail("a", 1), guardrail("b", 1), missing={**PHASED, **HELD_WITHOUT_BASELINE}),
        policy(guardrail("a", 1, budget_delta=1), guardrail("b", 1), missing={**PHASED, **HELD_WITHOUT_BASELINE}),
        {"a": 1, "b": 2},
        {},
    ),
    "a baseline that must be there": (
        policy(guardrail("a", 1, budget_delta=1), guardrail("b", 1), missing=PHASED),
        policy(
            guardrail("a", 1, budget_delta=1), guardrail("b", 1), missing={**PHASED, "on_missing_baseline": "DEGRADE"}
        ),
        {"a": 1, "b": 2},
        {},
    ),
    "statistics of one more primary, with an age": (
        policy(guardrail("a", 1), missing={**PHASED, "max_freshness_seconds": 60}),
        policy(
            guardrail("a", 1),
            missing={**PHASED, "max_freshness_seconds": 60},
            **GATE,
        ),
        {"a": 2, "p": 1},
        {"observations": {"p": {"watermark_event_time": moment(100)}}},
    ),
}


def question(metrics: Document, more: Document) -> tuple[Document, Document]:
    """A snapshot and a context at a canary."""
    snapshot = {
        "metrics": metrics,
        "observations": more.get("observations", {}),
        "_meta": {"watermark_event_time": moment(5), "collected_at": moment(1), "window": "1m"},
    }
    return snapshot, {"stage": "CANARY_50", "evaluated_at": EVALUATED_AT}


def effects(old: Document, new: Document) -> set[Effect]:
    """In which ways something is said to turn out otherwise."""
    return {effect for change in difference(loaded(old), loaded(new)).changes for effect in change.effects}


@pytest.mark.parametrize("name", CASES)
def test_harm_that_is_hidden_now_is_told(name: str) -> None:
    """The verdicts are those of the evaluator; the reverse change shows it again and must be called tightened."""
    old, new, metrics, more = CASES[name]
    verdicts = [judge(loaded(one).policy, *question(metrics, more)).verdict for one in (old, new)]
    assert verdicts == ["REJECT", "DEGRADE"]
    assert effects(old, new) & LOOSENS
    assert effects(new, old) & TIGHTENS


def test_statistics_that_reject_no_more_behind_another_hold_are_no_loosening() -> None:
    """The documented limit: statistics are asked once safety has passed, and not to have won is no harm."""
    old, new = (policy(guardrail("a", 1), missing=missing, **GATE) for missing in ({}, {"required_metrics": ["b"]}))
    verdicts = [judge(loaded(one).policy, *question({"a": 1}, {})).verdict for one in (old, new)]
    assert verdicts == ["REJECT", "DEGRADE"]
    assert effects(old, new) == {Effect.LETS_LESS}
