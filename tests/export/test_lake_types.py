"""Columns that a query cannot use: times as text, numbers as text, a list as one string, a value in the wrong place."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.docs.console import read
from tests.doubles import MemoryLedger
from tests.export.logs import ask, into_lake, names_in, write

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "docs/formats/lake.md"
ARROW = {
    pa.string(): "text",
    pa.int64(): "integer",
    pa.float64(): "number",
    pa.bool_(): "flag",
    pa.timestamp("us", tz="UTC"): "time",
}
DUCKDB = {
    "VARCHAR": "text",
    "BIGINT": "integer",
    "DOUBLE": "number",
    "BOOLEAN": "flag",
    "TIMESTAMP WITH TIME ZONE": "time",
    "DATE": "date",
}

FULL: dict[str, Any] = {
    "kind": "decision",
    "run_id": "exp-42:B:1",
    "event_id": "exp-42:B:1:CANARY_25#2",
    "experiment_id": "exp-42",
    "variant_id": "B",
    "revision": "sha256:ab",
    "change_class": "reversible",
    "policy_id": "p",
    "policy_version": "1",
    "policy_digest": "sha256:01",
    "stage": "CANARY_25",
    "state_transition": {"from": "CANARY_10", "to": "CANARY_25"},
    "input_digest": "sha256:02",
    "snapshot_digest": "sha256:03",
    "question_digest": "sha256:04",
    "idempotency_key": "job-7",
    "previous_run": "exp-42:B:0",
    "metrics_snapshot": {
        "metrics": {"errors": 0.011, "pii": 0, "bad": True, "note": "a text", "gone": None},
        "baseline": {"metrics": {"errors": 0.0075}},
        "_meta": {"collected_at": "2026-02-18T01:00:05Z", "window": "5m"},
    },
    "context": {
        "evaluated_at": "2026-02-18T02:00:10.5+01:00",
        "stage_entered_at": "2026-02-18T00:30:00Z",
        "looks": 3,
        "history": "complete",
    },
    "decision": {
        "verdict": "DEGRADE",
        "reason_codes": ["observation_stale:over_freshness_budget", "evidence_missing:change_id"],
        "missing": ["change_id"],
        "findings": [
            {
                "rule": "freshness",
                "outcome": "STALE",
                "code": "observation_stale:over_freshness_budget",
                "metric": None,
                "observed": 300,
                "op": "<=",
                "limit": 120,
                "baseline": None,
                "margin": -180.5,
                "source": "warehouse",
                "would_be": None,
            },
            {"rule": "window", "outcome": "PASS", "observed": "2026-02-18T00:55:00Z", "limit": "2026-02-18T00:30:00Z"},
            {"rule": "constraint:bad", "outcome": "STALE", "observed": True, "limit": False, "would_be": "c:bad"},
        ],
        "notes": ["statistics looked at 3 times"],
        "requested_actions": [
            {"name": "attach_evidence", "params": {"name": "change_id"}},
            {"name": "rerun_gate_check", "params": {}},
        ],
        "next_actions": [],
    },
    "evidence_refs": {"dashboard_id": "dash-foo"},
    "resume": {
        "resume_token": "hold-1",
        "stage": "CANARY_25",
        "attempt": 2,
        "first_held_at": "2026-02-18T00:45:00Z",
        "next_evaluation": {"not_before": "2026-02-18T01:05:00Z", "on": ["evidence", "snapshot"]},
        "owners": ["sre", "owner"],
        "escalate_at": "2026-02-18T01:15:00Z",
        "deadline_at": None,
        "on_deadline": "ESCALATE",
        "input_unchanged": False,
    },
    "rml": {"world": "RML2", "action": "retry-with-backoff"},
    "attempt": 2,
    "actor": "ci",
    "evaluator": "gatekeeper/1",
}


def moment(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


EXPECTED: dict[str, Any] = {
    "seq": 1,
    "prev": "sha256:" + "0" * 64,
    "v": 1,
    "ts": moment("2026-02-18T01:00:10.123456"),
    "clock": None,
    "kind": "decision",
    "event_id": "exp-42:B:1:CANARY_25#2",
    "actor": "ci",
    "as_of": None,
    "is_simulated": False,
    "run_id": "exp-42:B:1",
    "experiment_id": "exp-42",
    "variant_id": "B",
    "revision": "sha256:ab",
    "change_class": "reversible",
    "policy_id": "p",
    "policy_version": "1",
    "policy_digest": "sha256:01",
    "stage": "CANARY_25",
    "state_transition": {"from": "CANARY_10", "to": "CANARY_25"},
    "verdict": "DEGRADE",
    "reason_codes": ["observation_stale:over_freshness_budget", "evidence_missing:change_id"],
    "missing": ["change_id"],
    "findings": [
        {
            "rule": "freshness",
            "outcome": "STALE",
            "code": "observation_stale:over_freshness_budget",
            "metric": None,
            "observed": 300.0,
            "observed_text": None,
            "op": "<=",
            "limit": 120.0,
            "limit_text": None,
            "baseline": None,
            "margin": -180.5,
            "source": "warehouse",
            "would_be": None,
        },
        {
            "rule": "window",
            "outcome": "PASS",
            "code": None,
            "metric": None,
            "observed": None,
            "observed_text": "2026-02-18T00:55:00Z",
            "op": None,
            "limit": None,
            "limit_text": "2026-02-18T00:30:00Z",
            "baseline": None,
            "margin": None,
            "source": None,
            "would_be": None,
        },
        {
            "rule": "constraint:bad",
            "outcome": "STALE",
            "code": None,
            "metric": None,
            "observed": 1.0,
            "observed_text": None,
            "op": None,
            "limit": 0.0,
            "limit_text": None,
            "baseline": None,
            "margin": None,
            "source": None,
            "would_be": "c:bad",
        },
    ],
    "notes": ["statistics looked at 3 times"],
    "requested_actions": [
        {"name": "attach_evidence", "params": '{"name":"change_id"}'},
        {"name": "rerun_gate_check", "params": "{}"},
    ],
    "next_actions": [],
    "evaluated_at": moment("2026-02-18T01:00:10.500000"),
    "stage_entered_at": moment("2026-02-18T00:30:00"),
    "looks": 3,
    "history": "complete",
    "attempt": 2,
    "resume": {
        "resume_token": "hold-1",
        "stage": "CANARY_25",
        "attempt": 2,
        "first_held_at": moment("2026-02-18T00:45:00"),
        "next_evaluation": {"not_before": moment("2026-02-18T01:05:00"), "on": ["evidence", "snapshot"]},
        "owners": ["sre", "owner"],
        "escalate_at": moment("2026-02-18T01:15:00"),
        "deadline_at": None,
        "on_deadline": "ESCALATE",
        "input_unchanged": False,
    },
    "rml": {"world": "RML2", "action": "retry-with-backoff"},
    "evidence_refs": {"dashboard_id": "dash-foo"},
    "metrics": {"errors": 0.011, "pii": 0.0, "bad": 1.0},
    "baseline_metrics": {"errors": 0.0075},
    "collected_at": moment("2026-02-18T01:00:05"),
    "window": "5m",
    "snapshot_digest": "sha256:03",
    "input_digest": "sha256:02",
    "question_digest": "sha256:04",
    "idempotency_key": "job-7",
    "previous_run": "exp-42:B:0",
    "evaluator": "gatekeeper/1",
    "action": None,
    "refusal": None,
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of one event that has everything."""
    ledger = MemoryLedger()
    ledger.clock.moment = 1_771_376_410_123_456  # date -u -d 2026-02-18T01:00:10.123456Z +%s%6N
    ledger.append([FULL], expect=None, actor="ci")
    into_lake(write(tmp_path / "log", ledger.lines), tmp_path / "lake")
    return tmp_path / "lake"


