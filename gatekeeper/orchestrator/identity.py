"""Which run is meant, and whether the call agrees with what its first decision fixed (SPEC 6)."""

from __future__ import annotations

from gatekeeper.errors import InputRefusedError, LogError, RunRefusedError, TokenError
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.run import RunState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.run import Run
    from gatekeeper.orchestrator.question import Question
    from gatekeeper.ports import LedgerView


def find_run(question: Question, view: LedgerView) -> tuple[str, Run | None]:
    """The run's id, and the run if it has begun.

    Raises:
        TokenError: the token names no hold (no trace), or its hold has ended (refusal).
        RunRefusedError: experiment, variant, revision, change class or simulation differ.
    """
    run_id = question.run_id
    if question.token is not None:
        run_id = _run_of_token(question.token, view)
    if run_id is None:  # pragma: no cover - the command line always names one of the two
        raise InputRefusedError("neither a run nor a token was named", remedy="name the run with --run-id")
    run = view.run(run_id)
    if run is not None and not run.is_begun:
        return run_id, None
    if run is not None:
        _refuse_other_values(question, run)
    return run_id, run


def _run_of_token(token: str, view: LedgerView) -> str:
    found = view.token(token)
    if found is None:
        raise TokenError(
            f"no hold is named {token}",
            remedy="list open holds with: gatekeeper queue (is --log the log that the hold is in?)",
            reason="unknown_token",
        )
    run_id, ended_by = found
    if ended_by is not None:
        raise TokenError(
            f"the hold {token} of run {run_id} has ended with event {ended_by}",
            remedy=f"look at it with: gatekeeper explain {ended_by}",
            reason="token_spent",
            run_id=run_id,
        )
    return run_id


def _refuse_other_values(question: Question, run: Run) -> None:
    has_decision = bool(run.decisions_at)  # a founding-style line fixes only what it happens to state
    fixed = (
        ("experiment", run.experiment_id, question.experiment_id, False),
        ("variant", run.variant_id, question.variant_id, False),
        ("revision", run.revision, question.revision, has_decision),
        ("change class", run.change_class if has_decision else None, question.change_class, has_decision),
    )
    for name, recorded, given, is_none_a_value in fixed:
        if given is not None and given != recorded and (recorded is not None or is_none_a_value):
            again = recorded or "the call without it"
            raise RunRefusedError(
                f"run {run.run_id} was started with {name} {recorded or 'not stated'}, this call says {given}",
                remedy=f"a new {name} is a new run: give it its own --run-id, or repeat {again}",
                reason=f"other_{name.replace(' ', '_')}",
                run_id=run.run_id,
            )
    if question.is_simulated != run.simulated and has_decision:
        first = "simulated (--as-of)" if run.simulated else "real"
        raise RunRefusedError(
            f"run {run.run_id} is {first} from its first decision on; this call is not",
            remedy="simulate under another --run-id or --log",
            reason="mixed_simulation",
            run_id=run.run_id,
        )


def refuse_succeeded(run: Run, view: LedgerView) -> None:
    """A finished rollout is watched only until its successor has its first event."""
    if run.state is not RunState.COMPLETED or run.experiment_id is None or run.variant_id is None:
        return
    latest = view.latest_run(run.experiment_id, run.variant_id, simulated=run.simulated)
    if latest is not None and latest.run_id != run.run_id and latest.first_seq > run.first_seq:
        raise RunRefusedError(
            f"run {run.run_id} is COMPLETED and has been succeeded by run {latest.run_id}",
            remedy=f"check run {latest.run_id}",
            reason="succeeded",
            run_id=run.run_id,
        )


def policy_of_run(question: Question, run: Run | None, view: LedgerView) -> LoadedPolicy:
    """The policy that judges: the run's own, whatever was given."""
    given = question.policy
    if given is not None and (run is None or run.policy_digest in {given.digest, None}):
        return given
    digest = run.policy_digest if run is not None else None
    document = view.policy(digest) if digest is not None else None
    if document is None:
        raise LogError(
            f"the log does not hold the policy {digest} that the run was started under",
            remedy="bring the log's earlier part back, then: gatekeeper log rebuild",
        )
    return loaded_policy(document, source=f"log:{digest}")
