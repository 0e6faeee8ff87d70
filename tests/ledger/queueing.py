"""Writers that wait for the lock: in threads that wait as long as it takes, so that a test orders them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore
from typing import Any

from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.exchange import Expectation, Receipt
from tests.ledger.checking import ledger_at
from tests.ledger.drafts import decision

WITHIN_SECONDS = 60.0


class Patient(FileOps):
    """Waits for its answer and never looks whether the lock is free; tells *waits* when it begins to."""

    def __init__(self, waits: Semaphore) -> None:
        self.waits = waits

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """The answer, however late."""
        if seconds:
            self.waits.release()
        return super().wait_readable(descriptor, WITHIN_SECONDS if seconds else 0)


class Impatient(FileOps):
    """Looks by itself whether the lock is free, as ever; tells *waits* when it begins to wait."""

    def __init__(self, waits: Semaphore) -> None:
        self.waits = waits

    def wait_readable(self, descriptor: int, seconds: float) -> bool:
        """The answer, if it comes soon."""
        self.waits.release()
        return super().wait_readable(descriptor, seconds)


class Counting(FileOps):
    """Notes what it writes and flushes."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.flushes = 0

    def write(self, descriptor: int, data: bytes) -> int:
        """Write and note it."""
        self.written.append(data)
        return super().write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        """Flush and count it."""
        self.flushes += 1
        super().flush(descriptor)


@contextmanager
def lock_of(path: Path) -> Iterator[None]:
    """Hold the log's lock as another process would."""
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def next_step(run_id: str) -> list[dict[str, Any]]:
    """A run's second decision."""
    return [decision(run_id, "SHADOW", from_stage="DRY_RUN")]


def begin(ledger: NdjsonLedger, *run_ids: str) -> dict[str, int]:
    """Begin runs; the version of each."""
    seqs = {}
    for run_id in run_ids:
        draft = decision(run_id, experiment=f"exp-{run_id}")
        seqs[run_id] = int(ledger.append([draft], expect=Expectation(run_id, 0), actor="t").events[-1]["seq"])
    return seqs


def while_they_wait(
    path: Path,
    drafts: dict[str, list[dict[str, Any]]],
    versions: dict[str, int],
    act: Callable[[], object],
    *,
    ops: Callable[[Semaphore], FileOps] = Patient,
    options: dict[str, Any] | None = None,
) -> dict[str, Future[Receipt]]:
    """Let a writer for each run hand in its *drafts* while the lock is held; when all wait, free it and *act*."""
    waits = Semaphore(0)

    def writer(run_id: str) -> Receipt:
        ledger = ledger_at(path, ops=ops(waits))
        try:
            expect = Expectation(run_id, versions[run_id])
            return ledger.append(drafts[run_id], expect=expect, actor="t", **(options or {}))
        finally:
            ledger.close()

    with ThreadPoolExecutor(len(drafts)) as pool:
        with lock_of(path):
            futures = {run_id: pool.submit(writer, run_id) for run_id in drafts}
            for _ in drafts:
                assert waits.acquire(timeout=WITHIN_SECONDS)
        act()
        return futures


def served(
    path: Path,
    drafts: dict[str, list[dict[str, Any]]],
    *,
    ops: Callable[[Semaphore], FileOps] = Patient,
    options: dict[str, Any] | None = None,
) -> dict[str, Future[Receipt]]:
    """Begin the runs, and one more, whose second step another process takes while the writers of *drafts* wait."""
    holder = ledger_at(path)
    versions = begin(holder, "own", *drafts)
    expect = Expectation("own", versions["own"])
    return while_they_wait(
        path,
        drafts,
        versions,
        lambda: holder.append(next_step("own"), expect=expect, actor="t"),
        ops=ops,
        options=options,
    )
