"""A proxy in front of a lab that records what clients send and spoils answers as told.

Without an upstream it is a stand-in server: every request must then be answered by a fault.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import socketserver
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self, TypedDict

HOP_BY_HOP = {"host", "connection", "accept-encoding", "content-length", "proxy-connection", "proxy-authorization"}
"""Headers that are between the client and this proxy."""


ASKED = "@asked@"
"""In the body of a fault, as a text of its own: the number in the query's parameter `time`."""


@dataclass
class Fault:
    """What becomes of a request whose query or path contains `match`; the first fault that matches counts."""

    match: str = ""
    delay: float = 0.0
    """Seconds before anything else."""
    status: int | None = None
    """Answer this and `body` without asking the upstream."""
    body: bytes = b""
    """`ASKED` in it becomes the time that the query was asked for."""
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without an answer."""
    cut: int | None = None
    """Announce the full length, send only so many bytes."""
    drip_seconds: float | None = None
    """Announce the full length, send one byte every so many seconds until the client or the proxy goes away."""
    edit: Callable[[dict[str, Any]], Any] | None = None
    """Change the upstream's JSON answer."""
    times: int | None = None
    """How often; None is always."""


class Request(TypedDict):
    """One request as it came in."""

    method: str
    target: str
    """As written on the request line: a path, or an absolute URI when the client takes this for its proxy."""
    host: str
    """The Host header."""
    path: str
    params: dict[str, str]
    """Of the URL and of a form in the body; the last value of each name."""
    headers: dict[str, str]
    body: bytes
    url_length: int
    connection: int
    """Which of the `connections` it came on, from 1."""
    at: float
    """Unix seconds."""


def with_warnings(*texts: str) -> Callable[[dict[str, Any]], Any]:
    """An edit that adds Prometheus' `warnings`."""
    return lambda body: {**body, "warnings": list(texts)}


