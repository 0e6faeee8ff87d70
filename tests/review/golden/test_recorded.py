from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.errors import GoldenCaseError
from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context, PolicyDigests
from gatekeeper.model.policy import loaded_policy
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.review.golden.judge import judge
from gatekeeper.review.golden.recorded import case_bytes, case_of, file_name
from gatekeeper.review.golden.update import updated
from tests.properties.strategies import contexts, policies, snapshots
from tests.review.golden.cases import CASE, POLICY, lay_out, loaded

if TYPE_CHECKING:
    from collections.abc import Mapping


def recorded(policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """A decision event as the log holds it, as far as a case needs it."""
    evidence, known = snapshot_from_document(snapshot), Context.from_dict(context)
    event = {
        "kind": "decision",
        "event_id": "exp:B:1:CANARY_10#2",
        "metrics_snapshot": evidence.document,
        "context": known.to_dict(),
        "decision": evaluate(loaded_policy(policy).policy, evidence, known).to_dict(),
    }
    read: dict[str, Any] = json.loads(json.dumps(event))
    return read


@pytest.mark.slow
@settings(deadline=None)
@given(policy=policies(), snapshot=snapshots(), context=contexts(), digests=st.sampled_from(["", "same", "other"]))
def test_a_case_made_from_a_decision_passes_and_asks_the_same(
    policy: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any], digests: str
) -> None:
    """Whatever was decided: evidence as recorded, and a context that means what the recorded one means."""
    if digests:
        context = {**context, "policy": {"run": "sha256:same", "given": f"sha256:{digests}"}}
    event = recorded(policy, snapshot, context)
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder), policy=policy)
        path = Path(folder) / "policies/golden/made.json"
        path.write_bytes(case_bytes(case_of(event, "../shop.json")))
        case = loaded(str(path))
        assert judge(case).passes
    assert case.snapshot.document == event["metrics_snapshot"]
    before = Context.from_dict(event["context"])
    unchanged = PolicyDigests("sha256:same", "sha256:same")
    assert case.context == (replace(before, policy=None) if before.policy == unchanged else before)
    assert case.expect == {
        key: event["decision"][key] for key in ("verdict", "reason_codes", "missing", "requested_actions")
    }


@pytest.mark.slow
@settings(deadline=None)
@given(policy=policies(), other=policies(), snapshot=snapshots(), context=contexts())
def test_an_updated_case_passes(
    policy: dict[str, Any], other: dict[str, Any], snapshot: dict[str, Any], context: dict[str, Any]
) -> None:
    """Frozen under one policy, asked of another, taken over."""
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder), policy=other)
        path = Path(folder) / "policies/golden/made.json"
        path.write_bytes(case_bytes(case_of(recorded(policy, snapshot, context), "../shop.json")))
        result = judge(loaded(str(path)))
        before = path.read_bytes()
        path.write_bytes(updated(before, result.differences, reason="the policy changed", source=path.name))
        assert judge(loaded(str(path))).passes
        found = json.loads(path.read_bytes())
    assert found == {**json.loads(before), "expect": found["expect"], "reason": "the policy changed"}


def test_an_update_writes_what_differs_and_no_other_line(tmp_path: Path) -> None:
    """A reviewer sees the new code and the reason, and nothing moved."""
    (path,) = lay_out(tmp_path, {**CASE, "snapshot": {"metrics": {"errors": 0.03, "leaks": 0}}})
    before = Path(path).read_bytes()
    after = updated(before, judge(loaded(path)).differences, reason="3 % is too many", source=path)
    lines = before.decode().splitlines()
    changed = [line for line in after.decode().splitlines() if line not in lines]
    assert changed == [
        '    "verdict": "REJECT",',
        '    "reason_codes": ["guardrail_violation:errors"],',
        '  "reason": "3 % is too many"',
    ]


def test_a_case_that_states_a_part_keeps_stating_that_part(tmp_path: Path) -> None:
    """An update is no reason to freeze more than the author did."""
    snapshot = {"metrics": {"errors": 0.03, "leaks": 0}}
    (path,) = lay_out(tmp_path, {**CASE, "snapshot": snapshot, "expect": {"verdict": "ACCEPT"}})
    after = updated(Path(path).read_bytes(), judge(loaded(path)).differences, reason="why", source=path)
    assert json.loads(after)["expect"] == {"verdict": "REJECT"}


def test_the_reason_of_an_earlier_update_is_replaced(tmp_path: Path) -> None:
    """One reason stands for what is expected now; the history of the file has the others."""
    (path,) = lay_out(tmp_path, {**CASE, "reason": "long ago"})
    assert json.loads(updated(Path(path).read_bytes(), [], reason="today", source=path))["reason"] == "today"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "action"},
        {"kind": None},
        {"context": None},
        {"metrics_snapshot": None},
        {"decision": None},
        {"context": {"stage": "CANARY_10", "evaluated_at": "yesterday"}},
    ],
)
def test_an_event_that_cannot_be_asked_again_becomes_no_case(change: Mapping[str, Any]) -> None:
    """A stop, a founding-style line, a damaged context."""
    event = recorded(POLICY, CASE["snapshot"], CASE["context"])
    with pytest.raises(GoldenCaseError):
        case_of({**event, **change}, "../shop.json")


@pytest.mark.parametrize(
    ("event_id", "name"),
    [
        ("exp-42:B:2026-02-18:CANARY_25#2", "exp-42-B-2026-02-18-CANARY_25-2.json"),
        ("../../etc/passwd", "etc-passwd.json"),
        ("@", "event.json"),
        ("r" * 512, "r" * 150 + ".json"),
    ],
)
def test_an_event_id_is_no_path(event_id: str, name: str) -> None:
    """Run ids hold slashes and colons; a file's name does not."""
    assert file_name(event_id) == name
