from __future__ import annotations

from typing import Any

import pytest

from gatekeeper.model.fold import apply, decision_trigger
from gatekeeper.model.reasons import Verdict
from gatekeeper.model.run import TRANSITIONS, Hold, LastAccept, Run, RunState, Trigger
from tests.model.events import Log, decision

HELD_ON_NEXT = Hold("t", "SHADOW", 1, "-", "-", None, None, "r:SHADOW", None, (), (), {})


def test_the_table_of_transitions_is_the_specs() -> None:
    """States and moves as SPEC 6 names them; what is not listed changes nothing."""
    table = {
        (before.value if before else None, trigger.value): after.value
        for (before, trigger), after in TRANSITIONS.items()
    }
    assert table == {
        (None, "enter"): "ACTIVE",
        (None, "enter_last"): "COMPLETED",
        (None, "degrade"): "HELD",
        (None, "reject"): "STOPPED",
        ("ACTIVE", "enter"): "ACTIVE",
        ("ACTIVE", "enter_last"): "COMPLETED",
        ("ACTIVE", "remain"): "ACTIVE",
        ("ACTIVE", "degrade"): "HELD",
        ("ACTIVE", "reject"): "STOPPED",
        ("ACTIVE", "stop"): "STOPPED",
        ("ACTIVE", "adopt"): "ACTIVE",
        ("HELD", "enter"): "ACTIVE",
        ("HELD", "enter_last"): "COMPLETED",
        ("HELD", "remain"): "ACTIVE",
        ("HELD", "aside"): "HELD",
        ("HELD", "degrade"): "HELD",
        ("HELD", "reject"): "STOPPED",
        ("HELD", "stop"): "STOPPED",
        ("HELD", "adopt"): "ACTIVE",
        ("COMPLETED", "remain"): "COMPLETED",
        ("COMPLETED", "degrade"): "HELD",
        ("COMPLETED", "reject"): "STOPPED",
        ("COMPLETED", "stop"): "STOPPED",
        ("COMPLETED", "adopt"): "COMPLETED",
    }


def test_nothing_leads_out_of_stopped() -> None:
    """One-way: no trigger is listed for STOPPED."""
    assert not [trigger for before, trigger in TRANSITIONS if before is RunState.STOPPED]


@pytest.mark.parametrize("trigger", [Trigger.REJECT, Trigger.STOP])
def test_every_live_or_finished_state_can_be_left_backwards(trigger: Trigger) -> None:
    """Going back is always possible."""
    for state in (RunState.ACTIVE, RunState.HELD, RunState.COMPLETED):
        assert TRANSITIONS[state, trigger] is RunState.STOPPED


@pytest.mark.parametrize(
    ("run", "stage", "verdict", "trigger"),
    [
        (Run("r", stage="DRY_RUN"), "SHADOW", Verdict.ACCEPT, Trigger.ENTER),
        (Run("r", stage="CANARY_50"), "ROLLOUT_100", Verdict.ACCEPT, Trigger.ENTER_LAST),
        (Run("r", stage="SHADOW"), "SHADOW", Verdict.ACCEPT, Trigger.REMAIN),
        (Run("r", stage="DRY_RUN"), "SHADOW", Verdict.DEGRADE, Trigger.DEGRADE),
        (Run("r", stage="DRY_RUN"), "SHADOW", Verdict.REJECT, Trigger.REJECT),
        (Run("r", stage="DRY_RUN", hold=HELD_ON_NEXT), "DRY_RUN", Verdict.ACCEPT, Trigger.ASIDE),
        (Run("r", stage="DRY_RUN", hold=HELD_ON_NEXT), "DRY_RUN", Verdict.DEGRADE, Trigger.ASIDE),
        (Run("r", stage="DRY_RUN", hold=HELD_ON_NEXT), "DRY_RUN", Verdict.REJECT, Trigger.REJECT),
        (Run("r", stage="DRY_RUN", hold=HELD_ON_NEXT), "SHADOW", Verdict.DEGRADE, Trigger.DEGRADE),
        (Run("r", stage="DRY_RUN", hold=HELD_ON_NEXT), "SHADOW", Verdict.ACCEPT, Trigger.ENTER),
        (Run("r", stage="SHADOW", hold=HELD_ON_NEXT), "SHADOW", Verdict.ACCEPT, Trigger.REMAIN),
    ],
)
def test_what_a_decision_means_for_a_run(run: Run, stage: str, verdict: Verdict, trigger: Trigger) -> None:
    """The trigger follows from where the run is, what it holds and what was said."""
    assert decision_trigger(run, stage, verdict) is trigger


