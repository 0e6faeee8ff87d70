"""A reviewer is told another number of flips than the change makes, or blames another rule for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.evaluator import evaluate
from gatekeeper.model.context import Context
from gatekeeper.model.line import decode
from gatekeeper.model.snapshot import snapshot_from_document
from gatekeeper.model.times import require_time
from gatekeeper.replay import backtest_tally, pile
from gatekeeper.replay.backtest import Asked, backtest
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.pile import Pile
from tests.replay.backtests import POLICY, BacktestLog, changed_policy, flips, told
from tests.replay.builder import at_minute, changed, write

NO_MATRIX = {old: dict.fromkeys(("ACCEPT", "DEGRADE", "REJECT"), 0) for old in ("ACCEPT", "DEGRADE", "REJECT")}


def test_a_tightened_threshold_rejects_what_was_accepted(tmp_path: Path) -> None:
    """0.008 was within 0.01 and is not within 0.005; the rest stays what it was."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    flipped = log.judged({"errors": 0.008})
    log.judged({"errors": 0.013})
    log.judged({})
    report = told(tmp_path, log, changed_policy(threshold=0.005))
    assert (report["decisions"], report["compared"], report["flipped"]) == (4, 4, 1)
    assert report["matrix"] == {
        "ACCEPT": {"ACCEPT": 1, "DEGRADE": 0, "REJECT": 1},
        "DEGRADE": {"ACCEPT": 0, "DEGRADE": 1, "REJECT": 0},
        "REJECT": {"ACCEPT": 0, "DEGRADE": 0, "REJECT": 1},
    }
    assert flips(report) == {"ACCEPT -> REJECT": {"guardrail:errors": [flipped]}}
    assert report["holds"] == {"recorded": 1, "now": 1, "more": 0, "fewer": 0}


def test_a_loosened_policy_names_the_rule_that_had_stopped_it(tmp_path: Path) -> None:
    """The rule that rejected is not in the new answer any more: it is found in the recorded findings."""
    log = BacktestLog({**POLICY, "guardrails": [{**POLICY["guardrails"][0], "budget_delta": 0.002}]})
    baseline = {"metrics": {"errors": 0.01}}
    both = log.judged({"metrics": {"errors": 0.013}, "baseline": baseline})
    log.judged({"metrics": {"errors": 0.03}, "baseline": baseline})
    report = told(tmp_path, log, changed_policy(threshold=0.02))
    assert flips(report) == {"REJECT -> ACCEPT": {"budget:errors": [both], "guardrail:errors": [both]}}
    assert report["matrix"]["REJECT"] == {"ACCEPT": 1, "DEGRADE": 0, "REJECT": 1}


def test_a_hold_more_is_counted_with_the_rule_that_holds(tmp_path: Path) -> None:
    """A shorter freshness limit: 90 s was fresh within 120, and is not within 60; 30 s is fresh within both."""
    of = {**POLICY, "missing_data_policy": {"max_freshness_seconds": 120}}
    log = BacktestLog(of)
    older = log.judged({"metrics": {"errors": 0.004}, "_meta": {"freshness_seconds": 90}})
    log.judged({"metrics": {"errors": 0.004}, "_meta": {"freshness_seconds": 30}})
    held = log.judged({"metrics": {"errors": 0.004}, "_meta": {"freshness_seconds": 600}})
    report = told(tmp_path, log, changed_policy(of=of, missing_data_policy={"max_freshness_seconds": 60}))
    assert flips(report) == {"ACCEPT -> DEGRADE": {"freshness": [older]}}
    assert report["holds"] == {"recorded": 1, "now": 2, "more": 1, "fewer": 0}
    report = told(tmp_path, log, changed_policy(of=of, missing_data_policy={"max_freshness_seconds": 900}))
    assert flips(report) == {"DEGRADE -> ACCEPT": {"freshness": [held]}}
    assert report["holds"] == {"recorded": 1, "now": 0, "more": 0, "fewer": 1}


