"""Asking more than once: `--wait`, the stages of `run`, and the holds of `reevaluate`. All through `gate.ask`."""

from __future__ import annotations

from gatekeeper.errors import DocumentError, LogError, SnapshotError, TokenError
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.model.times import MICROSECONDS, require_time
from gatekeeper.model.values import dataclass, replace
from gatekeeper.orchestrator.gate import ask
from gatekeeper.orchestrator.question import Question
from gatekeeper.orchestrator.stages import default_stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gatekeeper.errors import InputRefusedError
    from gatekeeper.model.run import Run
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.orchestrator.question import Answer
    from gatekeeper.ports import Clock, Ledger

_WORST_FIRST = (Verdict.REJECT, Verdict.DEGRADE, Verdict.ACCEPT)


def ask_until_decided(
    read_question: Callable[[], Question],
    *,
    ledger: Ledger,
    clock: Clock,
    wait_seconds: float,
    interval_seconds: float,
    pause: Callable[[float], None],
    on_hold: Callable[[Answer, float, str | None], None],
) -> Answer:
    """Ask again until ACCEPT or REJECT, or until the time is up; the stage stays that of the first ask.

    Args:
        read_question: reads the evidence anew; only the first ask carries its idempotency key, since
            other evidence is another question.
        pause: waits so many seconds.
        on_hold: told the last DEGRADE, the seconds that are left, and why the evidence could not be read since.

    Raises:
        InputRefusedError: the evidence was refused at the first ask, or still when the time was up; in between, a
            file that its writer has not finished is read again.
    """
    until = clock.now() + round(wait_seconds * MICROSECONDS)
    answer = ask(read_question(), ledger=ledger, clock=clock)
    stage = str(answer.event["stage"])
    refused: InputRefusedError | None = None
    while answer.verdict is Verdict.DEGRADE:
        left = (until - clock.now()) / MICROSECONDS
        if left <= 0:
            if refused is not None:
                raise refused
            break
        on_hold(answer, left, None if refused is None else refused.message)
        pause(min(interval_seconds, left))
        try:
            question = replace(read_question(), idempotency_key=None)
            refused = None
        except (SnapshotError, DocumentError) as error:
            refused = error
            continue
        answer = ask(question, ledger=ledger, clock=clock, fixed_stage=stage)
    return answer


def ask_stages(
    question_for: Callable[[str], Question], run_id: str, stages: Sequence[str], *, ledger: Ledger, clock: Clock
) -> Iterator[Answer]:
    """Ask the stages in turn, from the held or next one, until one does not pass."""
    run = ledger.view().run(run_id)
    first = default_stage(run, tuple(stages))
    start = stages.index(first) if first in stages else 0
    for stage in stages[start:]:
        answer = ask(question_for(stage), ledger=ledger, clock=clock)
        yield answer
        if answer.verdict is not Verdict.ACCEPT:
            return


@dataclass(frozen=True)
class HoldOutcome:
    """What became of one hold: its answer, or why there is none (`needs evidence`, `ended meanwhile`, …).

    `failure` is set where the log could not be written or read (74); the other holds are asked all the same.
    """

    run: Run
    answer: Answer | None = None
    problem: str | None = None
    failure: LogError | None = None


def reevaluate(
    *,
    ledger: Ledger,
    clock: Clock,
    read_source: Callable[[Mapping[str, Any]], Snapshot],
    only_due: bool,
    actor: str,
    as_of: str | None = None,
) -> Iterator[HoldOutcome]:
    """Ask every open hold (or every one that is due) again, through the same door as `resume`.

    Args:
        read_source: reads the evidence that was recorded with a hold; SnapshotError when it cannot.
        as_of: ask the holds of simulated runs, at this time (RFC 3339); real ones are asked without it.
    """
    for run in ledger.view().holds():
        hold = run.hold
        if hold is None or run.simulated != (as_of is not None):
            continue
        now = clock.now() if as_of is None else require_time(as_of)
        if only_due and now < require_time(hold.not_before):
            continue
        snapshot, problem = _evidence_for(run, ledger, read_source, now=now)
        if snapshot is None:
            yield HoldOutcome(run, problem=problem)
            continue
        question = Question(
            command="reevaluate",
            snapshot=snapshot,
            actor=actor,
            token=hold.token,
            source=hold.document.get("source"),
            as_of=as_of,
        )
        try:
            yield HoldOutcome(run, ask(question, ledger=ledger, clock=clock))
        except TokenError as error:
            yield HoldOutcome(run, problem=f"ended meanwhile: {error.message}")
        except LogError as error:
            yield HoldOutcome(run, problem=error.message, failure=error)


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """REJECT over DEGRADE over ACCEPT; None of nothing."""
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), None)


def _evidence_for(
    run: Run, ledger: Ledger, read_source: Callable[[Mapping[str, Any]], Snapshot], *, now: int
) -> tuple[Snapshot | None, str]:
    """Evidence to ask a hold with: read again, or the last one when only its deadline can be applied."""
    hold = run.hold
    if hold is None:  # pragma: no cover - callers pass held runs
        return None, "no hold"
    problem = "needs evidence: no file was recorded with it"
    source = hold.document.get("source")
    if source is not None:
        try:
            return read_source(source), ""
        except SnapshotError as error:
            problem = f"needs evidence: {error.message}"
    if hold.deadline_at is not None and now >= require_time(hold.deadline_at):
        event = ledger.view().event(hold.event_id)  # earlier answers of this pass have ended the view of the holds
        if event is not None:
            return snapshot_from_document(event["metrics_snapshot"]), ""
    return None, problem
