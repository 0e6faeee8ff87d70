"""Suppressions: a remark is answered with a reason, at its own place, and never in silence."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.model.policy import Suppression, policy_from_document
from gatekeeper.review.load import check_policy_document, load_policy_document
from gatekeeper.review.warnings import warnings_for
from tests.review.documents import encoded, errors
from tests.review.test_advice import QUIET

M, N = ({"metric": name, "op": "<=", "threshold": 5} for name in "mn")
CODE = "policy.guardrail_without_range"
BOTH = {**QUIET, "guardrails": [M, N]}


def said(*suppressions: dict[str, Any], **parts: Any) -> list[tuple[str, str, str | None]]:
    """Code, rule and reason of every remark about a policy with two guardrails without range."""
    loaded = load_policy_document(encoded({**BOTH, "suppressions": list(suppressions), **parts}))
    return [(one.code.removeprefix("policy."), one.rule, one.suppressed) for one in warnings_for(loaded)]


def test_a_suppression_answers_the_rule_that_it_names_and_no_other() -> None:
    """A reason for one metric is none for the next."""
    assert said({"code": CODE, "rule": "guardrail:n", "reason": "a count"}) == [
        ("guardrail_without_range", "guardrail:m", None),
        ("guardrail_without_range", "guardrail:n", "a count"),
    ]


def test_a_suppression_without_a_rule_answers_the_code_everywhere() -> None:
    """The first that meets gives the reason."""
    assert said({"code": CODE, "rule": "guardrail:n", "reason": "first"}, {"code": CODE, "reason": "counts"}) == [
        ("guardrail_without_range", "guardrail:m", "counts"),
        ("guardrail_without_range", "guardrail:n", "first"),
    ]


@pytest.mark.parametrize(
    "stray",
    [
        {"code": "policy.canary_jump", "reason": "gone"},
        {"code": "policy.no_such_code", "reason": "misspelt"},
        {"code": CODE, "rule": "guardrail:other", "reason": "renamed"},
        {"code": CODE, "rule": "m", "reason": "half a name"},
    ],
)
def test_a_suppression_that_meets_nothing_is_remarked_upon(stray: dict[str, Any]) -> None:
    """What it answered is gone or misspelt; left behind, it would silence the next."""
    found = said({"code": CODE, "reason": "counts"}, stray)
    assert [one for one in found if one[2] is None] == [("unused_suppression", "", None)]


def test_the_remark_about_a_stray_suppression_cannot_be_suppressed() -> None:
    """Or the list could only grow."""
    stray = {"code": "policy.canary_jump", "reason": "gone"}
    found = said({"code": CODE, "reason": "counts"}, stray, {"code": "policy.unused_suppression", "reason": "hush"})
    assert [one for one in found if one[2] is None] == [("unused_suppression", "", None)] * 2


@pytest.mark.parametrize(
    ("suppression", "found"),
    [
        ({"code": CODE}, [("/suppressions/0/reason", "policy.missing_key")]),
        ({"code": CODE, "reason": ""}, [("/suppressions/0/reason", "policy.empty_text")]),
        ({"code": CODE, "reason": " "}, [("/suppressions/0/reason", "policy.empty_text")]),
        ({"reason": "r"}, [("/suppressions/0/code", "policy.missing_key")]),
        ({"code": "", "reason": "r"}, [("/suppressions/0/code", "policy.empty_text")]),
        ({"code": CODE, "rule": "", "reason": "r"}, [("/suppressions/0/rule", "policy.empty_text")]),
        ({"code": CODE, "reason": None}, [("/suppressions/0/reason", "policy.null")]),
        ({"code": CODE, "reason": "r", "until": "2027"}, [("/suppressions/0/until", "policy.unknown_key")]),
    ],
)
def test_a_suppression_without_a_reason_does_not_load(
    suppression: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    """The reason is the point of it."""
    assert errors({**BOTH, "suppressions": [suppression]}) == found


def test_an_error_is_never_suppressed() -> None:
    """A file that does not load has no suppressions."""
    document = {**BOTH, "note": 1, "suppressions": [{"code": "policy.unknown_key", "reason": "r"}]}
    loaded, found = check_policy_document(encoded(document))
    assert loaded is None
    assert [(one.code, one.suppressed) for one in found] == [("policy.unknown_key", None)]


def test_suppressions_are_content() -> None:
    """Who answers a remark in another way has changed the policy; the evaluator reads the rest as it was."""
    plain, answered = ({**BOTH, **more} for more in ({}, {"suppressions": [{"code": CODE, "reason": "r"}]}))
    one, other = (load_policy_document(encoded(document)) for document in (plain, answered))
    assert one.digest != other.digest
    assert other.policy.suppressions == (Suppression(CODE, "r"),)
    assert policy_from_document(other.document) == other.policy