def test_a_rejection_that_becomes_a_hold_names_what_no_longer_rejects(tmp_path: Path) -> None:
    """Missing evidence was a reject and is a hold; a hold that becomes a reject names what rejects now."""
    strict = {**POLICY, "missing_data_policy": {"required_metrics": ["errors"], "on_missing": "REJECT"}}
    mild = {**POLICY, "missing_data_policy": {"required_metrics": ["errors"]}}
    for of, other, flip in ((strict, mild, "REJECT -> DEGRADE"), (mild, strict, "DEGRADE -> REJECT")):
        log = BacktestLog(of)
        event = log.judged({"metrics": {"errors": None}})
        report = told(tmp_path, log, changed_policy(of=other))
        assert flips(report) == {flip: {"required:errors": [event]}}


def test_the_same_verdict_for_other_reasons_is_no_flip_and_is_told(tmp_path: Path) -> None:
    """A leak rejected it; now the errors do, too."""
    log = BacktestLog()
    event = log.judged({"errors": 0.008, "leaks": 1})
    report = told(tmp_path, log, changed_policy(threshold=0.005))
    assert report["flipped"] == 0
    assert report["other_reasons"] == {"count": 1, "events": [event]}


@pytest.mark.parametrize("range_bytes", [4000, 1 << 20])
def test_a_run_diverges_once_where_its_first_verdict_flips(tmp_path: Path, range_bytes: int) -> None:
    """Three runs: one flips twice, in different parts of the log, one once otherwise, one never."""
    log = BacktestLog()
    log.judged({"errors": 0.004}, run="a")
    first = log.judged({"errors": 0.008}, run="a")
    other = log.judged({"errors": None}, run="b", evidence={"note": "x"})
    for number in range(12):
        log.judged({"errors": 0.004}, run=f"quiet-{number}")
    log.judged({"errors": 0.008}, run="b")
    log.judged({"errors": 0.009}, run="a")
    given = changed_policy(threshold=0.005, missing_data_policy={"on_missing": "REJECT"})
    report = told(tmp_path, log, given, range_bytes=range_bytes)
    runs = report["runs"]
    assert (runs["compared"], runs["diverging"], runs["left_out"]) == (14, 2, 0)
    assert runs["first_divergence"] == [
        {"from": "ACCEPT", "to": "REJECT", "runs": 1},
        {"from": "DEGRADE", "to": "REJECT", "runs": 1},
    ]
    assert runs["listed"] == [
        {"run_id": "a", "event_id": first, "seq": 3, "ts": at_minute(3), "stage": "CANARY_10",
         "from": "ACCEPT", "to": "REJECT", "rules": ["guardrail:errors"]},
        {"run_id": "b", "event_id": other, "seq": 4, "ts": at_minute(4), "stage": "CANARY_10",
         "from": "DEGRADE", "to": "REJECT", "rules": ["guardrail:errors"]},
    ]  # fmt: skip
    assert report["flips"][0]["rules"][0]["count"] == 3


