from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.fold import apply
from gatekeeper.model.run import Run, RunState
from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator import gate
from gatekeeper.orchestrator.stages import askable_stages
from tests.model.events import STAGES, Log
from tests.orchestrator.desk import Desk, policy

MOVES = st.tuples(st.sampled_from(["ACCEPT", "DEGRADE", "REJECT", "adopt", "refuse", "stop"]), st.booleans())
HONEST = st.lists(
    st.tuples(
        st.sampled_from(
            ["ACCEPT"] * 6 + ["DEGRADE"] * 4 + ["adopt", "adopt", "refused", "REJECT", "stop", "supersede"]
        ),
        st.booleans(),
    ),
    max_size=14,
)
"""What callers do: a verdict that the evidence gives, and whether the current stage is asked or the default."""


@given(st.lists(MOVES, min_size=1, max_size=20), st.lists(MOVES, max_size=10))
def test_nothing_moves_a_stopped_run(before: list[tuple[str, bool]], behind: list[tuple[str, bool]]) -> None:
    """Whatever is appended behind the event that stopped it, state, stage, answer and spent tokens stay."""
    log = Log()
    log.decide("DRY_RUN")
    _play(log, before)
    log.act("stop")
    stopped = log.run
    assert stopped.state is RunState.STOPPED
    _play(log, behind)
    still = log.run
    assert (still.state, still.stage, still.stopped_by, still.ended_holds, still.hold) == (
        stopped.state,
        stopped.stage,
        stopped.stopped_by,
        stopped.ended_holds,
        None,
    )


@given(st.lists(MOVES, max_size=25))
def test_a_hold_is_open_exactly_while_held(moves: list[tuple[str, bool]]) -> None:
    """HELD has a hold and no other state has; every token that was ever given is open or has what ended it."""
    log = Log()
    log.decide("DRY_RUN")
    tokens: set[str] = set()
    for move in moves:
        _play(log, [move])
        run = log.run
        assert (run.hold is not None) == (run.state is RunState.HELD)
        tokens |= {run.hold.token} if run.hold is not None else set()
        open_tokens = {run.hold.token} if run.hold is not None else set()
        assert tokens == open_tokens | set(run.ended_holds)
        assert not open_tokens & set(run.ended_holds)


@given(st.lists(MOVES, max_size=25))
def test_a_run_moves_one_stage_forward_or_not_at_all(moves: list[tuple[str, bool]]) -> None:
    """Only ACCEPT moves, one step at a time, and never back."""
    log = Log()
    log.decide("DRY_RUN")
    for move in moves:
        before = STAGES.index(str(log.run.stage))
        _play(log, [move])
        after = STAGES.index(str(log.run.stage))
        assert after - before in ({0, 1} if move[0] == "ACCEPT" else {0})


def _play(log: Log, moves: list[tuple[str, bool]]) -> None:
    for word, is_current in moves:
        run = log.run
        asked = askable_stages(run, STAGES)
        stage = str(run.stage) if is_current and run.stage in asked else asked[0]
        if word == "adopt":
            log.act("adopt-policy", policy_digest="sha256:2")
        elif word == "refuse":
            log.refuse()
        elif word == "stop":
            log.act("stop")
        else:
            log.decide(stage, word)


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(HONEST)
def test_state_is_the_fold_of_the_log(calls: list[tuple[str, bool]]) -> None:
    """Any sequence of calls: what the living ledger says, what a rebuilt one says and the plain fold are the same."""
    directory = Path(tempfile.mkdtemp())
    try:
        desk = Desk(directory / "decision.ndjson")
        desk.check(evidence={"change_id": "CHG-1"})
        for number, (word, is_current) in enumerate(calls):
            desk.clock.advance(7)
            _call(desk, word, number, is_current=is_current)
        living = {run.run_id: run for run in desk.ledger.view().runs()}
        folded: dict[str, Run] = {}
        for line in desk.path.read_bytes().splitlines():
            event = json.loads(line)
            if event.get("run_id") is not None:
                folded[event["run_id"]] = apply(folded.get(event["run_id"]), event)
        rebuilt = NdjsonLedger(str(desk.path), clock=desk.clock).rebuild()
        assert living == folded == {run.run_id: run for run in rebuilt.runs()}
        assert len([run for run in rebuilt.runs() if run.is_live]) <= 1
    finally:
        shutil.rmtree(directory)


def _call(desk: Desk, word: str, number: int, *, is_current: bool) -> None:
    run = desk.ledger.view().runs()[-1]
    snapshot: Snapshot = desk.evidence(**({"errors": ...} if word == "DEGRADE" else {"leaks": int(word == "REJECT")}))
    stage = run.stage if is_current and run.stage in askable_stages(run, desk.policy.policy.stages) else None
    if word == "stop":
        gate.stop(run.run_id, reason="x", actor="sre", ledger=desk.ledger)
    elif word == "refused":
        if run.state is not RunState.STOPPED:
            desk.refused(run_id=run.run_id, revision="other", snapshot=snapshot)
    elif word == "supersede" or run.state is RunState.STOPPED:
        supersede = run.run_id if run.is_live else None
        desk.check(run_id=f"r{number}", supersede=supersede, snapshot=snapshot)
    elif word == "adopt":
        desk.policy = policy(policy_version=str(number))
        desk.check(stage, run_id=run.run_id, adopt_reason="x", snapshot=snapshot)
    else:
        desk.check(stage, run_id=run.run_id, snapshot=snapshot)
