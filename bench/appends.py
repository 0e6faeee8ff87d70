"""What the workers that append share: the first question of a run, and its answer as a draft to append again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from evidence import POLICY, REFERENCES, collected, example, just_now

from gatekeeper.model.document import parse_json
from gatekeeper.model.exchange import Expectation
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.snapshot import read_snapshot
from gatekeeper.orchestrator.question import Question
from gatekeeper.ports import Ledger


class SystemClock:
    """The host's clock."""

    def now(self) -> int:
        """Microseconds since 1970."""
        return time.time_ns() // 1000


def first_question(run_id: str, experiment_id: str) -> tuple[Question, tuple[LoadedPolicy]]:
    """A run that begins at the first canary, and the policy that its appends go with."""
    policy = _policy(POLICY)
    question = Question(
        command="check",
        snapshot=read_snapshot(json.dumps(collected(example("CANARY_10"), just_now())).encode()),
        actor="bench",
        run_id=run_id,
        experiment_id=experiment_id,
        variant_id="B",
        policy=policy,
        evidence=REFERENCES,
        start_stage="CANARY_10",
        reason="benchmark",
    )
    return question, (policy,)


def draft_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event without its place in the log."""
    return {key: value for key, value in event.items() if key not in {"v", "seq", "prev", "ts"}}


def appender(ledger: Ledger, first: Mapping[str, Any], policies: Sequence[LoadedPolicy]) -> Callable[[], None]:
    """One more append of the run that *first* is of, compared with the version that the one before left."""
    draft, run_id, seen, numbers = draft_of(first), str(first["run_id"]), [int(first["seq"])], count(2)

    def append() -> None:
        events = [{**draft, "event_id": f"{run_id}:CANARY_10#{next(numbers)}"}]
        receipt = ledger.append(events, expect=Expectation(run_id, seen[0]), policies=policies, actor="bench")
        seen[0] = int(receipt.events[-1]["seq"])

    return append


def _policy(path: str) -> LoadedPolicy:
    """As a check reads it."""
    with open(path, "rb") as file:
        return loaded_policy(parse_json(file.read()))