def test_only_the_first_runs_and_examples_are_listed_and_all_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that stand first in the log, wherever it is cut."""
    monkeypatch.setattr(backtest_tally, "MOST_RUNS", 3)
    log = BacktestLog()
    events = [log.judged({"errors": 0.008}, run=f"r{number % 7}") for number in range(40)]
    for range_bytes in (2500, 9000, 1 << 20):
        report = told(tmp_path, log, changed_policy(threshold=0.005), range_bytes=range_bytes)
        assert [one["event_id"] for one in report["runs"]["listed"]] == events[:3]
        assert (report["runs"]["diverging"], report["runs"]["left_out"]) == (7, 4)
        assert report["flips"][0]["rules"] == [{"rule": "guardrail:errors", "count": 40, "events": events[:3]}]


def test_runs_that_were_put_away_are_counted_once() -> None:
    """More than are kept in memory, all in one bucket: rows of one run are met in order, the first flip counts."""
    from gatekeeper.replay.backtest import _first_flips

    runs = Pile(2)
    for number in range(2 * pile._KEPT):
        runs.add(number, 0)
    runs.add(5, 4)
    runs.add(5, 1)
    runs.add(1 << 63, 2)
    assert sum(map(len, runs._buckets)) < 2 * pile._KEPT, "they were kept in memory"
    assert _first_flips(runs) == (2 * pile._KEPT + 1, {4: 1, 2: 1})
    runs.close()


def test_only_decisions_of_the_policy_that_is_asked_are_compared(tmp_path: Path) -> None:
    """By `policy_id`, not by a name that stands somewhere else; several are alternatives."""
    log = BacktestLog()
    log.judged({"errors": 0.008}, run="q")
    other = log.policy({**POLICY, "policy_id": "q"})
    log.judged({"errors": 0.008}, own=other, run="p")
    given = changed_policy(threshold=0.005)
    counts = [told(tmp_path, log, given, policy_ids=ids)["flipped"] for ids in (("p",), ("q",), ("p", "q"), ("z",))]
    assert counts == [1, 1, 2, 0]


def test_a_range_in_time_is_that_of_the_events(tmp_path: Path) -> None:
    """Both ends belong to it; the policy stands before it and is known all the same."""
    log = BacktestLog()
    for _ in range(8):
        log.judged({"errors": 0.008})
    report = told(
        tmp_path,
        log,
        changed_policy(threshold=0.005),
        since=require_time(at_minute(4)),
        until=require_time(at_minute(6)),
    )
    assert (report["decisions"], report["first"], report["last"]) == (3, at_minute(4), at_minute(6))
    assert report["unknown_policy"]["count"] == 0


def test_simulated_runs_are_left_out_unless_asked(tmp_path: Path) -> None:
    """They are counted, so that nobody wonders where they are."""
    log = BacktestLog()
    log.judged({"errors": 0.008}, as_of="2026-01-01T00:00:00Z")
    log.judged({"errors": 0.004})
    given = changed_policy(threshold=0.005)
    report = told(tmp_path, log, given)
    assert (report["decisions"], report["flipped"], report["simulated_left_out"]) == (1, 0, 1)
    report = told(tmp_path, log, given, include_simulated=True)
    assert (report["decisions"], report["flipped"], report["simulated_left_out"]) == (2, 1, 0)


def test_damaged_and_torn_lines_are_named_and_passed_over(tmp_path: Path) -> None:
    """By their number in the file; what stands behind them is compared."""
    log = BacktestLog()
    for _ in range(4):
        log.judged({"errors": 0.008})
    lines = [*log.lines[:2], log.lines[2][:700], *log.lines[3:]]
    report = told(tmp_path, lines, changed_policy(threshold=0.005), rest=log.lines[1][:50])
    assert [(one["line"], one["problem"]) for one in report["damaged"]] == [(3, "damaged"), (6, "torn")]
    assert report["flipped"] == 3


def test_a_decision_that_todays_evaluator_does_not_repeat_is_no_flip(tmp_path: Path) -> None:
    """Somebody wrote REJECT over an ACCEPT, or other reasons: the change of policy is not to blame."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    log.judged({"errors": 0.02})
    log.judged({"errors": 0.004})
    rejected = changed(log.lines[1], lambda event: event["decision"].update(verdict="REJECT", reason_codes=["x:y"]))
    reasons = changed(log.lines[2], lambda event: event["decision"].update(reason_codes=["x:y"]))
    verdict = changed(log.lines[3], lambda event: event["decision"].update(verdict="REJECT"))
    report = told(tmp_path, [log.lines[0], rejected, reasons, verdict], changed_policy(threshold=0.03))
    assert (report["decisions"], report["compared"], report["flipped"]) == (3, 0, 0)
    assert report["not_repeated"] == {"count": 3, "events": ["r:CANARY_10#2", "r:CANARY_10#3", "r:CANARY_10#4"]}


