"""A difference as `policy diff -o json` prints it, with the places in the new file."""

from __future__ import annotations

from gatekeeper.documents.diagnostics import nearest, places_in
from gatekeeper.review.diff.difference import reason_of
from gatekeeper.review.diff.effects import Effect, Meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gatekeeper.model.policy import LoadedPolicy
    from gatekeeper.review.diff.difference import Change, Difference
    from gatekeeper.review.diff.edit import Edit
    from gatekeeper.review.diff.effects import Consequence

    Places = dict[str, tuple[int, int]]

_MOST_EXAMPLES = 3
_MOST_STAGES = 3
_WORDS = {
    Effect.LETS_MORE: "lets more through",
    Effect.STOPS_LESS: "stops less",
    Effect.LETS_LESS: "lets less through",
    Effect.STOPS_MORE: "stops more",
}


def report(difference: Difference, data: bytes) -> dict[str, Any]:
    """The JSON document.

    Args:
        difference: of the two policies.
        data: the bytes of the new one, for line and column.
    """
    places = places_in(data, difference.new.source) if difference.changes else {}
    stages = [stage for stage in difference.new.policy.stages if stage in difference.old.policy.stages]
    changes = [_change(change, places, stages) for change in difference.changes]
    step = difference.version
    return {
        "meaning": difference.meaning.value,
        "old": _policy(difference.old),
        "new": _policy(difference.new),
        "version": {
            "old": step.old,
            "new": step.new,
            "calls_for": step.calls_for,
            "standing": step.standing.value,
        },
        "counts": {
            meaning.value: sum(change.meaning is meaning for change in difference.changes) for meaning in Meaning
        },
        "changes": changes,
    }


def sentence(change: Change, stages: list[str]) -> str:
    """What a change does, with examples: `lets more through: p95 420 stopped, now passes`.

    Args:
        change: the change.
        stages: those that both policies have; where all of them are meant, none is named.
    """
    if not change.consequences:
        return f"changes no verdict: {reason_of(change)}"
    parts = []
    for effect in change.effects:
        examples = [_example(one, stages) for one in change.consequences if one.effect is effect]
        more = len(examples) - _MOST_EXAMPLES
        shown = "; ".join(examples[:_MOST_EXAMPLES]) + (f"; and {more} more" if more > 0 else "")
        parts.append(f"{_WORDS[effect]}: {shown}")
    return ". ".join(parts)


def _example(consequence: Consequence, stages: list[str]) -> str:
    at = consequence.stages
    if not at or len(at) >= len(stages) or consequence.rule.startswith("stage:"):
        return consequence.example
    more = len(at) - _MOST_STAGES
    named = ", ".join(at[:_MOST_STAGES]) + (f" and {more} more" if more > 0 else "")
    return f"{consequence.example} (at {named})"


def _change(change: Change, places: Places, stages: list[str]) -> dict[str, Any]:
    edit = change.edit
    pointer = _place_in_new(edit)
    line, column = nearest(pointer, places)
    return {
        "fingerprint": change.fingerprint,
        "meaning": change.meaning.value,
        "effects": [effect.value for effect in change.effects],
        "rule": edit.rule,
        "pointer": pointer,
        "old_pointer": edit.pointer if edit.is_removal else None,
        "line": line,
        "column": column,
        "before": edit.before,
        "after": edit.after,
        "was": edit.was,
        "becomes": edit.becomes,
        "message": sentence(change, stages),
        "consequences": [
            {"effect": one.effect.value, "rule": one.rule, "stages": list(one.stages), "example": one.example}
            for one in change.consequences
        ],
    }


def _policy(loaded: LoadedPolicy) -> dict[str, Any]:
    return {
        "source": loaded.source,
        "policy_id": loaded.policy.policy_id,
        "policy_version": loaded.policy.policy_version,
        "policy_digest": loaded.digest,
    }


def _place_in_new(edit: Edit) -> str:
    """Where to look in the new file: at what stands there, or at what the removed part was part of."""
    return edit.pointer.rpartition("/")[0] if edit.is_removal else edit.pointer
