"""Which stages of a run may be asked, and which one is meant when none is named (SPEC 6)."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError, RunRefusedError
from gatekeeper.model.run import RunState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatekeeper.model.run import LastAccept, Run
    from gatekeeper.orchestrator.question import Question


def next_stage(run: Run | None, stages: tuple[str, ...]) -> str | None:
    """The stage that the run would enter next; None behind the last."""
    if run is None or run.stage is None:
        return stages[0]
    index = stages.index(run.stage) + 1 if run.stage in stages else len(stages)
    return stages[index] if index < len(stages) else None


def default_stage(run: Run | None, stages: tuple[str, ...]) -> str:
    """The held one if HELD, the last if COMPLETED, else the next."""
    if run is not None and run.hold is not None:
        return run.hold.stage
    return next_stage(run, stages) or stages[-1]


def askable_stages(run: Run | None, stages: tuple[str, ...]) -> tuple[str, ...]:
    """The stages that may be asked of a run that is not STOPPED, the default first."""
    current = run.stage if run is not None else None
    if run is not None and run.hold is not None:
        if current is None or run.hold.stage == current:
            return (run.hold.stage,)
        return (run.hold.stage, current)
    following = next_stage(run, stages)
    if current is None:
        return (stages[0],)
    return (current,) if following is None else (following, current)


def asked_stage(question: Question, run: Run, stages: tuple[str, ...], *, evidence: Mapping[str, str]) -> str:
    """The stage that the question means, before anybody looks whether it may be asked.

    Where the evidence has still to be collected it is the stage that other evidence than the last ACCEPT's means.
    """
    last = repeatable_accept(question, run, evidence=evidence)
    if last is not None and question.snapshot is not None and last.snapshot_digest == question.snapshot.digest:
        return last.stage
    return question.stage or question.start_stage or default_stage(run, stages)


def repeatable_accept(question: Question, run: Run, *, evidence: Mapping[str, str]) -> LastAccept | None:
    """The last ACCEPT, if its snapshot once more would be that same question and not the next stage."""
    last = run.last_accept
    if question.stage is not None or question.start_stage is not None or last is None:
        return None
    policy_digest = run.policy_digest if question.policy is None else question.policy.digest
    is_resting = run.state in {RunState.ACTIVE, RunState.COMPLETED}
    return last if is_resting and (last.policy_digest, last.evidence) == (policy_digest, evidence) else None


def has_passed(run: Run | None, stage: str, stages: tuple[str, ...]) -> bool:
    """Whether the run is at a stage behind *stage*."""
    if run is None or run.stage is None or run.stage not in stages or stage not in stages:
        return False
    return stages.index(run.stage) > stages.index(stage)


def refuse_unaskable(run: Run | None, run_id: str, stage: str, stages: tuple[str, ...]) -> None:
    """Raise unless *stage* may be asked. A run that nobody knows yet leaves no trace (65 all the same)."""
    allowed = askable_stages(run, stages)
    if stage in allowed:
        return
    if run is None:
        raise InputRefusedError(
            f"run {run_id} has not begun: its first check asks {stages[0]}, not {stage}",
            remedy=f"ask {stages[0]}, or adopt a rollout under way with --start-stage {stage} --reason TEXT",
        )
    where = "before its first stage" if run.stage is None else f"at {run.stage}"
    raise RunRefusedError(
        f"run {run_id} is {run.state.value} {where}: stage {stage} cannot be asked",
        remedy="ask " + " or ".join(allowed),
        reason="stage_not_askable",
        run_id=run_id,
    )
