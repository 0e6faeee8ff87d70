"""What a caller asks, and what it gets back."""

from __future__ import annotations

from gatekeeper.model.canonical import digest
from gatekeeper.model.values import dataclass, field, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.reasons import Verdict
    from gatekeeper.model.run import Run
    from gatekeeper.model.snapshot import Snapshot
    from gatekeeper.ports import EvidenceSource


@dataclass(frozen=True)
class Question:
    """May this run enter (or remain in) a stage?

    Attributes:
        command: `check`, `run`, `resume` or `reevaluate`; part of an idempotency key's question.
        snapshot: the evidence; None where *evidence_source* is to be asked for it.
        actor: who asks.
        evidence_source: what states the evidence when it is needed; None where a snapshot was given.
        run_id: None when a token names the run.
        policy: None for `resume` and `reevaluate`: the run's policy judges.
        stage: as given; None asks the default stage.
        evidence: references given with this call.
        token: of the hold to re-enter.
        source: where the evidence can be read again, kept with a hold; of a collection file it holds the digest too.
        as_of: evaluation time of a simulated run, RFC 3339.
        adopt_reason: take *policy* over for the run, and why.
        start_stage, reason: begin a run at a later stage, and why.
    """

    command: str
    snapshot: Snapshot | None
    actor: str
    evidence_source: EvidenceSource | None = None
    run_id: str | None = None
    experiment_id: str | None = None
    variant_id: str | None = None
    policy: LoadedPolicy | None = None
    stage: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    revision: str | None = None
    change_class: str | None = None
    supersede: str | None = None
    start_stage: str | None = None
    reason: str | None = None
    idempotency_key: str | None = None
    adopt_reason: str | None = None
    token: str | None = None
    source: dict[str, Any] | None = None
    as_of: str | None = None
    dry_run: bool = False

    @property
    def is_simulated(self) -> bool:
        """Whether an evaluation time was given."""
        return self.as_of is not None

    @property
    def judged(self) -> Snapshot:
        """The snapshot that is judged; a question with a source has none before that was asked."""
        if self.snapshot is None:
            raise AssertionError("the evidence of this question has not been collected")
        return self.snapshot


class AskedOnce:
    """A source that is asked once in a call, however often the call must read the run again."""

    __slots__ = ("_snapshot", "_source")

    def __init__(self, source: EvidenceSource) -> None:
        self._source = source
        self._snapshot: Snapshot | None = None

    @property
    def digest(self) -> str:
        """As `EvidenceSource.digest`."""
        return self._source.digest

    def collect(self) -> Snapshot:
        """The snapshot of the first time."""
        if self._snapshot is None:
            self._snapshot = self._source.collect()
        return self._snapshot


def asked_once(question: Question) -> Question:
    """The question as one call asks it: its source, if it has one, states one snapshot."""
    source = question.evidence_source
    return question if source is None else replace(question, evidence_source=AskedOnce(source))


def with_evidence(question: Question) -> Question:
    """The question with the snapshot that is judged, collected now where none was given.

    Raises:
        CollectionError, UsageError: as the source does.
    """
    source = question.evidence_source
    return question if source is None else replace(question, snapshot=source.collect())


def question_digest(question: Question, run_id: str) -> str:
    """Digest of the question as asked: what an idempotency key and a refusal stand for (SPEC 6).

    Evidence that is collected differs each time: there the collection file is what was asked.
    """
    source = question.evidence_source
    return digest(
        {
            "command": question.command,
            "run": run_id,
            "stage": question.stage or question.start_stage,
            "policy_digest": None if question.policy is None else question.policy.digest,
            "revision": question.revision,
            "evidence": dict(question.evidence),
            **({"snapshot_digest": question.judged.digest} if source is None else {"collector_digest": source.digest}),
            "token": question.token,
        }
    )


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes:
        event: the event as logged; for a dry run or an unrecorded REJECT, the draft that was not.
        is_recorded: it had been answered before; nothing was appended now.
        is_dry_run: evaluated only.
        is_unrecorded: a REJECT that could not be written; `warnings` say what to do.
        run: the run after it; None when even that could not be read.
        policy: the policy that judges the run, which need not be the one given; None for a stopped run.
        warnings: what people should be told, one sentence each.
    """

    event: Mapping[str, Any]
    verdict: Verdict
    run: Run | None = None
    policy: LoadedPolicy | None = None
    is_recorded: bool = False
    is_dry_run: bool = False
    is_unrecorded: bool = False
    warnings: tuple[str, ...] = ()
