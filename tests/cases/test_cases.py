"""The hand-out's cases that policy, snapshot and context decide, as data: one file each, run by its id.

A file holds `policy`, `snapshot` (or `snapshot_text`, for what is no JSON), `context`, and in `expect`
the verdict, all reason codes, all of `missing`, fields of findings by rule, and a word that a note says.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import read_snapshot, snapshot_from_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatekeeper.model.decision import Decision

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.json"))
}


@pytest.fixture(params=["UTC", "Asia/Tokyo"])
def host_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The zone that the host is set to while a case is judged."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def judge(case: dict[str, Any]) -> Decision:
    """What the judge answers to a case."""
    if "snapshot_text" in case:
        snapshot = read_snapshot(case["snapshot_text"].encode())
    else:
        snapshot = snapshot_from_document(case["snapshot"])
    return evaluate(policy_from_document(case["policy"]), snapshot, Context.from_dict(case["context"]))


@pytest.mark.usefixtures("host_zone")
@pytest.mark.parametrize("name", CASES)
def test_a_case_of_the_field_is_answered_rightly(name: str) -> None:
    """Verdict, reasons, missing and the findings named, whatever the zone of the host."""
    case = CASES[name]
    assert case["name"] == name
    decision, expect = judge(case), case["expect"]
    assert decision.verdict.value == expect["verdict"]
    assert list(decision.reason_codes) == expect["reason_codes"]
    assert list(decision.missing) == expect["missing"]
    findings = {finding["rule"]: finding for finding in decision.to_dict()["findings"]}
    for rule, fields in expect.get("findings", {}).items():
        assert {name: findings[rule][name] for name in fields} == fields
    assert any(expect["note"] in note for note in decision.notes) if "note" in expect else True


def test_every_case_that_the_judge_alone_decides_is_here() -> None:
    """A case that loses its file is missed."""
    numbers = {
        "HO-00": 1,
        "HO-01": 2,
        "HO-02": 3,
        "HO-03": 5,
        "HO-04": 6,
        "HO-05": 5,
        "HO-06": 4,
        "HO-07": 5,
        "HO-11": 2,
        "HO-15": 3,
        "HO-18": 8,
    }
    assert {number: sum(name.startswith(number) for name in CASES) for number in numbers} == numbers
    assert len(CASES) == sum(numbers.values())
