"""The columns of a lake and their types. docs/formats/lake.md describes them, held by a test."""

from __future__ import annotations

from functools import cache

from gatekeeper.export.lake.library import parquet_library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@cache
def schema() -> Any:
    """The `pyarrow.Schema` of every file; `date` is not in it, the directory's name has it.

    Raises:
        UsageError: the library is not installed.
    """
    pa = parquet_library()
    text, number, integer, flag = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    time = pa.timestamp("us", tz="UTC")
    finding = pa.struct(
        [
            *((name, text) for name in ("rule", "outcome", "code", "metric")),
            ("observed", number),
            ("observed_text", text),
            ("op", text),
            ("limit", number),
            ("limit_text", text),
            ("baseline", number),
            ("margin", number),
            ("source", text),
            ("would_be", text),
        ]
    )
    action = pa.struct([("name", text), ("params", text)])
    resume = pa.struct(
        [
            ("resume_token", text),
            ("stage", text),
            ("attempt", integer),
            ("first_held_at", time),
            ("next_evaluation", pa.struct([("not_before", time), ("on", pa.list_(text))])),
            ("owners", pa.list_(text)),
            ("escalate_at", time),
            ("deadline_at", time),
            ("on_deadline", text),
            ("input_unchanged", flag),
        ]
    )
    refusal = ("reason", "message", "command", "stage", "revision", "token", "idempotency_key")
    columns = [
        ("seq", integer),
        ("digest", text),
        ("prev", text),
        ("v", integer),
        ("ts", time),
        ("clock", time),
        ("kind", text),
        ("event_id", text),
        ("actor", text),
        ("as_of", time),
        ("is_simulated", flag),
        *((name, text) for name in ("run_id", "experiment_id", "variant_id", "revision", "change_class")),
        *((name, text) for name in ("policy_id", "policy_version", "policy_digest", "stage")),
        ("state_transition", pa.struct([("from", text), ("to", text)])),
        ("verdict", text),
        ("reason_codes", pa.list_(text)),
        ("missing", pa.list_(text)),
        ("findings", pa.list_(finding)),
        ("notes", pa.list_(text)),
        ("requested_actions", pa.list_(action)),
        ("next_actions", pa.list_(action)),
        ("evaluated_at", time),
        ("stage_entered_at", time),
        ("looks", integer),
        ("history", text),
        ("attempt", integer),
        ("resume", resume),
        ("rml", pa.struct([("world", text), ("action", text)])),
        ("evidence_refs", pa.map_(text, text)),
        ("metrics", pa.map_(text, number)),
        ("baseline_metrics", pa.map_(text, number)),
        ("collected_at", time),
        ("window", text),
        ("snapshot_digest", text),
        ("input_digest", text),
        ("question_digest", text),
        ("idempotency_key", text),
        ("previous_run", text),
        ("evaluator", text),
        ("action", pa.struct([("name", text), ("reason", text), ("params", text)])),
        ("refusal", pa.struct([(name, text) for name in refusal])),
        ("line", text),
    ]
    never_null = {"digest", "kind", "is_simulated", "line"}
    return pa.schema([pa.field(name, kind, nullable=name not in never_null) for name, kind in columns])
