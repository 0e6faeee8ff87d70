"""Statistics from a query decide a promotion as SPEC 5 says: they win, are not ready, or are no numbers."""

from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.evaluator import evaluate
from gatekeeper.evidence.collection import SqlMetric
from gatekeeper.model.context import Context
from gatekeeper.model.decision import Decision
from gatekeeper.model.policy import policy_from_document
from gatekeeper.model.snapshot import STATISTICS
from tests.evidence.sql_support import NOW, collected, metric

POLICY = {
    "policy_id": "checkout",
    "policy_version": "1",
    "primary": [{"metric": "sales", "direction": "up", "min_lift": 0.002}],
    "guardrails": [{"metric": "sales", "op": ">=", "threshold": 0.1, "budget_delta": 0.001}],
    "missing_data_policy": {"max_freshness_seconds": 3600, "on_missing_baseline": "DEGRADE"},
    "promotion_gate": {
        "required_for_stages": ["ROLLOUT_100"],
        "min_sample_size": 100000,
        "require_ci_low_gt": 0,
        "on_not_ready": "REJECT",
    },
}
WON: dict[str, str] = {
    "rate": "0.132",
    "was": "0.129",
    "until": "timestamptz '2026-02-18 00:59:10Z'",
    "sample_size": "184211",
    "effect_estimate": "0.0031",
    "ci_low": "0.0009",
    "ci_high": "0.0053",
    "p_value": "0.004",
    "sequential_test_state": "'continue'",
    "assignment_stable": "true",
}
SIGNIFICANCE = "precondition_unknown:significance_not_ready"
INVALID = "observation_invalid:promotion_value"


def won(**changes: str) -> SqlMetric:
    """A metric whose query states what won, after these changes; `watermark` and `baseline` are there too."""
    query = "SELECT " + ", ".join(f"{expression} AS {name}" for name, expression in {**WON, **changes}.items())
    statistics: dict[str, Any] = {name: name for name in STATISTICS}
    return metric(query, baseline="was", watermark="until", **statistics)


def decided(url: str, spec: SqlMetric, *, stage: str = "ROLLOUT_100") -> tuple[Decision, Any]:
    """The decision on what the database says, and the snapshot's document."""
    snapshot = collected(url, {"sales": spec})
    context = Context(stage=stage, from_stage="CANARY_50", evaluated_at=NOW)
    return evaluate(policy_from_document(POLICY), snapshot, context), snapshot.document


def on_sqlite(**changes: str) -> tuple[Decision, Any]:
    """The same on SQLite, which knows neither booleans nor times."""
    return decided("sqlite://", won(**{"until": "'2026-02-18T00:59:10Z'", "assignment_stable": "1", **changes}))


def test_statistics_that_won_are_accepted() -> None:
    """From one row come value, baseline, statistics and age, each where the judge looks for it."""
    decision, document = on_sqlite()
    assert (decision.verdict.value, decision.reason_codes) == ("ACCEPT", ())
    assert document["promotion"] == {
        "sales": {
            "sample_size": 184211,
            "effect_estimate": 0.0031,
            "ci_low": 0.0009,
            "ci_high": 0.0053,
            "p_value": 0.004,
            "sequential_test_state": "continue",
            "assignment_stable": True,
        }
    }
    assert (document["metrics"], document["baseline"]["metrics"]) == ({"sales": 0.132}, {"sales": 0.129})
    for part in (document, document["baseline"]):
        assert part["observations"]["sales"]["watermark_event_time"] == "2026-02-18T00:59:10.000000Z"
        assert part["_meta"]["freshness_seconds"] == 60
    parts = {finding.rule: finding.outcome.value for finding in decision.findings}
    assert parts["promotion:sales:ci_bound"] == parts["promotion:sales:sample_size"] == "PASS"
    assert parts["budget:sales"] == parts["freshness"] == "PASS"


@pytest.mark.parametrize(
    ("changes", "verdict", "codes"),
    [
        ({"ci_low": "NULL"}, "REJECT", [SIGNIFICANCE]),
        ({"ci_low": "0.0"}, "REJECT", [SIGNIFICANCE]),
        ({"ci_low": "'0.0009'"}, "DEGRADE", [INVALID]),
        ({"ci_low": "9e999"}, "DEGRADE", [INVALID]),
        ({"effect_estimate": "9e999"}, "DEGRADE", [INVALID]),
        ({"sample_size": "'many'"}, "DEGRADE", [INVALID]),
        ({"sample_size": "99999"}, "REJECT", ["precondition_unknown:sample_size_not_reached"]),
        ({"assignment_stable": "0"}, "REJECT", ["precondition_unknown:assignment_not_stable"]),
        ({"assignment_stable": "2"}, "DEGRADE", [INVALID]),
        ({"assignment_stable": "NULL"}, "ACCEPT", []),
        ({"p_value": "9e999", "sequential_test_state": "17"}, "ACCEPT", []),
        ({"rate": "NULL"}, "DEGRADE", ["observation_missing:empty_result"]),
        ({"until": "'yesterday'"}, "DEGRADE", ["observation_invalid:watermark_event_time"]),
        ({"until": "'2026-02-17T00:00:00Z'"}, "DEGRADE", ["observation_stale:over_freshness_budget"]),
    ],
)
def test_only_sound_statistics_promote(changes: dict[str, str], verdict: str, codes: list[str]) -> None:
    """Not there is not ready, which this policy rejects; no number is no evidence, which nothing may reject."""
    decision, _ = on_sqlite(**changes)
    assert (decision.verdict.value, list(decision.reason_codes)) == (verdict, codes)


@pytest.mark.server
@pytest.mark.parametrize(
    ("name", "expression"),
    [("ci_low", "'NaN'::float8"), ("ci_low", "'Infinity'::numeric"), ("effect_estimate", "'NaN'::numeric")],
)
def test_a_bound_that_is_not_a_number_never_promotes(database: str, name: str, expression: str) -> None:
    """NaN is neither above nor below a limit: comparing it would pass or fail by chance."""
    decision, document = decided(database, won(**{name: expression}))
    assert (decision.verdict.value, list(decision.reason_codes)) == ("DEGRADE", [INVALID])
    assert list(decision.missing) == [f"promotion.sales.{name}"]
    assert isinstance(document["promotion"]["sales"][name], str)
    assert document["observations"]["sales"]["infos"] == [
        f'{name}: the column "{name}" is a number: {document["promotion"]["sales"][name]}'
    ]


@pytest.mark.server
def test_statistics_that_won_on_postgresql_are_accepted(database: str) -> None:
    """Times with a zone, booleans and NUMERIC come as such."""
    decision, document = decided(database, won())
    assert (decision.verdict.value, decision.reason_codes) == ("ACCEPT", ())
    assert document["promotion"]["sales"]["assignment_stable"] is True
    assert document["metrics"] == {"sales": 0.132}


@pytest.mark.server
def test_statistics_that_are_no_numbers_yet_leave_the_canary_alone(database: str) -> None:
    """With no traffic yet a deviation is NaN: before promotion is asked, the guardrail is judged by its value."""
    decision, _ = decided(database, won(ci_low="'NaN'::float8"), stage="CANARY_25")
    assert (decision.verdict.value, decision.reason_codes) == ("ACCEPT", ())
