"""Pieces that the schemas of snapshot and event are put together from: times, digests, reason codes, objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema_words import END, exactly, note
from gatekeeper.model.reasons import HOLD_CATEGORIES, Category

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
BOOLEAN: dict[str, Any] = {"type": "boolean"}
OBJECT: dict[str, Any] = {"type": "object"}

DURATION_PATTERN = (
    "^(?=[^0]*0*[1-9])(?:[0-9]+y)?(?:[0-9]+w)?(?:[0-9]+d)?(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?(?:[0-9]+ms)?" + END
)
"""A Prometheus duration above zero: units y w d h m s ms, in this order, each once."""
LONGEST_DURATION = 64
"""Letters of one."""

TIME: dict[str, Any] = {
    "description": "RFC 3339 with a zone.",
    "type": "string",
    "format": "date-time",
    "pattern": exactly(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,30})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
    ),
    "examples": ["2026-02-18T01:00:05Z"],
}
DURATION: dict[str, Any] = {
    "description": "A Prometheus duration: units y w d h m s ms, in this order, each once.",
    "type": "string",
    "pattern": DURATION_PATTERN,
    "maxLength": LONGEST_DURATION,
    "examples": ["5m", "1h30m"],
}
DIGEST: dict[str, Any] = {
    "description": "SHA-256 over the canonical form (RFC 8785).",
    "type": "string",
    "pattern": exactly("sha256:[0-9a-f]{64}"),
}


def reason_code(codes: Iterable[str]) -> dict[str, Any]:
    """`category:detail`; *codes* are those with a fixed detail, the others name a metric or a reference."""
    return {
        "description": "category:detail, split at the first colon; the detail may be the name of a metric.",
        "type": "string",
        "anyOf": [
            {"enum": sorted(codes)},
            {"pattern": rf"^(?:{'|'.join(str(category) for category in Category)}):[\s\S]"},
        ],
        "examples": ["guardrail_violation:error_rate_5m", "observation_missing:required_metric"],
    }


def problem_code() -> dict[str, Any]:
    """A reason code that an observation's problem may have."""
    kinds = [str(category) for category in HOLD_CATEGORIES if category.startswith("observation_")]
    others = ["evidence_missing:partial_response", "precondition_unknown:variant_mapping_ambiguous"]
    return {
        "description": "What went wrong: a reason code of an observation.",
        "type": "string",
        "anyOf": [{"enum": others}, {"pattern": rf"^(?:{'|'.join(kinds)}):[\s\S]"}],
        "examples": ["observation_missing:source_unavailable"],
    }


def described(description: str, schema: Mapping[str, Any], *examples: Any) -> dict[str, Any]:
    """A key with its description and what may stand there."""
    return {**note(description, *examples), **{key: value for key, value in schema.items() if key != "description"}}


def refers(name: str) -> dict[str, Any]:
    """What a definition says."""
    return {"$ref": f"#/$defs/{name}"}


def or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """That, or null."""
    if isinstance(stated := schema.get("type"), str) and not {"enum", "pattern"} & schema.keys():
        return {**schema, "type": [stated, "null"]}
    return {"anyOf": [dict(schema), {"type": "null"}]}


def list_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A list of that."""
    return {"type": "array", "items": dict(schema)}


def words(options: Iterable[str]) -> dict[str, Any]:
    """One of these words."""
    return {"enum": [str(option) for option in options]}


def map_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object with any names and such values."""
    return {"type": "object", "additionalProperties": dict(schema)}


def thing(
    description: str, required: Mapping[str, Mapping[str, Any]], optional: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """An object with these keys; others are kept and mean nothing to this version."""
    properties = {**required, **(optional or {})}
    mandatory = {"required": list(required)} if required else {}
    return {"description": description, "type": "object", **mandatory, "properties": properties}
