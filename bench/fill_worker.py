"""Writes a log of as many events as asked: rollouts that pass three stages and are stopped at the fourth.

usage: fill_worker.py LOG EVENTS

Real events, judged, sealed, chained and projected by gatekeeper; only the waiting for the device is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from evidence import POLICY, REFERENCES, collected, example, just_now, read_json
from recorded_runs import SetClock, Unflushed

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25")
BATCH_RUNS = 100


def main() -> None:
    path, events = sys.argv[1], int(sys.argv[2])
    clock = SetClock(just_now())
    ledger = NdjsonLedger(path, clock=clock, ops=Unflushed())
    template = rollout(ledger, clock)
    runs = events // len(STAGES)
    for first in range(1, runs, BATCH_RUNS):
        batch = range(first, min(runs, first + BATCH_RUNS))
        drafts = [draft for number in batch for draft in copies(template, number)]
        ledger.append(drafts, expect=None, actor="bench")
    ledger.close()


def rollout(ledger: NdjsonLedger, clock: SetClock) -> list[Mapping[str, Any]]:
    """One rollout, asked as `gatekeeper run` asks it; its events without their places in the log."""
    loaded = loaded_policy(read_json(POLICY))
    now, events = clock.moment, list[Mapping[str, Any]]()
    for number, stage in enumerate(STAGES):
        at: datetime = now - timedelta(minutes=20) * (len(STAGES) - number)
        clock.moment = at + timedelta(seconds=5)
        question = Question(
            command="run",
            snapshot=snapshot_from_document(collected(example(stage), at)),
            actor="bench",
            run_id="fill-0:B:2026-02-18",
            experiment_id="fill-0",
            variant_id="B",
            policy=loaded,
            evidence=REFERENCES,
        )
        answer = ask(question, ledger=ledger, clock=clock)
        assert answer.verdict.value == ("REJECT" if stage == STAGES[-1] else "ACCEPT"), answer.event
        events.append({key: value for key, value in answer.event.items() if key not in {"v", "seq", "prev", "ts"}})
    clock.moment = now
    return events


def copies(template: list[Mapping[str, Any]], number: int) -> list[dict[str, Any]]:
    """The same rollout of another experiment."""
    run_id = f"fill-{number}:B:2026-02-18"
    return [
        {**event, "run_id": run_id, "experiment_id": f"fill-{number}", "event_id": f"{run_id}:{event['stage']}"}
        for event in template
    ]


main()
