"""Daemon threads under one deadline: nothing that hangs may keep anybody waiting, and no error may get lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import count

import pytest

from gatekeeper.evidence.workers import Deadline, Workers


def clock(*readings: float) -> Deadline:
    """A deadline of 10 seconds whose clock gives these readings, the last one for ever."""
    left = list(readings)
    return Deadline(10, monotonic=lambda: left.pop(0) if len(left) > 1 else left[0])


def test_time_left_never_becomes_negative() -> None:
    """A negative time-out raises in sockets and queues."""
    deadline = clock(100, 104, 111)

    assert deadline.left_seconds == 6
    assert deadline.left_seconds == 0


def test_a_job_that_hangs_does_not_hold_up_its_caller() -> None:
    """The caller goes on at the deadline, with what has come."""
    release, came = threading.Event(), list[str]()
    workers = Workers(2)

    is_done = workers.run([release.wait, lambda: came.append("quick")], Deadline(0.2))  # type: ignore[list-item]

    assert not is_done
    assert came == ["quick"]
    release.set()


def test_no_more_jobs_than_workers_run_at_once() -> None:
    """A server is not flooded: eight at a time, of however many."""
    lock, running, most, rounds = threading.Lock(), [0], [0], count()
    both = threading.Barrier(2)

    def job() -> None:
        with lock:
            next(rounds)
            running[0] += 1
            most[0] = max(most[0], running[0])
        both.wait(5)  # two really are under way together
        with lock:
            running[0] -= 1

    assert Workers(2).run([job] * 6, Deadline(10))
    assert most == [2]
    assert next(rounds) == 6


def test_an_error_of_a_job_reaches_the_caller_at_once() -> None:
    """A mistake in a reviewed file ends the call, though other jobs hang."""
    release = threading.Event()

    def mistaken() -> None:
        raise LookupError("no such column")

    with pytest.raises(LookupError, match="no such column"):
        Workers(2).run([release.wait, mistaken], Deadline(30))  # type: ignore[list-item]
    release.set()


def test_jobs_behind_an_error_are_not_begun() -> None:
    """After a mistake nobody is asked any more on its behalf."""
    begun: list[int] = []

    def mistaken() -> None:
        raise LookupError

    workers = Workers(1)
    with pytest.raises(LookupError):
        workers.run([mistaken, lambda: begun.append(1)], Deadline(30))
    workers.run([lambda: None], Deadline(30))  # in order: the turn of the job before has passed
    assert begun == []


def test_jobs_behind_the_deadline_are_not_begun() -> None:
    """What was still queued at the deadline must not be sent to a server later."""
    first, begun, release = threading.Event(), list[int](), threading.Event()
    workers = Workers(1)

    def slow() -> None:
        first.set()
        release.wait(10)

    assert not workers.run([slow, lambda: begun.append(1)], Deadline(0.1))
    assert first.is_set()
    release.set()
    assert workers.run([lambda: None], Deadline(10))  # the queue is worked off in order: the late job's turn has passed
    assert begun == []


def test_several_sources_share_the_workers() -> None:
    """One source's jobs that hang leave free workers to the other."""
    release = threading.Event()
    workers = Workers(2)
    hanging = threading.Thread(target=lambda: workers.run([release.wait], Deadline(10)))  # type: ignore[list-item]
    hanging.start()

    assert workers.run([lambda: None] * 3, Deadline(10))
    release.set()
    hanging.join()


def test_a_process_ends_though_a_job_hangs() -> None:
    """Threads that are waited for at exit would keep a CI job alive until it is killed."""
    program = (
        "import threading\n"
        "from gatekeeper.evidence.workers import Deadline, Workers\n"
        "print(Workers(8).run([threading.Event().wait] * 3, Deadline(0.1)))\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=20)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "False\n", "")
