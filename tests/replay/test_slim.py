"""A decision that is read without its findings says something else of itself than the whole line."""

from __future__ import annotations

import json

import pytest

from gatekeeper.replay.slim import without_findings
from tests.replay.backtests import POLICY, BacktestLog
from tests.replay.builder import rollout

LEFT_OUT = {"missing", "next_actions", "notes"}


def test_what_judges_a_decision_again_is_as_in_the_whole_line() -> None:
    """Findings, `missing`, notes and next actions are left out, whatever stands in them; nothing else is."""
    log = BacktestLog({**POLICY, "guardrails": [{**POLICY["guardrails"][0], "budget_delta": 0.001}]})
    log.judged({"errors": 0.02, "a],b": 1}, "DRY_RUN")
    log.judged({"errors": None})
    log.judged({"errors": 0.004})
    for line in log.lines[1:]:
        whole = json.loads(line)
        decision = {key: value for key, value in whole["decision"].items() if key not in LEFT_OUT}
        assert without_findings(line) == {**whole, "decision": {**decision, "findings": []}}


@pytest.mark.parametrize(
    "line", [rollout()[0], b"{}", b"", b'{"context":{},"decision":{"findings":[],"reason_codes":[']
)
def test_a_line_that_is_no_whole_decision_is_left_to_who_reads_all_of_it(line: bytes) -> None:
    """An event of another kind, and what is damaged."""
    assert without_findings(line) is None
