from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator

import pytest

from tests.lab.faults import Fault, FaultProxy, with_warnings
from tests.lab.sockets import HangingServer, refused_port

VECTOR = json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}}).encode()


@pytest.fixture
def upstream() -> Iterator[FaultProxy]:
    """A stand-in server behind the proxy under test: a proxy that answers by itself."""
    with FaultProxy(None, [Fault(status=200, body=VECTOR)]) as server:
        yield server


def ask(port: int, target: str = "/api/v1/query?query=up", method: str = "GET") -> tuple[int, bytes]:
    """Status and body of one request on a connection of its own."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        link.request(method, target)
        answer = link.getresponse()
        return answer.status, answer.read()
    finally:
        link.close()


def test_an_untouched_request_gets_the_upstreams_answer(upstream: FaultProxy) -> None:
    """Path, query, headers and body go through as sent, and both sides record the same."""
    with FaultProxy(upstream.url) as proxy:
        link = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        form = {"Content-Type": "application/x-www-form-urlencoded", "X-Scope-OrgID": "team"}
        link.request("POST", "/api/v1/query?time=1.5&x=", "query=a%2Bb&empty=", form)
        assert link.getresponse().read() == VECTOR
        link.close()
    seen, passed = proxy.requests[0], upstream.requests[0]
    assert seen["params"] == {"time": "1.5", "x": "", "query": "a+b", "empty": ""}
    assert (seen["method"], seen["path"], seen["body"]) == ("POST", "/api/v1/query", b"query=a%2Bb&empty=")
    assert (seen["url_length"], seen["host"]) == (25, f"127.0.0.1:{proxy.port}")
    assert [passed[key] for key in ("method", "target", "body", "params")] == [
        seen[key] for key in ("method", "target", "body", "params")
    ]
    assert passed["headers"]["X-Scope-OrgID"] == "team"
    assert passed["host"] == f"127.0.0.1:{upstream.port}"


def test_a_client_can_take_it_for_its_http_proxy(upstream: FaultProxy) -> None:
    """An absolute URI names a host that does not exist; the upstream answers for it."""
    with FaultProxy(upstream.url) as proxy:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy.url}))
        with opener.open("http://prometheus.invalid:9090/api/v1/query?query=up", timeout=10) as answer:
            assert answer.read() == VECTOR
    assert proxy.requests[0]["target"] == "http://prometheus.invalid:9090/api/v1/query?query=up"
    assert proxy.requests[0]["host"] == "prometheus.invalid:9090"
    assert (proxy.requests[0]["path"], proxy.requests[0]["params"]) == ("/api/v1/query", {"query": "up"})
    assert upstream.requests[0]["target"] == "/api/v1/query?query=up"


def test_every_method_is_on_record(upstream: FaultProxy) -> None:
    """A client that tries PUT, DELETE or HEAD is found out."""
    with FaultProxy(upstream.url) as proxy:
        for method in ("PUT", "DELETE", "HEAD", "OPTIONS"):
            ask(proxy.port, method=method)
    assert [one["method"] for one in proxy.requests] == ["PUT", "DELETE", "HEAD", "OPTIONS"]
    assert [one["method"] for one in upstream.requests] == ["PUT", "DELETE", "HEAD", "OPTIONS"]
    assert [one["connection"] for one in proxy.requests] == [1, 2, 3, 4]


def test_connections_are_counted_apart_from_requests(upstream: FaultProxy) -> None:
    """Two requests on one kept connection are one connection, and never two at once."""
    with FaultProxy(upstream.url) as proxy:
        link = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        for _ in range(2):
            link.request("GET", "/")
            link.getresponse().read()
        link.close()
    assert (len(proxy.requests), proxy.connections, proxy.max_inflight) == (2, 1, 1)
    assert [one["connection"] for one in proxy.requests] == [1, 1]


def test_requests_at_once_are_counted() -> None:
    """Three that wait at the same time are three in flight."""
    with FaultProxy(None, [Fault(status=200, delay=3600)]) as proxy:
        threads = [threading.Thread(target=_ignoring, args=(proxy.port,)) for _ in range(3)]
        for one in threads:
            one.start()
        proxy.wait(requests=3)
        assert proxy.inflight == 3
    for one in threads:
        one.join(10)
    assert proxy.max_inflight == 3


def test_an_answered_request_is_no_longer_in_flight() -> None:
    """A client that asks one after the other is never counted as two at once."""
    with FaultProxy(None, [Fault(status=200, body=VECTOR)]) as proxy:
        for _ in range(50):
            ask(proxy.port)
            assert proxy.inflight == 0
    assert proxy.max_inflight == 1


def _ignoring(port: int) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        ask(port)


def test_a_fault_hits_what_it_names_as_often_as_told(upstream: FaultProxy) -> None:
    """By query or path, the first that matches, and afterwards the upstream again."""
    faults = [Fault(match="ledger", status=503, body=b"busy", times=2), Fault(match="/-/ready", status=404)]
    with FaultProxy(upstream.url, faults) as proxy:
        statuses = [ask(proxy.port, f"/api/v1/query?query={name}")[0] for name in ("ledger", "up", "ledger", "ledger")]
        assert statuses == [503, 200, 503, 200]
        assert ask(proxy.port, "/-/ready") == (404, b"")


def test_an_answer_can_be_rewritten(upstream: FaultProxy) -> None:
    """The upstream's JSON with warnings added, and headers of the test's choice."""
    fault = Fault(edit=with_warnings("partial"), headers={"Content-Type": "text/html", "X-Seen": "yes"})
    with FaultProxy(upstream.url, [fault]) as proxy:
        link = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=10)
        link.request("GET", "/")
        answer = link.getresponse()
        assert json.loads(answer.read()) == {**json.loads(VECTOR), "warnings": ["partial"]}
        assert (answer.headers["Content-Type"], answer.headers["X-Seen"]) == ("text/html", "yes")
        link.close()


def test_a_dropped_connection_has_no_answer() -> None:
    """Not a byte comes back, and the request is on record."""
    with FaultProxy(None, [Fault(drop=True)]) as proxy:
        with pytest.raises(http.client.RemoteDisconnected):
            ask(proxy.port)
        assert len(proxy.requests) == 1


def test_a_cut_answer_ends_early() -> None:
    """The full length is announced, some bytes come, then the end."""
    with FaultProxy(None, [Fault(status=200, body=VECTOR, cut=10)]) as proxy:
        with pytest.raises(http.client.IncompleteRead) as found:
            ask(proxy.port)
        assert found.value.partial == VECTOR[:10]
        assert found.value.expected == len(VECTOR) - 10


def test_a_dripping_answer_comes_byte_by_byte() -> None:
    """Each byte after its time; the whole is the body."""
    with FaultProxy(None, [Fault(status=200, body=b"12345", drip_seconds=0.02)]) as proxy:
        begun = time.monotonic()
        assert ask(proxy.port) == (200, b"12345")
        assert time.monotonic() - begun >= 0.1


def test_closing_waits_for_nobody() -> None:
    """Delays of an hour, drips and idle connections end with the proxy, and their clients see an end."""
    faults = [Fault(match="drip", status=200, body=VECTOR, drip_seconds=3600), Fault(status=200, delay=3600)]
    with FaultProxy(None, faults) as proxy:
        clients = [socket.create_connection(("127.0.0.1", proxy.port)) for _ in range(3)]
        clients[0].sendall(b"GET /slow HTTP/1.1\r\n\r\n")
        clients[1].sendall(b"GET /drip HTTP/1.1\r\n\r\n")
        proxy.wait(requests=2)
        begun = time.monotonic()
    assert time.monotonic() - begun < 1
    proxy.wait_until_idle(seconds=2)
    for one in clients:
        one.settimeout(10)
        with one, contextlib.suppress(ConnectionResetError):
            while one.recv(4096):
                pass


def test_closing_does_not_wait_for_an_upstream_that_hangs() -> None:
    """The request to the upstream is given up, too."""
    with HangingServer() as silent:
        with FaultProxy(silent.url) as proxy:
            client = socket.create_connection(("127.0.0.1", proxy.port))
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            silent.wait(connections=1)
            begun = time.monotonic()
        assert time.monotonic() - begun < 1
        client.settimeout(10)
        assert client.recv(1) == b""
        client.close()
        proxy.wait_until_idle(seconds=2)


@pytest.mark.parametrize(
    "fault", [Fault(match="other", status=200), Fault(status=200, body=b"{}", edit=lambda b: b["x"])]
)
def test_a_request_that_the_test_forgot_fails_it(fault: Fault) -> None:
    """An answer that nobody asked for would pass for the server's: the proxy says so when it is closed."""
    proxy = FaultProxy(None, [fault]).__enter__()
    with pytest.raises(http.client.RemoteDisconnected):
        ask(proxy.port)
    with pytest.raises(AssertionError, match="as the test wants"):
        proxy.__exit__(None, None, None)


def test_waiting_for_requests_that_do_not_come_fails() -> None:
    """With the number that came."""
    with FaultProxy() as proxy, pytest.raises(TimeoutError, match="0 of 1"):
        proxy.wait(seconds=0.01)


def test_a_hanging_server_accepts_and_says_nothing() -> None:
    """Clients connect and send, get not a byte, and are counted."""
    with HangingServer() as server:
        assert server.connections == 0
        clients = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(3)]
        server.wait(connections=3)
        clients[0].sendall(b"GET / HTTP/1.1\r\n\r\n")
        clients[0].settimeout(0.05)
        with pytest.raises(TimeoutError):
            clients[0].recv(1)
        assert server.connections == 3
        with pytest.raises(TimeoutError):
            server.wait(connections=4, seconds=0.01)
        for one in clients:
            one.close()


def test_a_refused_port_refuses() -> None:
    """At once, each time, and nobody else gets it meanwhile."""
    for _ in range(2):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", refused_port()), timeout=10)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", refused_port()))
