"""What a query and an index over a log's events hand each other."""

from __future__ import annotations

from collections.abc import Collection

from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class IndexUnusableError(Exception):
    """The index cannot answer (damaged, or a line is not the one that it knows): the log itself must be read."""


@dataclass(frozen=True)
class Facet:
    """What events are filtered and counted by, less their run and time; many events share one.

    Attributes:
        kind, verdict, stage, policy_id, policy_version, policy_digest, simulated, reasons: what the
            getters of `model.facts` say of each of these events.
    """

    kind: str
    verdict: str | None
    stage: str | None
    policy_id: str | None
    policy_version: str | None
    policy_digest: str | None
    simulated: bool
    reasons: tuple[str, ...]

    @classmethod
    def of_facts(cls, facts: Sequence[Any]) -> Facet:
        """Of the fields that `facts.facts_of` gives, which may have been JSON meanwhile."""
        *rest, reasons = facts
        return cls(*[*rest, tuple(reasons)])

    def as_event(self) -> dict[str, Any]:
        """An event that says the same of itself, and nothing else."""
        return {
            "kind": self.kind,
            "stage": self.stage,
            "refusal": {"stage": self.stage},
            "policy_id": self.policy_id,
            "policy_version": self.policy_version,
            "policy_digest": self.policy_digest,
            "as_of": "" if self.simulated else None,
            "decision": {"verdict": self.verdict, "reason_codes": list(self.reasons)},
        }


@dataclass(frozen=True)
class Selection:
    """Which of the listed events are meant; all that is stated must hold.

    Attributes:
        facets: numbers of their facets.
        run, experiment: equal to the event's; None: any.
        first_seq, end_seq: the range of their seqs, its end not included.
    """

    facets: Collection[int]
    run: str | None
    experiment: str | None
    first_seq: int
    end_seq: int


@dataclass(frozen=True)
class Place:
    """Where the line of a listed event stands; `segment` is the index's own number of the file."""

    seq: int
    segment: int
    line: int
    offset: int
    length: int
    digest: bytes


@dataclass(frozen=True)
class StoredLine:
    """A line as it stands in a file.

    Attributes:
        source: the file.
        number: its line number there, from 1.
        data: its bytes without the newline.
        after_seq: the listed event that it follows; the line's own seq where it is listed itself.
    """

    source: str
    number: int
    data: bytes
    after_seq: int


@dataclass(frozen=True)
class Count:
    """How many listed events share a facet and the values asked for, which stand in the order asked."""

    facet: int
    values: tuple[str | None, ...]
    count: int
