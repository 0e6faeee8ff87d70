"""Prometheus' remote write by hand: protobuf in snappy literals, enough to push series and staleness markers."""

from __future__ import annotations

import struct
import urllib.request
from collections.abc import Iterable

from tests.lab.series import Series

OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
"""`urlopen` that goes to the server itself, whatever HTTP_PROXY says."""

_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_LITERAL_MAX = 65536


def push(url: str, series: Iterable[Series]) -> None:
    """Send series to the remote-write receiver of the server at `url`; raises when it refuses them."""
    with OPEN(urllib.request.Request(url + "/api/v1/write", _body(series), _HEADERS), timeout=30) as answer:
        answer.read()


def _body(series: Iterable[Series]) -> bytes:
    parts = []
    for one in series:
        labels = sorted({**one.labels, "__name__": one.name}.items())
        body = b"".join(_field(1, _field(1, name.encode()) + _field(2, value.encode())) for name, value in labels)
        for at, value in one.samples:
            body += _field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + _varint(round(at * 1000)))
        parts.append(_field(1, body))
    return _snappy(b"".join(parts))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def _field(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _snappy(data: bytes) -> bytes:
    out = bytearray(_varint(len(data)))
    for start in range(0, len(data), _LITERAL_MAX):
        part = data[start : start + _LITERAL_MAX]
        out += b"\xf4" + struct.pack("<H", len(part) - 1) + part
    return bytes(out)
