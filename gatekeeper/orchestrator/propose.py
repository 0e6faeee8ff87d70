"""One question against one view of the ledger: an answer that exists already, or a proposal (SPEC 6).

The numbers in `propose` are those of SPEC's order of answers. Evidence that has still to be collected is asked for
when nothing on record answers and nothing refuses the question: then it is proposed again, with its snapshot.
"""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError, RunRefusedError
from gatekeeper.model.event import seal
from gatekeeper.model.exchange import Expectation
from gatekeeper.model.fold import apply
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import RunState
from gatekeeper.model.values import dataclass, replace
from gatekeeper.orchestrator.identity import find_run, policy_of_run, refuse_succeeded
from gatekeeper.orchestrator.judge import (
    Case,
    Proposal,
    collector_change,
    draft_adoption,
    draft_decision,
    draft_start_stage,
    draft_supersede,
    judge,
)
from gatekeeper.orchestrator.question import Answer
from gatekeeper.orchestrator.recorded import keyed_event, same_question, still_holds, stopping_answer
from gatekeeper.orchestrator.stages import asked_stage, has_passed, refuse_unaskable, repeatable_accept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.run import LastAccept, Run
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.orchestrator.question import Question
    from gatekeeper.ports import LedgerView


@dataclass(frozen=True)
class NeedsEvidence:
    """Only an evaluation can answer, and there is no snapshot yet.

    Attributes:
        stage: what the call asks from now on, wherever the run has got to when the evidence is there.
        last_accept: the ACCEPT that is asked again instead if the evidence turns out to be the same as its.
    """

    stage: str
    last_accept: LastAccept | None = None

    def stage_for(self, snapshot: Snapshot) -> str:
        """The stage that the call asks with *snapshot*."""
        last = self.last_accept
        return last.stage if last is not None and last.snapshot_digest == snapshot.digest else self.stage


def propose(
    question: Question, view: LedgerView, *, now: int, fixed_stage: str | None
) -> Answer | Proposal | NeedsEvidence:
    """Answer from the record, or evaluate, or say that evidence must be collected first.

    Args:
        now: the moment of evaluation, microseconds since 1970.
        fixed_stage: the stage that this call asked when it first read the run; None on that first read.

    Raises:
        InputRefusedError: nothing may be asked like this; the run is as it was.
    """
    run_id, run = find_run(question, view)  # (0) fixed values; a token before that
    if run is None:
        case = _first_case(question, run_id, view, now)
        return _propose_first(case, view)
    if run.state is RunState.STOPPED:  # (1)
        return stopping_answer(run, view)
    refuse_succeeded(run, view)
    loaded = policy_of_run(question, run, view)
    adopted = _adopted(question, run)
    evidence = {**run.evidence, **question.evidence}
    keyed = keyed_event(question, run_id, view)  # (2)
    if keyed is not None and still_holds(keyed, run):
        return Answer(keyed, _verdict(keyed), run, loaded, is_recorded=True)
    stages = (adopted or loaded).policy.stages
    given = fixed_stage or (keyed["stage"] if keyed is not None else None)
    stage = given or asked_stage(question, run, stages, evidence=evidence)
    case = Case(
        question,
        run_id,
        run,
        loaded,
        stage,
        evidence,
        now,
        run.history == "complete",
        collector_change=collector_change(question, run),
    )
    same = same_question(question, run, stage, view, evidence=evidence)  # (3)
    if same is not None and _is_fresh(case):
        return Answer(same, _verdict(same), run, loaded, is_recorded=True)
    _refuse_first_only_options(question, run, view, is_first_read=fixed_stage is None)
    is_passed = fixed_stage is not None and has_passed(run, stage, stages)
    if not is_passed:
        _refuse_unnamed(case, adopted)
        refuse_unaskable(run, run_id, stage, stages)  # (4)
    if question.snapshot is None:  # behind (4): what would be refused with any evidence is refused without
        last = repeatable_accept(question, run, evidence=evidence) if given is None else None
        return NeedsEvidence(stage, last)
    if is_passed and run.stage is not None:
        proposal = _proposal(replace(case, stage=run.stage), view)
        return replace(proposal, stage=stage, is_reject_only=True)
    if adopted is not None:
        return _propose_adoption(case, adopted, view)
    return _proposal(case, view)  # (5)


def _verdict(event: Mapping[str, Any]) -> Verdict:
    return Verdict(event["decision"]["verdict"])


def _first_case(question: Question, run_id: str, view: LedgerView, now: int) -> Case:
    loaded = question.policy
    if loaded is None or question.experiment_id is None or question.variant_id is None:
        raise InputRefusedError(f"run {run_id} is not in this log", remedy="start it with: gatekeeper check")
    if question.adopt_reason is not None:
        raise InputRefusedError(
            f"--adopt-policy needs an existing run; {run_id} is not in this log",
            remedy="name the run with --run-id; a new run takes the policy of its first check, without --adopt-policy",
        )
    stages = loaded.policy.stages
    stage = question.stage or question.start_stage or stages[0]
    if question.start_stage is None:
        refuse_unaskable(None, run_id, stage, stages)
    elif stage not in stages:
        raise InputRefusedError(
            f"policy {loaded.policy.policy_id} has no stage {stage}", remedy="its stages: " + ", ".join(stages)
        )
    known = view.run(run_id)  # an action without a decision: its write was cut short
    latest = view.latest_run(question.experiment_id, question.variant_id, simulated=question.is_simulated)
    return Case(
        question,
        run_id,
        known,
        loaded,
        stage,
        dict(question.evidence),
        now,
        view.is_complete,
        latest.run_id if latest is not None else None,
    )


