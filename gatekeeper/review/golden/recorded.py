"""A recorded decision as a golden case: its evidence and context, and the answer that was given."""

from __future__ import annotations

import json
import re

from gatekeeper.errors import GoldenCaseError
from gatekeeper.model.context import Context
from gatekeeper.review.golden.case import EXPECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_STEM = 150  # characters; with what a file system adds it stays below 255 bytes

_USUAL: Mapping[str, Any] = {"evidence": {}, "approvals": [], "change_class": "reversible", "history": "complete"}


def case_of(event: Mapping[str, Any], policy: str) -> dict[str, Any]:
    """The document of a case that asks what was asked then and expects what was answered.

    What a context leaves out means the same as what is left out here: null, nothing given, equal policy digests.

    Args:
        event: an event of the log.
        policy: path of the policy from the case's folder.

    Raises:
        GoldenCaseError: the event is no decision, or does not hold what it was made from.
    """
    event_id = str(event.get("event_id"))
    decision, context, snapshot = event.get("decision"), event.get("context"), event.get("metrics_snapshot")
    if event.get("kind") != "decision":
        raise GoldenCaseError(
            f"event {event_id} is of kind {event.get('kind')!r}; a case is made from a decision",
            remedy="list decisions with: gatekeeper replay",
        )
    if not (isinstance(decision, dict) and isinstance(context, dict) and isinstance(snapshot, dict)):
        raise GoldenCaseError(
            f"event {event_id} does not hold the evidence and the context that it was decided on",
            remedy="take a decision that gatekeeper recorded",
        )
    try:
        Context.from_dict(context)
    except (ValueError, TypeError, KeyError) as error:
        raise GoldenCaseError(
            f"the context of event {event_id} cannot be read: {error}", remedy="see: gatekeeper verify"
        ) from None
    return {
        "name": f"{context['stage']}: {decision.get('verdict')}, as recorded in {event_id}",
        "policy": policy,
        "event": event_id,
        "snapshot": snapshot,
        "context": _context(context),
        "expect": {key: decision[key] for key in EXPECTED if key in decision},
    }


def case_bytes(document: Mapping[str, Any]) -> bytes:
    """The file of a case."""
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def file_name(event_id: str) -> str:
    """A name for the file of the case made from an event: `exp-42-B-2026-02-18-CANARY_25-2.json`."""
    stem = _NO_FILE_NAME.sub("-", event_id).strip("-.")
    return f"{stem[:_LONGEST_STEM] or 'event'}.json"


def _context(context: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in context.items() if value is not None and value != _USUAL.get(key)}
    digests = kept.get("policy")
    if isinstance(digests, dict) and digests.get("run") == digests.get("given"):
        del kept["policy"]
    first: dict[str, Any] = {key: kept.pop(key) for key in ("stage", "from_stage") if key in kept}
    return {**first, **kept}
