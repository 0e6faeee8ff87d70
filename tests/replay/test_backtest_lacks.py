"""A snapshot that nobody took for a new rule is called a flip, or one that answers is called unanswerable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.replay.backtests import POLICY, BacktestLog, changed_policy, flips, needs, told

SLOW = {"metric": "slow", "op": "<=", "threshold": 300}
WITH_SLOW = changed_policy(guardrails=[*POLICY["guardrails"], SLOW])


@pytest.mark.parametrize("on_missing", ["DEGRADE", "REJECT"])
def test_a_metric_that_only_the_new_policy_names_was_never_collected(tmp_path: Path, on_missing: str) -> None:
    """Not a flip to a hold, nor to a reject: what it would have been, nobody can say."""
    log = BacktestLog()
    events = [log.judged({"errors": errors}) for errors in (0.004, 0.004, None)]
    given = changed_policy(
        guardrails=[*POLICY["guardrails"], SLOW], missing_data_policy={"on_missing": on_missing, "required_metrics": []}
    )
    report = told(tmp_path, log, given)
    # where REJECT is what missing evidence means, the errors that were asked for and missing reject whatever `slow` was
    unanswered = 2 if on_missing == "REJECT" else 3
    assert needs(report) == {"slow": unanswered}
    assert report["cannot_answer"]["events"] == events[:unanswered]
    assert report["flipped"] == 3 - unanswered
    assert report["decisions"] == 3


def test_a_metric_that_was_collected_for_nobody_answers(tmp_path: Path) -> None:
    """The snapshot holds it although the recorded policy did not ask."""
    log = BacktestLog()
    event = log.judged({"errors": 0.004, "slow": 400})
    assert flips(told(tmp_path, log, WITH_SLOW)) == {"ACCEPT -> REJECT": {"guardrail:slow": [event]}}


@pytest.mark.parametrize(
    "evidence",
    [
        {"metrics": {"errors": 0.004, "slow": None}},
        {
            "metrics": {"errors": 0.004},
            "observations": {"slow": {"problem": {"code": "observation_missing:source_unavailable", "detail": "down"}}},
        },
    ],
)
def test_a_metric_that_was_looked_for_in_vain_answers(tmp_path: Path, evidence: dict[str, Any]) -> None:
    """A null or a problem says that somebody looked: then the new policy would have held."""
    log = BacktestLog()
    event = log.judged(evidence)
    assert flips(told(tmp_path, log, WITH_SLOW)) == {"ACCEPT -> DEGRADE": {"guardrail:slow": [event]}}


def test_a_metric_that_the_recorded_policy_lacked_answers(tmp_path: Path) -> None:
    """It was asked for and not there: both hold."""
    log = BacktestLog()
    log.judged({})
    report = told(tmp_path, log, changed_policy(threshold=0.005))
    assert (report["cannot_answer"]["count"], report["matrix"]["DEGRADE"]["DEGRADE"]) == (0, 1)


def test_a_metric_that_was_only_watched_was_asked_for(tmp_path: Path) -> None:
    """Under `observe` it was missing, too; enforced, it holds."""
    watched = {**POLICY, "guardrails": [*POLICY["guardrails"], {**SLOW, "enforcement": "observe"}]}
    log = BacktestLog(watched)
    event = log.judged({"errors": 0.004})
    assert flips(told(tmp_path, log, WITH_SLOW)) == {"ACCEPT -> DEGRADE": {"guardrail:slow": [event]}}


def test_a_metric_that_was_asked_at_other_stages_only_was_not_asked_for(tmp_path: Path) -> None:
    """The recorded policy asked it from CANARY_50 on, the new one at every stage."""
    late = {**POLICY, "guardrails": [*POLICY["guardrails"], {**SLOW, "stages": ["CANARY_50"]}]}
    log = BacktestLog(late)
    log.judged({"errors": 0.004})
    asked = log.judged({"errors": 0.004}, "CANARY_50")
    report = told(tmp_path, log, WITH_SLOW)
    assert needs(report) == {"slow": 1}
    assert report["matrix"]["DEGRADE"]["DEGRADE"] == 1, asked


def test_harm_that_other_evidence_shows_answers_whatever_is_lacking(tmp_path: Path) -> None:
    """Errors reject with and without the metric that nobody collected; a hold might have been a reject."""
    log = BacktestLog()
    log.judged({"errors": 0.02})
    log.judged({"errors": None})
    report = told(tmp_path, log, WITH_SLOW)
    assert report["matrix"]["REJECT"]["REJECT"] == 1
    assert needs(report) == {"slow": 1}


def test_a_reference_that_nobody_was_asked_for_is_lacking(tmp_path: Path) -> None:
    """Beside a hold for other reasons it makes no difference: a reference shows no harm."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    log.judged({"errors": None})
    log.judged({"errors": 0.004}, evidence={"ticket_link": "T-1"})
    report = told(tmp_path, log, changed_policy(evidence={"required": ["ticket_link"]}))
    assert needs(report) == {"ticket_link": 1}
    assert (report["compared"], report["flipped"]) == (2, 0)


