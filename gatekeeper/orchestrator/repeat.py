"""Asking more than once: `--wait`, the stages of `run`, and the holds of `reevaluate`. All through `gate.ask`."""

from __future__ import annotations

from gatekeeper.errors import (
    CollectionError,
    DocumentError,
    GatekeeperError,
    SnapshotError,
    TokenError,
    UsageError,
)
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.snapshot import Snapshot, snapshot_from_document
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
    from gatekeeper.model.run import Hold, Run
    from gatekeeper.orchestrator.question import Answer
    from gatekeeper.ports import Clock, EvidenceSource, Ledger

    Evidence = Snapshot | tuple[EvidenceSource, dict[str, Any] | None]
    """A snapshot, or who is to be asked for one and what is recorded about it with a hold (`Question.source`)."""

_UNREPEATABLE = (
    "what it was held on came from standard input (or a path that cannot be recorded) and cannot be read again; "
    "resume it with new evidence: gatekeeper resume"
)
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
        read_question: reads the evidence anew, or names the source that every ask collects from anew. Other evidence
            is another question: only the first ask of a snapshot carries its idempotency key, and of a source
            all do while its collection file stays the same.
        pause: waits so many seconds.
        on_hold: told the last DEGRADE, the seconds that are left, and why the evidence could not be read since.

    Raises:
        InputRefusedError: the evidence was refused at the first ask, or still when the time was up; in between, a
            file that its writer has not finished is read again.
        CollectionError: at once, whenever it comes: no waiting mends a collection file.
    """
    until = clock.now() + round(wait_seconds * MICROSECONDS)
    question = read_question()
    collector = _collector_digest(question)
    answer = ask(question, ledger=ledger, clock=clock)
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
            question = read_question()
            refused = None
        except (SnapshotError, DocumentError) as error:
            refused = error
            continue
        if collector is None or collector != _collector_digest(question):
            question = replace(question, idempotency_key=None)
        answer = ask(question, ledger=ledger, clock=clock, fixed_stage=stage)
    return answer


def _collector_digest(question: Question) -> str | None:
    return None if question.evidence_source is None else question.evidence_source.digest


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

    `failure` is set where a mistake or a disk kept it from being asked (64, 65, 74): the other holds are asked all the
    same. Beside it stands an answer where a passed deadline was applied to the last snapshot nevertheless.
    """

    run: Run
    answer: Answer | None = None
    problem: str | None = None
    failure: GatekeeperError | None = None


def reevaluate(
    *,
    ledger: Ledger,
    clock: Clock,
    read_source: Callable[[Mapping[str, Any]], Evidence],
    only_due: bool,
    actor: str,
    as_of: str | None = None,
) -> Iterator[HoldOutcome]:
    """Ask every open hold (or every one that is due) again, through the same door as `resume`.

    Args:
        read_source: what the source recorded with a hold gives now; a collection file comes with what is recorded
            about it from now on, its digest included. Raises SnapshotError when there is nothing to read, and
            CollectionError or UsageError when there is a mistake that somebody must mend.
        as_of: ask the holds of simulated runs, at this time (RFC 3339); real ones are asked without it.
    """
    for run in ledger.view().holds():
        hold = run.hold
        if hold is None or run.simulated != (as_of is not None):
            continue
        now = clock.now() if as_of is None else require_time(as_of)
        if only_due and now < require_time(hold.not_before):
            continue
        template = Question(
            command="reevaluate",
            snapshot=None,
            actor=actor,
            token=hold.token,
            source=hold.document.get("source"),
            as_of=as_of,
        )
        try:
            yield _ask_hold(run, hold, template, ledger, clock, read_source)
        except TokenError as error:
            yield HoldOutcome(run, problem=f"ended meanwhile: {error.message}")
        except GatekeeperError as error:
            yield HoldOutcome(run, problem=error.message, failure=error)


def _ask_hold(
    run: Run,
    hold: Hold,
    template: Question,
    ledger: Ledger,
    clock: Clock,
    read_source: Callable[[Mapping[str, Any]], Evidence],
) -> HoldOutcome:
    """Ask one hold with evidence read again, or with its last when only its deadline can be applied."""
    problem, failure = f"needs evidence: {_UNREPEATABLE} {hold.token} --snapshot FILE, or --collect FILE", None
    if template.source is not None:
        try:
            question = _with(template, read_source(template.source))
            return HoldOutcome(run, ask(question, ledger=ledger, clock=clock))
        except SnapshotError as error:
            problem = f"needs evidence: {error.message}"
        except (CollectionError, UsageError) as error:
            problem, failure = error.message, error
    now = clock.now() if template.as_of is None else require_time(template.as_of)
    if hold.deadline_at is not None and now >= require_time(hold.deadline_at):
        event = ledger.view().event(hold.event_id)  # earlier answers of this pass have ended the view of the holds
        if event is not None:
            question = _with(template, snapshot_from_document(event["metrics_snapshot"]))
            return HoldOutcome(run, ask(question, ledger=ledger, clock=clock), failure=failure)
    return HoldOutcome(run, problem=problem, failure=failure)


def _with(template: Question, evidence: Evidence) -> Question:
    if isinstance(evidence, Snapshot):
        return replace(template, snapshot=evidence)
    evidence_source, source = evidence
    return replace(template, evidence_source=evidence_source, source=source)


def worst_verdict(verdicts: Sequence[Verdict]) -> Verdict | None:
    """REJECT over DEGRADE over ACCEPT; None of nothing."""
    return next((verdict for verdict in _WORST_FIRST if verdict in verdicts), None)
