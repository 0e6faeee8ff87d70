from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.model.policy import (
    Constraint,
    EvidencePolicy,
    Guardrail,
    MissingDataPolicy,
    Policy,
    Primary,
    PromotionGate,
    StagePolicy,
    loaded_policy,
)
from gatekeeper.review.mutants.change import REMOVED, Change, neighbours
from gatekeeper.review.mutants.changes import changes_of
from gatekeeper.review.mutants.survey import mutants_of

RICH: dict[str, Any] = json.loads((Path(__file__).parents[3] / "policies/checkout-guarded.json").read_bytes())
WORDS = {"description", "runbook", "metric"}
"""Fields of rules that no evaluation reads, and the name, whose change is another rule."""

PARTS: list[tuple[str, type]] = [
    ("/guardrails/2", Guardrail),
    ("/guardrails/3", Guardrail),
    ("/constraints/1", Constraint),
    ("/missing_data_policy", MissingDataPolicy),
    ("/primary/0", Primary),
    ("/promotion_gate", PromotionGate),
    ("/stage_policy", StagePolicy),
    ("/evidence", EvidencePolicy),
]


@pytest.mark.parametrize(
    ("limit", "scale", "expected"),
    [
        (0.02, 1, (0.0199, 0.0201)),
        (0.97, 1, (0.969, 0.971)),
        (0.3, 1, (0.299, 0.301)),
        (800, 1, (799, 801)),
        (50000, 1, (49900, 50100)),
        (100, 1, (99, 101)),
        (99.95, 1, (99.85, 100.05)),
        (-5, 1, (-5.01, -4.99)),
        (1e-7, 1, (9.9e-8, 1.01e-7)),
        (0, 0.001, (-0.00001, 0.00001)),
        (0, 60000, (-100, 100)),
        (0.1 + 0.2, 1, (0.29900000000000004, 0.30100000000000004)),
    ],
)
def test_a_limit_is_moved_in_its_third_significant_digit(
    limit: float, scale: float, expected: tuple[float, float]
) -> None:
    """Exactly, in decimals: 0.3 has 0.299 and 0.301 beside it and no 0.30100000000000005."""
    assert neighbours(limit, scale=scale) == expected


def test_every_field_that_an_evaluation_reads_is_changed() -> None:
    """A field that nobody tries would make a policy look tested that is not."""
    touched = [change.pointer for change in changes_of(RICH)]
    for pointer, kind in PARTS:
        for field in fields(kind):
            stated = f"{pointer}/{field.name}"
            is_there = field.name in _part(pointer)
            if is_there and field.name not in WORDS:
                assert any(one == stated or one.startswith(stated + "/") for one in touched), stated
    covered = {pointer.split("/")[1] for pointer, _ in PARTS}
    untouched = {field.name for field in fields(Policy)} - covered
    unread = {"policy_id", "policy_version", "stages", "holds", "suppressions"}  # for an answer that is compared
    assert untouched <= unread


def _part(pointer: str) -> Any:
    part: Any = RICH
    for step in pointer.split("/")[1:]:
        part = part[int(step)] if isinstance(part, list) else part[step]
    return part


def test_each_rule_is_taken_out_and_each_operator_turned_round() -> None:
    """By their places."""
    changes = {(change.pointer, change.value) for change in changes_of(RICH) if isinstance(change.value, str)}
    removed = {change.pointer for change in changes_of(RICH) if change.value is REMOVED}
    assert {f"/guardrails/{number}" for number in range(5)} | {"/constraints/0", "/constraints/1"} <= removed
    assert {("/guardrails/0/op", "<"), ("/guardrails/0/op", ">="), ("/guardrails/3/op", "<=")} <= changes
    assert {f"/missing_data_policy/required_metrics/{number}" for number in range(3)} <= removed


def test_a_default_that_is_not_written_out_is_changed_as_well() -> None:
    """`on_missing` means DEGRADE, stated or not."""
    policy = {"policy_id": "p", "policy_version": "1", "constraints": [{"kind": "must_be_zero", "metric": "m"}]}
    settings = {change.pointer.rpartition("/")[2]: change.applied(policy) for change in changes_of(policy)}
    assert settings["on_missing"]["missing_data_policy"] == {"on_missing": "REJECT"}
    assert set(settings) == {"0", "kind", "on_missing", "on_stale", "on_missing_baseline", "precedence"}
    assert policy.keys() == {"policy_id", "policy_version", "constraints"}


def test_a_change_leaves_the_document_as_it_is() -> None:
    """All changes are made to the policy that was reviewed, none to another one's result."""
    before = json.dumps(RICH)
    for change in changes_of(RICH):
        after = change.applied(RICH)
        assert after != RICH
        assert json.dumps(RICH) == before


def test_what_does_not_load_is_no_mutant() -> None:
    """Without its only rule a policy never judges; neither does one with a negative budget."""
    policy = {
        "policy_id": "p",
        "policy_version": "1",
        "guardrails": [{"metric": "m", "op": "<=", "budget_delta": 0}],
    }
    tried = [change.pointer for change, _ in mutants_of(loaded_policy(policy))]
    assert "/guardrails/0" not in tried
    assert tried.count("/guardrails/0/budget_delta") == 1  # up; not below 0, and not gone


def test_a_place_in_a_list_and_a_missing_part_are_changed() -> None:
    """Pointers are those of the document."""
    document = {"a": [{"b": 1}, {"b": 2}]}
    assert Change("r", ("a", 1, "b"), 3, "").applied(document) == {"a": [{"b": 1}, {"b": 3}]}
    assert Change("r", ("a", 0), REMOVED, "").applied(document) == {"a": [{"b": 2}]}
    assert Change("r", ("x/y", "z"), 1, "").applied(document) == {**document, "x/y": {"z": 1}}
    assert Change("r", ("x/y", "z"), 1, "").pointer == "/x~1y/z"
