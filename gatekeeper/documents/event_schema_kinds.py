"""What the other kinds of events hold: actions, refusals, the head of a segment."""

from __future__ import annotations

from typing import Any

from gatekeeper.documents.event_schema_parts import (
    COUNT,
    DIGEST,
    HISTORY,
    POLICY,
    PREVIOUS,
    QUESTION,
    RUN,
    RUN_ID,
    TIME,
)
from gatekeeper.documents.schema_parts import (
    BOOLEAN,
    OBJECT,
    TEXT,
    described,
    list_of,
    map_of,
    or_null,
    refers,
    thing,
    words,
)
from gatekeeper.model.run import RunState


def action_event() -> dict[str, Any]:
    """What a person or a command did to a run."""
    names = words(["stop", "supersede", "adopt-policy", "start-stage", "accept-gap"])
    return thing(
        "What a person or a command did to a run; stop and supersede carry a decision.",
        {
            "action": thing(
                "What was done.",
                {
                    "name": described("What.", names),
                    "reason": described("Why, in the person's words.", or_null(TEXT)),
                    "params": described("With what.", OBJECT),
                },
            ),
            "actor": described("Who.", TEXT),
        },
        {
            **RUN,
            **POLICY,
            **PREVIOUS,
            "stage": described("The run's stage, or the one asked.", or_null(TEXT)),
            "decision": refers("Decision"),
        },
    )


REFUSALS = (
    "already_begun",
    "key_reused",
    "mixed_simulation",
    "other_change_class",
    "other_experiment",
    "other_revision",
    "other_variant",
    "stage_not_askable",
    "stage_passed",
    "succeeded",
    "token_spent",
)
"""Why a known run was turned away."""


def refusal_event() -> dict[str, Any]:
    """A known run was turned away."""
    asked = ("stage", "revision", "token", "idempotency_key")
    return thing(
        "A known run was turned away, noted once per run and question.",
        {
            **RUN_ID,
            **QUESTION,
            "refusal": thing(
                "What was asked, and why not.",
                {
                    "reason": described("Why.", words(REFUSALS)),
                    "message": described("The same for people.", TEXT),
                    "command": described("Which command asked.", or_null(TEXT)),
                    **{name: described("As it was asked.", or_null(TEXT)) for name in asked},
                },
            ),
            "actor": described("Who asked.", TEXT),
        },
        {name: RUN[name] for name in ("experiment_id", "variant_id")},
    )


def checkpoint_event() -> dict[str, Any]:
    """The head of a segment."""
    return thing(
        "The head of a segment: what a new file says of all that stands before it.",
        {
            "segment": thing(
                "The segment before.",
                {
                    "previous": described("Name of its file, without directory.", TEXT),
                    "first_seq": described("Its first event.", COUNT),
                    "last_seq": described("Its last event.", COUNT),
                    "events": described("How many it has. Unit: events.", COUNT),
                    "digest": described("Of its last line.", DIGEST),
                    "complete": described("No part of the history was missing, or a person accepted it.", BOOLEAN),
                    "part": described("Which event of the head this is, from 1.", COUNT),
                    "parts": described("How many events the head has. Unit: events.", COUNT),
                    "policies": described("How many policy events follow. Unit: events.", COUNT),
                },
            ),
            "runs": described("Runs in the order of their first events.", list_of(refers("Run"))),
            "actor": described("Who.", TEXT),
        },
    )


def run_state() -> dict[str, Any]:
    """A run as a head states it."""
    counts = map_of(COUNT)
    return thing(
        "A run at the end of the segment before; what is as in a run that has only begun is left out.",
        {
            **RUN_ID,
            "state": described("Where it stands.", words(RunState)),
            "last_digest": described("Of the line of its last event.", DIGEST),
        },
        {
            **{name: RUN[name] for name in ("experiment_id", "variant_id", "revision")},
            **POLICY,
            **PREVIOUS,
            "change_class": refers("ChangeClass"),
            "stage": described("Its stage.", or_null(TEXT)),
            "stage_entered_at": described("Since when.", or_null(TIME)),
            "hold": described("Its open hold.", or_null(OBJECT)),
            "evidence": described("References in force.", map_of(TEXT)),
            "looks": described("How often its statistics were looked at.", COUNT),
            "version": described("seq of its last event.", COUNT),
            "first_seq": described("seq of its first event.", COUNT),
            "last_event_id": described("Its last event.", TEXT),
            "updated_at": described("When that was.", TEXT),
            "decisions_at": described("Stage: number of decisions.", counts, {"CANARY_10": 2}),
            "events_of": described("Kind: number of other events.", counts, {"action": 1}),
            "stopped_by": described("The event that stopped it.", or_null(TEXT)),
            "ended_holds": described("Token of an ended hold: the event that ended it.", map_of(TEXT)),
            "last_accept": described("What was accepted last.", or_null(OBJECT)),
            "simulated": described("Whether its times were set by hand.", BOOLEAN),
            "history": HISTORY,
            "stands_on": described("The event that it stands on: its hold's, or the one that stopped it.", OBJECT),
        },
    )
