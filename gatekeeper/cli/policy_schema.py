"""`gatekeeper policy schema`: the JSON Schema of a format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gatekeeper.cli.kinds import did_you_mean
from gatekeeper.cli.outcome import Outcome
from gatekeeper.errors import UsageError
from gatekeeper.render.codes import CODES, LATER

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatekeeper.cli.values import Values


def schema(values: Values) -> Outcome:
    """0 with the schema. Raises UsageError for a format that has none (64)."""
    name = values.optional_text("format") or "policy"
    if name not in SCHEMAS:
        raise UsageError(
            f"no format has the name {name!r}{did_you_mean(name, tuple(SCHEMAS))}",
            remedy=f"name one of {', '.join(SCHEMAS)}",
        )
    return Outcome(schema_text(SCHEMAS[name]()))


def schema_text(document: dict[str, Any]) -> bytes:
    """A schema as it is printed, and as docs/schema has it."""
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def _policy() -> dict[str, Any]:
    from gatekeeper.review.schema import policy_schema

    return policy_schema()


def _snapshot() -> dict[str, Any]:
    from gatekeeper.documents.snapshot_schema import snapshot_schema

    return snapshot_schema()


def _collection() -> dict[str, Any]:
    from gatekeeper.evidence.collection_file.schema import collection_schema

    return collection_schema()


def _event() -> dict[str, Any]:
    from gatekeeper.documents.event_schema import event_schema

    return event_schema(code for code in (*CODES, *LATER) if not code.endswith(":*"))


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "policy": _policy,
    "snapshot": _snapshot,
    "collection": _collection,
    "event": _event,
}
"""Format -> what makes its schema; one file of docs/schema each."""
