"""Change classes, policies edited in mid run, damaged histories, references and approvals."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.model.context import PolicyDigests
from tests.evaluator.build import answer, coming, decide, found, requested, told

IRREVERSIBLE = "stateful_or_irreversible"


def test_an_unsafe_change_is_refused_at_once() -> None:
    """REJECT at the first check, with all findings."""
    decision = decide(stage="DRY_RUN", change_class="unsafe_for_experiment")
    assert answer(decision) == ("REJECT", ["change_refused:unsafe_for_experiment"], [])
    assert told(decision, "change_class") == ("VIOLATED", "change_refused:unsafe_for_experiment")
    assert told(decision, "guardrail:errors") == ("PASS", None)


@pytest.mark.parametrize(
    ("stage", "approvals", "verdict"),
    [
        ("DRY_RUN", (), "ACCEPT"),
        ("SHADOW", (), "ACCEPT"),
        ("CANARY_10", (), "DEGRADE"),
        ("ROLLOUT_100", (), "DEGRADE"),
        ("CANARY_10", ({"stage": "CANARY_10"},), "ACCEPT"),
        ("CANARY_25", ({"stage": "CANARY_10"},), "DEGRADE"),
        ("CANARY_25", ({"stage": "CANARY_10"}, {"stage": "CANARY_25"}), "ACCEPT"),
        ("CANARY_10", ({},), "DEGRADE"),
        ("CANARY_10", ("CANARY_10",), "DEGRADE"),
    ],
)
def test_an_irreversible_change_needs_an_approval_of_this_stage(stage: str, approvals: Any, verdict: str) -> None:
    """From the first canary on, every stage its own."""
    decision = decide(stage=stage, change_class=IRREVERSIBLE, approvals=approvals)
    assert decision.verdict.value == verdict
    if verdict == "DEGRADE":
        assert answer(decision)[1:] == (["evidence_missing:approval"], ["approval"])
        assert requested(decision) == [("collect_approval", {"stage": stage}), ("rerun_gate_check", {"stage": stage})]


def test_a_policy_may_ask_for_an_approval_of_any_change() -> None:
    """`approval` among the required references; a reference of that name does not meet it."""
    policy = {"evidence": {"required": ["approval", "change_id"], "on_missing": "REJECT"}}
    decision = decide(policy, evidence={"approval": "yes", "change_id": "CHG-1"})
    assert answer(decision) == ("DEGRADE", ["evidence_missing:approval"], ["approval"])
    rules = [finding.rule for finding in decision.findings if finding.rule.startswith("evidence")]
    assert rules == ["evidence:change_id", "evidence:approval"]
    approved = decide(policy, evidence={"change_id": "CHG-1"}, approvals=({"stage": "CANARY_10"},))
    assert answer(approved) == ("ACCEPT", [], [])
    assert told(approved, "evidence:approval") == ("PASS", None)


def test_a_reversible_change_needs_no_approval() -> None:
    """And has no finding on one."""
    assert "evidence:approval" not in [finding.rule for finding in decide().findings]


@pytest.mark.parametrize("wanted", ["DEGRADE", "REJECT"])
@pytest.mark.parametrize("evidence", [{}, {"change_id": ""}, {"change_id": "  "}, {"change_id": None}])
def test_a_required_reference_that_is_absent_or_empty_is_missing(evidence: dict[str, Any], wanted: str) -> None:
    """The policy's own `on_missing` for references decides."""
    policy = {"evidence": {"required": ["change_id"], "on_missing": wanted}}
    decision = decide(policy, evidence=evidence)
    assert answer(decision) == (wanted, ["evidence_missing:change_id"], ["change_id"])
    if wanted == "DEGRADE":
        assert requested(decision)[0] == ("attach_evidence", {"name": "change_id"})
    assert answer(decide(policy, evidence={"change_id": "CHG-1"})) == ("ACCEPT", [], [])


def test_another_policy_than_the_runs_own_holds() -> None:
    """Both digests are in the finding, and the way out is named."""
    digests = PolicyDigests(run="sha256:aa", given="sha256:bb")
    decision = decide(digests=digests)
    assert answer(decision) == ("DEGRADE", ["precondition_unknown:policy_changed"], [])
    finding = found(decision, "policy")
    assert (finding.outcome.value, finding.observed, finding.limit) == ("NOT_READY", "sha256:bb", "sha256:aa")
    assert requested(decision) == [
        ("adopt_policy", {"digest": "sha256:bb"}),
        ("rerun_gate_check", {"stage": "CANARY_10"}),
    ]
    same = PolicyDigests(run="sha256:aa", given="sha256:aa")
    assert answer(decide(digests=same)) == ("ACCEPT", [], [])


def test_the_digests_may_be_given_as_a_log_writes_them() -> None:
    """A caller of the library has no other form at hand, and gets a decision instead of an AttributeError."""
    decision = decide(digests={"run": "sha256:aa", "given": "sha256:bb"})
    assert answer(decision) == ("DEGRADE", ["precondition_unknown:policy_changed"], [])
    assert answer(decide(digests={"run": "sha256:aa", "given": "sha256:aa"})) == ("ACCEPT", [], [])
    for odd in ("sha256:aa", ["sha256:aa", "sha256:bb"]):
        with pytest.raises(TypeError, match="policy"):
            decide(digests=odd)


def test_an_incomplete_history_holds() -> None:
    """A run whose log crosses damage or a gap."""
    decision = decide(history="incomplete")
    assert answer(decision) == ("DEGRADE", ["precondition_unknown:history_incomplete"], [])
    assert told(decision, "history") == ("NOT_READY", "precondition_unknown:history_incomplete")


def test_harm_is_told_whatever_the_preconditions_are() -> None:
    """Confirmed harm over lack of knowledge."""
    decision = decide(snapshot={"metrics": {"leaks": 1}}, history="incomplete")
    assert answer(decision) == ("REJECT", ["constraint_violation:leaks"], [])


def test_a_stage_that_the_policy_does_not_name_is_refused() -> None:
    """The one thing that is an error and not a finding."""
    with pytest.raises(InputRefusedError, match="CANARY_33"):
        decide(stage="CANARY_33")


def test_an_irreversible_reject_escalates_instead_of_rolling_back() -> None:
    """Nothing to roll back to; at DRY_RUN nothing has happened yet."""
    harmed = {"metrics": {"leaks": 1}}
    exposed = decide(snapshot=harmed, change_class=IRREVERSIBLE)
    assert coming(exposed) == [("escalate", {"reason_codes": ["constraint_violation:leaks"]})]
    assert coming(decide(snapshot=harmed)) == [("rollback", {"to_percent": 0})]
    assert coming(decide(snapshot=harmed, stage="SHADOW", change_class=IRREVERSIBLE)) == [
        ("rollback", {"to_percent": 0})
    ]
    assert found(exposed, "change_class").observed == IRREVERSIBLE
