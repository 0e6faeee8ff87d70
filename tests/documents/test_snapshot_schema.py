"""The schema of a snapshot accepts what the reader reads; what it calls well-formed is no invalid evidence."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gatekeeper import Context, evaluate, load_policy
from gatekeeper.documents.snapshot_schema import snapshot_schema
from gatekeeper.errors import GatekeeperError
from gatekeeper.model.snapshot import META_FIELDS, STATISTICS, read_snapshot, snapshot_from_document
from tests.docs.console import ROOT, blocks, read
from tests.documents.near_valid import paths, put
from tests.properties.strategies import EVALUATED_AT, JSON, WILD_SNAPSHOTS, snapshots
from tests.review.documents import MISSING

SCHEMA = snapshot_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
WELL_FORMED = Draft202012Validator(
    {key: SCHEMA[key] for key in ("$schema", "$id", "$defs")} | {"$ref": "#/$defs/WellFormed"}
)
(EXAMPLE,) = (json.loads(block) for block in blocks("docs/formats/snapshot.md", "json"))


@pytest.mark.slow
@given(WILD_SNAPSHOTS | snapshots() | JSON)
def test_every_snapshot_that_is_read_is_valid_and_nothing_else(document: Any) -> None:
    """A collector's check must not refuse what the gate would judge, nor pass what it refuses."""
    try:
        read_snapshot(json.dumps(document).encode())
    except GatekeeperError:
        assert not isinstance(document, dict) or "\\ud" in json.dumps(document).lower()  # half of a surrogate pair
        return
    assert VALIDATOR.is_valid(document)


@pytest.mark.parametrize("document", [None, True, 1, "text", [], [{}]])
def test_what_is_no_object_is_refused_by_both(document: Any) -> None:
    """The one thing of its structure that the reader refuses."""
    with pytest.raises(GatekeeperError):
        read_snapshot(json.dumps(document).encode())
    assert not VALIDATOR.is_valid(document)
    assert not WELL_FORMED.is_valid(document)


def shipped() -> list[str]:
    """Snapshots that people copy."""
    names = sorted(name for name in os.listdir(os.path.join(ROOT, "snapshots")) if name.endswith(".json"))
    return [*(f"snapshots/{name}" for name in names), "gatekeeper/cli/starter/snapshot.json"]


@pytest.mark.parametrize("path", shipped())
def test_every_shipped_snapshot_is_well_formed(path: str) -> None:
    """Else nobody could begin with one of them."""
    assert [error.message for error in WELL_FORMED.iter_errors(json.loads(read(path)))] == []


def test_the_example_of_the_format_is_well_formed_in_both_forms() -> None:
    """Wrapped and flat, with one set of statistics."""
    assert WELL_FORMED.is_valid(EXAMPLE)
    flat = {**{key: value for key, value in EXAMPLE.items() if key != "metrics"}, **EXAMPLE["metrics"]}
    assert WELL_FORMED.is_valid(flat)
    assert WELL_FORMED.is_valid({**flat, "promotion": EXAMPLE["promotion"]["conversion_rate"]})


SLIPS: list[tuple[tuple[str | int, ...], Any]] = [
    (("metrics", "error_rate_5m"), "0.008"),
    (("metrics", "error_rate_5m"), [0.008]),
    (("_meta", "collected_at"), "2026-02-18T01:00:05"),
    (("_meta", "collected_at"), 1771376405),
    (("_meta", "watermark_event_time"), "yesterday"),
    (("_meta", "freshness_seconds"), -1),
    (("_meta", "freshness_seconds"), "25"),
    (("_meta", "window"), "5 min"),
    (("_meta", "window"), 300),
    (("_meta", "sources"), {}),
    (("_meta", "sources", 0, "watermark_event_time"), MISSING),
    (("_meta", "sources", 0, "metrics"), "error_rate_5m"),
    (("baseline", "metrics", "error_rate_5m"), "x"),
    (("baseline", "_meta", "window"), "5"),
    (("promotion", "conversion_rate", "sample_size"), "many"),
    (("promotion", "conversion_rate", "assignment_stable"), 1),
    (("observations", "error_rate_5m", "problem"), {"code": "guardrail_violation:x"}),
    (("observations", "error_rate_5m", "problem"), "down"),
    (("observations", "error_rate_5m", "coverage_ratio"), 1.5),
]


@pytest.mark.parametrize(("path", "value"), SLIPS)
def test_a_slip_is_not_well_formed_but_valid(path: tuple[str | int, ...], value: Any) -> None:
    """An editor marks what the gate will hold for; the gate itself reads it."""
    spoilt = put(EXAMPLE, path, value)
    assert not WELL_FORMED.is_valid(spoilt)
    assert VALIDATOR.is_valid(spoilt)


POLICY = load_policy(
    json.dumps(
        {
            "policy_id": "p",
            "policy_version": "1",
            "primary": [{"metric": "conversion_rate", "direction": "up", "min_lift": 0.001}],
            "guardrails": [{"metric": "error_rate_5m", "op": "<=", "threshold": 0.01, "budget_delta": 0.001}],
            "missing_data_policy": {"max_freshness_seconds": 120, "max_watermark_skew_seconds": 60},
            "promotion_gate": {"required_for_stages": ["CANARY_10"], "min_sample_size": 1, "require_ci_low_gt": 0},
            "stage_policy": {"min_stage_seconds": 1},
        }
    ).encode()
)
NEVER = {
    "observation_invalid:promotion_value",
    "observation_invalid:freshness_seconds",
    "observation_invalid:bad_response",
}
VALUES = st.sampled_from(
    [None, True, False, 0, -1, 1.5, "", "x", "5m", "25", [], {}, "2026-02-18T00:59:59Z", "2026-02-18", MISSING]
)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_well_formed_evidence_is_never_of_a_wrong_type(data: st.DataObject) -> None:
    """What the page promises: no statistic, no stated age and no time in a form that cannot be read."""
    document = deepcopy(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 3))):
        places = [path for path, _ in paths(document) if path[0] != "observations"]
        document = put(document, data.draw(st.sampled_from(places)), data.draw(VALUES))
    if not WELL_FORMED.is_valid(document):
        return
    context = Context(stage="CANARY_10", from_stage="SHADOW", evaluated_at=EVALUATED_AT, stage_entered_at=EVALUATED_AT)
    decision = evaluate(POLICY, snapshot_from_document(document), context)
    assert NEVER & {finding.code for finding in decision.findings} == set()


def test_fields_that_the_evaluator_reads_are_described() -> None:
    """A field that only the source knows is stated by nobody."""
    assert set(META_FIELDS) <= SCHEMA["$defs"]["Meta"]["properties"].keys()
    assert set(META_FIELDS) <= SCHEMA["$defs"]["Wrapped"]["properties"].keys()
    assert set(STATISTICS) == SCHEMA["$defs"]["Statistics"]["properties"].keys()
