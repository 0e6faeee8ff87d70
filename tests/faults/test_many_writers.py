"""32 processes on one log that is rotated under them, some killed anywhere: all that was told is there, once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.ndjson import NdjsonLedger
from tests.faults.faulty_ops import FaultyOps, killed_after, killed_before, killed_within
from tests.faults.writers import Telling, fork_all, moves_of, told_in
from tests.ledger.segments import all_events, files_in_order, lose_state
from tests.orchestrator.desk import Desk

WRITERS = 32
KILLED = 12
ROUNDS = 4
STAGES = ("DRY_RUN", "SHADOW", "CANARY_10", "CANARY_50")
ROTATE_BYTES = 100_000
KILLS = (killed_before, killed_after, killed_within)


def body(number: int, path: Path, barrier: int, random: Random) -> None:
    """One writer: runs of its own through four stages, and with all others at once steps of runs that they share."""
    ops = FaultyOps()
    if number < KILLED:
        ops.at, ops.fault = random.randrange(1, 400), random.choice(KILLS)
    desk = Desk(path)
    desk.ledger = NdjsonLedger(str(path), clock=desk.clock, ops=ops, rotate_bytes=ROTATE_BYTES)
    check = Telling(number, desk, path.parent).check

    os.read(barrier, 1)  # until the other end is closed
    ops.arm()
    for turn in range(ROUNDS):
        for stage in STAGES:
            check(stage, f"own-{number}-{turn}", f"exp-{number}-{turn}")
        with contextlib.suppress(InputRefusedError):  # the run has passed the stage
            check(STAGES[turn], "shared", "shared")


@pytest.mark.slow
def test_no_line_is_lost_torn_or_doubled_and_each_run_moves_once(tmp_path: Path) -> None:
    """What was told is in the log once; the chain holds by SHA-256 alone and by `verify`; nothing moved twice."""
    path = tmp_path / "logs" / "decision.ndjson"
    desk = Desk(path)
    desk.walk("DRY_RUN", run_id="first", experiment_id="first")
    ends = fork_all(WRITERS, lambda number, barrier: body(number, path, barrier, Random(number)))
    killed = [number for number, end in enumerate(ends) if os.WIFSIGNALED(end)]
    assert {os.WTERMSIG(ends[number]) for number in killed} == {signal.SIGKILL}
    assert set(killed) <= set(range(KILLED))
    assert len(killed) >= KILLED // 3
    assert [number for number, end in enumerate(ends) if number not in killed and end != 0] == []

    desk.check("DRY_RUN", run_id="last", experiment_id="last")  # mends what a kill has left behind
    assert len(files_in_order(path)) > 3
    events = all_events(path)
    ids = Counter(event["event_id"] for event in events)
    told = told_in(path.parent)
    assert len(told) >= (WRITERS - KILLED) * ROUNDS * len(STAGES)
    assert [event_id for event_id in told if ids[event_id] != 1] == []
    moves = moves_of(events)
    assert [move for move, count in moves.items() if count != 1] == []
    assert [moves["shared", stage] for stage in STAGES] == [1, 1, 1, 1]
    whole = [f"own-{number}-{turn}" for number in range(KILLED, WRITERS) for turn in range(ROUNDS)]
    assert [run_id for run_id in whole if moves[run_id, STAGES[-1]] != 1] == []

    verified = subprocess.run(
        [sys.executable, "-m", "gatekeeper", "verify", "--log", str(path)], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    runs = list(desk.ledger.view().runs())
    lose_state(path)
    assert list(Desk(path).ledger.view().runs()) == runs
