from __future__ import annotations

import errno
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from gatekeeper.errors import LogError
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.group_queue import hand_in, new_pipe
from gatekeeper.ledger.group_wire import DO_IT_YOURSELF, frame_of
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.ledger.projection_schema import load_head, open_file
from gatekeeper.model.event import encode_line, line_digest
from gatekeeper.model.exchange import ConflictError, Expectation
from tests.doubles import StepClock
from tests.ledger.checking import assert_state_follows, assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision, policy, stop
from tests.ledger.queueing import (
    Counting,
    Patient,
    begin,
    lock_of,
    next_step,
    served,
    while_they_wait,
)

RUNS = tuple(f"r{number}" for number in range(6))


def side_files(path: Path) -> set[str]:
    """What stands beside the log besides state, lock and an empty queue."""
    usual = {path.name, f"{path.name}.lock", f"{path.name}.db", f"{path.name}.db-wal", f"{path.name}.db-shm"}
    queue = path.with_name(f"{path.name}.queue")
    assert not queue.exists() or queue.read_bytes() == b""
    return {found.name for found in path.parent.iterdir()} - usual - {queue.name}


def test_those_who_wait_do_not_each_wait_for_the_device(tmp_path: Path) -> None:
    """Six writers wait: the next one writes their events with its own, in one write and one flush, and all hear it."""
    path = tmp_path / "log.ndjson"
    ops = Counting()
    holder = ledger_at(path, ops=ops)
    versions = begin(holder, "own", *RUNS)
    ops.written.clear()
    ops.flushes = 0
    expect = Expectation("own", versions["own"])
    futures = while_they_wait(
        path,
        {run_id: next_step(run_id) for run_id in RUNS},
        versions,
        lambda: holder.append(next_step("own"), expect=expect, actor="t"),
    )
    lines = path.read_bytes().splitlines()[len(versions) :]
    assert len(lines) == 1 + len(RUNS)
    assert ops.flushes == 1
    assert [data for data in ops.written if data.startswith(b'{"actor"')] == [b"".join(x + b"\n" for x in lines)]
    logged = {event["run_id"]: event for event in events_of(path)[len(versions) :]}
    for run_id, future in futures.items():
        assert future.result().events == (logged[run_id],)
        assert encode_line(logged[run_id]) in lines
    assert_whole(path)
    with closing(open_file(f"{path}.db")) as state:
        assert load_head(state).seq == len(versions) + len(lines)  # nobody else has to read them
    assert_state_follows(path)
    assert side_files(path) == set()


def test_one_who_was_overtaken_is_not_recorded(tmp_path: Path) -> None:
    """A waiting writer that has seen an older version of its run is told of the conflict, and leaves nothing."""
    path = tmp_path / "log.ndjson"
    holder = ledger_at(path)
    versions = begin(holder, "r")
    expect = Expectation("r", versions["r"])
    futures = while_they_wait(
        path, {"r": next_step("r")}, versions, lambda: holder.append([stop("r")], expect=expect, actor="t")
    )
    with pytest.raises(ConflictError):
        futures["r"].result()
    assert [event["kind"] for event in events_of(path)] == ["decision", "action"]
    assert side_files(path) == set()


def test_two_that_wait_with_the_same_step_do_not_both_take_it(tmp_path: Path) -> None:
    """The second of one group is compared with what the first has done to the run."""
    path = tmp_path / "log.ndjson"
    holder = ledger_at(path)
    versions = begin(holder, "own", "r")
    waits = Semaphore(0)
    outcomes: list[Any] = []

    def writer() -> None:
        ledger = ledger_at(path, ops=Patient(waits))
        try:
            outcomes.append(ledger.append(next_step("r"), expect=Expectation("r", versions["r"]), actor="t"))
        except ConflictError as error:
            outcomes.append(error)
        finally:
            ledger.close()

    with ThreadPoolExecutor(2) as pool:
        with lock_of(path):
            done = [pool.submit(writer) for _ in range(2)]
            assert all(waits.acquire(timeout=60) for _ in done)
        holder.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ConflictError", "Receipt"]
    assert [event["event_id"] for event in events_of(path)].count("r:SHADOW") == 1


def test_a_policy_that_the_log_lacks_is_recorded_before_its_decision(tmp_path: Path) -> None:
    """What needs a `policy` event is not done for others: the writer does it, and the log explains itself."""
    path = tmp_path / "log.ndjson"
    futures = served(path, {"r": next_step("r")}, options={"policies": [policy()]})
    assert [event["kind"] for event in futures["r"].result().events] == ["policy", "decision"]
    assert_whole(path)


class Full(FileOps):
    """A disk that takes the first line and no other."""

    def write(self, descriptor: int, data: bytes) -> int:
        """ENOSPC for what is longer than one event."""
        if data.count(b"\n") > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, data)


class Worn(FileOps):
    """A device that fails the first flush."""

    def __init__(self) -> None:
        self.has_failed = False

    def flush(self, descriptor: int) -> None:
        """EIO once."""
        if not self.has_failed:
            self.has_failed = True
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().flush(descriptor)


