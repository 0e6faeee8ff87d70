"""Many processes on one log: no line lost, torn, doubled or out of order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from gatekeeper.model.exchange import ConflictError, Expectation
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision, stop

PROCESSES = 8
APPENDS = 40

_processes = multiprocessing.get_context("fork")


def at_once(body: Callable[[int, Barrier], None]) -> None:
    """Run *body* in eight processes that wait for each other at a barrier."""
    barrier = _processes.Barrier(PROCESSES)
    children = [_processes.Process(target=body, args=(number, barrier)) for number in range(PROCESSES)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * PROCESSES


@pytest.mark.slow
def test_long_lines_of_eight_writers_stay_whole(tmp_path: Path) -> None:
    """Handout HO-14: 8 x 40 appends over 4 KiB each, all from one starting shot: 320 lines, one chain."""
    path = tmp_path / "logs" / "decision.ndjson"

    def write(number: int, barrier: Barrier) -> None:
        ledger = ledger_at(path)
        barrier.wait()
        for count in range(1, APPENDS + 1):
            draft = decision(f"r{number}", number=count, metrics_snapshot={"pad": f"{number}" * 6000})
            ledger.append([draft], expect=Expectation(f"r{number}", ledger_version(count, number)), actor="t")

    versions: dict[int, int] = {}

    def ledger_version(count: int, number: int) -> int:
        if count == 1:
            return 0
        run = ledger_at(path).view().run(f"r{number}")
        assert run is not None
        versions[number] = run.version
        return run.version

    at_once(write)
    events = events_of(path)
    assert len(events) == PROCESSES * APPENDS
    assert [event["seq"] for event in events] == list(range(1, PROCESSES * APPENDS + 1))
    assert all(len(line) > 4096 for line in path.read_bytes().split(b"\n")[:-1])
    assert_whole(path)
    assert_state_follows(path)


@pytest.mark.slow
def test_writers_without_a_break_stay_whole(tmp_path: Path) -> None:
    """Appends in a row leave the state behind; eight such writers must still see each other's lines."""
    path = tmp_path / "logs" / "decision.ndjson"

    def write(number: int, barrier: Barrier) -> None:
        ledger = ledger_at(path)
        barrier.wait()
        for count in range(1, APPENDS + 1):
            ledger.append([decision(f"r{number}", number=count)], expect=None, actor="t")

    at_once(write)
    assert len(events_of(path)) == PROCESSES * APPENDS
    assert_whole(path)
    assert_state_follows(path)


@pytest.mark.slow
def test_of_eight_equal_triggers_one_moves_the_run(tmp_path: Path) -> None:
    """Handout HO-14 a: all have seen the same version, so one append passes and seven must read again."""
    path = tmp_path / "decision.ndjson"
    ledger = ledger_at(path)
    ledger.append([decision()], expect=None, actor="t")
    ledger.close()

    def move(number: int, barrier: Barrier) -> None:
        mine = ledger_at(path)
        run = mine.view().run("r")
        assert run is not None
        barrier.wait()
        draft = decision(stage="SHADOW", number=number + 1, from_stage="DRY_RUN")
        try:
            mine.append([draft], expect=Expectation("r", run.version), actor="t")
        except ConflictError:
            path.with_name(f"conflict-{number}").touch()

    at_once(move)
    assert len(events_of(path)) == 2
    assert len(list(tmp_path.glob("conflict-*"))) == PROCESSES - 1
    assert_whole(path)


@pytest.mark.slow
def test_eight_first_checks_create_one_log(tmp_path: Path) -> None:
    """The directory, the log, the lock and the state are all made at the same moment by eight processes."""
    path = tmp_path / "logs" / "decision.ndjson"

    def begin(number: int, barrier: Barrier) -> None:
        mine = ledger_at(path)
        barrier.wait()
        mine.view()
        mine.append([decision(f"r{number}"), stop(f"r{number}")], expect=None, actor="t")

    at_once(begin)
    assert len(events_of(path)) == 2 * PROCESSES
    assert_whole(path)
    assert_state_follows(path)
