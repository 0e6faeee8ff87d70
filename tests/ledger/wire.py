"""Something between a ledger and its server that cuts the connection where a test wants it."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Self

NAME = ".s.PGSQL.5432"
PATIENCE_SECONDS = 5
_SYNC, _READY = b"S\x00\x00\x00\x04", b"Z\x00\x00\x00\x05"


class Wire:
    """A socket that PostgreSQL's clients take for a server's, and that passes on what they say.

    Args:
        server: directory of the real server's socket.

    Attributes:
        marks: what a client sends that holds the first of these is where the connection is cut, each once.
        way: `before` the server sees it; `after` the server has answered it; `held`: as for `before`, but what was
            sent is kept for `deliver`.
        is_up: whether new connections are taken.
        cuts: how many connections were cut.
    """

    def __init__(self, server: str) -> None:
        self.marks: list[bytes] = []
        self.way = "before"
        self.is_up = True
        self.cuts = 0
        self._server = os.path.join(server, NAME)
        self._held: list[tuple[socket.socket, bytes]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.home = tempfile.mkdtemp(prefix="wire-")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(os.path.join(self.home, NAME))
        self._listening.listen(64)
        self._waking, self._closing = socket.socketpair()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()
        for thread in self._threads:
            thread.join()
        self._listening.close()
        self._waking.close()
        for held in self._held:
            held[0].close()
        shutil.rmtree(self.home)

    def url(self, url: str) -> str:
        """The database of *url*, by this wire."""
        return f"{url.partition('?')[0]}?host={urllib.parse.quote(self.home)}"

    def cut_at(self, way: str, *marks: bytes) -> None:
        """From now on."""
        with self._lock:
            self.way = way
            self.marks = [*marks]

    def deliver(self) -> None:
        """What was held reaches the server now, whose answer nobody hears."""
        for server, data in self._held:
            with server, contextlib.suppress(OSError):  # the server may have ended it
                server.sendall(data)
                server.shutdown(socket.SHUT_WR)
                while server.recv(1 << 16):
                    pass
        self._held.clear()

    def _accept(self) -> None:
        while True:
            ready, _, _ = select.select([self._listening, self._waking], [], [])
            if self._waking in ready:
                return
            client, _ = self._listening.accept()
            if not self.is_up:
                client.close()
                continue
            thread = threading.Thread(target=self._serve, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.settimeout(PATIENCE_SECONDS)
        client.settimeout(PATIENCE_SECONDS)
        with client, contextlib.ExitStack() as stack:
            server.connect(self._server)
            stack.callback(server.close)
            for data in self._said(client, server):
                with self._lock:
                    is_cut = bool(self.marks) and self.marks[0] in data
                    if is_cut:
                        self.marks.pop(0)
                        self.cuts += 1
                if not is_cut:
                    server.sendall(data)
                    continue
                while not (_SYNC in data or data.startswith(b"Q")):  # until the client waits for an answer
                    data += client.recv(1 << 20)  # noqa: PLW2901
                if self.way == "after":
                    server.sendall(data)
                    _wait_until_ready(server)
                if self.way == "held":
                    stack.pop_all()
                    self._held.append((server, data))
                return

    def _said(self, client: socket.socket, server: socket.socket) -> Iterator[bytes]:
        """What the client says, until one of both ends; what the server says is passed on meanwhile."""
        while True:
            ready, _, _ = select.select([client, server, self._waking], [], [])
            if self._waking in ready:
                return
            if server in ready:
                data = server.recv(1 << 16)
                if not data:
                    return
                client.sendall(data)
            if client in ready:
                data = client.recv(1 << 20)
                if not data:
                    return
                yield data


def _wait_until_ready(server: socket.socket) -> None:
    """Until the server has answered all of it and waits for the next statement."""
    said = b""
    while said[-6:-1] != _READY:
        data = server.recv(1 << 16)
        if not data:
            return
        said += data
