"""The policies that the repository ships load, and say what their README promises."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from gatekeeper import load_policy
from gatekeeper.model.policy import Guardrail, HoldPolicy, MissingDataPolicy, Policy
from gatekeeper.review.load import check_policy_document

POLICIES = Path(__file__).parents[2] / "policies"


def test_every_shipped_policy_loads() -> None:
    """A new file in the folder is checked without being listed here."""
    names = sorted(path.name for path in POLICIES.glob("*.json"))
    assert names == ["checkout-guarded.json", "exp-eval-policy.json"]
    for name in names:
        assert load_policy(POLICIES / name).policy_id == name.removesuffix(".json")


def test_the_starter_policy_has_the_warnings_that_its_readme_names() -> None:
    """The founding form loads unchanged; what it leaves open is said."""
    loaded, found = check_policy_document((POLICIES / "exp-eval-policy.json").read_bytes())
    assert loaded is not None
    assert sorted(one.code for one in found) == [
        "policy.budget_without_baseline_rule",
        "policy.guardrail_without_range",
        "policy.guardrail_without_range",
        "policy.hold_category_unnamed",
    ]


def test_the_starter_policy_says_what_the_specification_says() -> None:
    """Its numbers are those that every example of the documentation counts with."""
    policy = load_policy(POLICIES / "exp-eval-policy.json")
    assert policy.policy_version == "2026-02-18"
    assert [(one.metric, one.threshold, one.budget_delta) for one in policy.guardrails] == [
        ("error_rate_5m", 0.01, 0.001),
        ("p95_latency_ms_5m", 400, 20),
    ]
    assert [one.metric for one in policy.constraints] == ["pii_leak_incidents", "prohibited_feature_present"]
    assert policy.missing_data_policy.on_missing_baseline is None
    assert policy.stages == ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100")
    assert policy.holds["evidence_missing"].deadline_seconds == 259200


def test_the_fuller_policy_answers_its_only_warning() -> None:
    """It is the example of a policy that leaves nothing open."""
    loaded, found = check_policy_document((POLICIES / "checkout-guarded.json").read_bytes())
    assert loaded is not None
    assert [(one.code, one.suppressed is None) for one in found] == [("policy.canary_jump", False)]


@pytest.mark.parametrize("kind", [Policy, Guardrail, MissingDataPolicy, HoldPolicy])
def test_the_fuller_policy_shows_every_optional_key(kind: type) -> None:
    """A key that no example shows is a key that nobody finds."""
    text = (POLICIES / "checkout-guarded.json").read_text()
    assert {field.name for field in fields(kind)} <= set(re.findall(r'"(\w+)":', text))


def test_the_readme_names_every_policy() -> None:
    """The table of the folder is complete."""
    readme = (POLICIES / "README.md").read_text()
    for path in POLICIES.glob("*.json"):
        assert f"`{path.name}`" in readme
        assert json.loads(path.read_text())
