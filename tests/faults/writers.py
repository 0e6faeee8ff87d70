"""Processes that write to one log, released at one moment."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gatekeeper.orchestrator import gate
from tests.orchestrator.desk import Desk


def fork_all(writers: int, body: Callable[[int, int], None]) -> list[int]:
    """Start them; how each of them ended.

    Args:
        body: takes a writer's number, and a descriptor on which to wait for its end of file.
    """
    reading, writing = os.pipe()
    children = []
    for number in range(writers):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.close(writing)
                body(number, reading)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(reading)
    os.close(writing)
    return [os.waitpid(child, 0)[1] for child in children]


class Telling:
    """One writer's checks; what it was told is noted in a file of its own, whatever becomes of the process.

    Args:
        number: the writer's.
        place: where the files are.
    """

    def __init__(self, number: int, desk: Desk, place: Path) -> None:
        self._desk = desk
        self._told = os.open(place / f"told-{number}", os.O_WRONLY | os.O_CREAT)
        desk.counter = 1000 * number  # evidence of its own

    def check(self, stage: str, run_id: str, experiment_id: str) -> None:
        """Ask, and note the event that it was told of, unless it is an older one."""
        question = self._desk.question(stage, run_id=run_id, experiment_id=experiment_id)
        answer = gate.ask(question, ledger=self._desk.ledger, clock=self._desk.clock)
        if not answer.is_recorded:
            os.write(self._told, answer.event["event_id"].encode() + b"\n")


def told_in(place: Path) -> list[str]:
    """Ids of all events that writers were told of."""
    return [line for found in place.glob("told-*") for line in found.read_text().split("\n")[:-1]]


def moves_of(events: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """How often each run was let into each stage."""
    return Counter(
        (event["run_id"], event["stage"])
        for event in events
        if event["kind"] == "decision"
        and event["decision"]["verdict"] == "ACCEPT"
        and event["state_transition"]["from"] != event["state_transition"]["to"]
    )
