"""The JSON Schema of a policy file, for editors and for programs that write one.

What it cannot say (one value held against another) is listed in docs/schema/README.md and asked when a file is loaded.
"""

from __future__ import annotations

from typing import Any

from gatekeeper.documents.schema import part, whole
from gatekeeper.model.policy import SCHEMA_VERSION, Policy
from gatekeeper.review.schema_notes import NOTES, STAGE


def policy_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a whole file."""
    definitions: dict[str, Any] = {"Stage": STAGE}
    frame = part(Policy, NOTES, definitions)
    return whole(
        frame,
        definitions,
        identifier=f"urn:gatekeeper:schema:policy:{SCHEMA_VERSION}",
        title="gatekeeper policy",
        description="The goal surface of a rollout: what it must not harm, what it should gain, by which stages.",
    )
