"""`evidence_first` gives what the founding order gives, by an oracle that shares no code with the judge.

SPEC 5.4: required metrics, freshness (stated), skew, constraints, guardrail thresholds, ACCEPT; the
first that finds something decides alone, and a constraint that is missing decides before violations
found so far.
"""

from __future__ import annotations

import operator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document
from tests.properties.strategies import EVALUATED_AT, STAGES, moment, thousandths, trouble

Answer = tuple[str, list[str], list[str]]

pytestmark = pytest.mark.slow

HEALTHY = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
NAMES = ("a", "b", "c", "d")


def founding_answer(policy: dict[str, Any], snapshot: dict[str, Any]) -> Answer:
    """Verdict, reason codes and missing, as the founding driver had them."""
    metrics, meta, rules = snapshot["metrics"], snapshot["_meta"], policy["missing_data_policy"]
    absent = sorted(name for name in rules["required_metrics"] if metrics.get(name) is None)
    if absent:
        return rules["on_missing"], ["observation_missing:required_metric"], absent
    if "max_freshness_seconds" in rules:
        if "freshness_seconds" not in meta:
            return rules["on_stale"], ["observation_missing:freshness_seconds"], ["freshness_seconds"]
        if meta["freshness_seconds"] > rules["max_freshness_seconds"]:
            return rules["on_stale"], ["observation_stale:over_freshness_budget"], []
    if "max_watermark_skew_seconds" in rules and len(meta.get("sources", ())) > 1:
        marks = [datetime.fromisoformat(source["watermark_event_time"]) for source in meta["sources"]]
        if (max(marks) - min(marks)).total_seconds() > rules["max_watermark_skew_seconds"]:
            return rules["on_stale"], ["observation_stale:watermark_skew"], []
    violations = []
    for constraint in policy["constraints"]:
        name = constraint["metric"]
        if metrics.get(name) is None:
            return rules["on_missing"], ["observation_missing:constraint_metric"], [name]
        if metrics[name] != 0:
            violations.append(f"constraint_violation:{name}")
    if violations:
        return "REJECT", violations, []
    for guardrail in policy["guardrails"]:
        name = guardrail["metric"]
        if metrics.get(name) is None:
            return rules["on_missing"], ["observation_missing:guardrail_metric"], [name]
        if not HEALTHY[guardrail["op"]](metrics[name], guardrail["threshold"]):
            return "REJECT", [f"guardrail_violation:{name}"], []
    return "ACCEPT", [], []


@st.composite
def founding_inputs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A policy of the founding form and a snapshot that both sides can judge.

    Where freshness is stated it is no younger than any watermark; where it is not, no watermark stands
    in for it, which the founding driver did not know.
    """
    constrained = draw(st.lists(st.sampled_from(["leaks", "losses", "banned"]), unique=True, max_size=3))
    guarded = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4))
    rules: dict[str, Any] = {
        "required_metrics": draw(
            st.lists(st.sampled_from([*NAMES, "leaks", "banned", "other"]), unique=True, max_size=2)
        ),
        "on_missing": draw(trouble()),
        "on_stale": draw(trouble()),
        "precedence": "evidence_first",
    }
    if draw(st.booleans()):
        rules["max_freshness_seconds"] = draw(st.sampled_from([60, 120]))
    if draw(st.booleans()):
        rules["max_watermark_skew_seconds"] = draw(st.sampled_from([30, 60]))
    policy = {
        "policy_id": "founding",
        "policy_version": "1",
        "guardrails": [
            {
                "metric": name,
                "op": draw(st.sampled_from(sorted(HEALTHY))),
                "threshold": draw(thousandths(0, 5)),
                **draw(st.sampled_from([{}, {"budget_delta": 0.001}])),
            }
            for name in guarded
        ],
        "constraints": [
            {"kind": "must_be_false" if name == "banned" else "must_be_zero", "metric": name} for name in constrained
        ],
        "missing_data_policy": rules,
    }
    metrics: dict[str, Any] = {name: draw(thousandths(0, 5)) for name in NAMES}
    metrics |= {"leaks": draw(st.sampled_from([0, 0, 0, 2])), "losses": draw(st.sampled_from([0, 0, 0, 1]))}
    metrics |= {"banned": draw(st.sampled_from([False, False, True])), "other": 1}
    for name in draw(st.lists(st.sampled_from(sorted(metrics)), unique=True, max_size=2)):
        if draw(st.booleans()):
            metrics[name] = None
        else:
            del metrics[name]
    meta: dict[str, Any] = {"collected_at": EVALUATED_AT}
    if draw(st.integers(0, 5)) > 0:
        ages = draw(st.lists(st.integers(0, 100), max_size=3))
        meta["freshness_seconds"] = max([0, *ages]) + draw(st.integers(0, 60))
        meta["sources"] = [
            {"name": f"source{number}", "watermark_event_time": moment(age)} for number, age in enumerate(ages)
        ]
    return policy, {"metrics": metrics, "_meta": meta}


@settings(max_examples=1000)
@given(founding_inputs(), st.sampled_from(STAGES[2:5]))
@example(
    (
        {
            "policy_id": "founding",
            "policy_version": "1",
            "guardrails": [{"metric": "a", "op": "<=", "threshold": 0.01}],
            "constraints": [
                {"kind": "must_be_zero", "metric": "leaks"},
                {"kind": "must_be_zero", "metric": "losses"},
            ],
            "missing_data_policy": {
                "required_metrics": [],
                "on_missing": "DEGRADE",
                "on_stale": "DEGRADE",
                "precedence": "evidence_first",
            },
        },
        {"metrics": {"a": 0.5, "leaks": 3}, "_meta": {}},
    ),
    "CANARY_10",
)
def test_evidence_first_is_the_founding_order(
    policy_and_snapshot: tuple[dict[str, Any], dict[str, Any]], stage: str
) -> None:
    """Verdict, reason codes and missing."""
    policy, snapshot = policy_and_snapshot
    decision = evaluate(
        policy_from_document(policy),
        snapshot_from_document(snapshot),
        Context(stage=stage, evaluated_at=EVALUATED_AT),
    )
    expected = founding_answer(policy, snapshot)
    event(expected[1][0].split(":")[0] if expected[1] else "ACCEPT")
    assert (decision.verdict.value, list(decision.reason_codes), list(decision.missing)) == expected
