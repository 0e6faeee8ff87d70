"""`gatekeeper check` as a whole process, as a pipeline calls it: each time a new decision, recorded durably."""

from __future__ import annotations

import json
import os
import subprocess

from environments import GATE, HERE, PEERS, program
from evidence import POLICY, REFERENCES, collected, example, just_now, read_json, write_json
from timing import FailedError, timed

HEAVY = (
    "pydantic", "rich", "requests", "pandas", "prometheus_api_client",  # what must not be loaded
    "typer", "typing", "orjson",  # what need not
)  # fmt: skip

_LOADED = """
import sys
from gatekeeper.cli.app import run
code = run(sys.argv[1:])
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""


class Desk:
    """A directory in which one log grows by checks of one run, which remains at the first canary."""

    def __init__(self, directory: str) -> None:
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self.log = os.path.join(directory, "decision.ndjson")
        self._output = os.path.join(directory, "output.txt")
        self._asked = 0

    def begin(self) -> None:
        """The run's first event; the log has the policy from here on."""
        self._run(self._check(POLICY, "exp-42", "--start-stage", "CANARY_10", "--reason", "benchmark"))

    def known(self, _round: int) -> float:
        """Seconds of a check under the policy that the log holds."""
        return self._run(self._check(POLICY, "exp-42", "--stage", "CANARY_10"))

    def unseen(self, number: int) -> float:
        """Seconds of the first check of a run under a policy that nobody has seen before."""
        policy = os.path.join(self.directory, "policy.json")
        write_json(policy, {**read_json(POLICY), "policy_version": f"2026-02-18.{number}"})
        return self._run(self._check(policy, f"new-{number}"))

    def hello(self, _round: int) -> float:
        """Seconds of hello world with typer 0.29."""
        command = [program(PEERS, "python"), os.path.join(HERE, "peers", "hello.py")]
        return timed(command, directory=self.directory, output=self._output)

    def flushes(self) -> int:
        """How often one check waits for the device."""
        command = [program(GATE, "python"), os.path.join(HERE, "flushes.py")]
        command += self._check(POLICY, "exp-42", "--stage", "CANARY_10")
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory, check=False)
        if done.returncode:
            raise FailedError(done.stderr)
        counted = json.loads(done.stdout)
        if counted["exit_code"] != 0:
            raise FailedError(done.stderr)
        return sum(counted["calls"].values())

    def modules(self) -> set[str]:
        """Names of all modules that one check loads."""
        arguments = self._check(POLICY, "exp-42", "--stage", "CANARY_10")[1:]
        command = [program(GATE, "python"), "-c", _LOADED, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory, check=False)
        if done.returncode:
            raise FailedError(done.stderr)
        return set(done.stderr.split())

    def another(self) -> list[str]:
        """The command line of one more check under the policy that the log holds."""
        return self._check(POLICY, "exp-42", "--stage", "CANARY_10")

    def assert_recorded(self) -> None:
        """Every check that was asked has an ACCEPT of its own in the log."""
        accepted = 0
        with open(self.log, "rb") as file:
            for line in file:
                event = json.loads(line)
                if event["kind"] == "decision" and event["decision"]["verdict"] == "ACCEPT":
                    accepted += not event["run_id"].startswith("fill-")
        if accepted != self._asked:
            raise FailedError(f"{self._asked} checks left {accepted} ACCEPTs in {self.log}")

    def _check(self, policy: str, experiment: str, *more: str) -> list[str]:
        """The command line of the next check, its evidence collected just now and never seen before."""
        self._asked += 1
        snapshot = os.path.join(self.directory, "snapshot.json")
        write_json(snapshot, collected(example("CANARY_10"), just_now(), number=self._asked))
        command = [program(GATE, "gatekeeper"), "check", "--policy", policy, "--experiment", experiment]
        command += ["--variant", "B", "--snapshot", snapshot, "--log", self.log, *more]
        for name, value in REFERENCES.items():
            command += ["--evidence", f"{name}={value}"]
        return command

    def _run(self, command: list[str]) -> float:
        return timed(command, directory=self.directory, output=self._output)


def loaded_heavies(modules: set[str]) -> list[str]:
    """Which of the heavy packages are among *modules*."""
    return sorted({name for module in modules for name in HEAVY if module.partition(".")[0] == name})
