"""The difference of two policies: each change with what it means, the most urgent first.

The way from the old policy to the new one is gone edit by edit. Each step is held against the policy that the step
before left, so every change gets a meaning of its own, and together they miss nothing: what no step lets through that
its predecessor did not, the last policy does not let through either.
"""

from __future__ import annotations

from hashlib import sha256

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.values import dataclass
from gatekeeper.review.diff.compare import compare
from gatekeeper.review.diff.edit import Edit
from gatekeeper.review.diff.effects import Effect, Meaning, meaning_of
from gatekeeper.review.diff.key_edits import (
    evidence_edits,
    gate_edits,
    hold_edits,
    missing_data_edits,
    other_edits,
    stage_policy_edits,
)
from gatekeeper.review.diff.rule_edits import constraint_edits, guardrail_edits, primary_edits
from gatekeeper.review.diff.sides import places
from gatekeeper.review.diff.stage_edits import stage_edits
from gatekeeper.review.diff.suppression_edits import suppression_edits
from gatekeeper.review.diff.version import version_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.review.diff.effects import Consequence
    from gatekeeper.review.diff.version import VersionStep

# in the order of a reviewer's file; what is carried out when says `When`
_EDITS = (
    other_edits,
    stage_edits,
    constraint_edits,
    guardrail_edits,
    missing_data_edits,
    evidence_edits,
    gate_edits,
    primary_edits,
    stage_policy_edits,
    hold_edits,
    suppression_edits,
)
_IMPLIED = "other rules ask as much, or nothing that decides reads it"
_SPELLING = "the same values in another spelling"
_FINGERPRINT_LETTERS = 12


@dataclass(frozen=True)
class Change:
    """One change with what it means.

    Attributes:
        edit: what differs, and where.
        consequences: what turns out otherwise, the loosening first; none for a neutral change.
        meaning: what it is for a reviewer.
    """

    edit: Edit
    consequences: tuple[Consequence, ...]
    meaning: Meaning

    @property
    def fingerprint(self) -> str:
        """Names this change in an approval: 12 hexadecimal digits of the SHA-256 of rule, pointer and both values."""
        values = ["" if one is None else canonical_bytes(one).decode() for one in (self.edit.before, self.edit.after)]
        text = ":".join([self.edit.rule, self.edit.pointer, *values])
        return sha256(text.encode()).hexdigest()[:_FINGERPRINT_LETTERS]

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The ways in which something turns out otherwise, each once."""
        return tuple(dict.fromkeys(one.effect for one in self.consequences))


@dataclass(frozen=True)
class Difference:
    """All that differs between two policies.

    Attributes:
        changes: the loosening ones first, then those that go both ways, the tightening and the neutral ones.
        meaning: of all together.
        version: what the change asks of `policy_version`.
    """

    old: LoadedPolicy
    new: LoadedPolicy
    changes: tuple[Change, ...]
    meaning: Meaning
    version: VersionStep


def difference(old: LoadedPolicy, new: LoadedPolicy) -> Difference:
    """What changed from *old* to *new*, and which checks turn out otherwise."""
    changes = sorted(_changes(old, new), key=lambda one: list(Meaning).index(one.meaning))
    meaning = meaning_of(effect for change in changes for effect in change.effects)
    return Difference(old, new, tuple(changes), meaning, version_step(old, new, meaning))


def _changes(old: LoadedPolicy, new: LoadedPolicy) -> Iterator[Change]:
    if old.digest == new.digest:
        return
    edits = [edit for edits_of in _EDITS for edit in edits_of(old, new)]
    common = tuple(places(old.policy.stages, new.policy.stages))
    consequences: dict[int, tuple[Consequence, ...]] = {}
    reached = old.policy
    for number, edit in sorted(enumerate(edits), key=lambda numbered: numbered[1].when):
        consequences[number] = edit.known
        if edit.carried_out is not None:
            before, reached = reached, edit.carried_out(reached)
            consequences[number] += compare(before, reached, common)
    for number, edit in enumerate(edits):
        yield Change(edit, consequences[number], meaning_of(one.effect for one in consequences[number]))
    # what no edit above has told; none is known, but nothing may be overlooked
    left = compare(reached, new.policy, common)
    if left or (not edits and old.policy.policy_version == new.policy.policy_version):
        edit = _whole("policy", old, new)
        yield Change(edit, left, meaning_of(one.effect for one in left))


def _whole(rule: str, old: LoadedPolicy, new: LoadedPolicy) -> Edit:
    documents: list[dict[str, Any]] = [dict(old.document), dict(new.document)]
    return Edit(rule, "", documents[0], documents[1], old.digest, new.digest, why_neutral=_SPELLING)


def reason_of(change: Change) -> str:
    """Why a neutral change changes no verdict."""
    return change.edit.why_neutral or _IMPLIED
