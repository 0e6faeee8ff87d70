"""Heads of segments as values: what they keep of a run, and what they refuse to read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.model.canonical import canonical_bytes
from gatekeeper.model.fold import apply
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.segment import Sealed, ended_runs, head_drafts, head_of, is_head, stated, stood_on
from gatekeeper.model.values import replace
from tests.ledger.drafts import decision, stop

BEFORE = Sealed("log.000000000001-000000000009", 1, 9, 9, "sha256:" + "e" * 64)


def run_after(*events: dict[str, Any], digest: str = "sha256:d") -> Run:
    """A run that these events have moved, seq 1 on, as a head states it."""
    run: Run | None = None
    for seq, event in enumerate(events, 1):
        run = apply(run, {**event, "seq": seq, "ts": f"2026-02-18T01:00:0{seq}.000000Z"})
    assert run is not None
    return replace(run, last_digest=digest)


ACTIVE = run_after(decision("a"), decision("a", "CANARY_10", from_stage="DRY_RUN", evidence_refs={"change_id": "1"}))
HELD = run_after(decision("h", verdict="DEGRADE", token="T", experiment="e2"))
COMPLETED = run_after(decision("c", experiment="e3"), decision("c", "ROLLOUT_100", experiment="e3"))
STOPPED = run_after(decision("s", verdict="DEGRADE", token="U", experiment="e4"), {**stop("s"), "decision": {
    "verdict": "REJECT", "reason_codes": ["change_refused:stopped"], "findings": ["left out"]}})  # fmt: skip


def written(*runs: Run, events: dict[str, Any] | None = None) -> dict[str, Any]:
    """A head with these runs, as a reader finds it on its line."""
    (draft,) = head_drafts(BEFORE, runs, events or {}, policies=0, is_complete=True, actor="t")
    found: dict[str, Any] = json.loads(canonical_bytes(draft))
    assert is_head(found)
    return found


@pytest.mark.parametrize("run", [ACTIVE, HELD, COMPLETED], ids=lambda run: run.state.value)
def test_a_run_that_can_go_on_is_read_back_whole(run: Run) -> None:
    """The fold goes on from it as if it had seen every event."""
    assert head_of(written(run)).runs == (run,)


def test_a_stopped_run_keeps_what_answers_a_check() -> None:
    """Its fixed values, its stop and its spent tokens; not the content of its last ACCEPT."""
    event = {**stop("s"), "seq": 2, "decision": {"reason_codes": ["change_refused:stopped"], "findings": ["long"]}}
    document = written(STOPPED, events={"s:action#1": event})
    assert b"long" not in canonical_bytes(document)
    head = head_of(document)
    (run,) = head.runs
    assert (run.state, run.stopped_by, run.last_event_id) == (RunState.STOPPED, "s:action#1", "s:action#1")
    assert (run.experiment_id, run.variant_id, run.revision) == ("e4", "B", "sha256:rev")
    assert run.ended_holds == {"U": "s:action#1"}
    assert (run.last_accept, run.policy_digest, run.last_digest) == (None, None, "sha256:d")
    answer = head.events["s:action#1"]
    assert answer["decision"]["reason_codes"] == ["change_refused:stopped"]
    assert (answer["kind"], answer["run_id"], answer["action"]["reason"]) == ("action", "s", "incident")


def test_a_hold_keeps_its_event_whole() -> None:
    """It may be decided on the evidence of its last attempt."""
    event = {"event_id": "h:DRY_RUN", "kind": "decision", "metrics_snapshot": {"metrics": {"m": 1}}}
    assert head_of(written(HELD, events={"h:DRY_RUN": event})).events == {"h:DRY_RUN": event}


def test_a_completed_run_with_a_successor_has_ended() -> None:
    """The newest of its slot may still be held or stopped; simulated runs are among themselves."""
    newer = replace(COMPLETED, run_id="c2", first_seq=5)
    simulated = replace(COMPLETED, run_id="c3", first_seq=9, simulated=True)
    assert ended_runs([COMPLETED, simulated]) == frozenset()
    assert ended_runs([COMPLETED, newer, simulated, ACTIVE, HELD, STOPPED]) == {"c", "s"}
    first, second, _ = head_of(written(COMPLETED, newer, simulated)).runs
    assert (first.last_accept, first.state, first.stage) == (None, RunState.COMPLETED, "ROLLOUT_100")
    assert second.last_accept is not None


def test_a_run_that_can_go_on_has_not_ended_whatever_else_stands_in_its_slot() -> None:
    """Only a completed run gives way to its successor."""
    assert ended_runs([ACTIVE, replace(ACTIVE, run_id="a2", first_seq=9)]) == frozenset()
    assert ended_runs([HELD, replace(HELD, run_id="h2", first_seq=9)]) == frozenset()


def test_a_head_states_no_more_of_a_run_than_it_must() -> None:
    """There is a line for every run that there ever was: what a reader adds by itself is left out."""
    of_active, of_stopped = stated(ACTIVE, is_ended=False), stated(STOPPED, is_ended=True)
    assert "simulated" not in of_active
    assert "hold" not in of_active
    assert "last_event_id" in of_active
    assert "last_event_id" not in of_stopped, "it is the one that stopped the run"


def test_a_log_without_runs_has_a_head_as_well() -> None:
    """Else the file behind it could not begin."""
    head = head_of(written())
    assert (head.part, head.parts, head.runs, head.before) == (1, 1, (), BEFORE)


def test_what_somebody_has_written_among_reason_codes_is_left_out() -> None:
    """The answer of a stopped run goes to programs that read codes."""
    document = written(STOPPED, events={"s:action#1": {**stop("s"), "decision": {"reason_codes": ["a:b"]}}})
    document["runs"][0]["stands_on"]["reason_codes"] = ["a:b", 7, None]
    assert head_of(document).events["s:action#1"]["decision"]["reason_codes"] == ["a:b"]


@pytest.mark.parametrize("change", [{"kind": "action"}, {"segment": "x"}, {"runs": {}}], ids=str)
def test_an_event_that_only_looks_like_a_head_is_none(change: dict[str, Any]) -> None:
    """It has the fields of one, and another kind, or something else in them."""
    assert not is_head({**written(ACTIVE), **change})


def test_an_event_behind_a_head_makes_its_digest_old() -> None:
    """`last_digest` is of the run's last event; the next one has another."""
    after = apply(ACTIVE, {**decision("a", "CANARY_10", number=2, from_stage="CANARY_10"), "seq": 9})
    assert (ACTIVE.last_digest, after.last_digest) == ("sha256:d", "")


