"""32 processes on one branch, half of them on empty machines, some killed anywhere: what was told is there, once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gatekeeper.errors import InputRefusedError
from gatekeeper.ledger.git.cache import Cache
from gatekeeper.ledger.git.mirror import Mirror
from gatekeeper.ledger.git.repository import Repository
from gatekeeper.ledger.git.running import Running
from tests.faults.writers import Telling, fork_all, moves_of, told_in
from tests.lab.git import Bare, alone
from tests.orchestrator.desk import Desk

WRITERS = 32
KILLED = 12
STAGES = ("DRY_RUN", "SHADOW")
STEPS: tuple[tuple[type, str], ...] = (
    (Running, "__init__"),
    (Running, "finish"),
    (Mirror, "follow"),
    (Mirror, "take"),
    (Cache, "note_level"),
    (Repository, "keep"),
)


def kill_at(count: int, *, is_after: bool) -> None:
    """Let this process be killed before, or just after, its step number *count*; what git is doing then goes on."""
    left = [count]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and not is_after:
                os.kill(os.getpid(), signal.SIGKILL)
            done = real(*given, **named)
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return step

    for owner, name in STEPS:
        setattr(owner, name, counted(getattr(owner, name)))


def body(number: int, team: Bare, directory: Path, barrier: int, random: Random) -> None:
    """One writer: a run of its own through two stages, and with all others at once the steps of one that they share."""
    machine = directory / (f"machine-{number}" if number % 2 else "machine")  # odd ones begin with nothing
    desk = Desk(directory / "unused", another=lambda clock: team.ledger(clock=clock, cache=machine))
    check = Telling(number, desk, directory).check

    os.read(barrier, 1)  # until the other end is closed
    if number < KILLED:
        kill_at(random.randrange(1, 24), is_after=random.random() < 0.5)
    for stage in STAGES:
        check(stage, f"own-{number}", f"exp-{number}")
        with contextlib.suppress(InputRefusedError):  # the run has passed the stage
            check(stage, "shared", "shared")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_line_is_lost_torn_or_doubled_and_each_run_moves_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was told is on the branch once; the chain holds by `verify`; nothing moved twice; every copy agrees."""
    alone(monkeypatch, tmp_path)
    team = Bare(tmp_path)
    team.git("config", "receive.denyNonFastForwards", "true")
    desk = Desk(tmp_path / "unused", another=lambda clock: team.ledger(clock=clock, cache=tmp_path / "first"))
    desk.walk("DRY_RUN", run_id="first", experiment_id="first")
    ends = fork_all(WRITERS, lambda number, barrier: body(number, team, tmp_path, barrier, Random(number)))
    killed = [number for number, end in enumerate(ends) if os.WIFSIGNALED(end)]
    assert {os.WTERMSIG(ends[number]) for number in killed} == {signal.SIGKILL}
    assert set(killed) <= set(range(KILLED))
    assert len(killed) >= KILLED // 3
    assert [number for number, end in enumerate(ends) if number not in killed and end != 0] == []

    desk.check("DRY_RUN", run_id="last", experiment_id="last")
    events = team.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    ids = Counter(event["event_id"] for event in events)
    assert [event_id for event_id, count in ids.items() if count != 1] == []
    told = told_in(tmp_path)
    assert len(told) >= (WRITERS - KILLED) * len(STAGES)
    assert [event_id for event_id, count in Counter(told).items() if count != 1 or ids[event_id] != 1] == []
    assert {event["decision"]["verdict"] for event in events if event["kind"] == "decision"} == {"ACCEPT"}
    moves = moves_of(events)
    assert [move for move, count in moves.items() if count != 1] == []
    assert [moves["shared", stage] for stage in STAGES] == [1, 1]
    assert [number for number in range(KILLED, WRITERS) if moves[f"own-{number}", STAGES[-1]] != 1] == []

    verified = subprocess.run(
        [sys.executable, "-m", "gatekeeper", "verify", "--log", team.log], capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    runs = list(desk.ledger.view().runs())
    for machine in ("empty", "machine", *(f"machine-{number}" for number in range(1, WRITERS, 2))):
        ledger = team.ledger(cache=tmp_path / machine)
        assert list(ledger.view().runs()) == runs
        ledger.close()
