"""What is compiled once for a policy is invisible, and belongs to that policy alone."""

from __future__ import annotations

import copy
import dataclasses

from gatekeeper.evaluator import evaluate
from gatekeeper.evaluator.plan import stage_plan
from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.context import Context
from gatekeeper.model.decision import Finding
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from tests.evaluator.build import NOW, POLICY, SNAPSHOT, decide


def test_judging_leaves_no_trace_on_the_policy() -> None:
    """Equality, repr and fields are those of a policy that was never used."""
    used, fresh = policy_from_document(POLICY), policy_from_document(POLICY)
    evaluate(used, snapshot_from_document(SNAPSHOT), Context(stage="CANARY_10", evaluated_at=NOW))
    assert used == fresh
    assert repr(used) == repr(fresh)
    assert dataclasses.asdict(used) == dataclasses.asdict(fresh)


def test_rules_are_compiled_once_for_each_way_of_asking() -> None:
    """The same plan again, and another one for another stage or for remaining."""
    policy = policy_from_document(POLICY)
    first = stage_plan(policy, "CANARY_10", is_entering=True)
    assert stage_plan(policy, "CANARY_10", is_entering=True) is first
    assert stage_plan(policy, "CANARY_10", is_entering=False) is not first
    assert stage_plan(policy, "CANARY_25", is_entering=True) is not first


def test_a_policy_made_from_a_used_one_is_judged_by_its_own_rules() -> None:
    """`replace` does not take the compiled rules along."""
    used = policy_from_document(POLICY)
    snapshot, context = snapshot_from_document(SNAPSHOT), Context(stage="CANARY_10", evaluated_at=NOW)
    assert evaluate(used, snapshot, context).verdict.value == "ACCEPT"
    stricter = dataclasses.replace(used, guardrails=(dataclasses.replace(used.guardrails[0], threshold=0.001),))
    assert evaluate(stricter, snapshot, context).verdict.value == "REJECT"
    assert evaluate(used, snapshot, context).verdict.value == "ACCEPT"


def test_the_snapshot_is_not_changed() -> None:
    """The log holds what was judged."""
    document = copy.deepcopy(SNAPSHOT)
    snapshot = snapshot_from_document(document)
    before = canonical_bytes(snapshot.document)
    evaluate(policy_from_document(POLICY), snapshot, Context(stage="CANARY_10", evaluated_at=NOW))
    assert canonical_bytes(snapshot.document) == before


def test_findings_are_whole_values() -> None:
    """Those built from templates have every field, in the declared order, and equal constructed ones."""
    names = [field.name for field in dataclasses.fields(Finding)]
    for finding in decide(snapshot={"metrics": {"errors": 0.02, "leaks": "x"}}).findings:
        assert list(finding.to_dict()) == names
        assert Finding(**finding.__dict__) == finding
        assert hash(Finding(**finding.__dict__)) == hash(finding)
