"""Events of one run, as small as the fold needs them."""

from __future__ import annotations

from typing import Any

from gatekeeper.model.fold import apply
from gatekeeper.model.run import Run

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "ROLLOUT_100")
TIME = "2026-01-01T00:00:00Z"


def decision(stage: str, verdict: str, seq: int, *, token: str = "t", attempt: int = 1, **extra: Any) -> dict[str, Any]:
    """A sealed `decision` event; `resume` as a DEGRADE has it."""
    evaluated_at = extra.pop("evaluated_at", TIME)
    resume = {
        "resume_token": token,
        "attempt": attempt,
        "first_held_at": TIME,
        "next_evaluation": {"not_before": TIME, "on": ["snapshot"]},
        "deadline_at": None,
        "on_deadline": None,
    }
    return {
        "kind": "decision",
        "seq": seq,
        "ts": TIME,
        "run_id": "r",
        "event_id": f"r:{stage}",
        "experiment_id": "exp",
        "variant_id": "B",
        "policy_id": "p",
        "policy_version": "1",
        "policy_digest": "sha256:1",
        "snapshot_digest": f"sha256:{seq}",
        "stage": stage,
        "context": {"evaluated_at": evaluated_at, "looks": 0},
        "decision": {"verdict": verdict, "reason_codes": [], "missing": [], "findings": []},
        "evidence_refs": {},
        "resume": resume if verdict == "DEGRADE" else None,
        **extra,
    }


class Log:
    """Events of run `r` with proper ids, folded as they come."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.folded: Run | None = None

    @property
    def run(self) -> Run:
        """The run so far."""
        assert self.folded is not None
        return self.folded

    def decide(self, stage: str, verdict: str = "ACCEPT", **extra: Any) -> None:
        """Append a decision; a DEGRADE continues the open hold of its stage or begins one."""
        known = self.folded if self.folded is not None else Run("r")
        event_id = known.next_decision_id(stage)
        hold = known.hold
        token, attempt = (hold.token, hold.attempt + 1) if hold is not None else (f"token of {event_id}", 1)
        event = decision(stage, verdict, len(self.events) + 1, token=token, attempt=attempt, **extra)
        self.take({**event, "event_id": event_id})

    def act(self, name: str, **extra: Any) -> None:
        """Append an action."""
        known = self.folded if self.folded is not None else Run("r")
        self.take(
            {
                "kind": "action",
                "seq": len(self.events) + 1,
                "ts": TIME,
                "run_id": "r",
                "event_id": known.next_event_id("action"),
                "action": {"name": name, "reason": "x", "params": {}},
                **extra,
            }
        )

    def refuse(self) -> None:
        """Append a refusal."""
        self.take(
            {
                "kind": "refusal",
                "seq": len(self.events) + 1,
                "ts": TIME,
                "run_id": "r",
                "event_id": self.run.next_event_id("refusal"),
                "question_digest": f"sha256:{len(self.events)}",
                "refusal": {"reason": "stage_not_askable"},
            }
        )

    def take(self, event: dict[str, Any]) -> None:
        """Keep and fold."""
        self.events.append(event)
        self.folded = apply(self.folded, event)
