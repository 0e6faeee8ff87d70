"""What must hold of a log and its state after anything that may have happened to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gatekeeper.ledger.fsops import FileOps
from gatekeeper.ledger.ndjson import NdjsonLedger
from gatekeeper.model.fold import apply
from gatekeeper.model.run import Run
from tests.doubles import StepClock
from tests.ledger.reading import read_lines


class Unflushed(FileOps):
    """Does not wait for the device, for tests that are about something else."""

    def flush(self, descriptor: int) -> None:
        """Done."""

    def flush_directory(self, path: str) -> None:
        """Done."""


class Weighed(FileOps):
    """Counts calls and bytes that were read."""

    def __init__(self) -> None:
        self.calls = 0
        self.read = 0

    def pread(self, descriptor: int, length: int, offset: int) -> bytes:
        """Read as ever, and weigh it."""
        data = super().pread(descriptor, length, offset)
        self.calls += 1
        self.read += len(data)
        return data


def ledger_at(path: Path, **options: Any) -> NdjsonLedger:
    """A ledger with a clock that stands still."""
    return NdjsonLedger(str(path), clock=StepClock(), **options)


def events_of(path: Path) -> list[dict[str, Any]]:
    """All events, read by nothing but a JSON parser and a split at newlines."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def assert_whole(path: Path) -> None:
    """Every line is terminated, whole, and chained to the one before; no id stands twice."""
    data = path.read_bytes()
    assert data == b"" or data.endswith(b"\n")
    lines = list(read_lines(path))
    assert [(line.number, line.problem) for line in lines if line.problem is not None] == []
    ids = [line.event["event_id"] for line in lines if line.event is not None]
    assert len(ids) == len(set(ids))


def folded(path: Path) -> dict[str, Run]:
    """Run states by the plain fold, without projection or ledger."""
    runs: dict[str, Run] = {}
    for event in events_of(path):
        if event.get("run_id") is not None:
            runs[event["run_id"]] = apply(runs.get(event["run_id"]), event)
    return runs


def assert_state_follows(path: Path) -> None:
    """What a new process sees is the fold of the log."""
    ledger = ledger_at(path)
    assert {run.run_id: run for run in ledger.view().runs()} == folded(path)
    ledger.close()
