"""What an event says of itself, for any JSON object that somebody may have written into a log.

The getters never raise: a field that is not there, or of another type than it should be, is None or
empty. A line without `kind` was written by a founding-style driver and is a decision; such lines may
hold verdict and reason codes beside the other fields, or the verdict as the text of `decision`.
"""

from __future__ import annotations

from gatekeeper.model.line import is_chained

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def facts_of(event: Mapping[str, Any]) -> tuple[Any, ...]:
    """The fields of the event's `indexed.Facet`, in their order; what the getters say, in one go."""
    get = event.get
    decision = get("decision")
    if not isinstance(decision, dict):
        decision = decision_of(event)
    codes = decision.get("reason_codes")
    return (
        kind if isinstance(kind := get("kind"), str) and kind else "decision",
        verdict if isinstance(verdict := decision.get("verdict"), str) else None,
        stage if isinstance(stage := get("stage"), str) and stage else stage_of(event),
        name if isinstance(name := get("policy_id"), str) else None,
        version if isinstance(version := get("policy_version"), str) else None,
        digest if isinstance(digest := get("policy_digest"), str) else None,
        get("as_of") is not None,
        _once(texts_of(decision, "reason_codes")) if codes else (),
    )


def kind_of(event: Mapping[str, Any]) -> str:
    """`kind`; `decision` where there is none."""
    return text_of(event, "kind") or "decision"


def text_of(event: Mapping[str, Any], name: str) -> str | None:
    """The field *name*, if it is text."""
    value = event.get(name)
    return value if isinstance(value, str) else None


def part_of(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The field *name*, if it is an object; else an empty one."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def texts_of(part: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts in the list *name*; empty if it is no list."""
    value = part.get(name)
    return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, list) else ()


def verdict_of(event: Mapping[str, Any]) -> str | None:
    """The verdict of a decision, or of an action that ended a run."""
    return text_of(decision_of(event), "verdict")


def reasons_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """The reason codes, each once, in the order in which they stand."""
    return _once(texts_of(decision_of(event), "reason_codes"))


def stage_of(event: Mapping[str, Any]) -> str | None:
    """The stage asked; that of a refusal is the one that was turned away."""
    return text_of(event, "stage") or text_of(part_of(event, "refusal"), "stage")


def is_simulated(event: Mapping[str, Any]) -> bool:
    """Whether the evaluation time was set by hand (`--as-of`)."""
    return event.get("as_of") is not None


def _once(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts)) if len(texts) > 1 else texts


def decision_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was decided, with `verdict` and `reason_codes`; of a founding-style line that may be the line itself."""
    stated = event.get("decision")
    if isinstance(stated, dict):
        return stated
    if is_chained(event):
        return {}
    return {**event, "verdict": stated} if isinstance(stated, str) else event
