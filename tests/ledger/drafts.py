"""Drafts as the orchestrator would make them, small, with only what a ledger looks at."""

from __future__ import annotations

from typing import Any

from gatekeeper.model.policy import LoadedPolicy, loaded_policy

POLICY_DIGEST = "sha256:" + "a" * 64
SNAPSHOT_DIGEST = "sha256:" + "c" * 64


def decision(
    run_id: str = "r",
    stage: str = "DRY_RUN",
    *,
    number: int = 1,
    verdict: str = "ACCEPT",
    from_stage: str | None = None,
    experiment: str = "e",
    variant: str = "B",
    token: str | None = None,
    first_held_at: str = "2026-02-18T01:00:00Z",
    attempt: int = 1,
    **extra: Any,
) -> dict[str, Any]:
    """A `decision` draft; a DEGRADE begins or goes on with the hold *token*."""
    resume = None
    if verdict == "DEGRADE":
        resume = {
            "resume_token": token or f"token-{run_id}",
            "attempt": attempt,
            "first_held_at": first_held_at,
            "next_evaluation": {"not_before": first_held_at, "on": ["snapshot"]},
            "owners": ["sre"],
            "escalate_at": first_held_at,
            "deadline_at": None,
            "requested_actions": [],
        }
    return {
        "kind": "decision",
        "run_id": run_id,
        "event_id": f"{run_id}:{stage}" + (f"#{number}" if number > 1 else ""),
        "experiment_id": experiment,
        "variant_id": variant,
        "revision": "sha256:rev",
        "policy_id": "p",
        "policy_version": "1",
        "policy_digest": POLICY_DIGEST,
        "stage": stage,
        "state_transition": {"from": from_stage, "to": stage},
        "input_digest": "sha256:" + "b" * 64,
        "snapshot_digest": SNAPSHOT_DIGEST,
        "metrics_snapshot": {"metrics": {"error_rate": 0.008}},
        "context": {"evaluated_at": "2026-02-18T01:00:10Z", "looks": 0},
        "decision": {
            "verdict": verdict,
            "reason_codes": [] if verdict == "ACCEPT" else ["guardrail_violation:error_rate"],
            "missing": [],
            "findings": [],
            "notes": [],
            "requested_actions": [],
            "next_actions": [],
        },
        "evidence_refs": {},
        "resume": resume,
        "change_class": "reversible",
        "attempt": attempt,
        "actor": "tester",
        **extra,
    }


def stop(run_id: str = "r", number: int = 1) -> dict[str, Any]:
    """An `action` draft that stops a run."""
    return {
        "kind": "action",
        "run_id": run_id,
        "event_id": f"{run_id}:action#{number}",
        "action": {"name": "stop", "reason": "incident", "params": {}},
        "decision": {"verdict": "REJECT", "reason_codes": ["change_refused:stopped"]},
        "actor": "tester",
    }


def accept_gap() -> dict[str, Any]:
    """An `action` draft by which a person takes an incomplete history as it is."""
    return {
        "kind": "action",
        "action": {"name": "accept-gap", "reason": "old segment is in the archive", "params": {}},
        "actor": "tester",
    }


def policy(version: str = "1", threshold: float = 0.01) -> LoadedPolicy:
    """A policy; another version or threshold is another digest."""
    return loaded_policy(
        {
            "policy_id": "p",
            "policy_version": version,
            "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": threshold}],
        }
    )