def test_a_reference_that_was_asked_for_and_not_given_answers(tmp_path: Path) -> None:
    """A missing reference was a hold and is a reject."""
    of = {**POLICY, "evidence": {"required": ["ticket_link"]}}
    log = BacktestLog(of)
    event = log.judged({"errors": 0.004})
    report = told(tmp_path, log, changed_policy(of=of, evidence={"required": ["ticket_link"], "on_missing": "REJECT"}))
    assert flips(report) == {"DEGRADE -> REJECT": {"evidence:ticket_link": [event]}}


def test_a_baseline_that_no_budget_needed_is_lacking(tmp_path: Path) -> None:
    """The snapshot has none, or one without the metric, and the recorded policy had no budget."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    log.judged({"metrics": {"errors": 0.004}, "baseline": {"metrics": {"other": 1}}})
    log.judged({"metrics": {"errors": 0.004}, "baseline": {"metrics": {"errors": 0.004}}})
    budget = [{**POLICY["guardrails"][0], "budget_delta": 0.001}]
    given = changed_policy(guardrails=budget, missing_data_policy={"on_missing_baseline": "DEGRADE"})
    report = told(tmp_path, log, given)
    assert needs(report) == {"baseline.errors": 2}
    assert report["matrix"]["ACCEPT"]["ACCEPT"] == 1


def test_a_baseline_that_a_budget_had_done_without_answers(tmp_path: Path) -> None:
    """The recorded policy let a snapshot without baseline pass and noted it; that is what the change ends."""
    of = {**POLICY, "guardrails": [{**POLICY["guardrails"][0], "budget_delta": 0.001}]}
    log = BacktestLog(of)
    event = log.judged({"errors": 0.004})
    report = told(tmp_path, log, changed_policy(of=of, missing_data_policy={"on_missing_baseline": "DEGRADE"}))
    assert flips(report) == {"ACCEPT -> DEGRADE": {"budget:errors": [event]}}


def test_an_age_that_no_limit_needed_is_lacking(tmp_path: Path) -> None:
    """Nothing in the snapshot says how old it is, and nobody had asked; one that says so answers."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    event = log.judged({"metrics": {"errors": 0.004}, "_meta": {"freshness_seconds": 90}})
    report = told(tmp_path, log, changed_policy(missing_data_policy={"max_freshness_seconds": 60}))
    assert needs(report) == {"freshness_seconds": 1}
    assert flips(report) == {"ACCEPT -> DEGRADE": {"freshness": [event]}}


def test_an_age_that_was_asked_for_and_not_stated_answers(tmp_path: Path) -> None:
    """It was a hold and is a reject."""
    of = {**POLICY, "missing_data_policy": {"max_freshness_seconds": 60}}
    log = BacktestLog(of)
    event = log.judged({"errors": 0.004})
    strict = changed_policy(of=of, missing_data_policy={"max_freshness_seconds": 60, "on_stale": "REJECT"})
    assert flips(told(tmp_path, log, strict)) == {"DEGRADE -> REJECT": {"freshness": [event]}}


