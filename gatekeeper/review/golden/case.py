"""A golden case: a policy, one snapshot, one context, and what the answer must be.

The dataclasses are the definition of the file; `review.golden.load` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from gatekeeper.model.policy import OnDeadline
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gatekeeper.model.context import Context
    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.model.snapshot import Snapshot


class ChangeClass(StrEnum):
    """As `model.context.CHANGE_CLASSES`."""

    REVERSIBLE = "reversible"
    STATEFUL_OR_IRREVERSIBLE = "stateful_or_irreversible"
    UNSAFE_FOR_EXPERIMENT = "unsafe_for_experiment"


class History(StrEnum):
    """Whether the run's log is whole."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class CaseDigests:
    """Digests of the run's policy and of the given one; left out, they are equal."""

    run: str
    given: str


@dataclass(frozen=True)
class CaseContext:
    """The fields of `model.context.Context` as a file states them: what does not apply is left out, never null."""

    stage: str
    evaluated_at: str
    from_stage: str | None = None
    stage_entered_at: str | None = None
    evidence: Mapping[str, str] | None = None
    approvals: tuple[Mapping[str, Any], ...] | None = None
    change_class: ChangeClass | None = None
    policy: CaseDigests | None = None
    attempt: int | None = None
    looks: int | None = None
    first_held_at: str | None = None
    deadline_at: str | None = None
    on_deadline: OnDeadline | None = None
    history: History | None = None


@dataclass(frozen=True)
class ExpectedAction:
    """A requested action; without `params`, only its name counts."""

    name: str
    params: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Expectation:
    """What the decision must be; what is left out may be anything. Lists are as the decision has them, in its order."""

    verdict: Verdict | None = None
    reason_codes: tuple[str, ...] | None = None
    missing: tuple[str, ...] | None = None
    requested_actions: tuple[ExpectedAction, ...] | None = None


EXPECTED = ("verdict", "reason_codes", "missing", "requested_actions")
"""What a case may expect, in the order in which it is compared and shown."""


@dataclass(frozen=True)
class GoldenCase:
    """The file.

    Attributes:
        name: what the case is about, one line.
        policy: path of the policy, relative to the case's own folder.
        snapshot: the evidence, inline or as a path relative to the case's own folder.
        context: what is known besides.
        expect: at least one of `EXPECTED`.
        event: id of the recorded decision that the case was made from.
        reason: why the expectation is what it is; `policy test --update` writes it.
        description: more words for people.
    """

    name: str
    policy: str
    snapshot: Any
    context: CaseContext
    expect: Expectation
    event: str | None = None
    reason: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class LoadedCase:
    """A case with all that it refers to.

    Attributes:
        path: its file, as the caller named it.
        name, event: as in the file.
        policy_path: where the policy was read from.
        expect: key -> what is expected, as parsed; keys of `EXPECTED`.
    """

    path: str
    name: str
    event: str | None
    policy_path: str
    policy: LoadedPolicy
    snapshot: Snapshot
    context: Context
    expect: Mapping[str, Any]
