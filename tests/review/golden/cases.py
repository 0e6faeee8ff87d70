"""Golden cases for tests: a policy and a case in a directory, each changed where a test needs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gatekeeper.review.golden.load import CaseLoader, Unloadable

if TYPE_CHECKING:
    from pathlib import Path

    from gatekeeper.review.golden.case import LoadedCase

POLICY: dict[str, Any] = {
    "policy_id": "shop",
    "policy_version": "1",
    "guardrails": [{"metric": "errors", "op": "<=", "threshold": 0.02}],
    "constraints": [{"kind": "must_be_zero", "metric": "leaks"}],
    "evidence": {"required": ["change_id"]},
}
CONTEXT: dict[str, Any] = {
    "stage": "CANARY_10",
    "from_stage": "SHADOW",
    "stage_entered_at": "2026-03-10T09:00:00Z",
    "evaluated_at": "2026-03-10T10:00:00Z",
    "evidence": {"change_id": "CHG-1"},
}
CASE: dict[str, Any] = {
    "name": "all is well",
    "policy": "../shop.json",
    "snapshot": {"metrics": {"errors": 0.01, "leaks": 0}},
    "context": CONTEXT,
    "expect": {"verdict": "ACCEPT", "reason_codes": [], "missing": [], "requested_actions": []},
}


def lay_out(folder: Path, *cases: dict[str, Any], policy: dict[str, Any] = POLICY) -> list[str]:
    """`policies/shop.json` and `policies/golden/0.json`, …; the paths of the cases."""
    golden = folder / "policies" / "golden"
    golden.mkdir(parents=True, exist_ok=True)
    (folder / "policies" / "shop.json").write_text(json.dumps(policy), encoding="utf-8")
    paths = [golden / f"{number}.json" for number in range(len(cases))]
    for path, case in zip(paths, cases, strict=True):
        path.write_text(json.dumps(case, indent=2), encoding="utf-8")
    return [str(path) for path in paths]


def loaded(path: str) -> LoadedCase:
    """The case in a file, which must load."""
    case = CaseLoader().load(path)
    assert not isinstance(case, Unloadable), [one.text(path) for one in case.diagnostics]
    return case


def refused(path: str) -> list[str]:
    """`pointer code` of each problem of a file, which must not load."""
    case = CaseLoader().load(path)
    assert isinstance(case, Unloadable)
    return [f"{one.pointer} {one.code}" for one in case.diagnostics]
