"""One server as a child process: started on a free loopback port, asked by HTTP, stopped."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.lab.remote_write import OPEN
from tests.lab.sockets import free_port

READY_WITHIN_SECONDS = 30.0


def dies_with_parent(signum: int) -> Callable[[], None] | None:
    """For `preexec_fn`: the child gets this signal when the tests are killed. Linux, from the main thread only."""
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(1, signum)  # PR_SET_PDEATHSIG


def end(process: subprocess.Popen[bytes], signum: int) -> None:
    """Ask it to end by this signal, insist after ten seconds, and wait for it."""
    process.send_signal(signum)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Server:
    """A child process that answers HTTP queries in Prometheus' form."""

    ready_path = "/"
    home: Path

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.shared = False
        """Other tests ask this server, too, so its data must stay as it is."""

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    def command(self, port: int) -> list[str]:
        """The command that serves at this port."""
        raise NotImplementedError

    def launch(self) -> None:
        """Start it, and return once it answers."""
        log = self.home / "server.log"
        for _ in range(5):  # the port may be taken between choosing and binding it
            self.port = free_port()
            with log.open("ab") as sink:
                self.process = subprocess.Popen(
                    self.command(self.port),
                    stdout=sink,
                    stderr=sink,
                    stdin=subprocess.DEVNULL,
                    preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509 - one system call, no lock
                )
            if self._answers(self.process):
                return
            self._stop()
        raise RuntimeError("server did not start:\n" + log.read_text(encoding="utf-8", errors="replace")[-3000:])

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        limit = time.monotonic() + READY_WITHIN_SECONDS
        while time.monotonic() < limit:
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                OPEN(self.url + self.ready_path, timeout=2) as answer,
            ):
                if answer.status == http.HTTPStatus.OK:
                    return process.poll() is None
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
                return False
        return False

    def _stop(self) -> None:
        if self.process is not None:
            end(self.process, signal.SIGTERM)
            self.process = None

    def close(self) -> None:
        """Stop it and remove its files."""
        self._stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self) -> Self:
        raise NotImplementedError

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, **params: Any) -> tuple[int, Any]:
        """Status and parsed body of a GET (text where it is no JSON); error statuses do not raise."""
        try:
            with OPEN(f"{self.url}{path}?{urllib.parse.urlencode(params)}", timeout=30) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                status, body = error.code, error.read()
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode(errors="replace")

    def query(self, expr: str, at: float | None = None, **params: Any) -> Any:
        """`data` of an instant query; raises on anything but success."""
        if at is not None:
            params["time"] = f"{at:.3f}"
        status, body = self.get("/api/v1/query", query=expr, **params)
        if status != http.HTTPStatus.OK or body.get("status") != "success":
            raise RuntimeError(f"HTTP {status}: {body}")
        return body["data"]

    def value(self, expr: str, at: float | None = None, **params: Any) -> float | None:
        """The single value of a query; None when there is none, ValueError when there are several."""
        data = self.query(expr, at, **params)
        if data["resultType"] == "scalar":
            return float(data["result"][1])
        if len(data["result"]) > 1:
            raise ValueError(f"{len(data['result'])} series for {expr}")
        return float(data["result"][0]["value"][1]) if data["result"] else None
