"""Inputs on which all engines must say the same before any of them is timed, and the inputs that are timed."""

from __future__ import annotations

import copy
from datetime import datetime, timedelta
from typing import Any

from evidence import REFERENCES, collected, example, zulu

AT = datetime.fromisoformat("2026-02-18T01:40:05Z")
REMAINING = {"stage": "CANARY_10", "from_stage": "CANARY_10"}
ENTERING = {"stage": "CANARY_25", "from_stage": "CANARY_10"}
PROMOTING = {"stage": "ROLLOUT_100", "from_stage": "CANARY_50"}

TIMED = 64
"""How many different inputs are timed: no engine may live on one it has just seen."""


def context(moves: dict[str, str], *, entered_before: float = 3600, **changed: Any) -> dict[str, Any]:
    """What the orchestrator would know five seconds after the evidence was collected."""
    return {
        **moves,
        "evaluated_at": zulu(AT + timedelta(seconds=5)),
        "stage_entered_at": zulu(AT - timedelta(seconds=entered_before)),
        "evidence": dict(REFERENCES),
        "approvals": [],
        "change_class": "reversible",
        "policy": {"run": "sha256:0", "given": "sha256:0"},
        "attempt": 1,
        "looks": 1,
        "first_held_at": None,
        "deadline_at": None,
        "on_deadline": None,
        "history": "complete",
        **changed,
    }


def _healthy(number: int = 0) -> Any:
    return collected(example("CANARY_10"), AT, number=number)


def _with(path: str, value: Any) -> Any:
    """A healthy snapshot with *value* at *path*; the key is taken out where it is None."""
    document = copy.deepcopy(_healthy())
    *parents, last = path.split("/")
    place = document
    for name in parents:
        place = place[int(name) if isinstance(place, list) else name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return document


def compared() -> list[tuple[str, str, Any, dict[str, Any]]]:
    """Name, verdict expected by hand, snapshot and context of each input that is compared."""
    winning = _with("promotion/conversion_rate", {
        "sample_size": 184211, "effect_estimate": 0.0031, "ci_low": 0.0009, "ci_high": 0.0053,
        "assignment_stable": True,
    })  # fmt: skip
    return [
        ("healthy, remaining", "ACCEPT", _healthy(), context(REMAINING)),
        ("healthy, moving on", "ACCEPT", _healthy(), context(ENTERING)),
        ("threshold and budget broken", "REJECT", _with("metrics/error_rate_5m", 0.013), context(REMAINING)),
        ("budget broken only", "REJECT", _with("metrics/p95_latency_ms_5m", 380), context(REMAINING)),
        ("constraint broken", "REJECT", _with("metrics/pii_leak_incidents", 2), context(REMAINING)),
        ("prohibited feature", "REJECT", _with("metrics/prohibited_feature_present", True), context(REMAINING)),  # noqa: FBT003
        ("metric missing", "DEGRADE", _with("metrics/conversion_rate", None), context(REMAINING)),
        ("no baseline at all", "ACCEPT", _with("baseline", None), context(REMAINING)),
        ("baseline lacks a metric", "DEGRADE", _with("baseline/metrics/error_rate_5m", None), context(REMAINING)),
        ("baseline of another window", "DEGRADE", _with("baseline/_meta/window", "1h"), context(REMAINING)),
        ("stale", "DEGRADE", _with("_meta/freshness_seconds", 121), context(REMAINING)),
        ("one source lags", "DEGRADE", _with("_meta/sources/1/watermark_event_time", zulu(AT - timedelta(seconds=90))),
         context(REMAINING)),
        ("reference missing", "DEGRADE", _healthy(), context(REMAINING, evidence={"change_id": "CHG-1"})),
        ("too early", "DEGRADE", _healthy(), context(ENTERING, entered_before=600)),
        ("window before the stage", "DEGRADE", _healthy(), context(ENTERING, entered_before=200)),
        ("another policy", "DEGRADE", _healthy(), context(REMAINING, policy={"run": "sha256:0", "given": "sha256:1"})),
        ("unsafe", "REJECT", _healthy(), context(REMAINING, change_class="unsafe_for_experiment")),
        ("not proven yet", "DEGRADE", _healthy(), context(PROMOTING)),
        ("won", "ACCEPT", winning, context(PROMOTING)),
        ("unsafe win", "REJECT", {**winning, "metrics": {**winning["metrics"], "error_rate_5m": 0.02}},
         context(PROMOTING)),
    ]  # fmt: skip


def timed() -> list[tuple[Any, dict[str, Any]]]:
    """Snapshots and contexts, every second one with a broken guardrail and budget."""
    inputs = []
    for number in range(TIMED):
        snapshot = _healthy(number)
        if number % 2:
            snapshot["metrics"]["error_rate_5m"] = round(0.013 + number * 1e-6, 9)
        inputs.append((snapshot, context(REMAINING)))
    return inputs