def test_a_decision_whose_policy_is_not_in_the_log_is_compared_as_it_was_recorded(tmp_path: Path) -> None:
    """`replay -o ndjson` of a month makes such a log; nobody can ask its policy again, and that is told."""
    log = BacktestLog(is_recorded=False)
    event = log.judged({"errors": 0.008})
    report = told(tmp_path, log, changed_policy(threshold=0.005))
    assert flips(report) == {"ACCEPT -> REJECT": {"guardrail:errors": [event]}}
    assert report["unknown_policy"] == {"count": 1, "events": [event]}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"evaluator": "gatekeeper/0"}, "evaluator gatekeeper/0"),
        ({"evaluator": None}, "evaluator not stated"),
        ({"decision": {}}, "verdict not stated"),
        ({"decision": {"verdict": ["ACCEPT"]}}, "verdict not stated"),
        ({"decision": {"verdict": "MAYBE"}}, "verdict not stated"),
        ({"context": {"stage": "CANARY_10"}}, "context or evidence cannot be read"),
        ({"metrics_snapshot": 3}, "context or evidence cannot be read"),
    ],
)
def test_what_cannot_be_compared_is_counted_apart(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    """Never as equal, never as a flip, whatever somebody wrote into the log."""
    log = BacktestLog()
    event = log.judged({"errors": 0.008})
    lines = [log.lines[0], changed(log.lines[1], lambda event: event.update(change))]
    report = told(tmp_path, lines, changed_policy(threshold=0.005))
    assert (report["decisions"], report["compared"], report["flipped"]) == (1, 0, 0)
    assert report["not_comparable"] == [{"why": why, "count": 1, "events": [event]}]


VALUES = st.sampled_from((0.001, 0.005, 0.008, 0.01, 0.013, None, "x"))


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(VALUES, st.sampled_from((0, 1)), st.sampled_from("abc")), max_size=25),
    st.sampled_from((0.0, 0.005, 0.01, 0.05)),
    st.sampled_from((1500, 4000, 1 << 20)),
)
def test_the_report_is_that_of_a_plain_loop_wherever_the_log_is_cut(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[Any, int, str]], threshold: float, range_bytes: int
) -> None:
    """One process or many, one range or many; the loop reads line by line and asks `evaluate`."""
    log = BacktestLog()
    for errors, leaks, run in made:
        log.judged({"errors": errors, "leaks": leaks}, run=run)
    policy = changed_policy(threshold=threshold)
    matrix, diverged = {old: dict(row) for old, row in NO_MATRIX.items()}, dict[str, str]()
    for line in log.lines[1:]:
        event = decode(line)
        assert event is not None
        snapshot, context = snapshot_from_document(event["metrics_snapshot"]), Context.from_dict(event["context"])
        now, was = evaluate(policy.policy, snapshot, context).verdict.value, event["decision"]["verdict"]
        matrix[was][now] += 1
        if now != was:
            diverged.setdefault(event["run_id"], event["event_id"])
    directory = tmp_path_factory.mktemp("log")
    path = write(directory / "decision.ndjson", log.lines)
    reports = [
        backtest([Source(str(path))], Asked(policy, ("p",), jobs=jobs, range_bytes=size)).to_dict()
        for jobs, size in ((1, range_bytes), (1, 1 << 24), (2, range_bytes))
    ]
    assert reports[0] == reports[1] == reports[2]
    assert reports[0]["matrix"] == matrix
    assert {one["run_id"]: one["event_id"] for one in reports[0]["runs"]["listed"]} == diverged
    assert reports[0]["runs"]["compared"] == len({run for _, _, run in made})


def test_the_progress_ends_with_all_of_it(tmp_path: Path) -> None:
    """In bytes; it never runs back."""
    log = BacktestLog()
    for _ in range(9):
        log.judged({"errors": 0.008})
    steps: list[tuple[int, int]] = []
    told(tmp_path, log, changed_policy(), progress=lambda done, total: steps.append((done, total)))
    size = (tmp_path / "decision.ndjson").stat().st_size
    assert steps == sorted(steps)
    assert steps[-1] == (size, size)
