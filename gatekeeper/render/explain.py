"""The long form of one event: every finding in words, what was known and how old it was, what to do per reason."""

from __future__ import annotations

from gatekeeper.model.masking import mask_text
from gatekeeper.model.snapshot import meta_of
from gatekeeper.render.actions import action_text
from gatekeeper.render.answer import decision_of, list_of, mapping_of
from gatekeeper.render.as_json import event_document
from gatekeeper.render.decision import findings_table, headline, hold_blocks
from gatekeeper.render.page import QUIET, VERDICT_TONES, Column, Fields, Lines, Page, Row, Table
from gatekeeper.render.sentences import remedy, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.render.page import Block

_IDENTITY = (
    ("event", "event_id"),
    ("kind", "kind"),
    ("seq", "seq"),
    ("at", "ts"),
    ("clock read", "clock"),
    ("as of", "as_of"),
    ("run", "run_id"),
    ("experiment", "experiment_id"),
    ("variant", "variant_id"),
    ("revision", "revision"),
    ("change class", "change_class"),
    ("predecessor", "previous_run"),
    ("idempotency key", "idempotency_key"),
    ("actor", "actor"),
    ("evaluator", "evaluator"),
)
_DIGESTS = (
    ("policy", "policy_digest"),
    ("snapshot", "snapshot_digest"),
    ("input", "input_digest"),
    ("question", "question_digest"),
    ("previous line", "prev"),
)


def explain_page(event: Mapping[str, Any], *, runbooks: Mapping[str, str] | None = None) -> Page:
    """What one event says.

    Args:
        event: as logged, of any kind.
        runbooks: metric -> address, from the policy that judged.
    """
    decision = decision_of(event)
    kind = event.get("kind", "decision")
    blocks: list[Block] = [
        Fields([(label, _some(event.get(key))) for label, key in _IDENTITY]),
        *_about(event),
    ]
    if decision:
        blocks += _reasons(decision)
        if kind == "decision":
            blocks.append(findings_table(event, runbooks or {}, title="findings", full=True))
            blocks += [*_context(event, decision), *_evidence(event)]
        blocks += [
            *hold_blocks(event),
            Lines([action_text(action) for action in list_of(decision.get("requested_actions"))], title="to do"),
            Lines([action_text(action) for action in list_of(decision.get("next_actions"))], title="next"),
            Lines([mask_text(value_text(note)) for note in list_of(decision.get("notes"))], title="notes"),
        ]
    blocks.append(Fields([(label, _some(event.get(key))) for label, key in _DIGESTS], title="digests", code=True))
    first = headline(event) if decision else f"{value_text(kind)}  {value_text(event.get('event_id'))}"
    tone = VERDICT_TONES.get(str(decision.get("verdict")), QUIET)
    return Page(first, blocks, document=event_document(event), tone=tone)


def _about(event: Mapping[str, Any]) -> list[Block]:
    """What an event that is no decision did."""
    blocks: list[Block] = []
    for kind in ("action", "refusal", "approval", "checkpoint"):
        about = mapping_of(event.get(kind))
        if about:
            facts = [(str(key).replace("_", " "), _some(value)) for key, value in about.items()]
            blocks.append(Fields(facts, title=kind))
    return blocks


def _reasons(decision: Mapping[str, Any]) -> list[Block]:
    reasons = [str(code) for code in list_of(decision.get("reason_codes"))]
    missing = [str(name) for name in list_of(decision.get("missing"))]
    rows = [Row(code, remedy(code)) for code in reasons]
    columns = (Column("reason", code=True), Column("what to do next", plain=True))
    table: list[Block] = [Table(columns, rows, title="reasons")] if rows else []
    return [*table, Fields([("missing", missing)], code=True)]


def _context(event: Mapping[str, Any], decision: Mapping[str, Any]) -> list[Block]:
    context, change = mapping_of(event.get("context")), mapping_of(event.get("collector_change"))
    world = mapping_of(event.get("rml"))
    ages = [
        mapping_of(finding).get("observed")
        for finding in list_of(decision.get("findings"))
        if mapping_of(finding).get("rule") == "freshness"
    ]
    age = next((value for value in ages if isinstance(value, (int, float))), None)
    pairs = [
        ("evaluated at", _some(context.get("evaluated_at"))),
        ("age of evidence", [] if age is None else [f"{value_text(age)} s"]),
        ("stage", _some(context.get("stage"))),
        ("from stage", _some(context.get("from_stage"))),
        ("entered at", _some(context.get("stage_entered_at"))),
        ("attempt", _some(context.get("attempt"))),
        ("looks", _some(context.get("looks"))),
        ("held since", _some(context.get("first_held_at"))),
        ("deadline", _some(context.get("deadline_at"))),
        ("history", _some(context.get("history"))),
        ("world", [f"{value_text(world.get('world'))}: {value_text(world.get('action'))}"] if world else []),
        ("collection file then", _some(change.get("from"))),  # of a run that was held with another version of it
        ("collection file now", _some(change.get("to"))),
        ("policy", _some(" ".join(str(event[key]) for key in ("policy_id", "policy_version") if event.get(key)))),
    ]
    return [Fields(pairs, title="context")]


def _evidence(event: Mapping[str, Any]) -> list[Block]:
    snapshot = mapping_of(event.get("metrics_snapshot"))
    facts = meta_of(snapshot)
    baseline = snapshot.get("baseline")
    blocks: list[Block] = [Fields(_times(facts), title="evidence")]
    sources = [mapping_of(source) for source in list_of(facts.get("sources"))]
    if sources:
        rows = [
            Row(
                value_text(source.get("name")),
                value_text(source.get("watermark_event_time")),
                ", ".join(str(metric) for metric in list_of(source.get("metrics"))) or "all metrics",
            )
            for source in sources
        ]
        columns = (Column("source", code=True), Column("watermark"), Column("metrics"))
        blocks.append(Table(columns, rows, title="sources"))
    if isinstance(baseline, dict):
        blocks.append(Fields(_times(meta_of(baseline)), title="baseline"))
    references = [(str(name), _some(value)) for name, value in mapping_of(event.get("evidence_refs")).items()]
    return [*blocks, Fields(references, title="evidence references")]


def _times(facts: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    freshness = facts.get("freshness_seconds")
    return [
        ("snapshot", _some(facts.get("snapshot_id"))),
        ("collected at", [value_text(facts.get("collected_at"))]),
        ("window", _some(facts.get("window"))),
        ("watermark", _some(facts.get("watermark_event_time"))),
        ("freshness", [] if freshness is None else [f"{value_text(freshness)} s"]),
    ]


def _some(value: Any) -> list[str]:
    return [] if value is None or value in ("", {}, []) else [value_text(value)]