def documented() -> dict[str, str]:
    """Column -> type, as the page has it."""
    return dict(re.findall(r"^\| `([\w.\[\]{}]+)` \| (\w+) \| ", read(PAGE).split("## Columns")[1], re.MULTILINE))


def arrow_leaves(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """Paths as the page writes them, and types."""
    if pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            yield from arrow_leaves(f"{name}.{kind.field(index).name}", kind.field(index).type)
    elif pa.types.is_map(kind):
        assert kind.key_type == pa.string()
        yield from arrow_leaves(f"{name}{{}}", kind.item_type)
    elif pa.types.is_list(kind):
        yield from arrow_leaves(f"{name}[]", kind.value_type)
    else:
        yield name, ARROW[kind]


def duckdb_leaves(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """The same of DuckDB's types."""
    if kind.id == "struct":
        for field, child in kind.children:
            yield from duckdb_leaves(f"{name}.{field}", child)
    elif kind.id == "map":
        (_, key), (_, value) = kind.children
        assert str(key) == "VARCHAR"
        yield from duckdb_leaves(f"{name}{{}}", value)
    elif kind.id == "list":
        ((_, child),) = kind.children
        yield from duckdb_leaves(f"{name}[]", child)
    else:
        yield name, DUCKDB[str(kind)]


def test_pyarrow_reads_the_types_that_are_documented(lake: Path) -> None:
    """From the file itself, in the order of the page; never null is what every row has."""
    schema = pq.read_schema(lake / names_in(lake)[0])
    found = [leaf for field in schema for leaf in arrow_leaves(field.name, field.type)]
    assert dict(found) == {name: kind for name, kind in documented().items() if name != "date"}
    assert [name for name in documented() if name != "date"] == [name for name, _ in found]
    assert {field.name for field in schema if not field.nullable} == {"digest", "kind", "is_simulated", "line"}


def test_duckdb_reads_the_types_that_are_documented(lake: Path) -> None:
    """As a user asks for them, with `date` from the directories."""
    with duckdb.connect() as connection:
        relation = connection.sql(f"FROM read_parquet('{lake}/*/*.parquet', hive_partitioning = true)")
        columns = zip(relation.columns, relation.types, strict=True)
        assert dict(leaf for name, kind in columns for leaf in duckdb_leaves(name, kind)) == documented()


def test_every_value_arrives_where_its_column_says(lake: Path) -> None:
    """By DuckDB and by pyarrow: the same values, those that were written down by hand."""
    names = list(EXPECTED)
    (row,) = ask(lake, ", ".join(f'"{name}"' for name in names))
    assert dict(zip(names, row, strict=True)) == EXPECTED
    (plain,) = pq.read_table(lake / names_in(lake)[0]).to_pylist()
    maps = {name: dict(plain[name]) for name in ("evidence_refs", "metrics", "baseline_metrics")}
    assert {**{name: plain[name] for name in names}, **maps} == EXPECTED


def test_actions_and_refusals_have_their_own_columns(tmp_path: Path) -> None:
    """And the verdict of an action that ended a run; an event that decides nothing has no verdict and no lists."""
    ledger = MemoryLedger()
    stop = {
        "kind": "action",
        "event_id": "r:action#1",
        "action": {"name": "stop", "reason": "INC-7", "params": {"by": "sre"}},
        "decision": {"verdict": "REJECT", "reason_codes": ["change_refused:stopped"]},
    }
    refusal = {
        "kind": "refusal",
        "event_id": "r:refusal#1",
        "as_of": "2026-02-18T01:00:00Z",
        "refusal": {"reason": "stage_not_askable", "message": "no", "command": "check", "stage": "CANARY_50"},
    }
    ledger.append([stop, refusal], expect=None, actor="ci")
    into_lake(write(tmp_path / "log", ledger.lines), tmp_path / "lake")
    columns = "kind, verdict, reason_codes, findings, action, refusal.reason, refusal.token, stage, is_simulated, as_of"
    assert ask(tmp_path / "lake", columns, "ORDER BY seq") == [
        (
            "action",
            "REJECT",
            ["change_refused:stopped"],
            [],
            {"name": "stop", "params": '{"by":"sre"}', "reason": "INC-7"},
            *(None, None, None, False, None),
        ),
        (
            *("refusal", None, None, None, None, "stage_not_askable", None, "CANARY_50", True),
            moment("2026-02-18T01:00:00"),
        ),
    ]


@pytest.mark.parametrize(
    "value", [None, 7, -1.5, 1e400, 10**30, True, "text", "\0", [], [[None]], {}, {"name": {"x": 1}}]
)
def test_a_value_of_another_type_is_null_and_stops_nothing(value: Any, tmp_path: Path) -> None:
    """In every field of a line that somebody else wrote, and one level deeper."""
    line = json.dumps({**dict.fromkeys(FULL, value), "kind": "decision"}).replace("Infinity", "1e400").encode()
    deeper = {name: dict.fromkeys(part, value) if isinstance(part, dict) else part for name, part in FULL.items()}
    deep = json.dumps(deeper).replace("Infinity", "1e400").encode()
    parts = {name: [value] for name in FULL["decision"]}
    wrong = json.dumps({"run_id": "f", "decision": {**parts, "verdict": value}}).replace("Infinity", "1e400").encode()
    into_lake(write(tmp_path / "log", [line, deep, wrong]), tmp_path / "lake")
    assert ask(tmp_path / "lake", "line", "ORDER BY file_row_number") == [
        (line.decode(),),
        (deep.decode(),),
        (wrong.decode(),),
    ]
