"""What a line of a founding-style driver makes of its run: a REJECT stops it, anything else leaves it to a person."""

from __future__ import annotations

from gatekeeper.ledger.codec import founding_decision
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def apply_founding(
    event: Mapping[str, Any], run_of: Callable[[str], Run | None], *, seq: int
) -> tuple[Run | None, Run, str] | None:
    """The run before and after a line without `kind`, and the line's id; None where it moves no run.

    Args:
        run_of: gives a run by its id.
        seq: the highest seen, that of the line included.
    """
    decision = founding_decision(event)
    run_id, verdict, stage = decision.get("run_id"), decision["decision"]["verdict"], decision.get("stage")
    if not isinstance(run_id, str):
        return None
    before = run_of(run_id)
    after = before if before is not None else _first(decision, first_seq=seq)
    if after.state is RunState.STOPPED:
        return None
    event_id = str(decision["event_id"])
    after = replace(after, version=max(after.version, seq), history="incomplete")
    if verdict == "REJECT":
        after = replace(after, state=RunState.STOPPED, hold=None, stopped_by=event_id)
    elif verdict == "ACCEPT" and isinstance(stage, str):
        after = replace(after, stage=stage)
    return before, after, event_id


def _first(decision: Mapping[str, Any], *, first_seq: int) -> Run:
    """A run of which only founding-style lines are known: what they state, and nothing else."""

    def text(name: str) -> str | None:
        value = decision.get(name)
        return value if isinstance(value, str) else None

    return Run(
        run_id=decision["run_id"],
        experiment_id=text("experiment_id"),
        variant_id=text("variant_id"),
        revision=text("revision"),
        policy_id=text("policy_id"),
        policy_version=text("policy_version"),
        first_seq=first_seq,
        last_event_id=str(decision["event_id"]),
        updated_at=text("ts") or "",
    )
