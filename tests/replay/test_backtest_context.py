"""A field of the recorded context that belongs to a policy makes verdicts flip that the new policy would not."""

from __future__ import annotations

from pathlib import Path

from tests.replay.backtests import BacktestLog, changed_policy, flips, told

OTHER = "sha256:" + "1" * 64


def test_another_digest_than_the_runs_is_no_changed_policy(tmp_path: Path) -> None:
    """The recorded context says that the run was asked under its own policy; so it would be under the new one."""
    log = BacktestLog()
    log.judged({"errors": 0.004})
    report = told(tmp_path, log, changed_policy(threshold=0.02))
    assert (report["compared"], report["flipped"]) == (1, 0)


def test_a_run_that_was_asked_under_a_foreign_policy_is_still_held(tmp_path: Path) -> None:
    """The caller's mistake has nothing to do with the change."""
    log = BacktestLog()
    log.judged({"errors": 0.004}, policy={"run": log.own.digest, "given": OTHER})
    report = told(tmp_path, log, changed_policy(threshold=0.02))
    assert report["matrix"]["DEGRADE"]["DEGRADE"] == 1


def test_a_run_that_was_asked_under_the_new_policy_is_not_held_by_it(tmp_path: Path) -> None:
    """Somebody tried the change on a run of the old policy; on a run of the new one it would have been its own."""
    given = changed_policy(threshold=0.02)
    log = BacktestLog()
    event = log.judged({"errors": 0.004}, policy={"run": log.own.digest, "given": given.digest})
    assert flips(told(tmp_path, log, given)) == {"DEGRADE -> ACCEPT": {"policy": [event]}}


def test_a_deadline_is_the_one_that_was_recorded(tmp_path: Path) -> None:
    """It had passed when the evidence was healthy; a new rule that holds then meets it."""
    log = BacktestLog()
    event = log.judged(
        {"errors": 0.004, "slow": None},
        first_held_at="2026-02-17T00:00:00Z",
        deadline_at="2026-02-18T00:00:00Z",
        on_deadline="REJECT",
    )
    given = changed_policy(missing_data_policy={"required_metrics": ["slow"]})
    assert flips(told(tmp_path, log, given)) == {"ACCEPT -> REJECT": {"deadline": [event]}}


def test_references_and_the_way_of_asking_are_those_that_were_recorded(tmp_path: Path) -> None:
    """A stage that had lasted 20 minutes is left too early under a policy that wants 30."""
    log = BacktestLog()
    event = log.judged(
        {"metrics": {"errors": 0.004}, "_meta": {"window": "1m", "watermark_event_time": "2026-02-18T01:01:00Z"}},
        "CANARY_25",
        from_stage="CANARY_10",
        stage_entered_at="2026-02-18T00:42:00Z",
    )
    report = told(tmp_path, log, changed_policy(stage_policy={"min_stage_seconds": 1800}))
    assert flips(report) == {"ACCEPT -> DEGRADE": {"stage_wait": [event]}}
    assert told(tmp_path, log, changed_policy(stage_policy={"min_stage_seconds": 1200}))["flipped"] == 0
