"""All that is known besides policy and snapshot when a check is judged."""

from __future__ import annotations

from gatekeeper.model.times import require_time
from gatekeeper.model.values import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CHANGE_CLASSES = ("reversible", "stateful_or_irreversible", "unsafe_for_experiment")


@dataclass(frozen=True)
class PolicyDigests:
    """Digest of the policy that the run was started under, and of the one given with this call."""

    run: str
    given: str


def _digests(stated: object) -> PolicyDigests | None:
    if stated is None or isinstance(stated, PolicyDigests):
        return stated
    if not isinstance(stated, dict):
        raise TypeError(f"policy is an object with the digests run and given, not {stated!r}")
    return PolicyDigests(run=stated["run"], given=stated["given"])


@dataclass(frozen=True)
class Context:
    """What the orchestrator knew. Times are RFC 3339 text with a zone, as they are logged.

    Attributes:
        stage: the stage asked.
        evaluated_at: the moment of evaluation.
        from_stage: the run's current stage; None before its first ACCEPT.
        stage_entered_at: `evaluated_at` of the ACCEPT that entered `from_stage`.
        evidence: evidence references in force for the run, name to value.
        approvals: approval events that match run, stage, revision and policy digest.
        change_class: one of CHANGE_CLASSES.
        policy: digests of the run's and of the given policy, also as `{"run": …, "given": …}`; None means equal.
        attempt: number of this attempt within its hold, from 1; 0 when no hold is meant.
        looks: how often the run's statistics were looked at, this time included.
        first_held_at, deadline_at, on_deadline: of the open hold, if this check is an attempt of it.
        history: `complete`, or `incomplete` when the run's log crosses damage or a gap.

    Raises:
        ValueError: a time that is not RFC 3339 with a zone, an unknown change class.
        TypeError, KeyError: a `policy` that is neither PolicyDigests nor an object with both digests.
    """

    stage: str
    evaluated_at: str
    from_stage: str | None = None
    stage_entered_at: str | None = None
    evidence: Mapping[str, str] = field(default_factory=dict)
    approvals: tuple[Mapping[str, Any], ...] = ()
    change_class: str = "reversible"
    policy: PolicyDigests | None = None
    attempt: int = 1
    looks: int = 0
    first_held_at: str | None = None
    deadline_at: str | None = None
    on_deadline: str | None = None
    history: str = "complete"

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", _digests(self.policy))
        require_time(self.evaluated_at)
        for moment in (self.stage_entered_at, self.first_held_at, self.deadline_at):
            if moment is not None:
                require_time(moment)
        if self.change_class not in CHANGE_CLASSES:
            raise ValueError(f"unknown change class: {self.change_class!r}")
        if self.history not in {"complete", "incomplete"}:
            raise ValueError(f"history is complete or incomplete, not {self.history!r}")
        if self.on_deadline not in {None, "REJECT", "ESCALATE"}:
            raise ValueError(f"on_deadline is REJECT or ESCALATE, not {self.on_deadline!r}")

    @property
    def is_entering(self) -> bool:
        """Whether the check asks to enter a stage, not to remain in it."""
        return self.stage != self.from_stage

    def to_dict(self) -> dict[str, Any]:
        """JSON form, as logged."""
        document = dict(self.__dict__)
        document["evidence"] = dict(self.evidence)
        document["approvals"] = [dict(approval) for approval in self.approvals]
        document["policy"] = None if self.policy is None else {"run": self.policy.run, "given": self.policy.given}
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Context:
        """Read what `to_dict` wrote. Raises ValueError, TypeError or KeyError on anything else."""
        fields = dict(document)
        fields["approvals"] = tuple(fields.get("approvals", ()))
        if fields.keys() != _NAMES:
            return cls(**fields)
        context = object.__new__(cls)  # nothing is left to defaults: half the time, and a log holds millions
        context.__dict__.update(fields)
        context.__post_init__()
        return context


_NAMES = frozenset(Context.__match_args__)
