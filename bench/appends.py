"""What the workers that append share: the first question of a run, and its answer as a draft to append again."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from evidence import POLICY, REFERENCES, collected, example, just_now

from gatekeeper.model.document import parse_json
from gatekeeper.model.policy import LoadedPolicy, loaded_policy
from gatekeeper.model.snapshot import read_snapshot
from gatekeeper.orchestrator.question import Question


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


def _policy(path: str) -> LoadedPolicy:
    """As a check reads it."""
    with open(path, "rb") as file:
        return loaded_policy(parse_json(file.read()))
