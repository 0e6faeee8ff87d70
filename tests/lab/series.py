"""Series and scenarios as data, and their text for the servers that import it."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

T0 = 1767225600
"""2026-01-01T00:00:00Z: the end of canned data, fixed so that every query at a fixed time is repeatable."""

_STALE_BITS = 0x7FF0000000000002
STALE: float = struct.unpack("<d", struct.pack("<Q", _STALE_BITS))[0]
"""The NaN that Prometheus reads as "this series ended here"; OpenMetrics text cannot say it."""


@dataclass
class Series:
    """One series: samples are (unix seconds, value), ascending."""

    name: str
    labels: dict[str, str]
    samples: list[tuple[float, float]]
    kind: str = "gauge"
    """gauge, counter or histogram."""
    family: str = ""
    """Name on the TYPE line; empty: the name without `_total`."""


@dataclass
class Scenario:
    """Canned data that ends at `end`, with what a correct collector must find in it."""

    name: str
    doc: str
    end: float
    series: list[Series]
    facts: dict[str, Any]
    load: str = "blocks"
    """How it gets into Prometheus: `blocks` (promtool), or `remote_write`, which alone can hold staleness markers."""
    partial: bool = False
    """Every answer carries a real warning of a storage that cannot be reached."""


def is_stale_marker(value: float) -> bool:
    """Whether a sample is the staleness marker, which no comparison of floats can tell."""
    return struct.pack("<d", value) == struct.pack("<d", STALE)


def openmetrics(series: Iterable[Series], *, millis: bool = False) -> str:
    """Series as OpenMetrics text with timestamps (`millis`: as Prometheus text, for VictoriaMetrics)."""
    families: dict[str, list[Series]] = {}
    for one in series:
        families.setdefault(one.family or one.name.removesuffix("_total"), []).append(one)
    out: list[str] = []
    for family, members in families.items():
        total = "_total" if millis and members[0].kind == "counter" else ""
        out.append(f"# TYPE {family}{total} {members[0].kind}")
        for one in members:
            labels = ",".join(f'{name}="{_escape(value)}"' for name, value in sorted(one.labels.items()))
            for at, value in one.samples:
                stamp = str(round(at * 1000)) if millis else f"{at:.3f}"
                out.append(f"{one.name}{{{labels}}} {_number(value)} {stamp}")
    return "\n".join(out if millis else [*out, "# EOF"]) + "\n"


def _number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.0f}" if value == int(value) else repr(float(value))  # .0f keeps the sign of -0


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
