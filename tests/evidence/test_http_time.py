from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gatekeeper.evidence.workers import Deadline
from tests.evidence.http_support import answering, code, detail, metric, read_one, reader
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import HangingServer

LIMIT = 0.3
"""Seconds: what a source may take in these tests."""


@contextmanager
def dripping_headers() -> Iterator[str]:
    """A server that sends its status line one byte each 0.05 s: every read is in time, the answer never comes."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                try:
                    connection.recv(65536)
                    while not over.wait(0.05):
                        connection.sendall(b"H")
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        thread.join(5)


def timed(url: str) -> float:
    """How long a source took that ran into its limit."""
    started = time.monotonic()
    reading = read_one(url, timeout_seconds=LIMIT)
    taken = time.monotonic() - started
    assert (reading.value, code(reading)) == (None, "timeout")
    return taken


def test_a_server_that_hangs_costs_no_more_than_the_limit() -> None:
    """It accepts, and never answers."""
    with HangingServer() as server:
        assert LIMIT <= timed(server.url) < LIMIT + 1


def test_a_server_that_drips_its_answer_costs_no_more_than_the_limit() -> None:
    """Each byte resets the time-out of a read; only the wall clock ends this."""
    with answering({"rate": 1, "pad": "x" * 1000}, drip_seconds=0.05) as server:
        assert LIMIT <= timed(server.url) < LIMIT + 1


def test_a_server_that_drips_its_headers_costs_no_more_than_the_limit() -> None:
    """No code of ours runs before the headers are in."""
    with dripping_headers() as url:
        assert LIMIT <= timed(url) < LIMIT + 1


def test_redirects_share_one_limit() -> None:
    """Four answers that each take most of the limit would take four times of it."""
    faults = [Fault(status=302, headers={"Location": "/x"}, delay=LIMIT * 0.8)]
    with FaultProxy(faults=faults) as server:
        assert timed(server.url) < LIMIT * 2
    assert len(server.requests) == 2


def test_the_deadline_of_the_collection_cuts_the_sources_own_limit_short() -> None:
    """The whole collection ends in time, whatever a source may take."""
    started = time.monotonic()
    with HangingServer() as server:
        reading = read_one(server.url, timeout_seconds=30, deadline=Deadline(LIMIT))
    assert code(reading) == "timeout"
    assert time.monotonic() - started < LIMIT + 1


def test_nothing_is_asked_when_the_deadline_has_passed() -> None:
    """An answer would be dropped anyway."""
    passed = Deadline(20, monotonic=iter([0.0, *[21.0] * 100]).__next__)
    with answering({"rate": 1}) as server:
        reading = read_one(server.url, deadline=passed)
    assert code(reading) == "timeout"
    assert not server.requests


def test_every_metric_and_side_has_a_reading_while_the_request_still_hangs() -> None:
    """At the deadline the collection asks for what there is, from another thread."""
    metrics = {"rate": metric(baseline_pointer="/old"), "depth": metric("/depth")}
    with HangingServer() as server:
        address = f"127.0.0.1:{server.port}"
        one = reader(server.url, metrics, timeout_seconds=30, deadline=Deadline(2))
        reading = threading.Thread(target=one.read, daemon=True)
        reading.start()
        assert one.progress == (0, 1)
        readings = one.readings()
        assert reading.is_alive()
    assert [(r.metric, r.side.value, code(r)) for r in readings] == [
        ("rate", "variant", "timeout"),
        ("rate", "baseline", "timeout"),
        ("depth", "variant", "timeout"),
    ]
    assert detail(readings[0]) == f"no whole answer from {address} within 2 s"
    reading.join(5)


def test_progress_counts_the_one_answer() -> None:
    """Somebody may be waiting for it."""
    with answering({"rate": 1}) as server:
        one = reader(server.url)
        one.read()
    assert one.progress == (1, 1)


def test_an_abandoned_request_asks_nothing_more() -> None:
    """The redirect that comes after the limit is not followed."""
    with FaultProxy(faults=[Fault(status=302, headers={"Location": "/x"}, delay=LIMIT * 1.5)]) as server:
        timed(server.url)
        server.wait_until_idle()
    assert len(server.requests) == 1


def test_a_bug_while_asking_is_raised_where_the_source_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a thread of its own would otherwise look like a time-out."""
    with answering({"rate": 1}) as server:
        one = reader(server.url)
        monkeypatch.setattr(one, "_judge", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one.read()
