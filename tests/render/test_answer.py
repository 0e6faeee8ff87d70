"""`run` of an answer, and reading decisions of old logs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gatekeeper.model.fold import apply
from gatekeeper.model.run import Run, RunState
from gatekeeper.render.answer import decision_of, run_view
from tests.render.events import ACCEPTED, HELD, REJECTED

STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100")


def view(state: RunState, stage: str | None, **more: Any) -> list[Any]:
    """`stage`, `next_stage`, `percent` of a run in this state."""
    run = replace(Run(run_id="r", state=state, stage=stage), **more)
    shown = run_view(run, STAGES)
    assert shown["state"] == state.value
    return [shown["stage"], shown["next_stage"], shown["percent"]]


def test_the_next_stage_and_the_percent_follow_the_run() -> None:
    """Before the first ACCEPT, under way, at the end."""
    assert view(RunState.ACTIVE, None) == [None, "DRY_RUN", 0]
    assert view(RunState.ACTIVE, "SHADOW") == ["SHADOW", "CANARY_10", 0]
    assert view(RunState.ACTIVE, "CANARY_10") == ["CANARY_10", "CANARY_25", 10]
    assert view(RunState.COMPLETED, "ROLLOUT_100") == ["ROLLOUT_100", None, 100]


def test_a_stopped_run_may_have_no_traffic_and_no_next_stage() -> None:
    """A pipeline that sets `percent` takes the change back."""
    assert view(RunState.STOPPED, "CANARY_25") == ["CANARY_25", None, 0]


def test_no_percent_is_invented_for_an_irreversible_change_that_users_have_met() -> None:
    """RML3: a person decides; before the first canary nothing was touched."""
    more = {"change_class": "stateful_or_irreversible"}
    assert view(RunState.STOPPED, "CANARY_25", **more) == ["CANARY_25", None, None]
    assert view(RunState.STOPPED, "SHADOW", **more) == ["SHADOW", None, 0]
    assert view(RunState.STOPPED, None, **more) == [None, None, 0]


def test_a_run_adopted_at_a_later_stage_does_not_begin_at_the_first() -> None:
    """HELD on entering CANARY_25 from null: that is next, not DRY_RUN."""
    run = apply(None, {**HELD, "state_transition": {"from": None, "to": "CANARY_25"}})
    assert run.stage is None
    assert run_view(run, STAGES)["next_stage"] == "CANARY_25"


def test_a_run_held_on_remaining_goes_on_to_the_stage_after_it() -> None:
    """The hold is on the stage it is in."""
    run = apply(apply(None, ACCEPTED), HELD)
    assert run.hold is not None
    assert run_view(run, STAGES)["next_stage"] == "CANARY_50"


def test_stages_that_are_not_known_give_no_next_stage() -> None:
    """A reader without the policy says null."""
    assert run_view(apply(None, ACCEPTED), ())["next_stage"] is None
    assert run_view(Run("r"), ())["next_stage"] is None


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (REJECTED, "REJECT"),
        ({"decision": "ACCEPT"}, "ACCEPT"),
        ({"verdict": "DEGRADE", "reason_codes": ["x"]}, "DEGRADE"),
        ({"kind": "policy", "verdict": "ACCEPT"}, None),
        ({"kind": "decision", "decision": 7}, None),
    ],
)
def test_lines_of_a_founding_style_driver_show_their_verdict(given: dict[str, Any], verdict: str | None) -> None:
    """SPEC 7: a line without `kind` is read as a decision."""
    assert decision_of(given).get("verdict") == verdict
