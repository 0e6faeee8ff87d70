from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.review.golden.suggest import recurring, without_case
from tests.review.golden.cases import CASE, lay_out, loaded

if TYPE_CHECKING:
    from pathlib import Path


def event(number: int, codes: list[str], missing: list[str], policy_id: str = "shop") -> dict[str, Any]:
    """A decision with these reasons."""
    decision = {"verdict": "DEGRADE", "reason_codes": codes, "missing": missing}
    return {"event_id": f"e{number}", "policy_id": policy_id, "decision": decision}


EVENTS = [
    event(1, ["evidence_missing:change_id"], ["change_id"]),
    event(2, ["observation_missing:required_metric"], ["errors", "leaks"]),
    event(3, ["observation_missing:required_metric"], ["errors"]),
    event(4, ["evidence_missing:change_id", "observation_missing:required_metric"], ["change_id", "errors"]),
    event(5, ["evidence_missing:change_id"], ["change_id"], policy_id="other"),
    {"event_id": "e6", "policy_id": "shop", "decision": {"verdict": "REJECT", "reason_codes": "damaged"}},
    {"event_id": "e7", "decision": None},
]


def test_what_recurs_is_counted_with_its_first_and_last_event() -> None:
    """Per policy; a code and an entry of missing are counted apart; the frequent ones come first."""
    found = [tuple(one.to_dict().values()) for one in recurring(EVENTS)]
    assert found == [
        ("shop", "reason", "observation_missing:required_metric", 3, "e2", "e4"),
        ("shop", "missing", "errors", 3, "e2", "e4"),
        ("shop", "reason", "evidence_missing:change_id", 2, "e1", "e4"),
        ("shop", "missing", "change_id", 2, "e1", "e4"),
        ("shop", "missing", "leaks", 1, "e2", "e2"),
        ("other", "reason", "evidence_missing:change_id", 1, "e5", "e5"),
        ("other", "missing", "change_id", 1, "e5", "e5"),
    ]


def test_what_a_case_of_the_policy_expects_is_suggested_no_more(tmp_path: Path) -> None:
    """A case that states only the verdict covers nothing; a case of another policy covers nothing here."""
    expect = {"reason_codes": ["observation_missing:required_metric"], "missing": ["errors"]}
    both, verdict_only = lay_out(tmp_path, {**CASE, "expect": expect}, {**CASE, "expect": {"verdict": "DEGRADE"}})
    left = without_case(recurring(EVENTS), [loaded(both), loaded(verdict_only)], at_least=1)
    assert [(one.policy_id, one.what) for one in left] == [
        ("shop", "evidence_missing:change_id"),
        ("shop", "change_id"),
        ("shop", "leaks"),
        ("other", "evidence_missing:change_id"),
        ("other", "change_id"),
    ]
    often = without_case(recurring(EVENTS), [loaded(both)], at_least=2)
    assert [one.what for one in often] == ["evidence_missing:change_id", "change_id"]
