"""What a pull request waits for: `policy check` of many files, `policy test` of the shipped golden cases."""

from __future__ import annotations

import json
import os
import statistics
import subprocess

from environments import GATE, HERE, PEERS, ROOT, program
from evidence import read_json, write_json
from figures import Figure, at_most, attempted
from timing import FailedError, ratio, rounds, timed

POLICY = os.path.join(ROOT, "policies", "checkout-guarded.json")
SCHEMA = os.path.join(ROOT, "docs", "schema", "policy.schema.json")
FILES = 100
CASES = 10


class Review:
    """A directory in which commands are timed; their output is kept in a file."""

    def __init__(self, directory: str) -> None:
        os.makedirs(directory, exist_ok=True)
        self.directory = directory
        self._output = os.path.join(directory, "output.txt")

    def files(self) -> list[str]:
        """The example policy under a hundred names, each with thresholds of its own."""
        names = []
        for number in range(FILES):
            document = read_json(POLICY)
            document["policy_id"] = f"checkout-{number}"
            for guardrail in document["guardrails"]:
                if "threshold" in guardrail:
                    guardrail["threshold"] *= 1 + number / 1000
            names.append(f"policy-{number:03}.json")
            write_json(os.path.join(self.directory, names[-1]), document)
        return names

    def run(self, command: list[str]) -> float:
        """Seconds of a whole process that ends with 0."""
        return timed(command, directory=self.directory, output=self._output)


def checking_policies(directory: str, count: int) -> list[Figure]:
    """A hundred files in one call, against a validator that only knows their schema."""
    name = f"`policy check` of {FILES} policy files : check-jsonschema with their schema"

    def measure() -> Figure:
        review = Review(directory)
        files = review.files()
        ours = [program(GATE, "gatekeeper"), "policy", "check", *files]
        peer = [program(PEERS, "check-jsonschema"), "--schemafile", SCHEMA, *files]
        done = subprocess.run([*ours, "-o", "json"], cwd=directory, capture_output=True, text=True, check=False)
        if [page["loads"] for page in json.loads(done.stdout)["policies"]] != [True] * FILES:
            raise FailedError("not every file loads")
        values = rounds({"ours": lambda _: review.run(ours), "peer": lambda _: review.run(peer)}, count=count)
        note = f"{_milliseconds(values['ours'])} : {_milliseconds(values['peer'])}"
        return at_most(name, ratio(values, "ours", "peer"), 1.5, 0.7, note=note)

    return [attempted(name, "<= 1.50 x", "<= 0.70 x", measure)]


def golden_cases(directory: str, count: int) -> list[Figure]:
    """The shipped cases, whole process, against hello world."""
    name = f"`policy test` with {CASES} golden cases : hello world, typer 0.29"

    def measure() -> Figure:
        review = Review(directory)
        ours = [program(GATE, "gatekeeper"), "policy", "test", os.path.join(ROOT, "policies", "golden")]
        hello = [program(PEERS, "python"), os.path.join(HERE, "peers", "hello.py")]
        done = subprocess.run(ours, cwd=directory, capture_output=True, text=True, check=False)
        if not done.stdout.startswith(f"{CASES} golden cases: {CASES} passed"):
            raise FailedError(done.stdout + done.stderr)
        values = rounds({"ours": lambda _: review.run(ours), "hello": lambda _: review.run(hello)}, count=count)
        note = f"{_milliseconds(values['ours'])} : {_milliseconds(values['hello'])}"
        return at_most(name, ratio(values, "ours", "hello"), 1.2, 0.8, note=note)

    return [attempted(name, "<= 1.20 x", "<= 0.80 x", measure)]


def _milliseconds(values: list[float]) -> str:
    return f"{statistics.median(values) * 1000:.1f} ms"
