"""HO-14 and HO-15 e with real processes that start together on one log."""

from __future__ import annotations

import pytest

from tests.e2e.desk import RUN, Desk, Done
from tests.e2e.documents import HARMFUL, HEALTHY
from tests.e2e.race import all_at_once

pytestmark = pytest.mark.slow  # many processes

EIGHT = 8
MANY = 310
"""Further metrics: an event of well over 4 KiB, which no single write is promised to keep whole."""


def assert_sound(desk: Desk) -> None:
    """Each line whole and long, ids unique, the chain intact, every decision what it should be."""
    events = desk.events()
    ids = [event["event_id"] for event in events]
    assert len(set(ids)) == len(ids)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    desk.assert_verifies()


def steps_of(desk: Desk, run: str = RUN) -> list[tuple[str | None, str]]:
    """The moves of a run, in the order of the log."""
    return [
        (event["state_transition"]["from"], event["state_transition"]["to"])
        for event in desk.events()
        if event["kind"] == "decision" and event["run_id"] == run
        if event["decision"]["verdict"] == "ACCEPT" and event["context"]["from_stage"] != event["stage"]
    ]


def told_is_logged(desk: Desk, done: list[Done]) -> None:
    """Every verdict that was given to a caller is in the log."""
    logged = {event["event_id"]: event for event in desk.events()}
    for one in done:
        if one.code in {0, 1, 2}:
            document = one.document
            event = logged[document["event_id"]]
            assert event["decision"]["verdict"] == document["decision"]["verdict"]


def test_ho_14_a_a_trigger_that_fires_eight_times_moves_the_run_once(desk: Desk) -> None:
    """The same question eight times: one line, seven callers get it as recorded."""
    desk.begin_at("CANARY_10")
    evidence = desk.evidence(HEALTHY, more=MANY)
    done = all_at_once(desk, [desk.asking(evidence, "-o", "json")] * EIGHT)
    assert [one.code for one in done] == [0] * EIGHT, [one.err for one in done]
    assert sorted(one.document["recorded"] for one in done) == [False] + [True] * (EIGHT - 1)
    assert {one.document["event_id"] for one in done} == {"r-41:CANARY_25"}
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert steps_of(desk) == [(None, "CANARY_10"), ("CANARY_10", "CANARY_25")]
    assert_sound(desk)


def test_ho_14_a_eight_snapshots_for_one_stage_move_the_run_once(desk: Desk) -> None:
    """Different evidence is no repetition: eight lines, and all but the first ask whether it may remain."""
    desk.begin_at("CANARY_10")
    calls = [desk.asking(desk.evidence(HEALTHY, more=MANY), "--stage", "CANARY_25", "-o", "json") for _ in range(EIGHT)]
    before = len(desk.events())
    done = all_at_once(desk, calls)
    assert [one.code for one in done] == [0] * EIGHT, [one.err for one in done]
    added = desk.log.read_bytes().split(b"\n")[before:-1]
    assert len(added) == EIGHT
    assert all(len(line) > 4096 for line in added)
    told_is_logged(desk, done)
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert steps_of(desk) == [(None, "CANARY_10"), ("CANARY_10", "CANARY_25")]
    assert_sound(desk)


@pytest.mark.parametrize("place", [0, 3, 7])
def test_ho_14_b_a_reject_among_eight_wins_for_good(place: int, desk: Desk) -> None:
    """Whatever the order: the run ends rejected, and no ACCEPT stands behind the REJECT."""
    desk.begin_at("CANARY_10")
    snapshots = [desk.evidence(HEALTHY, more=MANY) for _ in range(EIGHT)]
    snapshots[place] = desk.evidence({**HEALTHY, "data_loss_events": 3}, more=MANY)
    done = all_at_once(desk, [desk.asking(name, "--stage", "CANARY_25", "-o", "json") for name in snapshots])
    assert done[place].code == 1
    assert {one.code for one in done} <= {0, 1}, [one.err for one in done]
    told_is_logged(desk, done)
    verdicts = [event["decision"]["verdict"] for event in desk.events() if event["kind"] == "decision"]
    assert verdicts[-1] == "REJECT"
    assert verdicts.count("REJECT") == 1
    assert desk.status()[0] == "STOPPED"
    assert desk.check(HEALTHY).code == 1
    assert_sound(desk)


def test_ho_14_c_eight_runs_on_one_log_do_not_disturb_each_other(desk: Desk) -> None:
    """All eight advance, and no line is interleaved."""
    calls = []
    for number in range(EIGHT):
        names = ["check", "--policy", "policy.json", "--experiment", "checkout", "--variant", f"V{number}"]
        begin = [*names, "--snapshot", desk.evidence(HEALTHY), "--start-stage", "CANARY_10", "--reason", "x"]
        assert desk.gate(*begin).code == 0
        calls.append([*names, "--snapshot", desk.evidence(HEALTHY, more=MANY), "-o", "json"])
    done = all_at_once(desk, calls)
    assert [one.code for one in done] == [0] * EIGHT, [one.err for one in done]
    told_is_logged(desk, done)
    for number in range(EIGHT):
        assert desk.status(f"checkout:V{number}:7") == ("ACTIVE", "CANARY_25")
    assert_sound(desk)


def test_eight_first_checks_begin_one_run(desk: Desk) -> None:
    """On a log that does not exist yet: one announces it, one policy event, one run, no second live run."""
    calls = [desk.asking(HEALTHY, "-o", "json", run=f"run-{number % 2}") for number in range(EIGHT)]
    done = all_at_once(desk, calls)
    assert {one.code for one in done} <= {0, 65}
    assert sum("new log created" in one.err for one in done) == 1
    told_is_logged(desk, done)
    assert [event["kind"] for event in desk.events()].count("policy") == 1
    runs = desk.gate("status", "-o", "json").document["runs"]
    assert len(runs) == 1
    assert_sound(desk)


def test_ho_15_e_one_token_used_twice_at_once_moves_one_step(desk: Desk) -> None:
    """One redeem commits, the other finds the hold ended: 65, naming the event that ended it."""
    token = desk.hold_at_canary_25()
    done = all_at_once(desk, [["resume", token, "--snapshot", desk.evidence(), "-o", "json"] for _ in range(2)])
    assert sorted(one.code for one in done) == [0, 65]
    refused = next(one for one in done if one.code == 65).document["error"]
    assert refused["code"] == "token.refused"
    assert "r-41:CANARY_25#2" in refused["message"]
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert steps_of(desk) == [(None, "CANARY_10"), ("CANARY_10", "CANARY_25")]
    assert_sound(desk)


def test_a_resume_and_a_harmful_check_at_once_never_let_the_run_on_after_harm(desk: Desk) -> None:
    """The REJECT is recorded whichever comes first."""
    token = desk.hold_at_canary_25()
    harm = desk.asking(HARMFUL, "--stage", "CANARY_25", "-o", "json")
    done = all_at_once(desk, [["resume", token, "--snapshot", desk.evidence(), "-o", "json"], harm])
    assert done[1].code == 1
    assert done[0].code in {0, 65}
    assert desk.status()[0] == "STOPPED"
    assert desk.events()[-1]["kind"] in {"decision", "refusal"}
    assert_sound(desk)
