"""When not even the run's state can be read: only safety rules are asked (SPEC 7)."""

from __future__ import annotations

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.event import decision_draft, policy_draft
from gatekeeper.model.reasons import HARM, Verdict, split_code
from gatekeeper.model.times import format_time
from gatekeeper.orchestrator.question import Answer, with_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gatekeeper.errors import LogError, StateUnreadableError
    from gatekeeper.orchestrator.question import Question
    from gatekeeper.ports import Clock


def answer_without_state(
    question: Question,
    error: StateUnreadableError,
    *,
    clock: Clock,
    leave_marker: Callable[[Sequence[Mapping[str, Any]]], str | None],
) -> Answer:
    """REJECT if the evidence shows harm by itself; otherwise the error goes on.

    The stage is the one given; without one every stage of the policy is asked, since a rule may be
    limited to some. `resume` has no policy at hand without the log, so it can show nothing. A source is asked
    for its evidence here, unless the state became unreadable after that.
    """
    loaded = question.policy
    if loaded is None or question.dry_run:
        raise error
    question = with_evidence(question)
    now = clock.now()
    given = question.stage or question.start_stage
    stages = [given] if given in loaded.policy.stages else list(loaded.policy.stages)
    reached = Verdict.ACCEPT
    for stage in stages:
        context = Context(
            stage=stage,
            from_stage=stage,  # remaining: neither wait nor window nor promotion is asked
            evaluated_at=question.as_of or format_time(now),
            evidence=dict(question.evidence),
            change_class=question.change_class or "reversible",
        )
        decision = evaluate(loaded.policy, question.judged, context)
        reached = reached if decision.verdict is Verdict.ACCEPT else decision.verdict
        if any(split_code(code)[0] in HARM for code in decision.reason_codes):
            run_id = question.run_id or "unknown"
            draft = decision_draft(
                identity={
                    "run_id": run_id,
                    "experiment_id": question.experiment_id,
                    "variant_id": question.variant_id,
                    "revision": question.revision,
                },
                loaded=loaded,
                context=context,
                snapshot_document=question.judged.document,
                snapshot_digest=question.judged.digest,
                decision=decision,
                event_id=f"{run_id}:{stage}",
                resume=None,
                extra={"actor": question.actor, **({"as_of": question.as_of} if question.is_simulated else {})},
            )
            return Answer(
                draft,
                Verdict.REJECT,
                is_unrecorded=True,
                warnings=unrecorded_warnings(
                    run_id, error, leave_marker([policy_draft(loaded, actor=question.actor), draft])
                ),
            )
    raise error.__class__(  # 69 stays 69
        f"{reached.value} was reached without the run's state and is not given: {error.message}", remedy=error.remedy
    ) from error


def unrecorded_warnings(run_id: str, error: LogError, marker: str | None) -> tuple[str, ...]:
    """What people must be told when a REJECT is not in the log."""
    kept = (
        f"kept in {marker}: the next call records it"
        if marker is not None
        else "and no marker could be left beside the log"
    )
    return (
        f"REJECT IS NOT RECORDED: {error.message}",
        f"the run is not stopped in the log; {kept}",
        f"when the log can be written again: gatekeeper stop {run_id} --reason TEXT",
    )
