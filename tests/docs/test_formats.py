"""The format pages name everything that the program knows, and say of each code what the program does with it."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper import errors
from gatekeeper.cli import tables
from gatekeeper.model import event, policy, reasons, snapshot
from gatekeeper.model.context import Context
from gatekeeper.model.decision import Decision, Finding, Outcome
from gatekeeper.model.reasons import fixed_verdict
from gatekeeper.model.snapshot import read_snapshot
from gatekeeper.model.stages import DEFAULT_STAGES
from gatekeeper.render import actions, codes
from gatekeeper.review.golden import case
from gatekeeper.review.golden.load import case_problems
from gatekeeper.review.load import load_policy_document
from tests.docs.console import blocks, read

if TYPE_CHECKING:
    from collections.abc import Iterator

POLICY, SNAPSHOT, EVENT = "docs/formats/policy.md", "docs/formats/snapshot.md", "docs/formats/event.md"
COLLECTION = "docs/formats/collection.md"

# The table of reason codes as the contract states it (SPEC 5), written down once more so that a code which the
# program forgets is missed here, too.
CONTRACT = {
    "constraint_violation": ["<metric>"],
    "guardrail_violation": ["<metric>"],
    "budget_violation": ["<metric>"],
    "change_refused": [
        *("unsafe_for_experiment", "deadline_passed", "stopped", "superseded", "outside_change_window", "frozen"),
    ],
    "observation_missing": [
        *("required_metric", "constraint_metric", "guardrail_metric", "empty_result", "baseline_metric"),
        *("freshness_seconds", "watermark_event_time", "window", "source_unavailable", "delayed_pipeline"),
        "broken_dashboard_ref",
    ],
    "observation_invalid": [
        *("constraint_value", "guardrail_value", "baseline_value", "promotion_value", "freshness_seconds"),
        *("collected_at", "watermark_event_time", "multiple_series", "out_of_range", "bad_response", "query_failed"),
    ],
    "observation_stale": [
        *("over_freshness_budget", "watermark_skew", "window_before_stage", "window_coverage", "baseline_age"),
    ],
    "evidence_missing": ["change_id", "ticket_link", "<name>", "approval", "partial_response"],
    "precondition_unknown": [
        *("sample_size_not_reached", "significance_not_ready", "assignment_not_stable", "variant_mapping_ambiguous"),
        *("stage_wait_not_elapsed", "baseline_window_mismatch", "policy_changed", "history_incomplete"),
        "exposure_budget_exhausted",
    ],
}
EXIT_CODES = (0, 1, 2, 3, 10, 64, 65, 69, 70, 74, 130, 143)


def _rows(page: str) -> Iterator[list[str]]:
    """The cells of every table row of a page."""
    for line in read(page).splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def _explained(page: str) -> set[str]:
    """The names in code font in the first cell of a row that says something about them."""
    return {
        name for cells in _rows(page) if len(cells) > 1 and cells[-1] for name in re.findall(r"`([^`]+)`", cells[0])
    }


@pytest.mark.parametrize(
    "kind",
    [
        policy.Policy,
        policy.Primary,
        policy.Guardrail,
        policy.Constraint,
        policy.MissingDataPolicy,
        policy.PromotionGate,
        policy.StagePolicy,
        policy.EvidencePolicy,
        policy.HoldPolicy,
        policy.Suppression,
    ],
)
def test_every_key_of_a_policy_is_explained(kind: type[Any]) -> None:
    """A key that only the source knows is used by nobody, or wrongly."""
    assert {field.name for field in fields(kind)} <= _explained(POLICY)


def test_every_class_of_policy_keys_is_asked_above() -> None:
    """A new part of the policy must not slip past the test before."""
    parts = {
        name for name, kind in vars(policy).items() if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__")
    }
    assert len(parts - {"LoadedPolicy"}) == 10


def test_every_value_that_a_policy_may_state_is_named() -> None:
    """Operators, directions, verdicts, kinds, precedences, hold categories."""
    text = read(POLICY)
    for kind in (
        policy.OnTrouble,
        policy.OnDeadline,
        policy.Operator,
        policy.Direction,
        policy.Enforcement,
        policy.ConstraintKind,
        policy.Precedence,
    ):
        for member in kind:
            assert f'"{member.value}"' in text, member
    for category in reasons.HOLD_CATEGORIES:
        assert f"`{category}`" in text


def test_defaults_of_a_policy_are_those_of_the_program() -> None:
    """Spot checks of what people rely on without writing it down."""
    hold, missing = policy.HoldPolicy(), policy.MissingDataPolicy()
    rows = {cells[0].strip("`"): cells for cells in _rows(POLICY)}
    assert rows["retry_after_seconds"][2] == f"`{hold.retry_after_seconds}`"
    assert rows["escalate_after_seconds"][2] == f"`{hold.escalate_after_seconds}`"
    assert rows["owners"][2] == f"`{json.dumps(list(hold.owners))}`"
    assert rows["precedence"][2] == f'`"{missing.precedence.value}"`'
    assert f"`{json.dumps(list(DEFAULT_STAGES))}`" in read(POLICY)


@pytest.mark.parametrize("kind", [case.GoldenCase, case.CaseContext, case.Expectation])
def test_every_key_of_a_golden_case_is_explained(kind: type[Any]) -> None:
    """One that the page lacks would be found by nobody."""
    page = read("docs/formats/golden-case.md")
    assert {field.name for field in fields(kind)} <= set(re.findall(r"`(\w+)`", page))


def test_every_reason_why_a_golden_case_does_not_load_is_named() -> None:
    """Those beyond keys and types, which all reviewed files share."""
    page = read("docs/formats/golden-case.md")
    named = set(re.findall(r"`(golden\.\w+)`", page))
    assert named == {
        "golden.policy_refused",
        "golden.snapshot_refused",
        "golden.bad_time",
        "golden.empty_text",
        "golden.nothing_expected",
    }


def test_every_key_of_a_snapshot_is_explained() -> None:
    """Names that the program reads, and those of the contract's example."""
    (example,) = blocks(SNAPSHOT, "json")
    document = json.loads(example)
    statistics, observation = document["promotion"]["conversion_rate"], document["observations"]["error_rate_5m"]
    known = {"metrics", *snapshot.RESERVED, *snapshot.META_FIELDS, *statistics, *observation, *document["_meta"]}
    known |= {*document["_meta"]["sources"][0], "query", "value_text", "endpoint", "coverage_ratio"}
    assert known <= _explained(SNAPSHOT)


