from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from gatekeeper.evidence.secrets import Secrets
from gatekeeper.evidence.web.transport import status_problem, transport_problem, was_dropped
from tests.evidence.http_support import answering
from tests.lab.faults import Fault, FaultProxy
from tests.lab.sockets import HangingServer, refused_port

SECRETS = Secrets({})


def failure(url: str, *, timeout: tuple[float, float] = (5, 5), proxy: str | None = None) -> requests.RequestException:
    """What requests raises for a GET."""
    proxies = {} if proxy is None else {"http": proxy, "https": proxy}
    with requests.Session() as session:
        session.trust_env = False
        with pytest.raises(requests.RequestException) as raised:
            session.get(url, timeout=timeout, proxies=proxies)
    return raised.value


def told(error: Exception) -> tuple[str, str | None, str]:
    """Code, kind and detail."""
    problem = transport_problem(error, SECRETS)
    return problem.code, problem.kind and problem.kind.value, problem.detail


@contextmanager
def saying(answer: bytes) -> Iterator[int]:
    """A server that reads a request, says *answer* and closes; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)


UNAVAILABLE = "observation_missing:source_unavailable"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        (b"X: " + b"a" * 70_000 + b"\r\n", "its headers are too long"),
        (b"".join(b"X-%d: a\r\n" % number for number in range(200)), "its headers are too long"),
    ],
)
def test_headers_without_an_end_are_an_answer_that_cannot_be_read(headers: bytes, words: str) -> None:
    """Somebody did answer: "no connection" would send people to look at firewalls."""
    with saying(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n") as port:
        problem = transport_problem(failure(f"http://127.0.0.1:{port}/"), SECRETS)
    assert problem.code == "observation_invalid:bad_response"
    assert problem.detail == f"127.0.0.1:{port} answered, and {words}"


def test_a_refused_connection_is_unreachable() -> None:
    """A server that is down says nothing about the release."""
    port = refused_port()
    error = failure(f"http://127.0.0.1:{port}/p?token=tok-EXAMPLE")
    assert told(error) == (UNAVAILABLE, "unreachable", f"connection refused by 127.0.0.1:{port}")
    assert not was_dropped(error)


def test_a_name_without_an_address_is_unreachable() -> None:
    """No name server knows .invalid (RFC 6761)."""
    error = failure("http://prom.invalid:9090/")
    assert told(error) == (UNAVAILABLE, "unreachable", "no address is known for prom.invalid:9090")
    assert not was_dropped(error)


def test_a_connection_that_ends_without_an_answer_is_unreachable_and_known_as_dropped() -> None:
    """A kept connection that the server has closed looks like this: asking once more is right."""
    with FaultProxy(faults=[Fault(drop=True)]) as server:
        error = failure(server.url)
    detail = f"127.0.0.1:{server.port} closed the connection without an answer"
    assert told(error) == (UNAVAILABLE, "unreachable", detail)
    assert was_dropped(error)


def test_a_server_that_never_answers_is_a_timeout() -> None:
    """The connection is there, the answer is not."""
    with HangingServer() as server:
        port = server.port
        error = failure(server.url, timeout=(5, 0.1))
    assert told(error) == (UNAVAILABLE, "timeout", f"no answer from 127.0.0.1:{port} in time")
    assert not was_dropped(error)


def test_an_answer_that_stops_coming_is_a_timeout() -> None:
    """The headers came, the body did not: requests calls this a ConnectionError."""
    with answering({"a": 1}, drip_seconds=30) as server:
        error = failure(server.url, timeout=(5, 0.1))
    assert isinstance(error, requests.ConnectionError)
    assert told(error) == (UNAVAILABLE, "timeout", f"no answer from 127.0.0.1:{server.port} in time")
    assert not was_dropped(error)


def test_a_connection_that_cannot_be_made_in_time_is_a_timeout() -> None:
    """A listener whose queue is full answers no further connection."""
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        first.connect(("127.0.0.1", port))
        error = failure(f"http://127.0.0.1:{port}", timeout=(0.1, 5))
    assert told(error) == (UNAVAILABLE, "timeout", f"no connection to 127.0.0.1:{port} in time")


def test_an_answer_that_breaks_off_is_a_bad_response() -> None:
    """Something came, and it is not the answer; half of it must not be taken for all."""
    with answering({"a": 1}, cut=4) as server:
        error = failure(server.url)
    assert told(error)[:2] == ("observation_invalid:bad_response", None)
    assert not was_dropped(error)


def test_an_encoding_that_is_none_is_a_bad_response() -> None:
    """Announced as gzip, and no gzip."""
    with answering({"a": 1}, headers={"Content-Encoding": "gzip"}) as server:
        error = failure(server.url)
    assert told(error)[:2] == ("observation_invalid:bad_response", None)


def test_a_port_without_tls_is_unreachable_by_https() -> None:
    """The address has the wrong scheme or port."""
    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        error = failure(f"https://127.0.0.1:{port}")
    code, kind, detail = told(error)
    assert (code, kind) == (UNAVAILABLE, "unreachable")
    assert detail.startswith(f"no TLS with 127.0.0.1:{port}: ")


def test_a_server_of_another_protocol_is_named_as_that() -> None:
    """An SSH server answers, too."""
    with saying(b"SSH-2.0-OpenSSH_9.9\r\n") as port:
        error = failure(f"http://127.0.0.1:{port}")
    assert told(error) == (UNAVAILABLE, "unreachable", f"127.0.0.1:{port} does not speak HTTP")


def test_a_proxy_that_is_down_is_named_in_the_place_of_the_server() -> None:
    """Whoever looks at the server finds nothing wrong there."""
    port = refused_port()
    for url in ("http://svc.invalid/", "https://svc.invalid/"):
        error = failure(url, proxy=f"http://u:pw-EXAMPLE@127.0.0.1:{port}")
        detail = f"connection refused by 127.0.0.1:{port} (by way of the proxy)"
        assert told(error) == (UNAVAILABLE, "unreachable", detail)


def test_an_ipv6_address_is_shown_as_it_is_written() -> None:
    """`::1:9090` would be another address."""
    with socket.socket(socket.AF_INET6) as closed:
        closed.bind(("::1", 0))
        port = closed.getsockname()[1]
        error = failure(f"http://[::1]:{port}")
    assert told(error)[2] == f"connection refused by [::1]:{port}"


@pytest.mark.parametrize(
    ("error", "kind", "detail"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "unreachable", "connection refused by the server"),
        (TimeoutError("timed out"), "timeout", "no answer from the server in time"),
        (OSError(113, "No route to host"), "unreachable", "no connection to the server: No route to host"),
        (requests.exceptions.InvalidURL("http://u:p@h"), "bad_endpoint", "the server is no address that can be asked"),
        (requests.RequestException("http://u:p@h?t=x"), "unreachable", "no connection to the server"),
    ],
)
def test_what_no_library_wrapped_is_told_as_well(error: Exception, kind: str, detail: str) -> None:
    """Nothing of a library's own text is passed on: it quotes addresses."""
    assert told(error) == (UNAVAILABLE, kind, detail)


