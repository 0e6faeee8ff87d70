"""HO-12 with the real thing: workers check runs on one log, and are killed at random moments."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import time
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, Done
from tests.e2e.documents import BLIND, HARMFUL, HEALTHY, PROMOTED

pytestmark = pytest.mark.slow  # many processes

SEED = 20261129
SECONDS = 30
WORKERS = 4
STAGES = ["DRY_RUN", "SHADOW", "CANARY_10", "CANARY_25", "CANARY_50", "ROLLOUT_100"]
RESTING = {"COMPLETED", "STOPPED"}
LIFETIME_SECONDS = 0.6
"""About as long as a check takes here, under load: kills fall into all of its life and some behind it."""


@dataclass
class Tally:
    """What the test has seen of its workers."""

    told: list[Done] = field(default_factory=list)
    killed: int = 0
    refused: int = 0


class Worker:
    """One place where checks of one slot follow each other; two workers share a slot, and so its runs."""

    def __init__(self, desk: Desk, number: int, chance: random.Random) -> None:
        self.desk = desk
        self.slot = number // 2
        self.chance = chance
        self.process: subprocess.Popen[bytes] | None = None
        self.deadline = 0.0

    def begin(self, generation: int) -> None:
        """Start the next check, and choose when it will be killed, if it still lives then."""
        draw = self.chance.random()
        metrics = HARMFUL if draw < 0.04 else BLIND if draw < 0.14 else HEALTHY
        evidence = self.desk.evidence(metrics, promotion=PROMOTED, more=40)
        names = ["--experiment", "checkout", "--variant", f"V{self.slot}", "--run-id", f"run-{self.slot}-{generation}"]
        self.process = self.desk.start("check", "--policy", "policy.json", *names, "--snapshot", evidence, "-o", "json")
        self.deadline = time.monotonic() + self.chance.uniform(0, LIFETIME_SECONDS)

    @property
    def output(self) -> int:
        """A descriptor that can be read once the process has answered or ended."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def end(self, tally: Tally) -> int | None:
        """Collect the process if it has ended, kill it if its time has come; its code, None while it lives."""
        assert self.process is not None
        if self.process.poll() is None:
            if time.monotonic() < self.deadline:
                return None
            self.process.kill()
        out, err = self.process.communicate()
        code, self.process = self.process.returncode, None
        if code == -9:
            tally.killed += 1
        elif code in {0, 1, 2}:
            tally.told.append(Done(code, out, err.decode()))
        else:
            assert code == 65, (code, out, err)  # the other worker of the slot has begun the next run
            tally.refused += 1
        return code


def moves_of(events: list[dict[str, object]]) -> dict[str, list[tuple[str | None, str]]]:
    """Per run: the stages that it entered, as from and to."""
    moves: dict[str, list[tuple[str | None, str]]] = {}
    for event in events:
        if event["kind"] != "decision":
            continue
        decision, transition = event["decision"], event["state_transition"]
        assert isinstance(decision, dict)
        assert isinstance(transition, dict)
        if decision["verdict"] == "ACCEPT" and transition["from"] != transition["to"]:
            moves.setdefault(str(event["run_id"]), []).append((transition["from"], transition["to"]))
    return moves


@pytest.mark.timeout(180)
def test_ho_12_checks_killed_at_random_moments_lose_nothing(desk: Desk) -> None:
    """After 30 s: every verdict told is logged, no line is torn, runs moved step by step, the next check passes."""
    chance, tally = random.Random(SEED), Tally()
    generations = [count(1), count(1)]
    current = [next(numbers) for numbers in generations]
    workers = [Worker(desk, number, chance) for number in range(WORKERS)]
    until = time.monotonic() + SECONDS
    for worker in workers:
        worker.begin(current[worker.slot])
    living = list(workers)
    while living:
        for worker in list(living):
            code = worker.end(tally)
            if code is None:
                continue
            if code in {0, 1}:
                state = tally.told[-1].document["run"]["state"]
                name = tally.told[-1].document["run_id"]
                if state in RESTING and name == f"run-{worker.slot}-{current[worker.slot]}":
                    current[worker.slot] = next(generations[worker.slot])
            if time.monotonic() < until:
                worker.begin(current[worker.slot])
            else:
                living.remove(worker)
        until_next = min((worker.deadline for worker in living), default=0) - time.monotonic()
        wait([worker.output for worker in living], timeout=max(0, until_next))
    assert tally.killed >= 20, tally.killed
    assert len(tally.told) >= 20, len(tally.told)
    assert_nothing_lost(desk, tally.told)


