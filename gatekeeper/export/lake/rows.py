"""One line of the log as a row: typed values under the names of `schema`.

A value of another type than its column's is null, never an error: a log may hold lines of others. What a row lacks,
its `line` has.
"""

from __future__ import annotations

import json

from gatekeeper.model.facts import (
    decision_of,
    is_simulated,
    kind_of,
    part_of,
    stage_of,
    text_of,
    texts_of,
    verdict_of,
)
from gatekeeper.model.line import is_chained
from gatekeeper.model.times import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gatekeeper.export.lines import Line

_INT64 = 1 << 63
_TEXTS = ("prev", "event_id", "actor", "run_id", "experiment_id", "variant_id", "revision", "change_class")
_POLICY = ("policy_id", "policy_version", "policy_digest")
_LATER = ("snapshot_digest", "input_digest", "question_digest", "idempotency_key", "previous_run", "evaluator")
_REFUSAL = ("reason", "message", "command", "stage", "revision", "token", "idempotency_key")
_ACTIONS = ("requested_actions", "next_actions")
_TEXTS_OF_A_FINDING = ("rule", "outcome", "code", "metric", "op", "source", "would_be")


def moment_of(event: Mapping[str, Any]) -> int | None:
    """`ts` in microseconds since 1970, whoever wrote the line; its UTC day is the row's partition."""
    return parse_time(event.get("ts"))


def row_of(line: Line, digest: str) -> dict[str, Any]:
    """The row of a line that holds an event; *digest* is that of its bytes."""
    event = line.event
    assert event is not None
    context, snapshot = part_of(event, "context"), part_of(event, "metrics_snapshot")
    meta = part_of(snapshot, "_meta")
    return {
        "seq": line.seq,
        "digest": digest,
        "v": _integer(event.get("v")),
        "ts": moment_of(event),
        "clock": parse_time(event.get("clock")),
        "kind": kind_of(event),
        "as_of": parse_time(event.get("as_of")),
        "is_simulated": is_simulated(event),
        **{name: text_of(event, name) for name in (*_TEXTS, *_POLICY, *_LATER)},
        "stage": stage_of(event),
        "state_transition": _struct(event, "state_transition", ("from", "to")),
        "evaluated_at": parse_time(context.get("evaluated_at")),
        "stage_entered_at": parse_time(context.get("stage_entered_at")),
        "looks": _integer(context.get("looks")),
        "history": text_of(context, "history"),
        "attempt": _integer(event.get("attempt")),
        "resume": _resume(event.get("resume")),
        "rml": _struct(event, "rml", ("world", "action")),
        "evidence_refs": _texts_by_name(event.get("evidence_refs")),
        "metrics": _numbers_by_name(snapshot.get("metrics")),
        "baseline_metrics": _numbers_by_name(part_of(snapshot, "baseline").get("metrics")),
        "collected_at": parse_time(meta.get("collected_at")),
        "window": text_of(meta, "window"),
        "action": _action(event["action"]) if isinstance(event.get("action"), dict) else None,
        "refusal": _struct(event, "refusal", _REFUSAL),
        "line": line.data.decode(),
        **_decision(event),
    }


def _decision(event: Mapping[str, Any]) -> dict[str, Any]:
    """What was decided, and why; nothing for an event that decides nothing."""
    if is_chained(event) and not isinstance(event.get("decision"), dict):
        return {}
    decision = decision_of(event)
    return {
        "verdict": verdict_of(event),
        **{name: texts_of(decision, name) for name in ("reason_codes", "missing", "notes")},
        "findings": [_finding(one) for one in _objects(decision.get("findings"))],
        **{name: [_named(one) for one in _objects(decision.get(name))] for name in _ACTIONS},
    }


def _finding(finding: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: text_of(finding, name) for name in _TEXTS_OF_A_FINDING},
        **{name: _number(finding.get(name)) for name in ("observed", "limit", "baseline", "margin")},
        **{f"{name}_text": text_of(finding, name) for name in ("observed", "limit")},
    }


def _named(action: Mapping[str, Any]) -> dict[str, Any]:
    params = json.dumps(part_of(action, "params"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return {"name": text_of(action, "name"), "params": params}


def _action(action: Mapping[str, Any]) -> dict[str, Any]:
    return {**_named(action), "reason": text_of(action, "reason")}


def _resume(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    evaluation = part_of(value, "next_evaluation")
    return {
        **{name: text_of(value, name) for name in ("resume_token", "stage", "on_deadline")},
        **{name: parse_time(value.get(name)) for name in ("first_held_at", "escalate_at", "deadline_at")},
        "attempt": _integer(value.get("attempt")),
        "next_evaluation": {
            "not_before": parse_time(evaluation.get("not_before")),
            "on": texts_of(evaluation, "on"),
        },
        "owners": texts_of(value, "owners"),
        "input_unchanged": flag if isinstance(flag := value.get("input_unchanged"), bool) else None,
    }


def _struct(event: Mapping[str, Any], name: str, fields: tuple[str, ...]) -> dict[str, str | None] | None:
    part = event.get(name)
    return {field: text_of(part, field) for field in fields} if isinstance(part, dict) else None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts_by_name(value: Any) -> list[tuple[str, str]] | None:
    return [(name, one) for name, one in value.items() if isinstance(one, str)] if isinstance(value, dict) else None


def _numbers_by_name(value: Any) -> list[tuple[str, float]] | None:
    """Numbers, and booleans as 1 and 0; names whose value is neither are left out."""
    if not isinstance(value, dict):
        return None
    numbers = ((name, _number(one)) for name, one in value.items())
    return [(name, one) for name, one in numbers if one is not None]


def _number(value: Any) -> float | None:
    """A double; true is 1 and false 0, as the evaluator takes them."""
    if not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _integer(value: Any) -> int | None:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and -_INT64 <= value < _INT64 else None
