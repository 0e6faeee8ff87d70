"""One wall-clock deadline, and threads that cannot keep a process alive.

A thread that waits for a server cannot be stopped, only abandoned: so all are daemons, nobody joins them, and what
an abandoned one still brings is dropped by whoever asked.
"""

from __future__ import annotations

import queue
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Job = Callable[[], None]


class _Batch:
    """Jobs that belong together: it has ended with the last of them, or with the first that raised."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._lock = threading.Lock()
        self.ended = threading.Event()
        self.failure: BaseException | None = None

    def do(self, job: Job, deadline: Deadline) -> None:
        if self.failure is not None or not deadline.left_seconds:
            return
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
            self.failure = error
            self.ended.set()
            return
        with self._lock:
            self._left -= 1
            if not self._left:
                self.ended.set()


class Deadline:
    """The moment at which a collection ends, whatever is still missing."""

    def __init__(self, seconds: float, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._started = monotonic()
        self.seconds = seconds

    @property
    def elapsed_seconds(self) -> float:
        """Time since the beginning."""
        return self._monotonic() - self._started

    @property
    def left_seconds(self) -> float:
        """Time that is left, never below 0."""
        return max(0.0, self.seconds - self.elapsed_seconds)


class Workers:
    """Daemon threads that take jobs from one queue, in the order in which they were put there.

    They are started when they are first needed, so that a collection of files has none.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._started = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()

    def run(self, jobs: Sequence[Job], deadline: Deadline) -> bool:
        """Do *jobs*; whether all were done before the deadline.

        Raises:
            BaseException: the first that a job raised, as soon as it did; the other jobs are abandoned.
        """
        if not jobs:
            return True
        batch = _Batch(len(jobs))
        self._start(len(jobs))
        for job in jobs:
            self._jobs.put(partial(batch.do, job, deadline))
        done = batch.ended.wait(deadline.left_seconds)
        if batch.failure is not None:
            raise batch.failure
        return done

    def close(self) -> None:
        """Let idle threads end; busy ones are abandoned."""
        for _ in range(self._started):
            self._jobs.put(None)

    def _start(self, wanted: int) -> None:
        with self._lock:
            for _ in range(min(wanted, self._count - self._started)):
                self._started += 1
                threading.Thread(target=self._work, name="gatekeeper-collect", daemon=True).start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