def test_the_host_stays_readable_where_a_header_holds_the_same_word() -> None:
    """A tenant is often part of its server's name, and the name is what must be looked at."""
    secrets = Secrets({})
    secrets.hide("shop")
    error = failure("http://shop.invalid/")
    assert transport_problem(error, secrets).detail == "no address is known for shop.invalid:80"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, "bad_endpoint"),
        (304, "bad_endpoint"),
        (401, "unauthorized"),
        (403, "unauthorized"),
        (404, "bad_endpoint"),
        (405, "bad_endpoint"),
        (407, "unauthorized"),
        (408, "timeout"),
        (410, "bad_endpoint"),
        (429, "overloaded"),
        (500, "overloaded"),
        (502, "overloaded"),
        (503, "overloaded"),
        (504, "overloaded"),
        (599, "overloaded"),
    ],
)
def test_each_status_says_why_the_source_could_not_be_asked(status: int, kind: str) -> None:
    """Who gets called depends on it: for a token, for an address, for a server."""
    problem = status_problem(status, "text", SECRETS)
    assert problem is not None
    assert problem.to_dict() == {"code": UNAVAILABLE, "detail": f"HTTP {status}: text", "kind": kind}


@pytest.mark.parametrize("status", [201, 204, 206])
def test_a_success_that_is_no_answer_is_a_bad_response(status: int) -> None:
    """204 has no content, 206 a part of it."""
    problem = status_problem(status, "", SECRETS)
    assert problem is not None
    assert problem.to_dict() == {"code": "observation_invalid:bad_response", "detail": f"HTTP {status}"}


def test_an_answer_is_no_problem() -> None:
    """200 has none."""
    assert status_problem(200, "x", SECRETS) is None


def test_a_body_is_masked_before_it_is_cut_short() -> None:
    """A secret that straddles the cut would show its first half."""
    secrets = Secrets({})
    secrets.hide("hdr-EXAMPLE-and-more")
    problem = status_problem(401, f"{'x' * 190} hdr-EXAMPLE-and-more", secrets)
    assert problem is not None
    assert problem.detail == f"HTTP 401: {'x' * 190} ***"
