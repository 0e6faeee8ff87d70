"""The policy: a goal surface as frozen values, as a reviewed file states it (SPEC 3).

The dataclasses are the definition. A document is validated at the boundary (`review.load`, with
pydantic reading these very classes) and built here by one field table, `policy_from_document`, so
that a policy that the log already holds needs no validation library.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gatekeeper.model.canonical import digest
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.stages import DEFAULT_STAGES
from gatekeeper.model.values import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA_VERSION = 1
"""Version of the rules by which a document was validated; part of the key of a known policy."""


class OnTrouble(StrEnum):
    """What a policy may want of missing or old evidence."""

    DEGRADE = "DEGRADE"
    REJECT = "REJECT"


class OnDeadline(StrEnum):
    """What a passed deadline does to a hold."""

    ESCALATE = "ESCALATE"
    REJECT = "REJECT"


class Operator(StrEnum):
    """The healthy side of a threshold: equal to a `<=` threshold is healthy."""

    LE = "<="
    LT = "<"
    GE = ">="
    GT = ">"

    @property
    def lower_is_better(self) -> bool:
        """Whether "worse" is up."""
        return self in {Operator.LE, Operator.LT}


class Direction(StrEnum):
    """Where a primary metric should go."""

    UP = "up"
    DOWN = "down"


class Enforcement(StrEnum):
    """Whether a guardrail decides or only watches."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class ConstraintKind(StrEnum):
    """What must never be."""

    MUST_BE_ZERO = "must_be_zero"
    MUST_BE_FALSE = "must_be_false"


class Precedence(StrEnum):
    """In which order troubles decide (SPEC 5.2 and 5.4)."""

    VIOLATIONS_FIRST = "violations_first"
    EVIDENCE_FIRST = "evidence_first"


@dataclass(frozen=True)
class Primary:
    """A goal, judged by the promotion gate; `min_lift` in the metric's unit."""

    metric: str
    direction: Direction
    min_lift: float | None = None
    description: str | None = None


@dataclass(frozen=True)
class Guardrail:
    """A metric with a threshold, a budget of allowed worsening, or both.

    `budget_delta` is absolute, in the metric's unit; `budget_ratio` is relative to the baseline's
    absolute value (0.02 = 2 %). `range` bounds what the metric can be at all. `stages` None = every stage.
    """

    metric: str
    op: Operator
    threshold: float | None = None
    budget_delta: float | None = None
    budget_ratio: float | None = None
    range: tuple[float, float] | None = None
    enforcement: Enforcement = Enforcement.ENFORCE
    stages: tuple[str, ...] | None = None
    description: str | None = None
    runbook: str | None = None


@dataclass(frozen=True)
class Constraint:
    """Something that must never be, at any age of the evidence. `stages` None = every stage."""

    kind: ConstraintKind
    metric: str
    stages: tuple[str, ...] | None = None
    description: str | None = None
    runbook: str | None = None


@dataclass(frozen=True)
class MissingDataPolicy:
    """What to do when evidence is missing or old. Limits in seconds; None = not asked."""

    required_metrics: tuple[str, ...] = ()
    on_missing: OnTrouble = OnTrouble.DEGRADE
    max_freshness_seconds: float | None = None
    max_watermark_skew_seconds: float | None = None
    on_stale: OnTrouble = OnTrouble.DEGRADE
    on_missing_baseline: OnTrouble | None = None
    precedence: Precedence = Precedence.VIOLATIONS_FIRST
    max_baseline_age_seconds: float | None = None


@dataclass(frozen=True)
class PromotionGate:
    """Statistics asked on entering the stages named; bounds are variant minus baseline."""

    required_for_stages: tuple[str, ...]
    min_sample_size: float | None = None
    require_ci_low_gt: float | None = None
    on_not_ready: OnTrouble = OnTrouble.DEGRADE


@dataclass(frozen=True)
class StagePolicy:
    """How long a stage lasts at least before the next may be entered, in seconds."""

    min_stage_seconds: float | None = None


@dataclass(frozen=True)
class EvidencePolicy:
    """References that must be given with a run (`change_id`, `ticket_link`, …)."""

    required: tuple[str, ...] = ()
    on_missing: OnTrouble = OnTrouble.DEGRADE