@pytest.mark.parametrize("disk", [Full, Worn])
def test_a_failed_write_or_flush_of_the_group_is_nobodys_success(tmp_path: Path, disk: type[FileOps]) -> None:
    """The holder hears of it, nothing of the group stays, and each writer tries for itself."""
    path = tmp_path / "log.ndjson"
    before = ledger_at(path)
    versions = begin(before, "own", "r")
    before.close()
    holder = ledger_at(path, ops=disk())

    def act() -> None:
        with pytest.raises(LogError):
            holder.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")

    futures = while_they_wait(path, {"r": next_step("r")}, versions, act)
    assert futures["r"].result().events[0]["seq"] == len(versions) + 1
    assert [event["event_id"] for event in events_of(path)][len(versions) :] == ["r:SHADOW"]
    assert_state_follows(path)


class Without(FileOps):
    """A place where no pipe can be made, as on some network disks."""

    def __init__(self, waits: Semaphore) -> None:
        self.waits = waits

    def make_pipe(self, path: str) -> None:
        """Not supported; the caller will wait for the lock itself."""
        self.waits.release()
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP), path)


def test_where_no_pipe_can_be_made_the_lock_alone_will_do(tmp_path: Path) -> None:
    """The writer waits for the lock as if nobody did anything for others."""
    path = tmp_path / "log.ndjson"
    versions = begin(ledger_at(path), *RUNS)
    steps = {run_id: next_step(run_id) for run_id in RUNS}
    futures = while_they_wait(path, steps, versions, lambda: None, ops=Without)
    assert sorted(int(future.result().events[0]["seq"]) for future in futures.values()) == list(range(7, 13))
    assert_whole(path)


@pytest.mark.parametrize("junk", [b"00000009", b"0000001200000100{", b"no frame", b"\x00" * 64, b"[]" * 40])
def test_a_torn_request_hinders_nobody(tmp_path: Path, junk: bytes) -> None:
    """What a killed writer or a power cut left in the queue is thrown away; who waits behind it gets its turn."""
    path = tmp_path / "log.ndjson"
    holder = ledger_at(path)
    versions = begin(holder, "own", "r")
    assert hand_in(FileOps(), str(path), junk)
    holder.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
    ledger_at(path).append(next_step("r"), expect=Expectation("r", versions["r"]), actor="t")
    assert_whole(path)
    assert side_files(path) == set()


def test_a_clock_that_is_behind_is_not_covered_up_for_others(tmp_path: Path) -> None:
    """The holder's clock is behind the log: each writer records its own reading."""
    path = tmp_path / "log.ndjson"
    versions = begin(ledger_at(path), "own", "r")
    holder = NdjsonLedger(str(path), clock=StepClock(moment=StepClock().now() - 5_000_000))
    expect = Expectation("own", versions["own"])
    futures = while_they_wait(
        path,
        {"r": next_step("r")},
        versions,
        lambda: holder.append(next_step("own"), expect=expect, actor="t"),
    )
    own, other = events_of(path)[len(versions) :]
    assert "clock" in own
    assert "clock" not in other
    assert other["ts"] >= own["ts"]
    assert futures["r"].result().events == (other,)


def test_a_chain_through_a_group_can_be_checked_with_sha_256_alone(tmp_path: Path) -> None:
    """Each line's `prev` is the digest of the bytes before it, whoever has joined them."""
    path = tmp_path / "log.ndjson"
    served(path, {run_id: [*next_step(run_id), stop(run_id)] for run_id in RUNS})
    prev = "sha256:" + "0" * 64
    lines = path.read_bytes().splitlines()
    assert len(lines) == 1 + len(RUNS) + 1 + 2 * len(RUNS)
    for seq, (line, event) in enumerate(zip(lines, events_of(path), strict=True), 1):
        assert (event["prev"], event["seq"]) == (prev, seq)
        assert encode_line(event) == line
        prev = line_digest(line)
    assert_state_follows(path)


def test_an_id_that_is_taken_is_not_taken_again(tmp_path: Path) -> None:
    """A waiting writer that is level with its run, and whose event's id is in the log, is told of the conflict."""
    path = tmp_path / "log.ndjson"
    futures = served(path, {"r": [decision("r")]})
    with pytest.raises(ConflictError):
        futures["r"].result()
    assert [event["event_id"] for event in events_of(path)].count("r:DRY_RUN") == 1


def test_a_request_for_one_run_does_not_write_events_of_another(tmp_path: Path) -> None:
    """What a request says of itself must be what its events say."""
    path = tmp_path / "log.ndjson"
    holder = ledger_at(path)
    versions = begin(holder, "own", "r", "s")
    pipe = new_pipe(FileOps(), str(path))
    expect = Expectation("r", versions["s"])
    frame = frame_of(next_step("r"), expect=expect, policies=(), reply=pipe.name, number=1)
    assert frame is not None
    assert hand_in(FileOps(), str(path), re.sub(rb'("run_id": ?)"r"', rb'\1"s"', frame, count=1))
    holder.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
    assert pipe.hear(0) == [(1, DO_IT_YOURSELF)]
    assert len(events_of(path)) == len(versions) + 1
    pipe.close()


def test_a_founding_run_needs_no_queue(tmp_path: Path) -> None:
    """A run's first decision, whose slot is looked up in the tables, waits for the lock and is recorded."""
    path = tmp_path / "log.ndjson"
    begin(ledger_at(path), "r")
    ledger = ledger_at(path)
    expect = Expectation("new", 0, slot=("e2", "B", False))
    receipt = ledger.append([decision("new", experiment="e2")], expect=expect, actor="t")
    assert receipt.events[0]["seq"] == 2
