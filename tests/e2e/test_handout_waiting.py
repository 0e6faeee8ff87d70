"""HO-15 with the installed command: a hold has a way out, and waiting or repeating is none.

A day passes through `--as-of`: the run is simulated from its first decision on.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import BLIND, HEALTHY, policy

pytestmark = pytest.mark.slow  # many processes

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SIMULATED = ["--experiment", "checkout", "--variant", "B", "--run-id", "r-41", "-o", "json"]


def at(minutes: float) -> str:
    """So many minutes after START."""
    return (START + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def collected(metrics: dict[str, Any], minutes: float, name: str) -> dict[str, Any]:
    """S0 and L0 as collected so many minutes after START."""
    times = {"collected_at": at(minutes), "window": "5m", "watermark_event_time": at(minutes - 0.5)}
    meta = {**times, "freshness_seconds": 30, "snapshot_id": name}
    return {
        "metrics": metrics,
        "baseline": {"metrics": {"error_rate": 0.003, "latency_p99_ms": 300}, "_meta": times},
        "_meta": meta,
    }


def ask(desk: Desk, metrics: dict[str, Any], minutes: float, *more: str) -> Done:
    """A check with evidence collected then, judged then."""
    desk.write("now.json", collected(metrics, minutes, f"at {minutes}"))
    return desk.gate(
        "check", "--policy", "policy.json", *SIMULATED, "--snapshot", "now.json", "--as-of", at(minutes + 0.1), *more
    )


def hold(desk: Desk) -> str:
    """r-41 on hold at CANARY_25; the token."""
    assert ask(desk, HEALTHY, 0, "--start-stage", "CANARY_10", "--reason", "x").code == 0
    done = ask(desk, BLIND, 10)
    assert done.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"])
    token: str = done.document["resume"]["resume_token"]
    return token


def test_ho_15_a_the_same_old_snapshot_all_day_stays_held(desk: Desk) -> None:
    """Every attempt is logged with the time of the first hold; the entry says that the input did not change."""
    token = hold(desk)
    for hour in range(1, 25):
        done = desk.gate("reevaluate", "--as-of", at(10 + 60 * hour), "-o", "json")
        assert done.code == 2
        check = done.document["holds"][0]["check"]
        assert set(check["decision"]["reason_codes"]) == {
            "observation_missing:guardrail_metric",
            "observation_stale:over_freshness_budget",
        }
        assert check["resume"]["input_unchanged"] is True
        assert (check["attempt"], check["resume"]["resume_token"]) == (hour + 1, token)
        assert check["resume"]["first_held_at"] == at(10.1).replace("Z", ".000000Z")
    assert desk.status() == ("HELD", "CANARY_10")
    held = [event for event in desk.events() if event.get("decision", {}).get("verdict") == "DEGRADE"]
    assert len(held) == 25
    desk.assert_verifies()


def test_ho_15_b_c_d_new_snapshots_without_the_metric_stay_held_until_it_comes(desk: Desk) -> None:
    """Twenty attempts hold, the state lost in between; then a healthy snapshot is one step and no more."""
    token = hold(desk)
    for number in range(1, 21):
        if number == 10:  # (d): what a restart finds is the log
            for path in desk.log.parent.glob("decision.ndjson.db*"):
                path.unlink()
        done = ask(desk, BLIND, 10 + 5 * number)
        assert done.verdict == (2, ["observation_missing:guardrail_metric"], ["error_rate"])
        resume = done.document["resume"]
        assert (done.document["attempt"], resume["resume_token"]) == (number + 1, token)
        assert resume["input_unchanged"] is False
    desk.write("now.json", collected(HEALTHY, 200, "healthy"))
    done = desk.gate("resume", token, "--snapshot", "now.json", "--as-of", at(200.1), "-o", "json")
    assert done.code == 0
    assert desk.status() == ("ACTIVE", "CANARY_25")
    assert done.document["state_transition"] == {"from": "CANARY_10", "to": "CANARY_25"}
    desk.assert_verifies()


def test_a_deadline_is_applied_by_the_next_call_and_by_nothing_else(desk: Desk) -> None:
    """A hold past its deadline, its file gone, is decided on its last snapshot; REJECT only if the policy says so."""
    for on_deadline, code in (("REJECT", 1), ("ESCALATE", 2)):
        desk.log.unlink(missing_ok=True)
        for path in desk.log.parent.glob("*"):
            path.unlink()
        holds = {"observation_missing": {"deadline_seconds": 3600, "on_deadline": on_deadline}}
        desk.write("policy.json", policy(holds=holds))
        hold(desk)
        (desk.place / "now.json").unlink()
        early = desk.gate("reevaluate", "--as-of", at(69), "-o", "json")
        assert early.code == 0
        assert early.document["holds"][0]["problem"].startswith("needs evidence")
        assert desk.status() == ("HELD", "CANARY_10")
        late = desk.gate("reevaluate", "--as-of", at(71), "-o", "json")
        assert late.code == code
        codes = late.document["holds"][0]["check"]["decision"]["reason_codes"]
        assert ("change_refused:deadline_passed" in codes) is (code == 1)
        desk.assert_verifies()


def test_simulated_runs_are_left_out_unless_asked(desk: Desk) -> None:
    """A hold of a simulation must not wake anybody, nor be mixed with real calls."""
    token = hold(desk)
    assert desk.gate("queue", "-o", "json").document["holds"] == []
    assert len(desk.gate("queue", "--simulated", "-o", "json").document["holds"]) == 1
    done = desk.gate("reevaluate", "-o", "json")
    assert (done.code, done.document["holds"]) == (0, [])
    mixed = desk.gate("resume", token, "--snapshot", "now.json", "-o", "json")
    assert mixed.code == 65
    assert "simulated" in mixed.document["error"]["message"]
    assert desk.check(HEALTHY).code == 65
    assert desk.check(HEALTHY, run="real").code == 0  # simulated runs count for "one live run" among themselves
