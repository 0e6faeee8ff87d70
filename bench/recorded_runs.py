"""Runs that gatekeeper really judged and recorded, for logs of any length: every kind of answer that a log has.

Rollouts as teams make them: checks that are repeated at a stage, holds and what ended them, rejections, people who
stop a run, callers who are turned away; under twenty policies, every snapshot with other values. Each event is asked
for through the product's own door; only the waiting for the device is left out, and the time is made up.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence import POLICY, REFERENCES, collected, example, read_json

from gatekeeper.errors import RunRefusedError
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.run import RunState
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.model.values import replace
from gatekeeper.orchestrator.gate import ask, stop
from gatekeeper.orchestrator.question import Answer, Question

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100")
FAMILIES = ("checkout-latency", "search-ranking", "payments-fraud", "feed-cache")
POLICIES = 20
REJECT, DEGRADE, ADVANCE = 0.05, 0.08, 0.3  # of all answers; of the checks that pass
STOP, REFUSAL = 0.002, 0.004
BEGIN = datetime(2026, 1, 5, tzinfo=UTC)

METRICS = ("conversion_rate", "error_rate_5m", "p95_latency_ms_5m", "pii_leak_incidents", "prohibited_feature_present")
HARM = ("error_rate_5m", "p95_latency_ms_5m", "pii_leak_incidents", "prohibited_feature_present", "both")
SAMPLE = 100_000
DOUBT = ("stale", "skewed", "missing", "no baseline", "empty")


class Unflushed(FileOps):
    """Does not wait for the device."""

    def flush(self, descriptor: int) -> None:
        """Done."""


class SetClock:
    """Tells the time that it was set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> int:
        """Microseconds since 1970."""
        return round((self.moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


@dataclass(frozen=True)
class Conditions:
    """A policy and the values that are usual under it."""

    loaded: LoadedPolicy
    error_rate: float
    latency: float


def policies(chance: random.Random, count: int) -> list[Conditions]:
    """So many policies: the example's rules with limits of their own."""
    made = []
    for number in range(count):
        document = read_json(POLICY)
        name = FAMILIES[number % len(FAMILIES)]
        document["policy_id"] = name if number < len(FAMILIES) else f"{name}-{number // len(FAMILIES)}"
        document["policy_version"] = f"2026.{chance.randint(1, 12)}.{chance.randint(0, 9)}"
        errors, latency = document["guardrails"]
        errors["threshold"] = round(chance.uniform(0.005, 0.03), 4)
        errors["budget_delta"] = round(errors["threshold"] * 0.1, 5)
        latency["threshold"] = chance.randrange(150, 900, 10)
        latency["budget_delta"] = latency["threshold"] // 20
        made.append(Conditions(loaded_policy(document), errors["threshold"] * 0.75, latency["threshold"] * 0.85))
    return made


class Recorder:
    """A log in which runs are recorded one after the other."""

    def __init__(self, directory: str, seed: int, *, count: int = POLICIES) -> None:
        self._chance = random.Random(seed)
        self._clock = SetClock(BEGIN)
        self.path = os.path.join(directory, "recorded.ndjson")
        self._ledger = NdjsonLedger(self.path, clock=self._clock, ops=Unflushed())
        self._conditions = policies(self._chance, count)
        self.counted: Counter[str] = Counter()
        """How many decisions had which verdict."""

    def close(self) -> None:
        """Let go of the log."""
        self._ledger.close()

    def run(self, experiment: str) -> int:
        """Record one run from its first check to its end: how many events it took, a new policy's not counted."""
        chance = self._chance
        conditions = chance.choice(self._conditions)
        reached, state = -1, RunState.ACTIVE  # index of the stage it is at
        held: int | None = None
        run_id, events = "", 0
        while state in {RunState.ACTIVE, RunState.HELD}:
            self._clock.moment += timedelta(seconds=chance.uniform(960, 3600))  # beyond min_stage_seconds
            kind, events = self._kind(), events + 1
            if kind == "stop" and run_id:
                stop(run_id, reason="the experiment is over", actor="release-bot", ledger=self._ledger)
                break
            advances = held is None and (reached < 0 or chance.random() < ADVANCE)
            target = held if held is not None else min(reached + advances, len(STAGES) - 1)
            question = self._question(experiment, conditions, STAGES[target], kind)
            if kind == "refusal" and reached >= 1:
                self._turned_away(question)
                continue
            answer = ask(question, ledger=self._ledger, clock=self._clock)
            assert answer.run is not None
            self._expect(answer, kind)
            run_id, state = answer.run.run_id, answer.run.state
            if kind == "DEGRADE":
                held = target
            elif kind != "REJECT":
                reached, held = target, None
        return events

    def _kind(self) -> str:
        x = self._chance.random()
        for kind, share in (("REJECT", REJECT), ("DEGRADE", DEGRADE), ("stop", STOP), ("refusal", REFUSAL)):
            if x < share:
                return kind
            x -= share
        return "ACCEPT"

    def _expect(self, answer: Answer, kind: str) -> None:
        verdict = answer.verdict.value
        assert verdict == (kind if kind in {"REJECT", "DEGRADE"} else "ACCEPT"), answer.event
        self.counted[verdict] += 1

    def _turned_away(self, question: Question) -> None:
        """A caller asks for a stage that the run has left."""
        try:
            ask(replace(question, stage=STAGES[0]), ledger=self._ledger, clock=self._clock)
        except RunRefusedError:
            return
        raise AssertionError("nobody was turned away")

    def _question(self, experiment: str, conditions: Conditions, stage: str, kind: str) -> Question:
        at = self._clock.moment.replace(microsecond=0) - timedelta(seconds=self._chance.randint(2, 8))
        document = self._healthy(stage, conditions, at)
        if kind == "REJECT":
            self._harm(document, conditions)
        elif kind == "DEGRADE":
            self._doubt(document, stage, at)
        return Question(
            command="run",
            snapshot=snapshot_from_document(document),
            actor="release-bot",
            run_id=f"{experiment}:B:{conditions.loaded.policy.policy_version}",
            experiment_id=experiment,
            variant_id="B",
            policy=conditions.loaded,
            stage=stage,
            evidence=REFERENCES,
        )

    def _healthy(self, stage: str, conditions: Conditions, at: datetime) -> Any:
        near = self._chance.uniform
        document = collected(example(stage), at)
        document["_meta"]["snapshot_id"] = f"{conditions.loaded.policy.policy_id}-{self._chance.getrandbits(40):010x}"
        usual = {
            "conversion_rate": round(near(0.11, 0.14), 5),
            "error_rate_5m": round(conditions.error_rate * near(0.99, 1.01), 7),
            "p95_latency_ms_5m": round(conditions.latency * near(0.99, 1.01), 3),
        }
        document["baseline"]["metrics"] = usual
        lift = near(0.0021, 0.004)
        document["metrics"] |= {
            "conversion_rate": round(usual["conversion_rate"] + lift, 5),
            "error_rate_5m": round(usual["error_rate_5m"] * near(0.97, 1.05), 7),
            "p95_latency_ms_5m": round(usual["p95_latency_ms_5m"] * near(0.97, 1.02), 3),
        }
        for statistics in document.get("promotion", {}).values():  # none before the first canary
            statistics |= {"effect_estimate": round(lift, 5), "p_value": round(near(0.001, 0.2), 4)}
            statistics["sample_size"] += self._chance.randrange(20_000)
        return document

    def _harm(self, document: Any, conditions: Conditions) -> None:
        metric, metrics = self._chance.choice(HARM), document["metrics"]
        if metric in {"error_rate_5m", "both"}:
            metrics["error_rate_5m"] = round(conditions.error_rate * self._chance.uniform(1.4, 3), 7)
        if metric in {"p95_latency_ms_5m", "both"}:
            metrics["p95_latency_ms_5m"] = round(conditions.latency * self._chance.uniform(1.2, 2), 3)
        if metric == "pii_leak_incidents":
            metrics[metric] = self._chance.randint(1, 9)
        if metric == "prohibited_feature_present":
            metrics[metric] = True

    def _doubt(self, document: Any, stage: str, at: datetime) -> None:
        kind, about = self._chance.choice(DOUBT), document["_meta"]
        metric = self._chance.choice(METRICS[:3])
        if stage == STAGES[-1] and self._chance.random() < 0.5:  # the stage at which statistics are asked for
            document["promotion"]["conversion_rate"]["sample_size"] = self._chance.randrange(SAMPLE // 2, SAMPLE)
        elif kind == "stale":
            about["freshness_seconds"] = self._chance.randint(130, 900)
        elif kind == "skewed":
            behind = at - timedelta(seconds=self._chance.randint(100, 115))
            about["sources"][1]["watermark_event_time"] = behind.strftime("%Y-%m-%dT%H:%M:%SZ")
        elif kind == "no baseline":
            del document["baseline"]["metrics"][self._chance.choice(METRICS[1:3])]
        elif kind == "missing":
            del document["metrics"][metric]
        else:
            document["metrics"][metric] = None
