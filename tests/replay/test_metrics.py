"""Totals over the log and the last decision of each experiment: what an alert may rely on."""

from __future__ import annotations

from typing import Any

from gatekeeper.render.exposition import exposition
from gatekeeper.replay.metrics import Measures


def decision(verdict: str, *codes: str, variant: str = "B", **more: Any) -> dict[str, Any]:
    """A decision as logged, as far as metrics look at it."""
    return {
        "kind": "decision",
        "ts": "2026-02-18T01:00:10.500000Z",
        "experiment_id": "exp-42",
        "variant_id": variant,
        "stage": "CANARY_10",
        "policy_id": "p",
        "policy_version": "7",
        "policy_digest": "sha256:0123456789abcdef0123",
        "context": {"evaluated_at": "2026-02-18T01:00:10.500000Z"},
        "decision": {"verdict": verdict, "reason_codes": list(codes), "findings": []},
        **more,
    }


def measured(*events: dict[str, Any]) -> list[str]:
    """The samples after these events, comments left out."""
    measures = Measures()
    for event in events:
        measures.take(event)
    return [line for line in exposition(measures.families()).splitlines() if not line.startswith("#")]


def test_totals_count_every_decision_of_every_run() -> None:
    """A counter that forgets is a rate that lies."""
    lines = measured(
        decision("ACCEPT"),
        decision("REJECT", "guardrail_violation:e", "budget_violation:e", variant="C"),
        decision("ACCEPT"),
    )

    assert 'gatekeeper_decisions_total{stage="CANARY_10",decision="ACCEPT"} 2' in lines
    assert 'gatekeeper_decisions_total{stage="CANARY_10",decision="REJECT"} 1' in lines
    assert 'gatekeeper_decision_reasons_total{code="budget_violation:e"} 1' in lines


def test_the_last_decision_of_each_experiment_is_a_state_set() -> None:
    """One of the three is 1; the hold before it is over."""
    lines = measured(
        decision("DEGRADE", "observation_missing:empty_result"), decision("REJECT", "change_refused:stopped")
    )

    run = 'experiment="exp-42",variant="B"'
    states = [line for line in lines if line.startswith("gatekeeper_last_decision{")]
    assert states == [
        f'gatekeeper_last_decision{{{run},stage="CANARY_10",decision="ACCEPT"}} 0',
        f'gatekeeper_last_decision{{{run},stage="CANARY_10",decision="DEGRADE"}} 0',
        f'gatekeeper_last_decision{{{run},stage="CANARY_10",decision="REJECT"}} 1',
    ]
    assert [line for line in lines if line.startswith("gatekeeper_reason{")] == [
        f'gatekeeper_reason{{{run},code="change_refused:stopped"}} 1'
    ]
    # 2026-02-18T01:00:10.5Z: 1771376410.5 s by `date -u -d … +%s`
    assert f'gatekeeper_last_decision_timestamp_seconds{{{run},stage="CANARY_10"}} 1771376410.5' in lines
    assert f'gatekeeper_policy_info{{{run},policy_id="p",policy_version="7",policy_digest="0123456789ab"}} 1' in lines


def test_the_age_of_each_source_is_that_of_the_moment_of_decision() -> None:
    """10.5 s and 70.5 s old, 60 s apart."""
    sources = [
        {"name": "prom", "watermark_event_time": "2026-02-18T01:00:00Z"},
        {"name": "dwh", "watermark_event_time": "2026-02-18T00:59:00Z"},
        {"name": "down", "watermark_event_time": None},
    ]
    lines = measured(decision("ACCEPT", metrics_snapshot={"_meta": {"sources": sources}}))

    run = 'experiment="exp-42",variant="B"'
    assert f'gatekeeper_observation_freshness_seconds{{{run},source="prom"}} 10.5' in lines
    assert f'gatekeeper_observation_freshness_seconds{{{run},source="dwh"}} 70.5' in lines
    assert f"gatekeeper_watermark_skew_seconds{{{run}}} 60" in lines
    assert not any("down" in line for line in lines)


def test_margins_are_ratios_of_the_limit() -> None:
    """0.013 against 0.01 is 0.003 beyond it, 30 %; a budget and a limit of 0 have no such ratio."""
    findings = [
        {"rule": "guardrail:e", "metric": "e", "outcome": "VIOLATED", "margin": -0.003, "limit": 0.01},
        {"rule": "budget:e", "metric": "e", "outcome": "PASS", "margin": 1, "limit": 2},
        {"rule": "guardrail:z", "metric": "z", "outcome": "PASS", "margin": 0, "limit": 0},
    ]
    lines = measured(decision("REJECT", decision={"verdict": "REJECT", "reason_codes": [], "findings": findings}))

    margins = [line for line in lines if line.startswith("gatekeeper_guardrail_margin_ratio")]
    assert margins == ['gatekeeper_guardrail_margin_ratio{experiment="exp-42",variant="B",metric="e"} -0.3']


def test_a_metric_counts_once_with_its_worst_trouble() -> None:
    """Three rules over one stale metric are one stale metric; what only watches counts nowhere."""
    findings = [
        {"rule": "guardrail:a", "metric": "a", "outcome": "STALE"},
        {"rule": "budget:a", "metric": "a", "outcome": "MISSING"},
        {"rule": "guardrail:b", "metric": "b", "outcome": "PASS"},
        {"rule": "guardrail:c", "metric": "c", "outcome": "OBSERVED"},
        {"rule": "freshness", "metric": None, "outcome": "STALE"},
    ]
    lines = measured(decision("DEGRADE", decision={"verdict": "DEGRADE", "reason_codes": [], "findings": findings}))

    run = 'experiment="exp-42",variant="B"'
    assert [line for line in lines if line.startswith("gatekeeper_observations{")] == [
        f'gatekeeper_observations{{{run},state="stale"}} 1',
        f'gatekeeper_observations{{{run},state="valid"}} 1',
    ]


def test_simulated_runs_and_other_events_count_nowhere() -> None:
    """A rehearsal in a pull request must not page anybody."""
    assert (
        measured(
            decision("REJECT", "x:y", as_of="2026-02-18T01:00:10Z"),
            {"kind": "policy", "policy": {}},
            {"kind": "action", "decision": {"verdict": "REJECT", "reason_codes": ["change_refused:stopped"]}},
        )
        == []
    )


def test_label_values_cannot_break_a_line() -> None:
    """A metric's name is any text."""
    (line,) = [one for one in measured(decision("REJECT", 'a:b"\\\nc')) if "reasons_total" in one]

    assert line == 'gatekeeper_decision_reasons_total{code="a:b\\"\\\\\\nc"} 1'


def test_any_event_is_taken_without_an_exception() -> None:
    """A forged line must not blind the monitoring of all others."""
    measured({}, {"kind": 3}, decision("ACCEPT", decision=[]), decision("ACCEPT", context=1, metrics_snapshot="x"))
