"""Databases that are not there: a hold with its kind, by the deadline at the latest, and no password in any word."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.evidence.sql_support import code, collected, metric, read
from tests.lab.sockets import HangingServer, refused_port

ROOT = Path(__file__).parents[2]
LOGIN = "postgresql+psycopg://ci:Pa55word@"
METRICS = {"a": metric("SELECT 1 AS rate", baseline="rate"), "b": metric("SELECT 2 AS rate")}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"127.0.0.1:{refused_port()}/dwh", "Connection refused"),
        ("no-such-host.invalid/dwh", "no-such-host.invalid"),
        ("/dwh?host=/nonexistent", "/nonexistent"),
    ],
    ids=["no listener", "no host", "no socket"],
)
def test_a_database_that_is_not_there_is_unreachable(address: str, said: str) -> None:
    """All metrics and sides have a reading that says so, and who was asked."""
    readings = read(LOGIN + address, METRICS)
    assert [(reading.metric, str(reading.side), code(reading)) for reading in readings] == [
        ("a", "variant", "unreachable"),
        ("a", "baseline", "unreachable"),
        ("b", "variant", "unreachable"),
    ]
    for reading in readings:
        assert reading.problem is not None
        assert said in reading.problem.detail
        assert "Pa55word" not in repr(reading)
        assert reading.record["endpoint"] == "postgresql+psycopg://" + address.partition("?")[0]


@pytest.mark.slow
def test_a_server_that_never_answers_ends_at_the_connect_timeout() -> None:
    """PostgreSQL's driver knows no shorter one than two seconds."""
    with HangingServer() as server:
        started = time.monotonic()
        readings = read(f"{LOGIN}127.0.0.1:{server.port}/dwh", METRICS, connect_timeout_seconds=1)
        assert 1.9 <= time.monotonic() - started < 4
        assert server.connections == 1
    assert {code(reading) for reading in readings} == {"timeout"}


def test_a_server_that_never_answers_ends_at_the_deadline() -> None:
    """Though the source would wait for five seconds, and the snapshot has all metrics and sides."""
    with HangingServer() as server:
        started = time.monotonic()
        document = collected(f"{LOGIN}127.0.0.1:{server.port}/dwh", METRICS, deadline=0.4).document
        assert 0.4 <= time.monotonic() - started < 1.4
        server.wait()
    assert document["metrics"] == {"a": None, "b": None}
    for part, name in ((document, "a"), (document, "b"), (document["baseline"], "a")):
        assert part["observations"][name]["problem"] == {
            "code": "observation_missing:source_unavailable",
            "detail": "no answer within the collection's 0.4 s",
            "kind": "timeout",
        }


def test_a_server_of_another_kind_is_a_bad_endpoint() -> None:
    """A web server at the port that was stated."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with listener.accept()[0] as client:
                client.recv(1024)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        web = threading.Thread(target=answer)
        web.start()
        readings = read(f"{LOGIN}127.0.0.1:{listener.getsockname()[1]}/dwh", METRICS)
        web.join(10)
    assert {code(reading) for reading in readings} == {"bad_endpoint"}


def test_an_option_that_the_driver_does_not_know_is_a_bad_endpoint() -> None:
    """Its value is a secret, as far as anybody knows."""
    (reading, *_) = read(f"{LOGIN}127.0.0.1:{refused_port()}/dwh?passfrase=Hush5555", METRICS)
    assert code(reading) == "bad_endpoint"
    assert reading.problem is not None
    assert reading.problem.detail == 'invalid connection option "passfrase"'
    assert "Hush5555" not in repr(reading)


@pytest.mark.slow
def test_the_process_ends_though_a_driver_still_waits() -> None:
    """The thread that waits for a server is abandoned, and keeps nobody from leaving."""
    program = (
        "import sys, time; from tests.evidence.sql_support import collected, metric\n"
        "document = collected(sys.argv[1], {'a': metric('SELECT 1 AS rate')}, deadline=0.6).document\n"
        "print(document['observations']['a']['problem']['kind'], time.monotonic())"
    )
    with HangingServer() as server:
        url = f"{LOGIN}/dwh?" + "&".join([f"host=127.0.0.1:{server.port}"] * 10)
        done = subprocess.run(
            [sys.executable, "-c", program, url], check=True, capture_output=True, text=True, cwd=ROOT, timeout=60
        )
        ended = time.monotonic()
        server.wait()
    kind, moment = done.stdout.split()
    assert (kind, done.stderr) == ("timeout", "")
    assert ended - float(moment) < 10  # the driver waits for each of ten hosts, two seconds each
