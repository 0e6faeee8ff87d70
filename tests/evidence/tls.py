"""Servers that speak TLS, and certificates that nobody else trusts."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import Self

from tests.lab.faults import Fault, FaultProxy


def certificate(folder: Path, name: str, *, passphrase: str | None = None) -> Path:
    """A self-signed certificate for 127.0.0.1 with its key, `NAME.pem` and `NAME.key`; the path of the former."""
    made = folder / f"{name}.pem"
    lock = ["-noenc"] if passphrase is None else ["-passout", f"pass:{passphrase}"]
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", *lock),
            *("-days", "30", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-addext", "keyUsage=digitalSignature,keyCertSign"),
            *("-keyout", str(folder / f"{name}.key"), "-out", str(made)),
        ],
        check=True,
        capture_output=True,
    )
    return made


class TlsServer(FaultProxy):
    """A `FaultProxy` behind TLS; with *client*, only whoever has that certificate is served."""

    def __init__(self, own: Path, *, client: Path | None = None, **fault: object) -> None:
        super().__init__(faults=[Fault(**{"status": 200, **fault})])  # type: ignore[arg-type]
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(own, own.with_suffix(".key"))
        if client is not None:
            self._context.verify_mode = ssl.CERT_REQUIRED
            self._context.load_verify_locations(client)

    def __enter__(self) -> Self:
        super().__enter__()
        # the handshake is made in the connection's own thread, at its first byte
        self._server.socket = self._context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.url = f"https://127.0.0.1:{self.port}"
        return self
