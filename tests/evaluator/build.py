"""A small policy, its healthy evidence, and how tests change one thing at a time."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import snapshot_from_document

if TYPE_CHECKING:
    from gatekeeper.model.decision import Decision, Finding

NOW = "2026-02-18T01:00:10Z"
"""The moment of evaluation: ten seconds after the evidence was collected."""

POLICY: dict[str, Any] = {
    "policy_id": "checkout",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01, "budget_delta": 0.001}],
    "constraints": [
        {"kind": "must_be_zero", "metric": "leaks"},
        {"kind": "must_be_false", "metric": "banned"},
    ],
    "missing_data_policy": {"on_missing_baseline": "DEGRADE"},
}

SNAPSHOT: dict[str, Any] = {
    "metrics": {"errors": 0.008, "leaks": 0, "banned": False},
    "baseline": {"metrics": {"errors": 0.0075}},
    "_meta": {"collected_at": "2026-02-18T01:00:00Z"},
}


@dataclass(frozen=True)
class Whole:
    """A value that replaces an object instead of being merged into it."""

    value: Any


def changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy of *document* with *changes* merged into its objects; `...` removes a key, `Whole` replaces."""
    result = copy.deepcopy(document)
    for key, value in changes.items():
        if value is ...:
            result.pop(key, None)
        elif isinstance(value, Whole):
            result[key] = copy.deepcopy(value.value)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = changed(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def decide(policy: dict[str, Any] | None = None, snapshot: dict[str, Any] | None = None, **context: Any) -> Decision:
    """Judge the small policy on its healthy evidence, after the changes given; `digests` are those of the policies."""
    fields: dict[str, Any] = {"stage": "CANARY_10", "evaluated_at": NOW, **context}
    fields["policy"] = fields.pop("digests", None)
    return evaluate(
        policy_from_document(changed(POLICY, policy or {})),
        snapshot_from_document(changed(SNAPSHOT, snapshot or {})),
        Context(**fields),
    )


def found(decision: Decision, rule: str) -> Finding:
    """The finding of *rule*, of which there is exactly one."""
    (finding,) = [finding for finding in decision.findings if finding.rule == rule]
    return finding


def told(decision: Decision, rule: str) -> tuple[str, str | None]:
    """Outcome and code of the finding of *rule*."""
    finding = found(decision, rule)
    return finding.outcome.value, finding.code


def answer(decision: Decision) -> tuple[str, list[str], list[str]]:
    """Verdict, reason codes and `missing`."""
    return decision.verdict.value, list(decision.reason_codes), list(decision.missing)


def requested(decision: Decision) -> list[tuple[str, dict[str, Any]]]:
    """Names and parameters of the requested actions."""
    return [(action.name, dict(action.params)) for action in decision.requested_actions]


def coming(decision: Decision) -> list[tuple[str, dict[str, Any]]]:
    """Names and parameters of the next actions."""
    return [(action.name, dict(action.params)) for action in decision.next_actions]