def _propose_first(case: Case, view: LedgerView) -> Proposal | NeedsEvidence:
    question = case.question
    keyed_event(question, case.run_id, view)  # (2) a key of another run is another question
    live = view.live_run(str(question.experiment_id), str(question.variant_id), simulated=question.is_simulated)
    if live is not None and question.supersede != live.run_id:
        raise InputRefusedError(
            f"run {live.run_id} of {question.experiment_id}:{question.variant_id} is {live.state.value} at "
            f"{live.stage or 'no stage yet'} under policy version {live.policy_version}: only one run may be live",
            remedy=f"go on with it (--run-id {live.run_id}), or stop it in the same step: --supersede {live.run_id}",
        )
    if live is None and question.supersede is not None:
        raise InputRefusedError(
            f"--supersede {question.supersede}: that is not a live run of "
            f"{question.experiment_id}:{question.variant_id}",
            remedy="leave --supersede out, or see: gatekeeper status",
        )
    if question.snapshot is None:
        return NeedsEvidence(case.stage)
    before: tuple[Mapping[str, Any], ...] = ()
    if live is not None:
        before = (draft_supersede(case, live),)
    if question.start_stage is not None:
        before = (*before, draft_start_stage(case, question.start_stage))
    return _proposal(case, view, before=before, live=live)


def _refuse_first_only_options(question: Question, run: Run, view: LedgerView, *, is_first_read: bool) -> None:
    # a call that found no run when it first read keeps the stage it asked, whoever began the run meanwhile
    if question.start_stage is not None and is_first_read:
        raise RunRefusedError(
            f"--start-stage is for a run's first check; run {run.run_id} has begun and is at {run.stage}",
            remedy="leave --start-stage out",
            reason="already_begun",
            run_id=run.run_id,
        )
    if question.supersede is not None:
        other = view.run(question.supersede)
        ending = view.event(other.stopped_by) if other is not None and other.stopped_by else None
        if ending is None or (ending.get("action") or {}).get("params", {}).get("by") != run.run_id:
            raise RunRefusedError(
                f"--supersede {question.supersede}: run {run.run_id} has begun and did not supersede it",
                remedy="leave --supersede out",
                reason="already_begun",
                run_id=run.run_id,
            )


def _adopted(question: Question, run: Run) -> LoadedPolicy | None:
    """The given policy, if it is to be taken over and is another one than the run's."""
    if question.adopt_reason is None or question.policy is None or question.policy.digest == run.policy_digest:
        return None
    return question.policy


def _refuse_unnamed(case: Case, adopted: LoadedPolicy | None) -> None:
    """Both the run's stage and the one asked must be stages of the policy that will judge."""
    loaded = adopted or case.loaded
    wanted = [stage for stage in (case.run.stage if case.run is not None else None, case.stage) if stage is not None]
    for stage in wanted:
        if stage not in loaded.policy.stages:
            raise RunRefusedError(
                f"policy {loaded.policy.policy_id} {loaded.policy.policy_version} has no stage {stage}"
                + (": nothing was adopted" if adopted is not None else ""),
                remedy="its stages: " + ", ".join(loaded.policy.stages),
                reason="stage_not_askable",
                run_id=case.run_id,
            )


def _propose_adoption(case: Case, adopted: LoadedPolicy, view: LedgerView) -> Proposal:
    draft = draft_adoption(case, adopted, str(case.question.adopt_reason))
    # what the run will be behind that event, so that the decision in the same write continues it
    after = apply(case.run, seal(draft, seq=0, prev="", ts=""))
    proposal = _proposal(replace(case, run=after, loaded=adopted), view, before=(draft,))
    return replace(proposal, run=case.run)


def _is_fresh(case: Case) -> bool:
    """Whether the snapshot is within the policy's freshness limit now."""
    _, decision = judge(case)
    return all(
        finding.outcome in {"PASS", "NOT_EVALUATED"} for finding in decision.findings if finding.rule == "freshness"
    )


def _proposal(
    case: Case, view: LedgerView, *, before: tuple[Mapping[str, Any], ...] = (), live: Run | None = None
) -> Proposal:
    context, decision = judge(case)
    question, run = case.question, case.run
    key_event = view.key(question.idempotency_key) if question.idempotency_key is not None else None
    slot = None
    if run is None or not run.is_begun:
        slot = (str(question.experiment_id), str(question.variant_id), question.is_simulated)
    elif run.state is RunState.COMPLETED and run.experiment_id is not None and run.variant_id is not None:
        # it may become HELD, which is live, so nobody else may become live meanwhile
        slot = (run.experiment_id, run.variant_id, run.simulated)
        live = view.live_run(run.experiment_id, run.variant_id, simulated=run.simulated)
    return Proposal(
        decision=decision,
        stage=case.stage,
        drafts=(*before, draft_decision(case, context, decision)),
        policies=(case.loaded,),
        expect=Expectation(
            run_id=case.run_id,
            version=run.version if run is not None else 0,
            slot=slot,
            live_run_id=live.run_id if live is not None else None,
            key=question.idempotency_key,
            key_seq=key_event["seq"] if key_event is not None else 0,
        ),
        run=run,
    )