def test_a_window_that_no_stage_policy_needed_is_lacking(tmp_path: Path) -> None:
    """It is asked on the way to a later stage."""
    log = BacktestLog()
    on_the_way: Any = {"from_stage": "SHADOW", "stage_entered_at": "2026-02-18T00:00:00Z"}
    log.judged({"errors": 0.004}, **on_the_way)
    report = told(tmp_path, log, changed_policy(stage_policy={"min_stage_seconds": 60}))
    assert needs(report) == {"window": 1}
    log = BacktestLog({**POLICY, "stage_policy": {"min_stage_seconds": 30}})
    log.judged({"errors": 0.004}, **on_the_way)
    report = told(tmp_path, log, changed_policy(stage_policy={"min_stage_seconds": 60}))
    assert (needs(report), report["matrix"]["DEGRADE"]["DEGRADE"]) == ({}, 1)


GOAL = {"primary": [{"metric": "sales", "direction": "up"}]}
GATE = {"required_for_stages": ["ROLLOUT_100"], "min_sample_size": 100}


def test_statistics_that_no_gate_asked_at_this_stage_are_lacking(tmp_path: Path) -> None:
    """The new gate asks them one stage earlier; where the snapshot has them, it answers."""
    of = {**POLICY, **GOAL, "promotion_gate": GATE}
    log = BacktestLog(of)
    log.judged({"errors": 0.004}, "CANARY_50")
    event = log.judged({"metrics": {"errors": 0.004}, "promotion": {"sales": {"sample_size": 50}}}, "CANARY_50")
    log.judged({"errors": 0.004}, "ROLLOUT_100")
    given = changed_policy(of=of, promotion_gate={**GATE, "required_for_stages": ["CANARY_50", "ROLLOUT_100"]})
    report = told(tmp_path, log, given)
    assert needs(report) == {"promotion.sales.sample_size": 1}
    assert flips(report) == {"ACCEPT -> DEGRADE": {"promotion:sales:sample_size": [event]}}
    assert report["matrix"]["DEGRADE"]["DEGRADE"] == 1


def test_a_stage_that_the_new_policy_does_not_name_has_no_answer(tmp_path: Path) -> None:
    """Not a refusal, not a crash: it is counted apart."""
    log = BacktestLog()
    log.judged({"errors": 0.004}, "SHADOW")
    log.judged({"errors": 0.004}, "CANARY_10")
    report = told(tmp_path, log, changed_policy(stages=["CANARY_10", "ROLLOUT_100"]))
    assert needs(report) == {"stage SHADOW": 1}
    assert (report["decisions"], report["compared"], report["flipped"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("metrics", "lacking"),
    [
        ({"errors": 0.004}, {"slow": 1}),  # its phase decides alone
        ({"errors": 0.004, "leaks": 1}, {}),  # constraints come first
        ({"errors": None}, {}),  # so does the first trouble among guardrails
    ],
)
def test_under_evidence_first_the_phase_that_decides_must_lack_it(
    tmp_path: Path, metrics: dict[str, Any], lacking: dict[str, int]
) -> None:
    """In the founding order, what stands in a later place does not count."""
    first = {"precedence": "evidence_first"}
    log = BacktestLog({**POLICY, "missing_data_policy": first})
    log.judged(metrics)
    given = changed_policy(guardrails=[*POLICY["guardrails"], SLOW], missing_data_policy=first)
    assert needs(told(tmp_path, log, given)) == lacking


def test_the_first_trouble_among_guardrails_decides_alone_and_is_lacking(tmp_path: Path) -> None:
    """The errors that were missing, too, come behind it: had it been there, it might have rejected."""
    first = {"precedence": "evidence_first"}
    log = BacktestLog({**POLICY, "missing_data_policy": first})
    log.judged({"errors": None})
    given = changed_policy(guardrails=[SLOW, *POLICY["guardrails"]], missing_data_policy=first)
    assert needs(told(tmp_path, log, given)) == {"slow": 1}
