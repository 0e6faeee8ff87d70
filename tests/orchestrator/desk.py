"""One log in a directory, one clock, one small policy: the desk at which tests ask the gate."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.run import Run
from gatekeeper.model.snapshot import Snapshot, snapshot_from_document
from gatekeeper.model.times import MICROSECONDS, format_time, require_time
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.question import Answer, Question
from gatekeeper.ports import Clock, Ledger
from tests.doubles import StepClock

START = "2026-02-18T01:00:00.000000Z"
"""What the clock shows at first."""

POLICY: dict[str, Any] = {
    "policy_id": "checkout",
    "policy_version": "1",
    "primary": [{"metric": "conversion", "direction": "up"}],
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.01}],
    "constraints": [{"kind": "must_be_zero", "metric": "leaks"}],
    "missing_data_policy": {"max_freshness_seconds": 120},
    "stages": ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_50", "ROLLOUT_100"],
}
"""Evidence older than two minutes is stale; no baseline, no waiting, no statistics unless a test adds them."""

STAGES: list[str] = POLICY["stages"]


def at(seconds: float) -> str:
    """The time so many seconds after START, as events write it."""
    return format_time(require_time(START) + round(seconds * MICROSECONDS))


def policy(**changes: Any) -> LoadedPolicy:
    """POLICY with top-level keys replaced; None removes one."""
    document = {**copy.deepcopy(POLICY), **changes}
    return loaded_policy({key: value for key, value in document.items() if value is not None})


@dataclass
class Desk:
    """What a caller of the gate has.

    `check` also asserts what holds of every answer: the run handed back is the run that the log tells.
    """

    path: Path
    policy: LoadedPolicy = field(default_factory=policy)
    clock: StepClock = field(default_factory=lambda: StepClock(require_time(START)))
    counter: int = 0
    another: Callable[[Clock], Ledger] | None = None

    def __post_init__(self) -> None:
        self.ledger: Ledger = self.open()

    def open(self) -> Ledger:
        """The log as another caller opens it: the file at `path`, unless *another* opens one elsewhere."""
        if self.another is not None:
            return self.another(self.clock)
        return NdjsonLedger(str(self.path), clock=self.clock)

    def evidence(self, *, mark: str | None = None, **metrics: Any) -> Snapshot:
        """Healthy evidence collected now, with *metrics* changed; each call's is another one unless *mark* says so."""
        self.counter += 1
        now = format_time(self.clock.moment)
        values = {"errors": 0.004, "leaks": 0, **metrics}
        return snapshot_from_document(
            {
                "metrics": {name: value for name, value in values.items() if value is not ...},
                "_meta": {
                    "snapshot_id": mark or str(self.counter),
                    "collected_at": now,
                    "watermark_event_time": now,
                    "window": "5m",
                },
            }
        )

    def question(self, stage: str | None = None, **fields: Any) -> Question:
        """A check of run `r` with healthy evidence, unless *fields* say otherwise."""
        metrics = fields.pop("metrics", {})
        plain: dict[str, Any] = {
            "command": "check",
            "actor": "ci",
            "run_id": "r",
            "experiment_id": "exp",
            "variant_id": "B",
            "policy": self.policy,
            "stage": stage,
        }
        if "snapshot" not in fields:
            fields["snapshot"] = self.evidence(**metrics)
        return Question(**{**plain, **fields})

    def check(self, stage: str | None = None, **fields: Any) -> Answer:
        """Ask, and look that the answer's run is what the log tells."""
        return self.ask(self.question(stage, **fields))

    def resume(self, token: str, **fields: Any) -> Answer:
        """Ask by token, as `gatekeeper resume` does."""
        return self.ask(self.by_token(token, **fields))

    def by_token(self, token: str, **fields: Any) -> Question:
        """The question of `gatekeeper resume`."""
        names = {"run_id": None, "experiment_id": None, "variant_id": None, "policy": None}
        return self.question(**{**names, "command": "resume", "token": token, **fields})

    def ask(self, question: Question, *, fixed_stage: str | None = None) -> Answer:
        """Ask with this desk's ledger and clock."""
        answer = gate.ask(question, ledger=self.ledger, clock=self.clock, fixed_stage=fixed_stage)
        if answer.run is not None and not answer.is_dry_run and not answer.is_unrecorded:
            assert answer.run == self.run(answer.run.run_id)
        return answer

    def refused(self, stage: str | None = None, **fields: Any) -> InputRefusedError:
        """The refusal of a check that must be refused and must leave the run as it was."""
        return self.refuses(self.question(stage, **fields))

    def refuses(self, question: Question) -> InputRefusedError:
        """The refusal of a question that must be refused and must leave all runs as they were."""
        before = self.standings()
        with pytest.raises(InputRefusedError) as caught:
            self.ask(question)
        assert caught.value.exit_code == 65
        assert self.standings() == before
        return caught.value

    def walk(self, *stages: str, **fields: Any) -> Answer:
        """Be let into these stages, one after the other."""
        for stage in stages:
            answer = self.check(stage, **fields)
            assert (answer.verdict, answer.event["stage"]) == ("ACCEPT", stage)
        return answer

    def hold(self, stage: str | None = None, **fields: Any) -> str:
        """Begin a hold, or continue one, for want of the guardrail's metric; its token."""
        answer = self.check(stage, metrics={"errors": ...}, **fields)
        assert answer.verdict == "DEGRADE"
        token: str = answer.event["resume"]["resume_token"]
        return token

    def run(self, run_id: str = "r") -> Run:
        """The run as the log tells it now."""
        run = self.ledger.view().run(run_id)
        assert run is not None
        return run

    def standings(self) -> dict[str, Run]:
        """All runs without what a refusal may change: its own counting and time."""
        blank: dict[str, Any] = {"version": 0, "last_event_id": "", "updated_at": "", "events_of": {}}
        return {run.run_id: replace(run, **blank) for run in self.ledger.view().runs()}

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """All events in the log's bytes, of one kind if given."""
        if self.another is not None:
            events = [json.loads(line) for _, line in self.ledger.read()]
        elif not self.path.exists():
            return []
        else:
            events = [json.loads(line) for line in self.path.read_bytes().splitlines()]
        return [event for event in events if kind is None or event["kind"] == kind]

    def decisions(self) -> list[tuple[str, str]]:
        """Verdict and event id of all decisions, in order."""
        return [(event["decision"]["verdict"], event["event_id"]) for event in self.events("decision")]
