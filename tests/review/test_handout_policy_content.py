"""HO-10 of the field cases: policy content that a lenient reader drops without a word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError, PolicyError
from gatekeeper.review.load import check_policy_document, load_policy_document
from tests.review.documents import encoded

P0: dict[str, Any] = {
    "policy_id": "checkout-api",
    "policy_version": "7",
    "primary": [{"metric": "conversion_lift", "direction": "up", "min_lift": 0.0}],
    "guardrails": [
        {"metric": "error_rate", "op": "<=", "threshold": 0.02, "budget_delta": 0.005},
        {"metric": "latency_p99_ms", "op": "<=", "threshold": 400, "budget_delta": 25},
    ],
    "constraints": [
        {"kind": "must_be_zero", "metric": "data_loss_events"},
        {"kind": "must_be_false", "metric": "kill_switch"},
    ],
    "missing_data_policy": {
        "required_metrics": ["latency_p99_ms"],
        "on_missing": "DEGRADE",
        "max_freshness_seconds": 120,
        "max_watermark_skew_seconds": 60,
        "on_stale": "DEGRADE",
        "on_missing_baseline": "DEGRADE",
    },
    "promotion_gate": {
        "required_for_stages": ["ROLLOUT_100"],
        "min_sample_size": 100000,
        "require_ci_low_gt": 0.0,
        "on_not_ready": "DEGRADE",
    },
}

_TWICE = b"""{"policy_id": "checkout-api", "policy_version": "7",
 "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": 0.02}],
 "constraints": [],
 "guardrails": []}
"""

CASES: dict[str, tuple[bytes, list[str]]] = {
    "HO-10a": (
        encoded({**P0, "guardrails": [{"metric": "error_rate", "op": "<=", "threshhold": 0.02}]}),
        ["/guardrails/0/threshhold: ", 'did you mean "threshold"?'],
    ),
    "HO-10b": (_TWICE, ["p.json:4:2: ", "'guardrails'", "/guardrails"]),
    "HO-10c": (
        encoded({**P0, "guardrails": [{"metric": "error_rate", "op": "<=", "threshold": None}]}),
        ["/guardrails/0/threshold: found null"],
    ),
    "HO-10d": (
        encoded({**P0, "missing_data_policy": {"required_metrics": ["error_rate"], "on_missing": "DEGRAED"}}),
        ["/missing_data_policy/on_missing: ", '"DEGRAED"', 'did you mean "DEGRADE"?', '"REJECT"'],
    ),
    "HO-10e": (
        encoded({**P0, "guardrail": [{"metric": "error_rate", "op": "=<", "threshold": 0.02}]}),
        ["/guardrail: ", 'did you mean "guardrails"?'],
    ),
    "HO-10e, the misspelt key instead of the right one": (
        encoded(
            {"guardrail" if key == "guardrails" else key: value for key, value in P0.items() if key != "constraints"}
        ),
        ["/guardrail: ", 'did you mean "guardrails"?'],
    ),
    "HO-10e, the operator under the right key": (
        encoded({**P0, "guardrails": [{"metric": "error_rate", "op": "=<", "threshold": 0.02}]}),
        ["/guardrails/0/op: ", '"=<"', 'did you mean "<="?'],
    ),
}


def test_the_shared_policy_of_the_cases_loads() -> None:
    """P0 itself is sound, so that a refusal below is about the change alone."""
    assert load_policy_document(encoded(P0)).policy.guardrails[0].threshold == 0.02


@pytest.mark.parametrize("case", CASES)
def test_content_that_would_be_dropped_is_refused_with_key_and_place(case: str) -> None:
    """The policy never loads, and the one line of the message names file, place and key."""
    data, words = CASES[case]
    with pytest.raises(PolicyError) as caught:
        load_policy_document(data, "p.json")
    assert caught.value.exit_code == 65
    assert caught.value.message.count("\n") == 0
    assert caught.value.message.startswith("p.json:")
    for word in words:
        assert word in caught.value.message


@pytest.mark.parametrize("case", CASES)
def test_the_policy_check_of_a_reviewer_fails_too(case: str) -> None:
    """`policy check` reports the same content as an error with a line and a column, and loads nothing."""
    loaded, found = check_policy_document(CASES[case][0], "p.json")
    assert loaded is None
    assert [one.severity.value for one in found] == ["error"]
    assert found[0].line is not None
    assert found[0].column is not None


def test_a_duplicate_key_in_a_snapshot_is_refused() -> None:
    """HO-10: the same silent loss in evidence is an input error as well."""
    from gatekeeper import load_snapshot

    with pytest.raises(InputRefusedError, match="duplicate key 'error_rate'") as caught:
        load_snapshot(json.dumps({"metrics": {"error_rate": 0.19}})[:-2].encode() + b', "error_rate": 0.0}}')
    assert caught.value.exit_code == 65
