"""The engines that are timed must do the same work: the cases on which they are compared are right and various."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.decision import Decision
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.review.load import load_policy

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def cases(monkeypatch: pytest.MonkeyPatch) -> Any:
    """bench/cases.py, which imports its neighbours as a script does."""
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("cases")


def decided(cases: Any, snapshot: Any, context: Any) -> Decision:
    """What the evaluator says under the example policy."""
    policy = load_policy(importlib.import_module("evidence").POLICY)
    assert cases is not None
    return evaluate(policy, snapshot_from_document(snapshot), Context.from_dict(context))


def test_every_compared_case_has_the_verdict_expected_by_hand(cases: Any) -> None:
    """A case that both engines get wrong would compare well."""
    for name, verdict, snapshot, context in cases.compared():
        assert decided(cases, snapshot, context).verdict.value == verdict, name


def test_the_compared_cases_reach_every_rule_and_most_outcomes(cases: Any) -> None:
    """An engine that leaves a rule out, or always passes it, must be found out."""
    findings = [
        one for _, _, snapshot, context in cases.compared() for one in decided(cases, snapshot, context).findings
    ]
    failed = Counter(one.rule for one in findings if one.code is not None)
    assert {one.rule for one in findings} - failed.keys() == {
        "history",  # the log's business, no engine has one
        "required:error_rate_5m", "required:p95_latency_ms_5m", "required:pii_leak_incidents",
        "required:prohibited_feature_present",
        "evidence:change_id",
        "promotion:conversion_rate:assignment_stable", "promotion:conversion_rate:min_lift",
    }  # fmt: skip
    assert {one.outcome.value for one in findings} >= {
        "PASS", "VIOLATED", "MISSING", "STALE", "NOT_READY", "NOT_EVALUATED", "OBSERVED",
    }  # fmt: skip


def test_the_timed_inputs_are_all_different_and_of_both_verdicts(cases: Any) -> None:
    """An engine that remembers its last answer must gain nothing."""
    verdicts = Counter(decided(cases, snapshot, context).verdict.value for snapshot, context in cases.timed())
    assert verdicts == {"ACCEPT": cases.TIMED / 2, "REJECT": cases.TIMED / 2}
    assert len({str(snapshot["metrics"]) for snapshot, _ in cases.timed()}) == cases.TIMED


def test_the_rego_policy_takes_its_limits_from_the_example_policy() -> None:
    """A number written into the rego text would go its own way when the example changes."""
    text = (BENCH / "peers" / "policy.rego").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    numbers = set(re.findall(r"(?<![\w.])\d[\d.]*", re.sub(r'"[^"]*"', "", code)))
    assert numbers <= {"0", "1", "1000000000"}


def test_evidence_moves_in_time_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time left behind would make every measured check stale."""
    monkeypatch.syspath_prepend(str(BENCH))
    evidence = importlib.import_module("evidence")
    now = evidence.just_now()
    moved = evidence.collected(evidence.example("CANARY_10"), now)
    assert moved["_meta"]["collected_at"] == evidence.zulu(now)
    assert moved["baseline"]["_meta"]["collected_at"] == evidence.zulu(now)
    assert "2026-02-18" not in str(moved).replace(evidence.zulu(now)[:10], "")
    assert policy_from_document(evidence.read_json(evidence.POLICY)) == load_policy(evidence.POLICY)
