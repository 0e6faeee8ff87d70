"""`--fix`: what is certain is mended in the text, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.documents.yaml_reading import parse_yaml
from gatekeeper.review.catalogue import CATALOGUE, REFUSALS
from gatekeeper.review.fix import _WAYS, mended
from gatekeeper.review.load import check_policy_document
from tests.review.documents import encoded, policies
from tests.review.test_advice import QUIET

TEXT = b"""{
  "policy_id": "p", "policy_version": "1",
  "guardrails": [
    {"metric": "m", "op": "=<", "threshold": 5.0, "range": [10, 0]},
    {"metric": "m", "op": "=<", "threshold": 5.0, "range": [10, 0]}
  ],
  "missing_data_policy": {"Max-Freshness-Seconds": 60,
                          "required_metrics": ["m", "m"], "on_missing": "degrade"}
}
"""
MENDED = b"""{
  "policy_id": "p", "policy_version": "1",
  "guardrails": [
    {"metric": "m", "op": "<=", "threshold": 5.0, "range": [0, 10]}
  ],
  "missing_data_policy": {"max_freshness_seconds": 60,
                          "required_metrics": ["m"], "on_missing": "DEGRADE"}
}
"""


def test_a_file_is_mended_in_place() -> None:
    """Eight slips, six of which keep it from loading; its layout and `5.0` stay."""
    text, done = mended(TEXT)
    assert text == MENDED
    assert [(one.code.removeprefix("policy."), one.pointer) for one in done] == [
        ("unknown_value", "/guardrails/0/op"),
        ("bad_range", "/guardrails/0/range"),
        ("unknown_value", "/guardrails/1/op"),
        ("bad_range", "/guardrails/1/range"),
        ("unknown_key", "/missing_data_policy/Max-Freshness-Seconds"),
        ("unknown_value", "/missing_data_policy/on_missing"),
        ("duplicate_guardrail", "/guardrails/1"),
        ("duplicate_required_metric", "/missing_data_policy/required_metrics/1"),
    ]
    assert mended(text) == (text, [])


def test_a_yaml_file_is_mended_in_place_as_well() -> None:
    """The same slips, in the layout and with the comment of its author."""
    slips = "# limits\n" + yaml.safe_dump(json.loads(TEXT), sort_keys=False)
    text, done = mended(slips.encode(), "p.yaml")
    assert [one.to_dict() for one in done] == [one.to_dict() for one in mended(TEXT)[1]]
    assert text.startswith(b"# limits\npolicy_id: p\n")
    assert parse_yaml(text) == json.loads(MENDED)
    assert mended(text, "p.yaml") == (text, [])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (
            {"missing_data_policy": {"max_freshness_seconds": 60}},
            {"max_freshness_seconds": 60, "on_missing_baseline": "DEGRADE"},
        ),
        ({"missing_data_policy": {}}, {"on_missing_baseline": "DEGRADE"}),
    ],
)
def test_a_budget_gets_the_rule_that_checks_it(document: dict[str, Any], expected: dict[str, Any]) -> None:
    """As `init` writes it."""
    budget = {"metric": "m", "op": "<=", "budget_delta": 1, "range": [0, 9]}
    text, (done,) = mended(encoded({**QUIET, "guardrails": [budget], **document}))
    assert json.loads(text)["missing_data_policy"] == expected
    assert done.message == 'added "on_missing_baseline": "DEGRADE" to missing_data_policy'


def test_a_policy_without_the_part_gets_it() -> None:
    """The founding form may lack it altogether."""
    budget = {"metric": "m", "op": "<=", "budget_delta": 1, "range": [0, 9]}
    bare = {key: value for key, value in QUIET.items() if key != "missing_data_policy"}
    text, _ = mended(encoded({**bare, "guardrails": [budget]}))
    assert json.loads(text)["missing_data_policy"] == {"on_missing_baseline": "DEGRADE"}


@pytest.mark.parametrize(
    ("left", "expected"), [([], None), ([{"code": "policy.no_stage_wait", "reason": "r"}], "policy.no_stage_wait")]
)
def test_a_stray_suppression_goes(left: list[dict[str, str]], expected: str | None) -> None:
    """With the list, where it was the only one."""
    bare = {key: value for key, value in QUIET.items() if key != "stage_policy"}
    document = {**bare, "suppressions": [{"code": "policy.canary_jump", "reason": "gone"}, *left]}
    text, (done,) = mended(encoded(document))
    assert done.code == "policy.unused_suppression"
    assert [one["code"] for one in json.loads(text).get("suppressions", [])] == [expected] * len(left)
    assert ("suppressions" in json.loads(text)) is bool(left)


@pytest.mark.parametrize(
    "change",
    [
        {"guardrails": [{"metric": "m", "op": "<=", "threshhold": 5}]},  # a letter too many: meant is a guess
        {"guardrails": [{"metric": "m", "op": "<=", "threshold": 5, "Threshold": 6}]},  # which of the two?
        {"guardrails": [{"metric": "m", "op": "=", "threshold": 5}]},
        {"guardrails": [{"metric": "m", "op": "<=", "threshold": 5, "range": [1, 1]}]},
        {"missing_data_policy": {"on_missing": "ACCEPT"}},
        {"primary": [{"metric": "goal", "direction": "pu"}]},  # letters in another order are another word
        {"stages": ["CANARY_50", "CANARY_20", "ROLLOUT_100"]},
    ],
)
def test_what_leaves_a_doubt_is_not_mended(change: dict[str, Any]) -> None:
    """A guess would make a policy that nobody has reviewed."""
    data = encoded({**QUIET, **change})
    assert mended(data) == (data, [])


def test_what_is_suppressed_is_not_mended() -> None:
    """It is meant."""
    twice = {"metric": "m", "op": "<=", "threshold": 5, "range": [0, 9]}
    answered = [{"code": "policy.duplicate_guardrail", "reason": "two teams, one file"}]
    data = encoded({**QUIET, "guardrails": [twice, twice], "suppressions": answered})
    assert mended(data) == (data, [])


def test_what_is_no_json_is_left_alone() -> None:
    """There is nothing to hold on to."""
    assert mended(b"{") == (b"{", [])


def test_the_catalogue_says_which_codes_are_mended() -> None:
    """The page tells people what `--fix` does."""
    entries = {**REFUSALS, **CATALOGUE}
    assert {code for code, entry in entries.items() if entry.is_mended} == set(_WAYS)


@pytest.mark.slow
@given(document=policies(), indent=st.sampled_from([None, 2]))
def test_mending_a_policy_leaves_one_that_loads_and_nothing_to_mend(
    document: dict[str, Any], indent: int | None
) -> None:
    """Whatever is mended, the rest of the remarks are those that were there."""
    data = json.dumps(document, indent=indent).encode()
    before = {(one.code, one.rule) for one in check_policy_document(data)[1]}
    text, done = mended(data)
    loaded, found = check_policy_document(text)
    assert loaded is not None
    assert {(one.code, one.rule) for one in found} <= before
    assert not {one.code for one in found} & _WAYS.keys()
    assert (text == data) is (not done)
