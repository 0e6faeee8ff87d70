from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from gatekeeper.ledger.commit import queue_path
from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.group_wait import Waiter, receipt_of
from gatekeeper.ledger.group_wire import answer_of
from gatekeeper.model.exchange import ConflictError, Expectation, Receipt
from tests.ledger.checking import assert_whole, events_of, ledger_at
from tests.ledger.drafts import decision, stop
from tests.ledger.queueing import (
    WITHIN_SECONDS,
    Counting,
    Impatient,
    Patient,
    begin,
    lock_of,
    next_step,
    served,
    while_they_wait,
)


class HasTheLock(FileOps):
    """Acts under the lock that the test holds, and sees no queue, as an older release would."""

    def try_lock(self, descriptor: int) -> bool:  # noqa: ARG002
        """Yes."""
        return True

    def length(self, path: str) -> int:
        """There is no queue."""
        if path.endswith(".queue"):
            raise FileNotFoundError(path)
        return super().length(path)


def test_a_twin_that_was_first_is_not_taken_for_oneself(tmp_path: Path) -> None:
    """Another process records the very same event while this one waits: this one hears that it was second."""
    path = tmp_path / "log.ndjson"
    versions = begin(ledger_at(path), "r")
    expect, waits = Expectation("r", versions["r"]), Semaphore(0)

    def waiter() -> Receipt:
        return ledger_at(path, ops=Impatient(waits)).append(next_step("r"), expect=expect, actor="t")

    with ThreadPoolExecutor(1) as pool:
        with lock_of(path):
            future = pool.submit(waiter)
            assert waits.acquire(timeout=60)
            ledger_at(path, ops=HasTheLock()).append(next_step("r"), expect=expect, actor="t")
        with pytest.raises(ConflictError):
            future.result()


def test_what_others_recorded_under_ones_id_is_not_ones_receipt(tmp_path: Path) -> None:
    """An event of the same id and another content is a conflict, the same content the receipt."""
    path = tmp_path / "log.ndjson"
    ledger = ledger_at(path)
    (event,) = ledger.append([decision("r")], expect=None, actor="t").events
    assert receipt_of([decision("r")], ledger.view()).events == (event,)
    with pytest.raises(ConflictError):
        receipt_of([decision("r", verdict="REJECT")], ledger.view())
    with pytest.raises(ConflictError):
        receipt_of([decision("r"), stop("r")], ledger.view())


class Haunted(Patient):
    """Finds an answer to an older request in its pipe, before anybody knows that it waits."""

    is_haunted = True

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """At its first look."""
        if not self.is_haunted:
            return super().wait_readable(descriptor, seconds)
        self.is_haunted = False
        os.write(descriptor, answer_of(0, [(99, "sha256:" + "0" * 64, "2026-02-18T01:00:00.000000Z")]))
        return FileOps.wait_readable(self, descriptor, seconds)


def test_an_answer_to_an_older_request_is_not_heard(tmp_path: Path) -> None:
    """The receipt is that of the newest request."""
    path = tmp_path / "log.ndjson"
    futures = served(path, {"r": next_step("r")}, ops=Haunted)
    assert futures["r"].result().events == (events_of(path)[-1],)


def test_one_who_goes_without_having_served_wakes_the_next(tmp_path: Path) -> None:
    """The holder meets a conflict of its own: the first that waits hears that the lock is free."""
    path = tmp_path / "log.ndjson"
    holder = ledger_at(path)
    versions = begin(holder, "own", "r")

    def act() -> None:
        with pytest.raises(ConflictError):
            holder.append(next_step("own"), expect=Expectation("own", 0), actor="t")

    begun = time.monotonic()
    futures = while_they_wait(path, {"r": next_step("r")}, versions, act)
    assert len(futures["r"].result().events) == 1
    assert time.monotonic() - begun < WITHIN_SECONDS / 2