@dataclass(frozen=True)
class HoldPolicy:
    """How a hold of one category is owned, retried and ended; seconds count from `first_held_at`."""

    retry_after_seconds: float = 0
    escalate_after_seconds: float = 1800
    owners: tuple[str, ...] = ("owner",)
    deadline_seconds: float | None = None
    on_deadline: OnDeadline = OnDeadline.ESCALATE


@dataclass(frozen=True)
class Suppression:
    """A remark of `policy check` that the policy's owners have answered: why it does not count.

    `code` as the review states it (`policy.canary_jump`); `rule` the one rule that is meant
    (`guardrail:error_rate`), None = wherever the code stands. Nothing else reads it.
    """

    code: str
    reason: str
    rule: str | None = None


@dataclass(frozen=True)
class Policy:
    """The goal surface: one reviewed file. Equal content has an equal `policy_digest`."""

    policy_id: str
    policy_version: str
    primary: tuple[Primary, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    missing_data_policy: MissingDataPolicy = MissingDataPolicy()
    promotion_gate: PromotionGate | None = None
    stages: tuple[str, ...] = DEFAULT_STAGES
    stage_policy: StagePolicy | None = None
    evidence: EvidencePolicy = EvidencePolicy()
    holds: Mapping[str, HoldPolicy] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()


@dataclass(frozen=True)
class LoadedPolicy:
    """A policy with the document that it was read from.

    Attributes:
        policy: the values.
        document: the JSON as parsed, defaults not filled in; what the `policy` event records.
        digest: digest of the document's canonical form: the policy's identity.
        source: where it came from, for messages.
    """

    policy: Policy
    document: Mapping[str, Any]
    digest: str
    source: str = "-"


_NESTED = {
    "primary": Primary,
    "guardrails": Guardrail,
    "constraints": Constraint,
    "missing_data_policy": MissingDataPolicy,
    "promotion_gate": PromotionGate,
    "stage_policy": StagePolicy,
    "evidence": EvidencePolicy,
    "suppressions": Suppression,
}
_ENUMS = {
    "on_missing": OnTrouble,
    "on_stale": OnTrouble,
    "on_missing_baseline": OnTrouble,
    "on_not_ready": OnTrouble,
    "on_deadline": OnDeadline,
    "precedence": Precedence,
    "op": Operator,
    "direction": Direction,
    "enforcement": Enforcement,
    "kind": ConstraintKind,
}


def policy_from_document(document: Mapping[str, Any]) -> Policy:
    """Build a Policy from a document that has been validated before (now, or when it was recorded).

    Raises ValueError, TypeError or KeyError on a document that was not.
    """
    fields: dict[str, Any] = {}
    for key, value in document.items():
        if key == "holds":
            fields[key] = {name: _build(HoldPolicy, hold) for name, hold in value.items()}
        elif key in _NESTED and value is not None:
            fields[key] = (
                tuple(_build(_NESTED[key], item) for item in value)
                if isinstance(value, (list, tuple))
                else _build(_NESTED[key], value)
            )
        else:
            fields[key] = tuple(value) if isinstance(value, list) else value
    return Policy(**fields)


def _build(kind: Any, document: Mapping[str, Any]) -> Any:
    fields: dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, list):
            fields[key] = tuple(value)
        elif key in _ENUMS and value is not None:
            fields[key] = _ENUMS[key](value)
        else:
            fields[key] = value
    return kind(**fields)


def loaded_policy(document: Mapping[str, Any], *, source: str = "-") -> LoadedPolicy:
    """Wrap a validated document with its values and its digest."""
    return LoadedPolicy(policy_from_document(document), document, digest(document), source)


def resolve_effect(code_setting: Verdict | str, policy: Policy) -> Verdict:
    """What a code means under *policy*: its fixed verdict, or that of the policy's `on_*` key."""
    if isinstance(code_setting, Verdict):
        return code_setting
    wanted: OnTrouble | None
    missing = policy.missing_data_policy
    if code_setting == "on_missing":
        wanted = missing.on_missing
    elif code_setting == "on_missing_baseline":
        wanted = missing.on_missing_baseline
    elif code_setting == "on_stale":
        wanted = missing.on_stale
    elif code_setting == "evidence.on_missing":
        wanted = policy.evidence.on_missing
    elif code_setting == "on_not_ready":
        wanted = policy.promotion_gate.on_not_ready if policy.promotion_gate else None
    else:
        wanted = None
    return Verdict.REJECT if wanted is OnTrouble.REJECT else Verdict.DEGRADE
