from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper.evaluator import evaluate
from gatekeeper.model.policy import policy_from_document
from gatekeeper.review.golden.load import case_files
from gatekeeper.review.mutants.change import REMOVED, Change
from gatekeeper.review.mutants.survey import Survey, survey
from tests.review.golden.cases import CASE, POLICY, lay_out, loaded
from tests.review.golden.test_starter_cases import GOLDEN

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper.review.golden.case import LoadedCase


def by_hand(document: dict[str, Any], change: Change) -> dict[str, Any]:
    """The changed document, written into a copy along the JSON pointer."""
    after = copy.deepcopy(document)
    *way, last = change.pointer.split("/")[1:]
    part: Any = after
    for step in way:
        part = part[int(step)] if isinstance(part, list) else part.setdefault(step, {})
    place: Any = int(last) if isinstance(part, list) else last
    if change.value is REMOVED:
        del part[place]
    else:
        part[place] = change.value
    return after


def notices(document: dict[str, Any], case: LoadedCase) -> bool:
    """Whether the answer under another policy is not all that the case expects."""
    answer = evaluate(policy_from_document(document), case.snapshot, case.context).to_dict()
    return any(answer[key] != expected for key, expected in case.expect.items())


@pytest.mark.slow
def test_what_is_called_unnoticed_fails_no_case() -> None:
    """By brute force over the shipped policy and cases: written by pointer, evaluated, compared as plain JSON."""
    cases = [loaded(path) for path in case_files([str(GOLDEN)])]
    document = json.loads((GOLDEN.parent / "checkout-guarded.json").read_bytes())
    found = survey("p.json", cases[0].policy, cases)
    assert found.unnoticed
    for change in found.unnoticed:
        assert not any(notices(by_hand(document, change), case) for case in cases), change.pointer


@pytest.mark.slow
def test_each_case_that_goes_makes_more_changes_unnoticed() -> None:
    """Every shipped case is there for something that no other one shows."""
    cases = [loaded(path) for path in case_files([str(GOLDEN)])]
    document = json.loads((GOLDEN.parent / "checkout-guarded.json").read_bytes())
    every = {(one.pointer, one.words) for one in survey("p", cases[0].policy, cases).unnoticed}
    for left_out in cases:
        rest = [case for case in cases if case is not left_out]
        more = [one for one in survey("p", cases[0].policy, rest).unnoticed if (one.pointer, one.words) not in every]
        assert more, left_out.path
        assert all(notices(by_hand(document, one), left_out) for one in more)


def test_the_score_is_what_can_be_counted_by_hand(tmp_path: Path) -> None:
    """Two rules, a reference; one case at the limit and one beyond it."""
    policy = {**POLICY, "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.02}]}
    at_limit = {**CASE, "snapshot": {"metrics": {"errors": 0.02, "leaks": 0}}}
    beyond = {
        **CASE,
        "snapshot": {"metrics": {"errors": 0.0201, "leaks": 1}},
        "expect": {"verdict": "REJECT", "reason_codes": ["constraint_violation:leaks", "guardrail_violation:errors"]},
    }
    paths = lay_out(tmp_path, at_limit, beyond, policy=policy)
    cases = [loaded(path) for path in paths]
    found = survey("p", cases[0].policy, cases)
    # noticed: guardrail removed, observed, `<`, `>=`, 0.0199, 0.0201; constraint removed. must_be_false takes 0 and 1
    # alike. The rest is asked by neither case. `on_missing_baseline DEGRADE` means nothing without a budget.
    assert {(one.pointer, one.value) for one in found.unnoticed} == {
        ("/constraints/0/kind", "must_be_false"),
        ("/missing_data_policy/on_missing", "REJECT"),
        ("/missing_data_policy/on_stale", "REJECT"),
        ("/missing_data_policy/on_missing_baseline", "REJECT"),
        ("/evidence/required/0", REMOVED),
        ("/evidence/on_missing", "REJECT"),
    }
    # evidence_first lets the constraint decide alone, which the second case notices
    assert (found.noticed, found.counted, found.without_effect) == (8, 14, 1)
    assert found.score == 57  # 8 / 14 = 57.1 %


@pytest.mark.parametrize(("noticed", "left", "score"), [(0, 0, 100), (199, 1, 99), (0, 3, 0), (1, 2, 33)])
def test_a_score_is_never_rounded_up(noticed: int, left: int, score: int) -> None:
    """100 is said only where nothing goes unnoticed."""
    changes = [Change("r", ("a",), 1, "")] * left
    assert Survey("p", noticed=noticed, unnoticed=changes, without_effect=0).score == score
