"""Where a hold that is found first hides a REJECT, a stricter policy may stop less: each such way by an example."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import LOOSENS, TIGHTENS
from tests.review.diff.policies import Document, loaded
from tests.review.diff.questions import EVALUATED_AT, judge, moment

PHASED = {"precedence": "evidence_first"}
HELD_WITHOUT_BASELINE = {"on_missing_baseline": "DEGRADE"}
UNREADY: dict[str, Any] = {
    "primary": [{"metric": "p", "direction": "up"}],
    "promotion_gate": {"required_for_stages": ["CANARY_50"], "min_sample_size": 10, "on_not_ready": "REJECT"},
}
FROM_BELOW = {"from_stage": "CANARY_25", "stage_entered_at": moment(100)}


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
        policy(guardrail("a", 1), guardrail("a", 9, range=[0, 3]), guardrail("a", 4), missing=PHASED),
        policy(guardrail("a", 6), guardrail("a", 9, range=[0, 3]), guardrail("a", 4), missing=PHASED),
        {"a": 5},
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
            **{**UNREADY, "promotion_gate": {"required_for_stages": ["CANARY_50"]}},
        ),
        {"a": 2, "p": 1},
        {"observations": {"p": {"watermark_event_time": moment(100)}}},
    ),
    "statistics that reject, behind a metric that is required": (
        policy(guardrail("a", 1), **UNREADY),
        policy(guardrail("a", 1), missing={"required_metrics": ["b"]}, **UNREADY),
        {"a": 1},
        {},
    ),
    "statistics that reject, behind a reference, under evidence_first": (
        policy(guardrail("a", 1), missing=PHASED, **UNREADY),
        policy(guardrail("a", 1), missing=PHASED, evidence={"required": ["change_id"]}, **UNREADY),
        {"a": 1},
        {},
    ),
    "statistics that reject, behind a wait, under evidence_first": (
        policy(guardrail("a", 1), missing=PHASED, stage_policy={}, **UNREADY),
        policy(guardrail("a", 1), missing=PHASED, stage_policy={"min_stage_seconds": 900}, **UNREADY),
        {"a": 1},
        FROM_BELOW,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_harm_that_is_hidden_now_is_told(name: str) -> None:
    """The verdicts are those of the evaluator; the reverse change shows it again and must be called tightened."""
    old, new, metrics, more = CASES[name]
    snapshot = {
        "metrics": metrics,
        "observations": more.get("observations", {}),
        "_meta": {"watermark_event_time": moment(5), "collected_at": moment(1), "window": "1m"},
    }
    context = {"stage": "CANARY_50", "evaluated_at": EVALUATED_AT, "from_stage": None}
    context |= {key: value for key, value in more.items() if key != "observations"}
    verdicts = [judge(loaded(one).policy, snapshot, context).verdict for one in (old, new)]
    assert verdicts == ["REJECT", "DEGRADE"]
    pairs = ((loaded(old), loaded(new)), (loaded(new), loaded(old)))
    there, back = ({effect for change in difference(*pair).changes for effect in change.effects} for pair in pairs)
    assert there & LOOSENS
    assert back & TIGHTENS
