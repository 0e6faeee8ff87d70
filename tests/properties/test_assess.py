"""A second policy is asked of a snapshot that was read already, and answers otherwise than if it had read it itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.evaluator import assess, evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from tests.properties import strategies

PARTS = ("guardrails", "constraints", "missing_data_policy", "promotion_gate", "stage_policy", "evidence", "primary")
pytestmark = pytest.mark.slow


@given(
    strategies.policies(),
    strategies.policies(),
    st.one_of(strategies.snapshots(), strategies.WILD_SNAPSHOTS),
    strategies.contexts(),
    st.sampled_from([*PARTS, None]),
)
def test_what_was_read_for_one_policy_answers_another_one_as_if_it_were_read_anew(
    old: dict[str, Any], new: dict[str, Any], evidence: dict[str, Any], context: dict[str, Any], part: str | None
) -> None:
    """Whether the two differ in one part or in all, read evidence alike or not; `assess` says what `evaluate` says."""
    if part is not None:
        kept = {key: value for key, value in old.items() if key != part}
        new = kept | ({part: new[part]} if part in new else {})
    snapshot, asked = snapshot_from_document(evidence), Context(**context)
    first, _ = assess(policy_from_document(old), snapshot, asked)
    policy = policy_from_document(new)
    check, judgement = assess(policy, snapshot, asked, first)
    alone = evaluate(policy, snapshot, asked)
    assert judgement == (alone.verdict, alone.reason_codes, alone.missing)
    assert check.findings == list(alone.findings)
    assert check.notes == list(alone.notes)