def _codes(page: str) -> dict[str, list[str]]:
    """Reason code -> its row."""
    return {name: cells for cells in _rows(page) for name in re.findall(r"`(\w+:[^`]+)`", cells[0]) if len(cells) == 3}


def test_every_reason_code_says_what_to_do() -> None:
    """The contract's table and the program's, each code with a verdict and a next step."""
    wanted = {f"{category}:{detail}" for category, details in CONTRACT.items() for detail in details}
    explained = _codes(EVENT)
    later = set(codes.LATER)
    assert wanted - later == set(explained)
    assert later <= wanted
    assert all(code in read(EVENT) for code in later)
    assert all(row[2] for row in explained.values())
    shown = {code for code in codes.CODES if not code.endswith(":*")}
    assert shown <= set(explained), "a code that outputs know, and the page does not"


def test_the_verdict_of_every_reason_code_is_the_programs() -> None:
    """A page that says hold where the program rolls back is worse than none."""
    for code, (_, verdict, _) in _codes(EVENT).items():
        assert (
            verdict.strip("`") == fixed_verdict(code.replace("<metric>", "m").replace("<name>", "dashboard_id")).value
        )


def test_every_exit_code_is_explained() -> None:
    """In the README's table, complete and nothing else."""
    table = [cells[0] for cells in _rows("README.md") if len(cells) == 3 and cells[0][0].isdigit()]
    assert [int(code) for cell in table for code in cell.split(", ")] == list(EXIT_CODES)


