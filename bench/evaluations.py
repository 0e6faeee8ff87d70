"""Evaluations per second in process: gatekeeper's evaluator and the OPA engine, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from cases import compared
from environments import GATE, HERE, PEERS, program
from timing import FailedError, rounds

WORKERS = {
    "gatekeeper": [program(GATE, "python"), os.path.join(HERE, "evaluate_worker.py")],
    "opa": [program(PEERS, "python"), os.path.join(HERE, "peers", "opa_worker.py")],
}


class Worker:
    """A process that evaluates when asked (bench/evaluating.py)."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request: Any) -> Any:
        """The answer to one request. Raises FailedError when the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError) as error:
            raise FailedError(f"{self._process.args!r} ended with {self._process.wait()}") from error

    def end(self) -> None:
        """Let the process end."""
        self._process.communicate()


def measure(*, count: int, seconds: float) -> dict[str, list[float]]:
    """Evaluations per second by engine, one value a round.

    Raises:
        FailedError: the engines do not say the same of every compared input, or not what is expected.
    """
    workers = {name: Worker(command) for name, command in WORKERS.items()}
    try:
        assert_same({name: worker.ask(compare=True) for name, worker in workers.items()})
        subjects = {name: (lambda _round, asked=worker: asked.ask(seconds=seconds)) for name, worker in workers.items()}
        return rounds(subjects, count=count)
    finally:
        for worker in workers.values():
            worker.end()


def assert_same(answers: dict[str, list[Any]]) -> None:
    """Verdict, reason codes, missing, and rule, outcome and code of all findings are the same, input by input."""
    for number, (name, verdict, _, _) in enumerate(compared()):
        ours, theirs = answers["gatekeeper"][number], answers["opa"][number]
        if ours["verdict"] != verdict:
            raise FailedError(f"{name}: gatekeeper says {ours['verdict']}, expected {verdict}")
        for part in ("verdict", "codes", "missing", "findings"):
            if ours[part] != theirs[part]:
                raise FailedError(f"{name}: {part} differ:\ngatekeeper {ours[part]}\nOPA        {theirs[part]}")
