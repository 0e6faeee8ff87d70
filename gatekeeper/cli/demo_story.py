"""What `gatekeeper demo` tells: one policy, the evidence of each stage, and the steps with their captions."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gatekeeper.model.times import MICROSECONDS, format_time, require_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

POLICY_FILE = "policy.json"
LOG_FILE = "decision.ndjson"
TOKEN = "TOKEN"  # noqa: S105 - stands where the resume token of the hold goes

POLICY: dict[str, Any] = {
    "policy_id": "demo",
    "policy_version": "1",
    "guardrails": [
        {"metric": "error_ratio", "op": "<=", "threshold": 0.01, "budget_delta": 0.002, "range": [0, 1]},
        {"metric": "latency_p95_ms", "op": "<=", "threshold": 400, "range": [0, 60000]},
    ],
    "constraints": [{"kind": "must_be_zero", "metric": "data_loss_incidents"}],
    "missing_data_policy": {"on_missing": "DEGRADE", "on_missing_baseline": "DEGRADE", "max_freshness_seconds": 120},
    "stages": ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100"],
    "stage_policy": {"min_stage_seconds": 900},
    "holds": {
        "observation_missing": {"retry_after_seconds": 300, "escalate_after_seconds": 1800, "owners": ["sre"]},
    },
}

_BEGIN = "2026-02-18T01:00:00Z"
_PAUSE_SECONDS = 1200  # more than min_stage_seconds, so that no stage is too short
_LAG_SECONDS = 20  # of the newest sample behind the collection
_BASE = {"error_ratio": 0.0061, "latency_p95_ms": 352, "data_loss_incidents": 0}
_BASELINE = {"error_ratio": 0.0058}


@dataclass(frozen=True)
class Step:
    """One command of the story.

    Attributes:
        caption: said before it.
        argv: what is typed behind `gatekeeper`.
        exit_code: what it must end with.
        moral: said after it.
    """

    caption: str
    argv: tuple[str, ...]
    exit_code: int
    moral: str


def _evidence_path(name: str) -> str:
    return f"evidence/{name}.json"


def _snapshot(number: int, changes: dict[str, float | None]) -> dict[str, Any]:
    """The base snapshot, collected for the *number*-th time (from 0), with *changes*; None takes a metric out."""
    collected_at = require_time(_BEGIN) + number * _PAUSE_SECONDS * MICROSECONDS
    metrics = {name: value for name, value in {**_BASE, **changes}.items() if value is not None}
    meta = {
        "collected_at": format_time(collected_at),
        "window": "5m",
        "watermark_event_time": format_time(collected_at - _LAG_SECONDS * MICROSECONDS),
    }
    return {"metrics": metrics, "baseline": {"metrics": _BASELINE, "_meta": meta}, "_meta": meta}


def files() -> dict[str, bytes]:
    """Path below the demo's directory -> content: the policy, and evidence collected 20 minutes apart."""
    documents = {
        POLICY_FILE: POLICY,
        _evidence_path("1-DRY_RUN"): _snapshot(0, {}),
        _evidence_path("2-SHADOW"): _snapshot(1, {"latency_p95_ms": 349}),
        _evidence_path("3-CANARY_10"): _snapshot(2, {"error_ratio": 0.0063, "latency_p95_ms": 361}),
        _evidence_path("4-CANARY_25-incomplete"): _snapshot(3, {"error_ratio": 0.0064, "latency_p95_ms": None}),
        _evidence_path("5-CANARY_25"): _snapshot(4, {"error_ratio": 0.0064, "latency_p95_ms": 366}),
        _evidence_path("6-CANARY_50"): _snapshot(5, {"error_ratio": 0.013, "latency_p95_ms": 420}),
    }
    return {path: json.dumps(document, indent=2).encode() + b"\n" for path, document in documents.items()}


def _check(name: str) -> tuple[str, ...]:
    return (
        *("check", "--policy", POLICY_FILE, "--experiment", "exp-42", "--variant", "B"),
        *("--snapshot", _evidence_path(name), "--as-of", "snapshot", "--log", LOG_FILE),
    )


STEPS = (
    Step(
        "DRY_RUN. Nobody meets the change yet: does the policy load, is the evidence there?",
        _check("1-DRY_RUN"),
        0,
        "ACCEPT. The pipeline goes on. The answer was on disk before it was told.",
    ),
    Step(
        "SHADOW. Copied traffic, no user sees an answer.",
        _check("2-SHADOW"),
        0,
        "ACCEPT.",
    ),
    Step(
        "CANARY_10. May every tenth user get the change?",
        _check("3-CANARY_10"),
        0,
        "ACCEPT. The pipeline sets the share of traffic to 10 percent.",
    ),
    Step(
        "CANARY_25. This time the latency is missing: its exporter is down. Not known is neither good nor bad.",
        _check("4-CANARY_25-incomplete"),
        2,
        "DEGRADE. The run is held at 10 percent. The hold says what is missing, who owns it and how to resume.",
    ),
    Step(
        "Twenty minutes later the exporter is back. The hold is resumed with the complete evidence.",
        ("resume", TOKEN, "--snapshot", _evidence_path("5-CANARY_25"), "--as-of", "snapshot", "--log", LOG_FILE),
        0,
        "ACCEPT. The run goes on to 25 percent.",
    ),
    Step(
        "CANARY_50. Errors have doubled, and answers are slow.",
        _check("6-CANARY_50"),
        1,
        "REJECT. The pipeline rolls back. The run is stopped for good; a new revision is a new run.",
    ),
    Step(
        "After the incident: what was decided, and why?",
        ("replay", "--log", LOG_FILE),
        0,
        "Six decisions, each with all it was made from.",
    ),
    Step(
        "Can the log be trusted? The chain is followed, and every decision is made again.",
        ("verify", "--log", LOG_FILE),
        0,
        "Nothing was changed, and the same evidence gives the same verdicts.",
    ),
)