def assert_nothing_lost(desk: Desk, told: list[Done]) -> None:
    """The log against what the callers were told, and what its torn tails became."""
    # whatever the last kill left behind, the next checks go on without repair by hand
    for slot in (0, 1):
        names = ["--experiment", "after", "--variant", f"V{slot}"]
        argv = ["check", "--policy", "policy.json", *names, "--snapshot", desk.evidence(), "-o", "json"]
        assert desk.gate(*argv).code == 0
    desk.assert_verifies()
    events = desk.events()
    logged = {event["event_id"]: event for event in events}
    assert len(logged) == len(events)
    for done in told:
        document = done.document
        event = logged[document["event_id"]]
        assert event["seq"] == document["seq"]
        assert event["decision"]["verdict"] == document["decision"]["verdict"]
        assert ["ACCEPT", "REJECT", "DEGRADE"].index(event["decision"]["verdict"]) == done.code
    moves = moves_of(events)
    assert moves
    for run, steps in moves.items():
        whole = list(zip([None, *STAGES], STAGES, strict=False))
        assert steps == whole[: len(steps)], run
    stopped: set[str] = set()
    for event in events:
        if event["kind"] == "decision":
            assert event["run_id"] not in stopped, event["event_id"]
            if event["decision"]["verdict"] == "REJECT":
                stopped.add(event["run_id"])
    recovered = [event["recovered"] for event in events if "recovered" in event]
    kept = [path.read_bytes() for path in Path(desk.log.parent).glob("decision.ndjson.torn-*")]
    digests = {hashlib.sha256(data).hexdigest() for data in kept}
    assert {one["sha256"] for one in recovered} == digests
    runs = json.loads(desk.gate("status", "-o", "json").out)["runs"]
    assert {run["run_id"] for run in runs} >= set(moves)


@pytest.mark.parametrize("share", [1, 7, 100, 4000])
def test_ho_12_what_a_killed_writer_left_is_kept_and_told(share: int, desk: Desk) -> None:
    """The same assertions where a kill did leave a torn tail, be it one byte or a whole line without its newline."""
    desk.begin_at("CANARY_10")
    told = [desk.check(BLIND), desk.check(HEALTHY)]
    line = desk.log.read_bytes().splitlines()[-1]
    for number in range(3):
        with desk.log.open("ab") as log:
            log.write(line[:share])
        told.append(desk.check({**HEALTHY, "conversion_lift": number}, "--stage", "CANARY_25"))
        assert told[-1].code == 0
    assert_kept(desk, line[:share], told)


def assert_kept(desk: Desk, torn: bytes, told: list[Done]) -> None:
    """Three torn tails: three files, three events that tell of them, the run where it was."""
    recovered = [event["recovered"] for event in desk.events() if "recovered" in event]
    wanted = {"bytes": len(torn), "sha256": hashlib.sha256(torn).hexdigest()}
    assert recovered == [wanted] * 3
    kept = sorted(desk.log.parent.glob("decision.ndjson.torn-*"))
    assert [path.name for path in kept] == [f"decision.ndjson.torn-{number}" for number in (1, 2, 3)]
    assert {path.read_bytes() for path in kept} == {torn}
    ids = {event["event_id"] for event in desk.events()}
    assert {done.document["event_id"] for done in told} <= ids
    desk.assert_verifies()
