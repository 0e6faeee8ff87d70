"""A reader of logs for tests only: it follows the chain by what docs/formats say, with no code of ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """One line that is not blank: what it holds, and why it does not fit behind the one before."""

    number: int
    event: dict[str, Any] | None
    problem: str | None

    @property
    def is_chained(self) -> bool:
        """A damaged line and a founding-style one have no place in the chain."""
        return self.event is not None and "kind" in self.event


def read_lines(*paths: Path) -> Iterator[Line]:
    """The lines of the files as one chain, in the order given; each file is split at 0x0A and nowhere else."""
    seq, digest = 0, "sha256:" + "0" * 64
    for path in paths:
        *whole, rest = path.read_bytes().split(b"\n")
        for number, raw in enumerate(whole, start=1):
            if not raw.strip():
                continue
            event = _object(raw)
            yield Line(number, event, _problem(event, seq, digest))
            if event is not None and isinstance(event.get("seq"), int):
                seq = max(seq, event["seq"])
            digest = "sha256:" + hashlib.sha256(raw).hexdigest()
        if rest:
            yield Line(len(whole) + 1, None, "is unfinished")


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _problem(event: dict[str, Any] | None, seq: int, digest: str) -> str | None:
    if event is None:
        return "is damaged"
    if "kind" not in event:
        return None
    if event["seq"] != seq + 1:
        return f"follows a gap: seq {seq + 1} to {event['seq'] - 1} missing"
    return None if event["prev"] == digest else f"(seq {event['seq']}) does not hold the digest of the line before"
