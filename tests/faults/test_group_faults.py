"""The lock's holder is killed while it works for others: none of them is told wrongly, nothing is done twice."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from gatekeeper.ledger.fsops import FileOps
from gatekeeper.model.exchange import Expectation
from tests.faults.faulty_ops import Fault, FaultyOps, killed_after, killed_before, killed_within
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.queueing import begin, next_step

KILLS = (killed_before, killed_after, killed_within)


class Signalling(FileOps):
    """Tells the other end of a pipe when it has handed in and waits."""

    def __init__(self, told: int) -> None:
        self.told = told

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """Tell it the first time."""
        if self.told >= 0:
            os.write(self.told, b".")
            self.told = -1
        return super().wait_readable(descriptor, seconds)


class Holder(FaultyOps):
    """Has the lock already, through the descriptor that it was forked with."""

    def try_lock(self, descriptor: int) -> bool:  # noqa: ARG002
        """Nobody else can have it."""
        return True


def forked(body: Callable[[], None]) -> int:
    """The id of a process that runs *body*."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            body()
            code = 0
        except BaseException:  # noqa: BLE001 - the child must never return into the test runner
            traceback.print_exc(file=sys.stderr)
        finally:
            os._exit(code)
    return child


def one_round(path: Path, at: int, fault: Fault | None) -> tuple[int, list[str]]:
    """A writer waits, the holder of the lock works for it and is killed at its *at*-th call.

    Returns:
        How the holder ended, and the calls that it made.
    """
    before = ledger_at(path)
    versions = begin(before, "own", "r")
    before.close()
    go, told, calls = os.pipe(), os.pipe(), os.pipe()

    def waits() -> None:
        os.close(go[1])
        os.read(go[0], 1)  # until the lock is held
        expect = Expectation("r", versions["r"])
        receipt = ledger_at(path, ops=Signalling(told[1])).append(next_step("r"), expect=expect, actor="t")
        assert [event["event_id"] for event in receipt.events] == ["r:SHADOW"]
        assert receipt.events[0] in events_of(path)

    def holds() -> None:
        os.close(go[1])
        ops = Holder(at, fault)
        ledger = ledger_at(path, ops=ops)
        os.read(told[0], 1)
        ops.arm()
        ledger.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
        os.write(calls[1], " ".join(ops.log).encode())

    waiter = forked(waits)
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    holder = forked(holds)
    for descriptor in (lock, go[0], go[1], told[1], calls[1]):  # the lock is the holder's alone now
        os.close(descriptor)
    end = os.waitpid(holder, 0)[1]
    assert os.waitpid(waiter, 0)[1] == 0
    with os.fdopen(calls[0], "rb") as file:
        log = file.read().decode().split()
    os.close(told[0])
    return end, log


@pytest.mark.slow
def test_a_holder_that_is_killed_anywhere_leaves_each_event_once(tmp_path: Path) -> None:
    """Killed before, after or within any of its disk calls: the writer's event is there once, and its receipt true."""
    (tmp_path / "plain").mkdir()
    end, calls = one_round(tmp_path / "plain" / "log.ndjson", 0, None)
    assert end == 0
    events = events_of(tmp_path / "plain" / "log.ndjson")
    assert [event["event_id"] for event in events][2:] == ["own:SHADOW", "r:SHADOW"]
    assert calls.count("flush") == 1  # both by the holder
    for kill in KILLS:
        for at in range(1, len(calls) + 1):
            home = tmp_path / f"{kill.__name__}-{at}"
            home.mkdir()
            path = home / "log.ndjson"
            end, _ = one_round(path, at, kill)
            where = f"{kill.__name__} {at} ({calls[at - 1]})"
            assert os.WIFSIGNALED(end), where
            assert os.WTERMSIG(end) == signal.SIGKILL, where
            ledger_at(path).append([], expect=None, actor="t")  # cuts a torn line off
            ids = [event["event_id"] for event in events_of(path)]
            assert ids.count("r:SHADOW") == 1, where
            assert ids.count("own:SHADOW") <= 1, where
            assert_whole(path)
            assert_state_follows(path)


def test_a_writer_that_is_killed_while_it_waits_leaves_no_event(tmp_path: Path) -> None:
    """A cancelled job's decision is not recorded hours later by whoever comes next."""
    path = tmp_path / "log.ndjson"
    versions = begin(ledger_at(path), "own", "r")
    told = os.pipe()

    def waits() -> None:
        expect = Expectation("r", versions["r"])
        ledger_at(path, ops=Signalling(told[1])).append(next_step("r"), expect=expect, actor="t")

    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    waiter = forked(waits)
    os.read(told[0], 1)
    os.kill(waiter, signal.SIGKILL)
    os.waitpid(waiter, 0)
    assert (tmp_path / "log.ndjson.queue").read_bytes() != b""
    os.close(lock)
    ledger_at(path).append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
    assert [event["event_id"] for event in events_of(path)][2:] == ["own:SHADOW"]
    assert list(tmp_path.glob("*.reply-*")) == []
    for descriptor in told:
        os.close(descriptor)
