"""The JSON Schema of one line of the log (SPEC 7): what every event has, and what each kind adds.

Every event that this version writes is valid by it. Keys that it does not know are allowed, as readers allow them: a
later version may add some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.event_schema_kinds import action_event, checkpoint_event, refusal_event, run_state
from gatekeeper.documents.event_schema_parts import (
    CHANGE_CLASS,
    POLICY,
    RUN,
    decision,
    decision_event,
    finding,
    resume,
)
from gatekeeper.documents.schema_parts import (
    DIALECT,
    DIGEST,
    OBJECT,
    TEXT,
    TIME,
    described,
    reason_code,
    refers,
    thing,
    words,
)
from gatekeeper.documents.schema_words import exactly
from gatekeeper.model.context import CHANGE_CLASSES
from gatekeeper.model.decision import Outcome
from gatekeeper.model.event import FORMAT_VERSION, KINDS
from gatekeeper.model.policy import SCHEMA_VERSION
from gatekeeper.model.reasons import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable


def event_schema(codes: Iterable[str]) -> dict[str, Any]:
    """The schema (draft 2020-12) of an event.

    Args:
        codes: reason codes with a fixed detail.
    """
    frame = thing(
        "One line of the decision log.",
        {
            "v": described("Version of this format.", {"const": FORMAT_VERSION}),
            "seq": described("Place in the log, from 1, without holes.", {"type": "integer", "minimum": 1}),
            "prev": described(
                "Digest of the line before, without its line break; of the first, 64 zeros.", refers("Digest")
            ),
            "ts": described("When it was appended, UTC; never runs back in one log.", refers("Time")),
            "kind": described("What happened; decides the other keys.", words(KINDS)),
            "event_id": described(
                "Unique: run_id:stage for the first decision at a stage, then #2, #3; else run_id:kind#n or kind#seq.",
                TEXT,
                "exp-42:B:2026-02-18:CANARY_25",
            ),
        },
        {
            "actor": described("Who asked: --actor, what the CI system states, or the user.", TEXT, "release-bot"),
            "clock": described("The clock's reading, where it was behind the last line.", refers("Time")),
            "recovered": thing(
                "A torn last line was kept aside before this event was written.",
                {
                    "bytes": described("How many. Unit: bytes.", {"type": "integer", "minimum": 1}, 120),
                    "sha256": described(
                        "Of those bytes, in hex.", {"type": "string", "pattern": exactly("[0-9a-f]{64}")}
                    ),
                },
            ),
            "from_marker": described("A REJECT that could not be written when it was told.", {"const": True}),
            "as_of": described("Evaluation time of a simulated run.", refers("Time")),
        },
    )
    del frame["description"]
    return {
        "$schema": DIALECT,
        "$id": f"urn:gatekeeper:schema:event:{FORMAT_VERSION}",
        "title": "gatekeeper event",
        "description": "One line of the decision log: canonical JSON (RFC 8785), chained to the line before.",
        **frame,
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": refers(f"{kind.capitalize()}Event")}
            for kind in KINDS
        ],
        "$defs": dict(sorted(_definitions(codes).items())),
    }


def _definitions(codes: Iterable[str]) -> dict[str, Any]:
    return {
        "Time": TIME,
        "Digest": DIGEST,
        "ReasonCode": reason_code(codes),
        "Verdict": described("The answer: go on, stop, hold.", words(Verdict)),
        "Outcome": described("How one rule came out; only PASS is a pass.", words(Outcome)),
        "ChangeClass": described(CHANGE_CLASS, words(CHANGE_CLASSES)),
        "Action": thing(
            "Something that a person or the pipeline does; gatekeeper states it and carries nothing out.",
            {
                "name": described("What.", words(ACTIONS)),
                "params": described("With what.", OBJECT, {"metric": "error_rate_5m"}),
            },
        ),
        "Finding": finding(),
        "Decision": decision(),
        "Resume": resume(),
        "Run": run_state(),
        "DecisionEvent": decision_event(),
        "PolicyEvent": thing(
            "The whole policy, before its first use, so that a log explains itself.",
            {
                **POLICY,
                "policy": described("The document as written, defaults not filled in.", OBJECT),
                "schema_version": described("Version of the rules that validated it.", {"const": SCHEMA_VERSION}),
                "actor": described("Who brought it.", TEXT),
            },
        ),
        "ActionEvent": action_event(),
        "RefusalEvent": refusal_event(),
        "CheckpointEvent": checkpoint_event(),
        "ApprovalEvent": thing("Somebody said yes; no command of this version writes it.", {}, RUN),
    }


ACTIONS = (
    "adopt_policy",
    "attach_evidence",
    "collect_approval",
    "collect_baseline",
    "collect_metric",
    "collect_sample",
    "escalate",
    "plan",
    "rerun_gate_check",
    "rollback",
    "set_percent",
    "wait_until",
)
"""Names of the typed actions of SPEC 5."""