def test_every_error_ends_with_an_exit_code_of_the_table() -> None:
    """An error class with a code of its own would be a code that nobody explained."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert {kind.exit_code for kind in kinds if issubclass(kind, errors.GatekeeperError)} <= set(EXIT_CODES) - {
        0,
        1,
        2,
        3,
    }


def test_every_field_of_an_event_is_explained() -> None:
    """The fields of the example log, and those that it happens to lack."""
    explained = _explained(EVENT)
    for line in read("logs/example.ndjson").splitlines():
        record = json.loads(line)
        assert set(record) <= explained
        assert set(record.get("resume") or {}) <= explained
    for kind in (Context, Decision, Finding):
        names = {field.name for field in fields(kind)}
        assert names <= explained | set(re.findall(r"`(\w+)`", read(EVENT))), kind
    assert {"clock", "recovered", "from_marker", "idempotency_key", "previous_run", "as_of"} <= explained
    assert "collector_change" in explained


def test_every_kind_outcome_and_action_is_explained() -> None:
    """What may stand in those fields."""
    text, explained = read(EVENT), _explained(EVENT)
    assert all(f"`{kind}`" in text for kind in event.KINDS)
    assert {outcome.value for outcome in Outcome} <= explained
    assert set(actions._WORDS) <= explained


def test_every_action_and_refusal_that_is_written_is_explained() -> None:
    """Names as the orchestrator's source states them."""
    explained = _explained(EVENT)
    source = "".join(read(f"gatekeeper/orchestrator/{name}.py") for name in ("gate", "judge", "propose", "identity"))
    source += "".join(read(f"gatekeeper/orchestrator/{name}.py") for name in ("recorded", "stages"))
    reasons_written = set(re.findall(r'\breason="(\w+)"', source)) - {
        "unknown_run",
        "unknown_token",
    }  # no run, no event
    reasons_written |= {f"other_{name}" for name in ("experiment", "variant", "revision", "change_class")}
    assert reasons_written <= explained
    assert len(reasons_written) > 8
    assert {"stop", "supersede", "adopt-policy", "start-stage", "accept-gap"} <= explained
    assert set(re.findall(r'(?:action_draft\(\s*|\bname=)"([\w-]+)"', source)) <= explained


def test_every_command_is_named_in_the_documentation() -> None:
    """A command that only --help knows is found by nobody."""
    pages = [
        "README.md",
        EVENT,
        POLICY,
        COLLECTION,
        "docs/guides/ci.md",
        "docs/guides/holds.md",
        "docs/guides/incident-replay.md",
        "docs/guides/lake.md",
        "docs/guides/ledgers.md",
        "docs/guides/proof.md",
        "docs/guides/retention.md",
        "docs/guides/monitoring.md",
        "docs/guides/policy-test.md",
        "docs/guides/postgresql.md",
    ]
    text = "".join(read(page) for page in pages) + read("Makefile")
    for command in tables.every():
        assert command.title in text, command.title


def test_the_examples_of_the_format_pages_load() -> None:
    """JSON that is copied from the page must be taken as it is."""
    (smallest,) = blocks(POLICY, "json")
    assert load_policy_document(smallest.encode()).policy.policy_id == "smallest"
    (example,) = blocks(SNAPSHOT, "json")
    assert read_snapshot(example.encode()).metrics["error_rate_5m"] == 0.008
    (golden,) = blocks("docs/formats/golden-case.md", "json")
    assert case_problems(json.loads(golden)) == []
    for block in blocks("docs/guides/holds.md", "json"):
        holds = {"policy_id": "p", "policy_version": "1", "constraints": [{"kind": "must_be_zero", "metric": "m"}]}
        loaded = load_policy_document(json.dumps({**holds, **json.loads(block)}).encode())
        assert loaded.policy.holds["evidence_missing"].on_deadline == "REJECT"
