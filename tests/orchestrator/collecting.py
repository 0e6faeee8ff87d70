"""Questions whose evidence is collected when it is needed, at the desk of the other tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gatekeeper.model.snapshot import Snapshot
from gatekeeper.orchestrator.question import Question
from tests.doubles import ScriptedSource
from tests.orchestrator.desk import Desk

FILE, OTHER_FILE = ("sha256:" + name * 32 for name in ("c0", "c1"))
"""Digests of a collection file, and of what somebody made of it."""


def healthy(desk: Desk) -> ScriptedSource:
    """A source that states healthy evidence, another one each time."""
    return ScriptedSource([desk.evidence])


def stating(desk: Desk, *values: dict[str, Any], digest: str = FILE) -> ScriptedSource:
    """A source that states these metrics, one after the other."""
    return ScriptedSource([lambda value=value: desk.evidence(**value) for value in values], digest)  # type: ignore[misc]


def meanwhile(desk: Desk, act: Callable[[], object], **metrics: Any) -> ScriptedSource:
    """A source that takes its time, in which *act* happens."""

    def collect() -> Snapshot:
        act()
        return desk.evidence(**metrics)

    return ScriptedSource([collect])


def rival(desk: Desk) -> Desk:
    """Another process at the same log, with evidence of its own."""
    return Desk(desk.path, clock=desk.clock, counter=1000)


def recorded(source: ScriptedSource) -> dict[str, Any]:
    """What is recorded about a source with a hold."""
    return {"kind": "collection", "collection": "/etc/gate/collection.json", "collector_digest": source.digest}


def collecting(desk: Desk, source: ScriptedSource, stage: str | None = None, **fields: Any) -> Question:
    """A check of run `r` with `--collect`."""
    return desk.question(stage, snapshot=None, evidence_source=source, source=recorded(source), **fields)