class FaultProxy:
    """HTTP/1.1 proxy; `requests` records each request before it is answered. A context manager.

    It goes to its upstream whatever host an absolute URI names, so it can stand for any host without a name service.
    A request that neither a fault nor an upstream answers, or whose edit raises, fails the test when it is closed.
    """

    def __init__(self, upstream: str | None = None, faults: Iterable[Fault] = ()) -> None:
        self.upstream = None if upstream is None else urllib.parse.urlsplit(upstream)
        self.faults = list(faults)
        self.requests: list[Request] = []
        self.connections = self.inflight = self.max_inflight = 0
        self._mistakes: list[Exception] = []
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Self:
        self._server = _Listener(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        with self._changed:
            for one in self._open:  # wakes handlers that wait for a client or for the upstream
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        if failed is None and self._mistakes:
            raise AssertionError("the proxy could not answer as the test wants") from self._mistakes[0]

    def wait(self, requests: int = 1, seconds: float = 10.0) -> None:
        """Return once so many requests have come in; raises TimeoutError when they do not in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= requests, seconds):
                raise TimeoutError(f"{len(self.requests)} of {requests} requests came in {seconds} s")

    def wait_until_idle(self, seconds: float = 10.0) -> None:
        """Return once no request is in flight, as soon after closing; raises TimeoutError when one stays."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.inflight == 0, seconds):
                raise TimeoutError(f"{self.inflight} requests are in flight after {seconds} s")

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                with proxy._changed:
                    proxy.connections += 1
                    self.number = proxy.connections
                    proxy._open.add(self.connection)
                    if proxy._closing.is_set():
                        self.connection.shutdown(socket.SHUT_RDWR)

            def finish(self) -> None:
                with proxy._changed:
                    proxy._open.discard(self.connection)
                with contextlib.suppress(OSError):
                    super().finish()

            def log_message(self, *_: object) -> None:
                pass

            def parse_request(self) -> bool:
                """Any method is served: which ones a client uses is part of the record."""
                understood = super().parse_request()
                if understood:
                    setattr(self, "do_" + self.command, self.answer)
                return understood

            def answer(self) -> None:
                try:
                    proxy._serve(self, self.number)
                except OSError:  # either side went away
                    self.close_connection = True
                except Exception as mistake:  # noqa: BLE001 - kept, and raised when the proxy is closed
                    proxy._mistakes.append(mistake)
                    self.close_connection = True

        return Handler

    def _serve(self, client: http.server.BaseHTTPRequestHandler, number: int) -> None:
        request = _read(client, number)
        with self._changed:
            self.requests.append(request)
            self.inflight += 1
            self.max_inflight = max(self.max_inflight, self.inflight)
            fault = self._fault_for(request)
            self._changed.notify_all()
        pending = True
        try:
            answer = self._answer(client, request, fault)
            if fault.drip_seconds is None:  # before it is sent: the client's next request may come at once
                self._served()
                pending = False
            if answer is None:
                client.close_connection = True
                client.connection.shutdown(socket.SHUT_RDWR)
            else:
                self._send(client, fault, *answer)
        finally:
            if pending:
                self._served()

    def _served(self) -> None:
        with self._changed:
            self.inflight -= 1
            self._changed.notify_all()

    def _fault_for(self, request: Request) -> Fault:
        key = request["params"].get("query", "") + " " + request["path"]
        fault = next((one for one in self.faults if one.match in key and one.times != 0), Fault())
        if fault.times is not None:
            fault.times -= 1
        return fault

    def _answer(
        self, client: http.server.BaseHTTPRequestHandler, request: Request, fault: Fault
    ) -> tuple[int, bytes, str] | None:
        """Status, body and content type; None for a dropped connection."""
        if self._closing.wait(fault.delay) or fault.drop:
            return None
        if fault.status is not None:
            body = fault.body.replace(f'"{ASKED}"'.encode(), request["params"].get("time", "0").encode())
            status, kind = fault.status, "application/json"
        elif self.upstream is not None:
            status, body, kind = self._ask(client, request)
        else:
            raise LookupError(f"no fault answers {request['target']}, and there is no upstream")
        return status, body if fault.edit is None else json.dumps(fault.edit(json.loads(body))).encode(), kind

    def _ask(self, client: http.server.BaseHTTPRequestHandler, request: Request) -> tuple[int, bytes, str]:
        assert self.upstream is not None
        link = http.client.HTTPConnection(self.upstream.hostname or "", self.upstream.port, timeout=60)
        link.connect()
        held: socket.socket = link.sock
        with self._changed:
            self._open.add(held)
            if self._closing.is_set():
                held.shutdown(socket.SHUT_RDWR)
        try:
            headers = {name: value for name, value in client.headers.items() if name.lower() not in HOP_BY_HOP}
            link.request(request["method"], _origin_form(request["target"]), request["body"] or None, headers)
            answer = link.getresponse()
            return answer.status, answer.read(), answer.headers.get("Content-Type", "application/json")
        finally:
            with self._changed:
                self._open.discard(held)
            link.close()

    def _send(
        self, client: http.server.BaseHTTPRequestHandler, fault: Fault, status: int, body: bytes, kind: str
    ) -> None:
        if "Date" in fault.headers:  # else http.server states its own
            client.send_response_only(status)
        else:
            client.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **fault.headers}.items():
            client.send_header(name, value)
        client.end_headers()
        if client.command == "HEAD":
            return
        if fault.drip_seconds is not None:
            for byte in body:
                if self._closing.wait(fault.drip_seconds):
                    break
                client.wfile.write(bytes([byte]))
        else:
            client.wfile.write(body if fault.cut is None else body[: fault.cut])
        if fault.cut is not None or self._closing.is_set():
            client.close_connection = True


class _Listener(socketserver.ThreadingTCPServer):
    request_queue_size = 64
    daemon_threads = True  # closing waits for none of them

    def handle_error(self, *_: object) -> None:
        """A client that goes away is what many tests are about."""


def _read(client: http.server.BaseHTTPRequestHandler, number: int) -> Request:
    body = client.rfile.read(int(client.headers.get("Content-Length") or 0))
    url = urllib.parse.urlsplit(_origin_form(client.path))
    form = body.decode() if "urlencoded" in (client.headers.get("Content-Type") or "") else ""
    return {
        "method": client.command,
        "target": client.path,
        "host": client.headers.get("Host") or "",
        "path": url.path,
        "params": dict(urllib.parse.parse_qsl(f"{url.query}&{form}", keep_blank_values=True)),
        "headers": dict(client.headers),
        "body": body,
        "url_length": len(client.path),
        "connection": number,
        "at": time.time(),
    }


def _origin_form(target: str) -> str:
    """Path and query of a request target, be it an absolute URI."""
    if target.startswith("/") or "://" not in target:
        return target
    url = urllib.parse.urlsplit(target)
    return urllib.parse.urlunsplit(("", "", url.path or "/", url.query, ""))
