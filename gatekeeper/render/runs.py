"""Pages on runs: the queue of holds, the state of all runs, the history of one."""

from __future__ import annotations

from gatekeeper.model.times import parse_time
from gatekeeper.render.answer import decision_of, list_of, mapping_of, run_view, why_of
from gatekeeper.render.as_json import event_document
from gatekeeper.render.decision import hold_blocks, movement
from gatekeeper.render.page import BAD, GOOD, HELD, PLAIN, VERDICT_TONES, Column, Fields, Page, Row, Table
from gatekeeper.render.sentences import NONE, second_text, time_text, value_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gatekeeper.model.run import Hold, Run

REASONS = "reason codes"
"""Heading of the sentences in tables of events."""

HISTORY_COLUMNS = (
    Column("seq", right=True),
    Column("ts", plain=True),
    Column("asked", plain=True),
    Column("verdict", plain=True),
)
_QUEUE_COLUMNS = (
    Column("run", code=True),
    Column("stage", code=True),
    Column("since"),
    Column("attempt", right=True),
    Column("due"),
    Column("waits for"),
    Column("owners"),
    Column("missing", code=True),
    Column("deadline"),
    Column("token", code=True),
)
_STATUS_COLUMNS = (
    Column("run", code=True),
    Column("state", plain=True),
    Column("stage", code=True),
    Column("held on", code=True),
    Column("percent", right=True),
    Column("policy"),
    Column("last event", code=True),
    Column("at"),
)
_STATE_TONES = {"ACTIVE": GOOD, "COMPLETED": GOOD, "HELD": HELD, "STOPPED": BAD}


def queue_page(runs: Sequence[Run], *, now: int | None = None, damaged: Sequence[Mapping[str, Any]] = ()) -> Page:
    """Every open hold, in the order given.

    Args:
        runs: runs in state HELD; others are left out.
        now: microseconds; a hold is due from its `not_before` on. None: the time itself is shown alone.
        damaged: lines of the log that could not be read, for json; standard error names them for people.
    """
    rows, holds = [], []
    for run in runs:
        hold = run.hold
        if hold is None:
            continue
        is_due = _is_due(hold, now)
        holds.append(_hold_document(run, hold, is_due=is_due))
        rows.append(_hold_row(run, hold, is_due=is_due))
    noun = "hold" if len(rows) == 1 else "holds"
    due = sum(document["due"] is True for document in holds)
    headline = f"{len(rows)} open {noun}" + ("" if now is None else f", {due} due")
    table = Table(_QUEUE_COLUMNS, rows, detail=REASONS, empty="nothing is held")
    return Page(
        headline, [table] if rows else [], document={"holds": holds, "damaged": list(damaged)}, records=list(holds)
    )


def status_page(runs: Sequence[Run], *, damaged: Sequence[Mapping[str, Any]] = ()) -> Page:
    """All runs, a line each, in the order given; `damaged` as in `queue_page`."""
    rows, documents = [], []
    for run in runs:
        document = run_document(run)
        documents.append(document)
        rows.append(
            Row(
                run.run_id,
                run.state.value,
                run.stage or NONE,
                NONE if run.hold is None else run.hold.stage,
                value_text(document["percent"]),
                value_text(run.policy_version),
                run.last_event_id or NONE,
                second_text(run.updated_at) if run.updated_at else NONE,
                detail="simulated (--as-of)" if run.simulated else "",
                tone=_STATE_TONES[run.state.value],
            )
        )
    noun = "run" if len(rows) == 1 else "runs"
    blocks = [Table(_STATUS_COLUMNS, rows)] if rows else []
    document = {"runs": documents, "damaged": list(damaged)}
    return Page(f"{len(rows)} {noun}", list(blocks), document=document, records=list(documents))


def run_page(
    run: Run,
    events: Sequence[Mapping[str, Any]],
    *,
    stages: Sequence[str] = (),
    damaged: Sequence[Mapping[str, Any]] = (),
) -> Page:
    """One run: where it stands, its open hold, its history.

    Args:
        events: its events as logged, in order; `policy` events and such are no part of its history.
        stages: of its policy, for the next stage; empty when they are not known.
        damaged: as in `queue_page`.
    """
    view = run_view(run, stages)
    hold = run.hold
    fields = Fields(
        [
            ("state", [run.state.value]),
            ("stage", _some(run.stage)),
            ("next stage", _some(view["next_stage"])),
            ("percent", _some(view["percent"])),
            ("entered at", _some(run.stage_entered_at)),
            ("experiment", _some(run.experiment_id)),
            ("variant", _some(run.variant_id)),
            ("revision", _some(run.revision)),
            ("change class", [run.change_class]),
            ("policy", _some(" ".join(part for part in (run.policy_id, run.policy_version) if part))),
            ("evidence", [f"{name}={value}" for name, value in run.evidence.items()]),
            ("stopped by", _some(run.stopped_by)),
            ("predecessor", _some(run.previous_run)),
            ("history", [] if run.history == "complete" else [f"{run.history}: see gatekeeper log rebuild"]),
        ]
    )
    blocks = [fields, *([] if hold is None else hold_blocks({"resume": dict(hold.document)}))]
    rows = [history_row(event) for event in events]
    blocks.append(Table(HISTORY_COLUMNS, rows, title="history", detail=REASONS, empty="no event can be read"))
    history = [event_document(event) for event in events]
    document = {**run_document(run), **view, "history": history, "damaged": list(damaged)}
    return Page(f"{run.run_id}  {run.state.value}", blocks, document=document, tone=_STATE_TONES[run.state.value])


