"""Suppressions in a difference: no verdict hangs on them, and a reviewer still sees each one come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.effects import Meaning
from tests.review.diff.policies import loaded

if TYPE_CHECKING:
    from tests.review.diff.policies import Document

BARE: Document = {
    "policy_id": "p",
    "policy_version": "1",
    "constraints": [{"kind": "must_be_zero", "metric": "leaks"}],
}
JUMP = {"code": "policy.canary_jump", "rule": "stage:CANARY_5", "reason": "a smoke test"}
GATE = {"code": "policy.no_promotion_gate", "reason": "nothing is to be won"}

Told = list[tuple[str, str, str, str]]


def told(old: list[Document] | None, new: list[Document] | None) -> Told:
    """Rule, pointer, and the values as people read them, of each change; all are neutral."""
    documents = [BARE if one is None else {**BARE, "suppressions": one} for one in (old, new)]
    found = difference(*map(loaded, documents))
    assert found.meaning is Meaning.NEUTRAL
    assert {one.meaning for one in found.changes} <= {Meaning.NEUTRAL}
    return [(one.edit.rule, one.edit.pointer, one.edit.was, one.edit.becomes) for one in found.changes]


JUMP_RULE = "suppression:policy.canary_jump:stage:CANARY_5"
GATE_RULE = "suppression:policy.no_promotion_gate"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, [JUMP], [(JUMP_RULE, "/suppressions/0", "none", "a smoke test")]),
        ([JUMP, GATE], [JUMP], [(GATE_RULE, "/suppressions/1", "nothing is to be won", "none")]),
        (
            [GATE, JUMP],
            [GATE, {**JUMP, "reason": "few users"}],
            [(JUMP_RULE, "/suppressions/1/reason", "a smoke test", "few users")],
        ),
        ([GATE, JUMP], [JUMP, GATE], [("suppressions", "/suppressions", f"{GATE_RULE}, {JUMP_RULE}",
                                       f"{JUMP_RULE}, {GATE_RULE}")]),
        (None, [], [("suppressions", "/suppressions", "none", "none")]),
        ([JUMP], [JUMP], []),
    ],
)  # fmt: skip
def test_a_suppression_is_named_with_its_reason(
    old: list[Document] | None, new: list[Document] | None, expected: Told
) -> None:
    """A remark that is silenced in the same pull request must not hide behind a list that has changed somehow."""
    assert told(old, new) == expected


def test_another_rule_is_another_suppression() -> None:
    """What was meant at one place is not meant at the other."""
    everywhere = {key: value for key, value in JUMP.items() if key != "rule"}
    assert told([JUMP], [everywhere]) == [
        ("suppression:policy.canary_jump", "/suppressions/0", "none", "a smoke test"),
        (JUMP_RULE, "/suppressions/0", "a smoke test", "none"),
    ]
