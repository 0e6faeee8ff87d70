"""Events and findings for the tests of this room, written by hand after SPEC 5 and 7."""

from __future__ import annotations

from typing import Any

RUN = "exp-42:B:2026-02-18"
TOKEN = "hold-0123456789abcdef01234567"
HIDDEN = "s3cr3t"


def finding(rule: str, outcome: str, **fields: Any) -> dict[str, Any]:
    """A finding with every field that SPEC 5 names."""
    empty = dict.fromkeys(("code", "metric", "observed", "op", "limit", "baseline", "margin", "source", "would_be"))
    return {"rule": rule, "outcome": outcome, **empty, **fields}


def decision(verdict: str, **fields: Any) -> dict[str, Any]:
    """A decision without anything that is not given."""
    parts = ("reason_codes", "missing", "findings", "notes", "requested_actions", "next_actions")
    return {"verdict": verdict, **{part: [] for part in parts}, **fields}


def event(
    decided: dict[str, Any], *, stage: str = "CANARY_25", before: str | None = "CANARY_10", **fields: Any
) -> dict[str, Any]:
    """A decision event as SPEC 7 shows it."""
    return {
        "v": 1,
        "seq": 17,
        "prev": "sha256:" + "0" * 64,
        "ts": "2026-02-18T01:00:10.123456Z",
        "kind": "decision",
        "run_id": RUN,
        "event_id": f"{RUN}:{stage}",
        "experiment_id": "exp-42",
        "variant_id": "B",
        "revision": "r1",
        "policy_id": "exp-eval-policy",
        "policy_version": "2026-02-18",
        "policy_digest": "sha256:" + "1" * 64,
        "stage": stage,
        "state_transition": {"from": before, "to": stage},
        "input_digest": "sha256:" + "2" * 64,
        "snapshot_digest": "sha256:" + "3" * 64,
        "metrics_snapshot": {
            "metrics": {"error_rate_5m": 0.013},
            "observations": {
                "error_rate_5m": {
                    "source": "prometheus",
                    "endpoint": f"https://ci:{HIDDEN}@prom.example/api?token={HIDDEN}",
                }
            },
            "_meta": {
                "collected_at": "2026-02-18T01:00:05Z",
                "window": "5m",
                "freshness_seconds": 25,
                "sources": [{"name": "prometheus", "watermark_event_time": "2026-02-18T00:59:40Z"}],
            },
        },
        "context": {"stage": stage, "from_stage": before, "evaluated_at": "2026-02-18T01:00:10.000000Z", "attempt": 1},
        "decision": decided,
        "evidence_refs": {"change_id": "CHG-123"},
        "resume": None,
        "rml": {"world": "RML2", "action": "proceed"},
        "change_class": "reversible",
        "actor": "ci",
        "evaluator": "gatekeeper/1",
        **fields,
    }


OVER_LIMIT = finding(
    "guardrail:error_rate_5m",
    "VIOLATED",
    code="guardrail_violation:error_rate_5m",
    metric="error_rate_5m",
    observed=0.013,
    op="<=",
    limit=0.01,
    margin=-0.003,
    source="prometheus",
)
HEALTHY = finding(
    "guardrail:p95_latency_ms_5m",
    "PASS",
    metric="p95_latency_ms_5m",
    observed=360,
    op="<=",
    limit=400,
    margin=40,
    source="prometheus",
)
NOT_THERE = finding(
    "required:conversion_rate",
    "MISSING",
    code="observation_missing:required_metric",
    metric="conversion_rate",
)

ACCEPTED = event(
    decision(
        "ACCEPT",
        findings=[HEALTHY],
        next_actions=[{"name": "set_percent", "params": {"percent": 25}}],
    )
)
REJECTED = event(
    decision(
        "REJECT",
        reason_codes=["guardrail_violation:error_rate_5m"],
        findings=[HEALTHY, OVER_LIMIT],
        next_actions=[{"name": "rollback", "params": {"to_percent": 0}}],
    )
)
HELD = event(
    decision(
        "DEGRADE",
        reason_codes=["observation_missing:required_metric"],
        missing=["conversion_rate"],
        findings=[HEALTHY, NOT_THERE],
        notes=["no baseline: budgets were not checked"],
        requested_actions=[
            {"name": "collect_metric", "params": {"metric": "conversion_rate"}},
            {"name": "rerun_gate_check", "params": {"stage": "CANARY_25"}},
        ],
    ),
    resume={
        "resume_token": TOKEN,
        "attempt": 2,
        "first_held_at": "2026-02-18T00:55:00.000000Z",
        "next_evaluation": {"not_before": "2026-02-18T01:05:10.500000Z", "on": ["snapshot"]},
        "owners": ["sre", "checkout"],
        "escalate_at": "2026-02-18T01:25:00.000000Z",
        "deadline_at": "2026-02-19T00:55:00.000000Z",
        "on_deadline": "REJECT",
    },
)
STOPPED = {
    "v": 1,
    "seq": 18,
    "ts": "2026-02-18T02:00:00.000000Z",
    "kind": "action",
    "run_id": RUN,
    "event_id": f"{RUN}:action#1",
    "action": {"name": "stop", "reason": "pager says no", "params": {}},
    "decision": decision("REJECT", reason_codes=["change_refused:stopped"]),
    "actor": "alice",
}
EVENTS = {"accepted": ACCEPTED, "rejected": REJECTED, "held": HELD, "stopped": STOPPED}