def history_row(event: Mapping[str, Any]) -> Row:
    """One event of a run as a row of `HISTORY_COLUMNS`; what is no decision says what it did."""
    decision = decision_of(event)
    verdict = decision.get("verdict")
    detail = ", ".join(str(code) for code in list_of(decision.get("reason_codes")))
    if event.get("kind", "decision") != "decision":
        about = mapping_of(event.get("action")) or mapping_of(event.get("refusal"))
        why = about.get("reason") if "message" not in about else about["message"]
        said = f"{value_text(event.get('kind'))}: {value_text(why)} (by {value_text(event.get('actor'))})"
        detail = f"{detail}; {said}" if detail else said
    return Row(
        value_text(event.get("seq")),
        second_text(event.get("ts")),
        _asked(event),
        value_text(verdict),
        detail=detail,
        tone=VERDICT_TONES.get(str(verdict), PLAIN),
    )


def reasons_row_text(event: Mapping[str, Any]) -> str:
    """Reason codes of an answer for one row of a list, and shortly what a source said where one is the reason.

    `observation_missing:source_unavailable; errors and 3 more (overloaded): HTTP 503 from …`
    """
    decision = decision_of(event)
    text = ", ".join(str(code) for code in list_of(decision.get("reason_codes")))
    hit: dict[tuple[str, str], dict[str, None]] = {}
    for finding in map(mapping_of, list_of(decision.get("findings"))):
        why = why_of(event, finding)
        if any(why) and finding.get("outcome") != "OBSERVED":
            hit.setdefault(why, {})[str(finding.get("metric"))] = None
    for (kind, detail), metrics in list(hit.items())[:1]:
        first, *others = metrics
        text += f"; {first}" + (f" and {len(others)} more" if others else "") + (f" ({kind})" if kind else "")
        text += f": {value_text(detail)}" if detail else ""
    return text if len(hit) < 2 else f"{text}; more: gatekeeper explain {value_text(event.get('event_id'))}"


def run_document(run: Run) -> dict[str, Any]:
    """A run as `status -o json` lists it."""
    view = run_view(run, ())
    return {
        "run_id": run.run_id,
        "experiment_id": run.experiment_id,
        "variant_id": run.variant_id,
        "revision": run.revision,
        "change_class": run.change_class,
        "policy_id": run.policy_id,
        "policy_version": run.policy_version,
        "policy_digest": run.policy_digest,
        "state": run.state.value,
        "stage": run.stage,
        "percent": view["percent"],
        "stage_entered_at": run.stage_entered_at,
        "hold": None if run.hold is None else _hold_document(run, run.hold, is_due=None),
        "evidence": dict(run.evidence),
        "stopped_by": run.stopped_by,
        "previous_run": run.previous_run,
        "last_event_id": run.last_event_id,
        "updated_at": run.updated_at,
        "simulated": run.simulated,
        "history_state": run.history,
    }


def _asked(event: Mapping[str, Any]) -> str:
    kind = event.get("kind", "decision")
    if kind == "refusal":
        stage = mapping_of(event.get("refusal")).get("stage")
        return "refused" if stage is None else f"refused {stage}"
    return movement(event) if kind in {"decision", "action"} else value_text(kind)


def _is_due(hold: Hold, now: int | None) -> bool | None:
    moment = parse_time(hold.not_before)
    return None if now is None or moment is None else now >= moment


def _hold_row(run: Run, hold: Hold, *, is_due: bool | None) -> Row:
    again = mapping_of(hold.document.get("next_evaluation"))
    deadline = f"{time_text(hold.deadline_at)}, then {hold.on_deadline}" if hold.deadline_at else NONE
    return Row(
        run.run_id,
        hold.stage,
        second_text(hold.first_held_at),
        str(hold.attempt),
        f"now ({time_text(hold.not_before)})" if is_due else time_text(hold.not_before),
        ", ".join(str(word) for word in list_of(again.get("on"))) or NONE,
        ", ".join(str(owner) for owner in list_of(hold.document.get("owners"))) or NONE,
        " ".join(hold.missing) or NONE,
        deadline,
        hold.token,
        detail=", ".join(hold.reason_codes),
        tone=HELD if is_due is not False else PLAIN,
    )


def _hold_document(run: Run, hold: Hold, *, is_due: bool | None) -> dict[str, Any]:
    return {
        **hold.document,
        "run_id": run.run_id,
        "stage": hold.stage,
        "event_id": hold.event_id,
        "reason_codes": list(hold.reason_codes),
        "missing": list(hold.missing),
        "due": is_due,
        "simulated": run.simulated,
    }


def _some(value: Any) -> list[str]:
    return [] if value is None or value == "" else [value_text(value)]
