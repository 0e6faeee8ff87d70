from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.review.golden.judge import judge
from tests.review.golden.cases import CASE, CONTEXT, POLICY, lay_out, loaded

if TYPE_CHECKING:
    from pathlib import Path

HELD: dict[str, Any] = {
    "verdict": "DEGRADE",
    "reason_codes": ["observation_missing:guardrail_metric", "evidence_missing:change_id"],
    "missing": ["change_id", "errors"],
    "requested_actions": [
        {"name": "attach_evidence", "params": {"name": "change_id"}},
        {"name": "collect_metric", "params": {"metric": "errors"}},
        {"name": "rerun_gate_check", "params": {"stage": "CANARY_10"}},
    ],
}
QUESTION = {
    **CASE,
    "snapshot": {"metrics": {"leaks": 0}},
    "context": {key: value for key, value in CONTEXT.items() if key != "evidence"},
}


def differing(tmp_path: Path, expect: dict[str, Any]) -> list[str]:
    """Keys in which the answer to QUESTION, which is HELD by SPEC 5, is not as expected."""
    (path,) = lay_out(tmp_path, {**QUESTION, "expect": expect})
    return [one.key for one in judge(loaded(path)).differences]


def test_the_answer_worked_out_by_hand_passes(tmp_path: Path) -> None:
    """Codes in the order of the rules, missing sorted, the next check last."""
    assert differing(tmp_path, HELD) == []


@pytest.mark.parametrize("key", HELD)
def test_a_case_may_expect_a_part_and_only_that_counts(key: str, tmp_path: Path) -> None:
    """A team that only wants the verdict frozen is not bothered by the rest."""
    assert differing(tmp_path, {key: HELD[key]}) == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("verdict", "REJECT"),
        ("reason_codes", HELD["reason_codes"][:1]),
        ("reason_codes", [*HELD["reason_codes"], "evidence_missing:approval"]),
        ("reason_codes", HELD["reason_codes"][::-1]),
        ("missing", []),
        ("requested_actions", HELD["requested_actions"][:2]),
        ("requested_actions", HELD["requested_actions"][::-1]),
        ("requested_actions", [{"name": "attach_evidence", "params": {"name": "x"}}, *HELD["requested_actions"][1:]]),
        ("requested_actions", [{"name": "attach_evidence", "params": {}}, *HELD["requested_actions"][1:]]),
    ],
)
def test_one_entry_more_less_or_elsewhere_fails_the_case(key: str, wrong: Any, tmp_path: Path) -> None:
    """And only that key is named."""
    assert differing(tmp_path, {**HELD, key: wrong}) == [key]


def test_an_action_without_params_is_expected_by_its_name(tmp_path: Path) -> None:
    """Which sample is still needed may change with every case; that one is needed may not."""
    names = [{"name": action["name"]} for action in HELD["requested_actions"]]
    assert differing(tmp_path, {"requested_actions": names}) == []
    assert differing(tmp_path, {"requested_actions": names[1:]}) == ["requested_actions"]


def test_a_stage_that_was_taken_out_of_the_policy_fails_its_cases(tmp_path: Path) -> None:
    """A frozen behaviour that cannot be asked any more has drifted."""
    policy = {**POLICY, "stages": ["DRY_RUN", "CANARY_50", "ROLLOUT_100"]}
    (path,) = lay_out(tmp_path, CASE, policy=policy)
    result = judge(loaded(path))
    assert not result.passes
    assert "CANARY_10" in result.trouble
    assert "CANARY_50" in result.trouble
