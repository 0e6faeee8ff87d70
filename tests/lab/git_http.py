"""A git server over HTTP that lets in whoever knows the token, as the hosts of repositories do.

Source: git-http-backend(1), the smart protocol by CGI, and RFC 3875.
"""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self


class GitHttp:
    """Serves one bare repository under every path; nothing of it without the token. A context manager.

    Args:
        repository: the bare repository.
        token: the password that is asked for, whatever the user's name.
    """

    def __init__(self, repository: Path, token: str) -> None:
        self.is_down = False
        """While it is true, every request is answered with 503."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, repository, token))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(site: GitHttp, repository: Path, token: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Nothing: a test tells what matters."""

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            body = self._body()
            if site.is_down:
                return self._refuse(503)
            if not self._knows_the_token():
                return self._refuse(401)
            answer = subprocess.run(
                ["git", "-c", "http.receivepack=true", "http-backend"],
                env=self._environment(),
                input=body,
                capture_output=True,
                check=True,
            ).stdout
            head, _, content = answer.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").partition(" ")[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return None

        def _refuse(self, status: int) -> None:
            self.send_response(status)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _knows_the_token(self) -> bool:
            scheme, _, given = self.headers.get("Authorization", "").partition(" ")
            return scheme.lower() == "basic" and base64.b64decode(given).partition(b":")[2] == token.encode()

        def _environment(self) -> dict[str, str]:
            path, _, query = self.path.partition("?")
            service = next(part for part in ("/info/refs", "/git-upload-pack", "/git-receive-pack") if part in path)
            return {
                "PATH": os.environ["PATH"],
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_TRANSLATED": f"{repository}{service}",
                "PATH_INFO": service,
                "QUERY_STRING": query,
                "REMOTE_USER": "somebody",
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }

    return Handler
