"""What a decision in the log holds, and what events of all runs have, for `event_schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatekeeper.documents.schema_parts import (
    BOOLEAN,
    NUMBER,
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
from gatekeeper.model.policy import OnDeadline

if TYPE_CHECKING:
    from collections.abc import Mapping

    Keys = Mapping[str, Mapping[str, Any]]

CHANGE_CLASS = "Whether the change can be undone; fixed by the run's first decision."

TIME, DIGEST, _VERDICT, _CODE = (refers(name) for name in ("Time", "Digest", "Verdict", "ReasonCode"))
COUNT = {"type": "integer", "minimum": 0}
HISTORY = described("incomplete where the run's events cross damage or a gap.", words(["complete", "incomplete"]))
_SCALAR = {"type": ["number", "string", "boolean", "null"]}

RUN_ID = {"run_id": described("The run.", TEXT, "exp-42:B:2026-02-18")}
RUN: Keys = {
    **RUN_ID,
    "experiment_id": described("What is rolled out.", or_null(TEXT), "exp-42"),
    "variant_id": described("Which variant of it.", or_null(TEXT), "B"),
    "revision": described("Image digest, commit or config hash; fixed by the run's first decision.", or_null(TEXT)),
}
POLICY: Keys = {
    "policy_id": described("Name of the policy.", or_null(TEXT), "exp-eval-policy"),
    "policy_version": described("Its version.", or_null(TEXT), "2026-02-18"),
    "policy_digest": described("Digest of its content.", or_null(DIGEST)),
}
PREVIOUS = {"previous_run": described("In a run's first event: the run before it.", or_null(TEXT))}
QUESTION = {"question_digest": described("Of what was asked, as it was typed.", DIGEST)}


def decision_event() -> dict[str, Any]:
    """A check and its answer."""
    change = thing(
        "The hold's evidence came from another version of the collection file.",
        {"from": described("Digest then.", DIGEST), "to": described("Digest now.", DIGEST)},
    )
    return thing(
        "A check and its answer.",
        {
            **RUN,
            **POLICY,
            "change_class": refers("ChangeClass"),
            "stage": described("The stage asked.", TEXT, "CANARY_25"),
            "state_transition": thing(
                "What was asked; only an ACCEPT moves.",
                {
                    "from": described("The run's stage; null before its first ACCEPT.", or_null(TEXT)),
                    "to": described("The stage asked.", TEXT),
                },
            ),
            "metrics_snapshot": described("The snapshot in wrapped form, times as written.", OBJECT),
            "snapshot_digest": described("Of metrics_snapshot.", DIGEST),
            "context": context(),
            "input_digest": described("Of policy_digest, snapshot_digest and context.", DIGEST),
            "decision": refers("Decision"),
            "evidence_refs": described("References in force for the run.", map_of(TEXT), {"change_id": "CHG-123"}),
            "resume": described("The hold that a DEGRADE began or continued.", or_null(refers("Resume"))),
            "rml": thing(
                "The world in which a mistake here would live, and what that means.",
                {
                    "world": described("Nobody sees it, reversible, irreversible.", words(["RML1", "RML2", "RML3"])),
                    "action": described("The hint for acting.", words(_HINTS)),
                },
            ),
            "attempt": described("Attempt within the hold, from 1; 0 beside an open hold.", COUNT),
            "evaluator": described("Name and version of the rules.", TEXT, "gatekeeper/1"),
            "actor": described("Who asked.", TEXT),
        },
        {
            **QUESTION,
            **PREVIOUS,
            "idempotency_key": described("Where one was given.", TEXT),
            "collector_change": change,
        },
    )


_HINTS = ("proceed", "retry-with-backoff", "abort", "start-compensation", "escalate-history")


def context() -> dict[str, Any]:
    """All that the evaluator knew besides policy and snapshot."""
    when = or_null(TIME)
    digests = thing(
        "Digests of the run's policy and of the one brought along.",
        {"run": described("The run's.", DIGEST), "given": described("The one brought along.", DIGEST)},
    )
    return thing(
        "All that the evaluator knew besides policy and snapshot.",
        {
            "stage": described("The stage asked.", TEXT),
            "evaluated_at": described("The moment of evaluation; ages are counted to it.", TIME),
            "from_stage": described("The run's stage; null before its first ACCEPT.", or_null(TEXT)),
            "stage_entered_at": described("When the run entered from_stage.", when),
            "evidence": described("References in force.", map_of(TEXT)),
            "approvals": described("Approvals in force.", list_of(OBJECT)),
            "change_class": refers("ChangeClass"),
            "policy": described("Which policies were meant; null means one and the same.", or_null(digests)),
            "attempt": described("Of the hold that this check is an attempt of.", COUNT),
            "looks": described("How often the run's statistics were looked at.", COUNT),
            "first_held_at": described("When that hold began.", when),
            "deadline_at": described("When waiting ends.", when),
            "on_deadline": described("And how.", or_null(words(OnDeadline))),
            "history": HISTORY,
        },
    )


def decision() -> dict[str, Any]:
    """`decision` of an event."""
    return thing(
        "The answer to one check.",
        {
            "verdict": _VERDICT,
            "reason_codes": described("All reasons of the deciding strength, each once, in order.", list_of(_CODE)),
            "missing": described("Names of what was not there or not usable, sorted.", list_of(TEXT)),
            "findings": described("One for each rule.", list_of(refers("Finding"))),
            "notes": described("Sentences that decide nothing but should be read.", list_of(TEXT)),
            "requested_actions": described("DEGRADE: what would end the hold.", list_of(refers("Action"))),
            "next_actions": described("What the pipeline does now.", list_of(refers("Action"))),
        },
    )


def finding() -> dict[str, Any]:
    """The outcome of one rule."""
    unit = "Unit: the metric's; seconds for times."
    return thing(
        "The outcome of one rule in one check.",
        {
            "rule": described("Which rule.", TEXT, "guardrail:error_rate_5m"),
            "outcome": refers("Outcome"),
            "code": described("Why, where it is no pass.", or_null(_CODE)),
            "metric": described("The metric that it is about.", or_null(TEXT)),
            "observed": described(f"What was seen. {unit}", _SCALAR),
            "op": described("How it was compared.", or_null(TEXT), "<="),
            "limit": described(f"With what. {unit}", _SCALAR),
            "baseline": described(f"The baseline's value. {unit}", or_null(NUMBER)),
            "margin": described(f"What is left on the healthy side, where positive. {unit}", or_null(NUMBER)),
            "source": described("Whose data decided.", or_null(TEXT)),
            "would_be": described("The violation that a stale or only observed value would have been.", or_null(_CODE)),
        },
    )


def resume() -> dict[str, Any]:
    """The hold that a DEGRADE leaves."""
    waits = list_of(words(["snapshot", "approval", "evidence", "time"]))
    return thing(
        "A hold: what it waits for, who owns it, when it is asked again and when it ends.",
        {
            "resume_token": described("Names the hold and grants nothing.", TEXT, "hold-5f1c"),
            "stage": described("The stage that is held.", TEXT),
            "attempt": described("Attempts so far, this one included.", {"type": "integer", "minimum": 1}),
            "first_held_at": described("When it began; the times below count from it.", TIME),
            "requested_actions": described("What would end it.", list_of(refers("Action"))),
            "next_evaluation": thing(
                "When to ask again.",
                {"not_before": described("Due from then on.", TIME), "on": described("What it waits for.", waits)},
            ),
            "owners": described("Whose turn it is.", list_of(TEXT), ["sre"]),
            "escalate_at": described("When they should call somebody.", TIME),
            "deadline_at": described("When waiting ends.", or_null(TIME)),
            "on_deadline": described("And how.", or_null(words(OnDeadline))),
            "input_unchanged": described("The snapshot is that of the attempt before.", BOOLEAN),
            "source": described("Where reevaluate takes the evidence again.", or_null(OBJECT)),
        },
    )