class Welcoming(Counting):
    """Lets others come while it flushes."""

    def __init__(self, arrive: Callable[[], None]) -> None:
        super().__init__()
        self.arrive: Callable[[], None] | None = arrive

    def flush(self, descriptor: int) -> None:
        """Once."""
        arrive, self.arrive = self.arrive, None
        if arrive is not None:
            arrive()
        super().flush(descriptor)


def test_those_who_come_during_the_flush_are_served_next(tmp_path: Path) -> None:
    """The holder goes on for them while it has the lock and a state that is level."""
    path = tmp_path / "log.ndjson"
    before = ledger_at(path)
    versions = begin(before, "own", "late")
    before.close()
    waits, results = Semaphore(0), list[Any]()

    def late() -> None:
        ledger = ledger_at(path, ops=Patient(waits))
        results.append(ledger.append(next_step("late"), expect=Expectation("late", versions["late"]), actor="t"))
        ledger.close()

    with ThreadPoolExecutor(1) as pool:

        def arrive() -> None:
            pool.submit(late)
            assert waits.acquire(timeout=60)

        ops = Welcoming(arrive)
        holder = ledger_at(path, ops=ops)
        holder.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
        assert ops.flushes == 2
    assert [event["event_id"] for event in events_of(path)][2:] == ["own:SHADOW", "late:SHADOW"]
    assert results[0].events == (events_of(path)[-1],)


class Short(FileOps):
    """The queue's disk is full: it takes half a request."""

    def __init__(self, waits: Semaphore) -> None:
        self.waits = waits

    def write(self, descriptor: int, data: bytes) -> int:
        """Half of what begins like a request."""
        if data[:1].isdigit():
            self.waits.release()
            return super().write(descriptor, data[: len(data) // 2])
        return super().write(descriptor, data)

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """Nobody will answer half a request."""
        return super().wait_readable(descriptor, WITHIN_SECONDS if seconds else 0)


def test_half_a_request_is_not_waited_for(tmp_path: Path) -> None:
    """The writer waits for the lock instead, and the next holder throws the half away."""
    path = tmp_path / "log.ndjson"
    begun = time.monotonic()
    futures = served(path, {"r": next_step("r")}, ops=Short)
    assert futures["r"].result().events[0]["event_id"] == "r:SHADOW"
    assert time.monotonic() - begun < WITHIN_SECONDS / 2
    assert_whole(path)


class Queued(FileOps):
    """Notes the tries for the lock before its writer first waits, and then lets the lock's holder go."""

    def __init__(self, holder: int) -> None:
        self.holder: int | None = holder
        self.tries = 0
        self.tries_before_waiting: int | None = None

    def try_lock(self, descriptor: int) -> bool:
        """Try, and count it."""
        self.tries += 1
        return super().try_lock(descriptor)

    def wait_readable(self, descriptor: int, seconds: float) -> bool:  # noqa: ARG002
        """Nobody will answer."""
        if self.holder is not None:
            self.tries_before_waiting = self.tries
            os.close(self.holder)
            self.holder = None
        return super().wait_readable(descriptor, 0)


def test_where_others_wait_nobody_tries_for_the_lock_first(tmp_path: Path) -> None:
    """Sixteen writers that each open and try the lock before they wait cost the one who has it its processor."""
    path = tmp_path / "log.ndjson"
    before = ledger_at(path)
    versions = begin(before, "own", "other")
    holder = before._follower.lock()
    ops = Queued(holder)
    ledger = ledger_at(path, ops=ops)
    ledger._waiter = Waiter(ledger._follower)  # as after an append for which it had to wait
    Path(queue_path(str(path))).write_bytes(b"a request")
    receipt = ledger.append(next_step("own"), expect=Expectation("own", versions["own"]), actor="t")
    assert (ops.tries_before_waiting, receipt.events) == (0, (events_of(path)[-1],))
    ledger.close()
    before.close()