def test_only_stopped_and_held_runs_stand_on_an_event() -> None:
    """Whatever else a run has said can be asked again."""
    assert [stood_on(run) for run in (ACTIVE, HELD, COMPLETED, STOPPED)] == [None, "h:DRY_RUN", None, "s:action#1"]


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("segment", "last_seq"), "9"),
        (("segment", "complete"), 1),
        (("segment", "parts"), True),
        (("segment", "digest"), ...),
        (("runs", 0, "state"), "BLESSED"),
        (("runs", 0, "version"), "2"),
        (("runs", 0, "version"), True),
        (("runs", 0, "stage"), 5),
        (("runs", 0, "evidence"), []),
        (("runs", 0, "run_id"), ...),
        (("runs", 0), "a"),
        (("runs", 0, "hold"), {"token": "T"}),
    ],
)
def test_a_head_that_somebody_has_mended_by_hand_is_not_read(where: tuple[Any, ...], value: object) -> None:
    """A wrong type, an unknown state, something left out: no run comes of it."""
    document = written(ACTIVE)
    *path, last = where
    place: Any = document
    for step in path:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        head_of(document)


def test_a_run_that_stands_on_another_event_than_its_head_has_is_not_read() -> None:
    """The answer of one event under the name of another."""
    document = written(HELD, events={"h:DRY_RUN": {"event_id": "h:DRY_RUN", "kind": "decision"}})
    document["runs"][0]["stands_on"]["event_id"] = "x:DRY_RUN"
    with pytest.raises(ValueError, match="another event"):
        head_of(document)


def test_what_a_later_version_adds_to_a_run_is_passed_over() -> None:
    """Readers keep on reading."""
    document = written(ACTIVE)
    document["runs"][0]["colour"] = "blue"
    assert head_of(document).runs == (ACTIVE,)
