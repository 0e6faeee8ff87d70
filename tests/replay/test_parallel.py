"""Work on all cores that ends as if it were complete, or leaves somebody behind."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatekeeper.errors import LogDamagedError, LogError
from gatekeeper.replay import parts, verify
from gatekeeper.replay.blocks import Source
from gatekeeper.replay.parallel import Workers, may_fork
from gatekeeper.replay.parts import Wanted
from gatekeeper.replay.verify import verify_files
from tests import processes
from tests.replay.builder import write
from tests.replay.tampering import LOG

_servers: set[int] = set()
"""What tests before have started and go on using."""


@pytest.fixture(autouse=True)
def _servers_of_other_tests_do_not_count() -> None:
    _servers.clear()
    _servers.update(processes.children())


def children() -> list[int]:
    """Processes that this test has started and that are still there, ended or not."""
    return sorted(processes.children() - _servers)


def test_answers_come_in_the_order_of_the_tasks() -> None:
    """Whoever is done first; a task may have none or many."""
    with Workers(3, range(7), lambda task: ["x" * 100_000] * task) as workers:
        assert [[len(answer) for answer in answers] for answers in workers.answers()] == [
            [100_000] * task for task in range(7)
        ]
    assert children() == []


def test_a_worker_that_is_killed_ends_the_work_with_an_error() -> None:
    """Before it was done: what it would have said nobody knows, so nothing is said to be fine."""

    def work(task: int) -> Iterator[int]:
        yield task
        if task == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    with Workers(2, range(8), work) as workers:
        tasks = workers.answers()
        assert [list(next(tasks)) for _ in range(4)] == [[0], [1], [2], [3]]
        with pytest.raises(LogError, match="was killed by signal 9 before it was done"):
            list(next(tasks))
    assert children() == []


def test_a_log_that_a_killed_worker_has_checked_gets_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory ran out, say, and the system chose one of us."""
    real = parts.Helper.check

    def check(self: parts.Helper, index: int) -> Iterator[object]:
        if index == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, index)

    monkeypatch.setattr(parts.Helper, "check", check)
    path = write(tmp_path / "decision.ndjson", LOG)
    with pytest.raises(LogError, match="signal 9"):
        verify_files([Source(str(path))], Wanted(jobs=2, range_bytes=4000))
    assert children() == []


def test_an_error_of_a_worker_is_the_error_of_the_work() -> None:
    """With its type, its message and its remedy; a bug is told as a bug."""

    def refuse(_: int) -> Iterator[int]:
        raise LogDamagedError("it is damaged", remedy="mend it")

    with pytest.raises(LogDamagedError, match="it is damaged") as caught, Workers(2, range(2), refuse) as workers:
        [list(answers) for answers in workers.answers()]
    assert caught.value.remedy == "mend it"

    def fail(_: int) -> Iterator[int]:
        raise ZeroDivisionError("ours")

    with pytest.raises(RuntimeError, match="ZeroDivisionError: ours"), Workers(2, range(2), fail) as workers:
        [list(answers) for answers in workers.answers()]


def test_whoever_stops_reading_leaves_no_worker_behind() -> None:
    """Those that wait with a full pipe too."""

    def work(task: int) -> Iterator[bytes]:
        while True:
            yield bytes(1 << 20) + bytes([task])

    with Workers(3, range(3), work) as workers:
        for answers in workers.answers():
            next(answers)
            break
        assert len(children()) == 3
    assert children() == []


def test_a_worker_runs_none_of_its_parents_clean_up(tmp_path: Path) -> None:
    """A `finally` of the parent that ran in a child too might remove what is still in use."""
    path = tmp_path / "said"
    try:
        with Workers(2, range(2), lambda task: [task]) as workers:
            for answers in workers.answers():
                list(answers)
    finally:
        with path.open("a") as file:
            file.write("once\n")
    assert path.read_text() == "once\n"


def test_a_handler_of_the_parent_does_not_run_in_a_worker(tmp_path: Path) -> None:
    """SIGTERM to one of them ends it; what the parent would do then, it does itself."""
    path = tmp_path / "said"

    def work(task: int) -> Iterator[int]:
        yield task
        os.kill(os.getpid(), signal.SIGTERM)
        yield task

    before = signal.signal(signal.SIGTERM, lambda *_: path.touch())
    try:
        with Workers(1, [7], work) as workers, pytest.raises(LogError, match="was killed by signal 15"):
            list(next(workers.answers()))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not path.exists()


def test_a_process_with_threads_does_not_fork() -> None:
    """A lock that one of them holds would stay locked in the child for ever."""
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    assert may_fork()
    thread.start()
    try:
        assert not may_fork()
    finally:
        event.set()
        thread.join()


SCRIPT = """
import os, sys, time
from gatekeeper.replay.parallel import Workers
def work(task):
    yield os.getpid()
    while True:
        if HOW == "busy":
            sum(range(1000))
        else:
            yield bytes(1 << 20)
HOW = sys.argv[1]
with Workers(2, range(2), work) as workers:
    print(*[next(child.answers()) for child in workers._children], flush=True)
    while True:  # signal.pause() would sleep through an interrupt that comes just before it
        time.sleep(0.1)
"""


def is_there(pid: int) -> bool:
    """Whether the process runs, or waits to be read from."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", ["busy", "telling"])
def test_an_interrupt_ends_all_of_them(how: str) -> None:
    """Ctrl-C reaches the whole group; none of the children says a word, and none is left."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(verify.__file__).parents[2])},
    )
    assert process.stdout is not None
    try:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        os.killpg(process.pid, signal.SIGINT)
        _, words = process.communicate(timeout=30)
        assert process.returncode == -signal.SIGINT
        assert words.count(b"Traceback") == 1, words
        assert not any(map(is_there, pids))
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def test_a_child_may_run_ahead_of_a_slower_one() -> None:
    """A pipe of usual size holds eight long lines: the faster child would wait for the slower one all the time."""
    with Workers(2, [1, 2], lambda task: [b"x" * 900_000] if task == 2 else []) as workers:
        for child in workers._children:
            assert fcntl.fcntl(child.pipe, fcntl.F_GETPIPE_SZ) > 900_000
        assert [len(b"".join(answers)) for answers in workers.answers()] == [0, 900_000]