def test_the_time_of_entry_is_that_of_the_accept_which_entered() -> None:
    """`stage_entered_at` is `evaluated_at` of the ACCEPT; remaining does not renew it."""
    log = Log()
    log.decide("DRY_RUN", evaluated_at="2026-01-01T00:00:01Z")
    log.decide("DRY_RUN", evaluated_at="2026-01-01T00:00:02Z")
    assert log.run.stage_entered_at == "2026-01-01T00:00:01Z"
    log.decide("SHADOW", evaluated_at="2026-01-01T00:00:03Z")
    assert log.run.stage_entered_at == "2026-01-01T00:00:03Z"


def test_what_the_first_decision_fixes_stays() -> None:
    """Experiment, variant, revision, class, policy and simulation are those of the first decision."""
    log = Log()
    log.decide("DRY_RUN", revision="a", change_class="stateful_or_irreversible", as_of="2026-01-01T00:00:00Z")
    log.decide("SHADOW", revision="b", change_class="reversible", experiment_id="x", policy_digest="sha256:2")
    run = log.run
    assert (run.experiment_id, run.variant_id, run.revision) == ("exp", "B", "a")
    assert (run.change_class, run.policy_digest, run.simulated) == ("stateful_or_irreversible", "sha256:1", True)


def test_a_forged_line_behind_the_reject_moves_nothing() -> None:
    """An ACCEPT, a stop and an adoption behind STOPPED are counted and change neither state, stage nor answer."""
    log = Log()
    log.decide("DRY_RUN")
    log.decide("SHADOW", "REJECT")
    for move in ("decide", "stop", "adopt-policy"):
        if move == "decide":
            log.decide("SHADOW")
        else:
            log.act(move, policy_digest="sha256:2")
        run = log.run
        assert (run.state, run.stage, run.stopped_by) == ("STOPPED", "DRY_RUN", "r:SHADOW")
        assert run.policy_digest == "sha256:1"
    assert run.next_decision_id("SHADOW") == "r:SHADOW#3"
    assert run.next_event_id("action") == "r:action#3"


def test_ids_count_by_stage_and_by_kind() -> None:
    """`run:stage`, then `#2`, `#3`; other kinds count from `#1`."""
    run = Run("r")
    assert (run.next_decision_id("SHADOW"), run.next_event_id("action")) == ("r:SHADOW", "r:action#1")
    log = Log()
    log.decide("DRY_RUN")
    log.decide("DRY_RUN", "DEGRADE")
    log.act("adopt-policy")
    assert (log.run.next_decision_id("DRY_RUN"), log.run.next_decision_id("SHADOW")) == ("r:DRY_RUN#3", "r:SHADOW")
    assert (log.run.next_event_id("action"), log.run.next_event_id("refusal")) == ("r:action#2", "r:refusal#1")


@pytest.mark.parametrize(
    ("event_id", "following"),
    [
        ("r:DRY_RUN#7", "r:DRY_RUN#8"),
        ("r:DRY_RUN", "r:DRY_RUN#2"),
        ("r:DRY_RUN#x", "r:DRY_RUN#2"),
        ("r:DRY_RUN#9999999999999999999", "r:DRY_RUN#2"),
    ],
)
def test_a_known_number_is_not_given_again(event_id: str, following: str) -> None:
    """Where earlier lines are missing, the id that is there says how many there were; nonsense says nothing."""
    run = apply(None, {**decision("DRY_RUN", "ACCEPT", 5), "event_id": event_id})
    assert run.next_decision_id("DRY_RUN") == following


def test_an_action_alone_begins_no_run() -> None:
    """A write that was cut behind its first line: the run has no decision, and nothing of it is fixed."""
    log = Log()
    log.act("start-stage")
    assert not log.run.is_begun
    log.decide("CANARY_10", "DEGRADE", revision="a")
    assert (log.run.is_begun, log.run.state, log.run.revision, log.run.first_seq) == (True, "HELD", "a", 1)


@pytest.mark.parametrize(
    "begun",
    [{"stage": "SHADOW"}, {"state": RunState.STOPPED}, {"history": "incomplete"}, {"decisions_at": {"DRY_RUN": 1}}],
)
def test_a_run_that_another_tool_began_is_begun(begun: dict[str, Any]) -> None:
    """Founding-style lines are no counted decisions, but such a run must not start anew."""
    assert Run("r", **begun).is_begun
    assert not Run("r").is_begun


def test_a_run_survives_its_json_form() -> None:
    """What the projection stores is what it reads: hold, last ACCEPT and all the rest."""
    import json

    log = Log()
    log.decide("DRY_RUN")
    log.decide("SHADOW", "DEGRADE")
    log.act("adopt-policy")
    log.decide("SHADOW", "DEGRADE")
    assert log.run.hold is not None
    assert isinstance(log.run.last_accept, LastAccept)
    assert Run.from_dict(json.loads(json.dumps(log.run.to_dict()))) == log.run
