"""The schema of a policy and `policy check` are two validators of one format."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gatekeeper.documents.schema_words import NOT_BLANK
from gatekeeper.model import policy as model
from gatekeeper.review.load import check_policy_document
from gatekeeper.review.schema import policy_schema
from tests.docs.schema_page import semantic_rules, unlisted
from tests.documents.near_valid import paths, spoilt
from tests.review.documents import FULL, MISSING, changed, encoded, policies

SCHEMA = policy_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
KEYS = sorted({str(path[-1]) for path, _ in paths(FULL) if isinstance(path[-1], str)})


def refused(document: Any) -> list[tuple[str, str]]:
    """Code and pointer of every problem for which `policy check` refuses a document."""
    loaded, found = check_policy_document(encoded(document), "p.json")
    return [(one.code, one.pointer) for one in found] if loaded is None else []


def is_valid(document: Any) -> bool:
    """What the schema says of the same bytes, read as any program reads JSON."""
    return VALIDATOR.is_valid(json.loads(encoded(document)))


@pytest.mark.slow
@settings(max_examples=400)
@given(spoilt(st.just(FULL) | policies(), KEYS))
def test_the_two_validators_agree_but_for_the_listed_rules(document: dict[str, Any]) -> None:
    """An editor that marks what loads is switched off; one that passes what does not load is believed."""
    problems = refused(document)
    if is_valid(document):
        assert unlisted(problems, "Policy") == []
    else:
        assert problems != []


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=4))
def test_what_is_no_object_is_no_policy(document: Any) -> None:
    """The two agree on it, too."""
    assert not is_valid(document)
    assert refused(document) != []


def with_guardrail(**changes: Any) -> dict[str, Any]:
    """FULL with another guardrail."""
    return changed(FULL, "guardrails/0", {**FULL["guardrails"][0], **changes})


WITNESSES: dict[tuple[str, str], dict[str, Any]] = {
    ("policy.duplicate_primary", "/primary/1/metric"): changed(
        FULL, "primary", [{"metric": "lift", "direction": "up"}, {"metric": "lift", "direction": "down"}]
    ),
    ("policy.bad_range", "/guardrails/0/range"): with_guardrail(range=[1, 1]),
    ("policy.unknown_stage", "/guardrails/0/stages/0"): with_guardrail(stages=["CANARY_11"]),
    ("policy.unknown_stage", "/constraints/0/stages/0"): changed(FULL, "constraints/0/stages", ["CANARY_11"]),
    ("policy.unknown_stage", "/promotion_gate/required_for_stages/0"): changed(
        FULL, "promotion_gate/required_for_stages", ["CANARY_11"]
    ),
    ("policy.unknown_stage", "/stages/4"): changed(
        FULL, "stages", [*FULL["stages"][:-1], "CANARY_99.99999999999999999", "ROLLOUT_100"]
    ),
    ("policy.stage_order", "/stages/2"): changed(
        FULL, "stages", ["CANARY_20", "CANARY_10", "CANARY_0.5", "ROLLOUT_100"]
    ),
    ("policy.bad_url", "/guardrails/0/runbook"): with_guardrail(runbook="https://a.example.com/\u200b"),
    ("policy.bad_url", "/constraints/0/runbook"): changed(FULL, "constraints/0/runbook", "https://a.example.com/\x07"),
    ("policy.bad_text", "/policy_id"): changed(FULL, "policy_id", "\ud800"),
    ("policy.not_a_number", "/guardrails/0/threshold"): with_guardrail(threshold=2**53),
}


@pytest.mark.parametrize("problem", WITNESSES)
def test_each_listed_rule_is_one_that_the_schema_cannot_see(problem: tuple[str, str]) -> None:
    """A row that the schema could state would hide a gap in it."""
    assert is_valid(WITNESSES[problem])
    assert problem in refused(WITNESSES[problem])


def test_every_row_of_the_list_has_its_witness() -> None:
    """Each code at each of its places."""
    for rule in semantic_rules("Policy"):
        for place in rule.places or ("",):
            seen = [
                problem for problem in WITNESSES if type(rule)(rule.code, (place,) if place else ()).covers(*problem)
            ]
            assert seen, (rule.code, place)


SLIPS: list[tuple[str, Any]] = [
    ("policy_id", " \u2003"),
    ("polcy", 1),
    ("guardrails/0/threshhold", 1),
    ("guardrails/0/op", "=<"),
    ("guardrails/0/metric", ""),
    ("guardrails/0/budget_delta", -0.001),
    ("guardrails/0/threshold", None),
    ("guardrails/0/range", [0]),
    ("guardrails/0/stages", []),
    ("guardrails/0/runbook", "https://ci:secret@a.example.com"),
    ("guardrails/0/runbook", "https://a.example.com/x\n"),
    ("guardrails/0/runbook", "http\u017f://a.example.com"),  # a long s, which is an s to whoever ignores case
    ("guardrails/0", {"metric": "m", "op": "<="}),
    ("constraints/0/kind", "must_be_true"),
    ("constraints/0/stages", ["CANARY_010"]),
    ("missing_data_policy/required_metrics", [""]),
    ("missing_data_policy/max_freshness_seconds", 3_153_600_001),
    ("promotion_gate/required_for_stages", MISSING),
    ("primary", []),
    ("primary", MISSING),
    ("stages", []),
    ("stages", ["CANARY_10", "CANARY_20"]),
    ("stages", ["DRY_RUN", "ROLLOUT_100"]),
    ("stages", ["CANARY_0.0", "ROLLOUT_100"]),
    ("stages", ["CANARY_10", "CANARY_10", "ROLLOUT_100"]),
    ("stage_policy/min_stage_seconds", 0),
    ("evidence/required", ["\t"]),
    ("holds/change_refused", {}),
    ("holds/evidence_missing/owners", []),
    ("holds/evidence_missing/deadline_seconds", MISSING),
    ("holds/evidence_missing/deadline_seconds", 0),
    ("suppressions/0/code", MISSING),
    ("suppressions/0/reason", MISSING),
    ("suppressions/0/reason", " "),
    ("suppressions/0/rule", ""),
    ("suppressions/0/why", "r"),
    ("suppressions", {}),
]


@pytest.mark.parametrize(("path", "value"), SLIPS)
def test_an_editor_marks_the_slips_that_a_schema_can_see(path: str, value: Any) -> None:
    """Each of these is refused by both, so that none can be moved to the list unseen."""
    assert not is_valid(changed(FULL, path, value))
    assert refused(changed(FULL, path, value)) != []


@pytest.mark.parametrize(
    "document", [{}, {"constraints": []}, {"guardrails": [{**FULL["guardrails"][0], "enforcement": "observe"}]}]
)
def test_a_policy_that_asks_nothing_is_marked(document: dict[str, Any]) -> None:
    """It would accept everything."""
    document = {"policy_id": "p", "policy_version": "1", **document}
    assert not is_valid(document)
    assert ("policy.no_rule", "") in refused(document)


def test_words_are_those_of_the_code() -> None:
    """Operators, directions, verdicts, kinds, precedences: each enum once, as the program has it."""
    for kind in (
        model.OnTrouble, model.OnDeadline, model.Operator, model.Direction, model.Enforcement, model.ConstraintKind,
        model.Precedence,
    ):  # fmt: skip
        assert SCHEMA["$defs"][kind.__name__]["enum"] == [member.value for member in kind]


def test_what_is_blank_is_the_same_to_both() -> None:
    """Character by character: what `str.strip` takes away is what the pattern leaves out."""
    blank = {chr(code) for code in range(0x110000) if not re.search(NOT_BLANK, chr(code))}
    assert blank == {chr(code) for code in range(0x110000) if not chr(code).strip()}
