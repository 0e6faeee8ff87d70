"""Of an event what the fold and its index ask, so that whoever folds it need not parse the whole line."""

from __future__ import annotations

from gatekeeper.ledger.projection_index import said_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_FOLDED = (
    "kind", "seq", "prev", "ts", "run_id", "event_id", "experiment_id", "variant_id", "revision", "change_class",
    "policy_id", "policy_version", "policy_digest", "stage", "state_transition", "snapshot_digest", "evidence_refs",
    "idempotency_key", "previous_run", "as_of", "actor",
)  # fmt: skip
_OF_CONTEXT = ("looks", "evaluated_at", "history")
_OF_DECISION = ("verdict", "reason_codes", "missing")
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


def slim_of(event: Mapping[str, Any] | None) -> tuple[Mapping[str, Any] | None, tuple[Any, ...] | None]:
    """Of a usual decision what the fold asks (`model.fold`, the index), and what it says of itself; else nothing."""
    if event is None or event.get("kind") != "decision":
        return None, None
    decision, context = event.get("decision"), event.get("context")
    if type(decision) is not dict or type(context) is not dict or type(context.get("looks")) is not int:
        return None, None
    try:
        said = said_of(event)
    except _MALFORMED:
        return None, None
    slim = {name: event[name] for name in _FOLDED if name in event}
    slim["context"] = {name: context[name] for name in _OF_CONTEXT if name in context}
    slim["decision"] = {name: decision[name] for name in _OF_DECISION if name in decision}
    if decision.get("verdict") == "DEGRADE":
        slim["resume"] = event.get("resume")
    if context["looks"] and "findings" in decision:  # the fold asks whether the statistics were looked at
        slim["decision"]["findings"] = decision["findings"]
    return slim, said
