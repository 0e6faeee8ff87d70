"""The cases that ship: which there are, and that the policy answers as was worked out by hand from SPEC 5."""

from __future__ import annotations

from pathlib import Path

from gatekeeper.review.golden.judge import judge
from gatekeeper.review.golden.load import case_files
from tests.review.golden.cases import loaded

GOLDEN = Path(__file__).parents[3] / "policies" / "golden"


def test_the_shipped_cases_pass() -> None:
    """Ten of them, each with all that can be expected."""
    cases = [loaded(path) for path in case_files([str(GOLDEN)])]
    assert [case.path for case in cases if not judge(case).passes] == []
    assert {tuple(case.expect) for case in cases} == {("verdict", "reason_codes", "missing", "requested_actions")}


def test_the_shipped_cases_show_each_verdict_for_each_kind_of_reason() -> None:
    """Three that go on, four that hold, three that stop, named by verdict."""
    by_verdict: dict[str, list[str]] = {}
    for path in case_files([str(GOLDEN)]):
        by_verdict.setdefault(loaded(path).expect["verdict"], []).append(Path(path).stem)
    assert by_verdict == {
        "ACCEPT": ["accept-at-every-limit", "accept-minimal", "accept-observed-rule"],
        "DEGRADE": ["degrade-approval-missing", "degrade-metric-missing", "degrade-sample-size", "degrade-stale"],
        "REJECT": ["reject-budget", "reject-constraint", "reject-guardrail"],
    }
