"""Loopback ports that behave as told: free, refusing, or silent."""

from __future__ import annotations

import contextlib
import socket
from functools import cache
from typing import Self


def free_port() -> int:
    """A port that nobody listened on a moment ago; the caller tries again if it was taken since."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return _port(probe)


@cache
def refused_port() -> int:
    """A port whose connections are refused for as long as this process lives: bound, and nobody listens."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    port = _port(holder)
    holder.detach()  # stays bound until the process ends, whoever collects garbage
    return port


class HangingServer:
    """Accepts connections and never answers. `connections` counts them; a context manager.

    The kernel accepts by itself (up to the backlog), so there is no thread that could hang or miss one.
    """

    def __init__(self, *, backlog: int = 128) -> None:
        self._backlog = backlog
        self._held: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(self._backlog)
        return self

    def __exit__(self, *_: object) -> None:
        for one in [*self._held, self._listener]:
            one.close()

    @property
    def port(self) -> int:
        """Where it listens."""
        return _port(self._listener)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """How many clients have connected so far."""
        self._listener.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._held.append(self._listener.accept()[0])
        return len(self._held)

    def wait(self, connections: int = 1, seconds: float = 10.0) -> None:
        """Return once so many clients have connected; raises TimeoutError when the next one does not come in time."""
        self._listener.settimeout(seconds)
        while len(self._held) < connections:
            self._held.append(self._listener.accept()[0])


def _port(bound: socket.socket) -> int:
    name: tuple[str, int] = bound.getsockname()
    return name[1]
