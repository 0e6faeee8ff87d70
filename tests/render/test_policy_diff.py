"""The page of a difference: each standing of the version in words, and no annotation without a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.render.policy_diff import diff_page, remarks, version_text
from gatekeeper.review.diff.difference import difference
from gatekeeper.review.diff.report import report
from gatekeeper.review.diff.version import Standing
from gatekeeper.review.load import load_policy_document

OLD: dict[str, Any] = {
    "policy_id": "p",
    "policy_version": "1.0.0",
    "guardrails": [{"metric": "p95", "op": "<=", "threshold": 400}],
}


def document(**changes: Any) -> dict[str, Any]:
    """What is reported of the old policy with *changes*."""
    both = [json.dumps(one).encode() for one in (OLD, {**OLD, **changes})]
    old, new = (load_policy_document(data, name) for data, name in zip(both, ("old.json", "new.json"), strict=True))
    return report(difference(old, new), both[1])


LOOSENED = [{"metric": "p95", "op": "<=", "threshold": 500}]


@pytest.mark.parametrize(
    ("changes", "standing", "text"),
    [
        ({}, Standing.SAME_CONTENT, "1.0.0: the content is the same"),
        ({"policy_version": "2.0.0", "guardrails": LOOSENED}, Standing.FITS, "1.0.0 to 2.0.0: fits"),
        (
            {"guardrails": LOOSENED},
            Standing.UNCHANGED,
            "1.0.0 is UNCHANGED and names two contents: set policy_version to 2.0.0",
        ),
        (
            {"policy_version": "1.1.0", "guardrails": LOOSENED},
            Standing.TOO_SMALL,
            "1.0.0 to 1.1.0: the change calls for 2.0.0",
        ),
        (
            {"policy_version": "0.9.0", "guardrails": LOOSENED},
            Standing.GOES_BACK,
            "1.0.0 to 0.9.0: goes back; the change calls for 2.0.0",
        ),
        (
            {"policy_id": "q"},
            Standing.ANOTHER_POLICY,
            "1.0.0 to 1.0.0: these are two policies, not two versions of one",
        ),
    ],
)
def test_each_standing_of_the_version_is_said(changes: dict[str, Any], standing: Standing, text: str) -> None:
    """And only a version that names two contents is annotated as an error."""
    reported = document(**changes)
    assert (reported["version"]["standing"], version_text(reported)) == (standing.value, text)
    errors = [level for level, *_ in remarks(reported) if level == "error"]
    assert errors == (["error"] if standing is Standing.UNCHANGED else [])


def test_a_new_version_alone_is_no_change_and_not_an_empty_answer() -> None:
    """The headline says that there is none."""
    page = diff_page(document(policy_version="1.0.1"))
    assert page.headline == "new.json: no change"
    assert page.document["changes"] == []


def test_many_consequences_stay_one_line() -> None:
    """A gate that is gone is told with three examples and the number of the rest."""
    goals = [{"metric": f"goal{number}", "direction": "up"} for number in range(5)]
    gate = {"required_for_stages": ["ROLLOUT_100"]}
    both = [
        json.dumps({**OLD, "primary": goals, **part}).encode()
        for part in ({"promotion_gate": gate}, {"policy_version": "2"})
    ]
    old, new = (load_policy_document(data) for data in both)
    (change,) = report(difference(old, new), both[1])["changes"]
    assert len(change["consequences"]) == 5
    assert change["message"] == (
        "lets more through: goal0 without statistics held, now passes (at ROLLOUT_100); goal1 without statistics held,"
        " now passes (at ROLLOUT_100); goal2 without statistics held, now passes (at ROLLOUT_100); and 2 more"
    )
