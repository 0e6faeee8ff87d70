"""`check --collect` against `check --snapshot` of the snapshot that it would collect: whole processes, in turn."""

from __future__ import annotations

import http.client
import json
import os
import time
from datetime import datetime
from urllib.parse import urlencode, urlsplit

import questions
from collecting import collected, collection_file, observations, present_lab, texts_asked
from environments import GATE, program
from evidence import just_now, write_json
from timing import FailedError, rounds, timed

from tests.lab.faults import FaultProxy


def measure(directory: str, *, count: int) -> tuple[dict[str, list[float]], int]:
    """Seconds of "collect", "snapshot" and "asking" (the same queries and nothing else), and how many queries."""
    os.makedirs(directory, exist_ok=True)
    with present_lab() as lab:
        with FaultProxy(lab.url) as proxy:
            texts = texts_asked(directory, proxy, count=questions.FEW, at=just_now())
        desk = CollectingDesk(directory, lab.url, texts)
        desk.begin()
        subjects = {"collect": desk.collect, "snapshot": desk.snapshot, "asking": desk.asking}
        values = rounds(subjects, count=count)
        desk.assert_recorded()
    return values, len(texts)


class CollectingDesk:
    """A directory in which one log grows by checks of one run, their evidence from one server."""

    def __init__(self, directory: str, url: str, texts: list[str]) -> None:
        self._directory = directory
        self._url = url
        self._texts = texts
        self._collection = collection_file(directory, url, count=questions.FEW)
        self._policy = os.path.join(directory, "policy.json")
        self._log = os.path.join(directory, "decision.ndjson")
        self._asked = 0
        write_json(self._policy, questions.policy())

    def begin(self) -> None:
        """The run's first event; the log has the policy from here on."""
        first = ["--start-stage", "CANARY_10", "--reason", "benchmark"]
        self._check("--collect", self._collection, *first)

    def collect(self, _round: int) -> float:
        """Seconds of a check that collects."""
        return self._check("--collect", self._collection, "--stage", "CANARY_10")

    def snapshot(self, _round: int) -> float:
        """Seconds of a check of a file, collected just before."""
        path = os.path.join(self._directory, "snapshot.json")
        snapshot = collected(self._collection)
        observations(snapshot)
        write_json(path, snapshot)
        return self._check("--snapshot", path, "--stage", "CANARY_10")

    def asking(self, _round: int) -> float:
        """Seconds in which one connection brings the answers to the same queries, one after the other."""
        server = urlsplit(self._url)
        at = int(datetime.now().astimezone().timestamp())
        paths = ["/api/v1/query?" + urlencode({"query": text, "time": at}) for text in self._texts]
        begun = time.perf_counter()
        link = http.client.HTTPConnection(server.hostname or "", server.port)
        for path in paths:
            link.request("GET", path)
            answer = link.getresponse()
            if b'"success"' not in answer.read():
                raise FailedError(f"HTTP {answer.status}")
        link.close()
        return time.perf_counter() - begun

    def assert_recorded(self) -> None:
        """Every check has an ACCEPT of its own in the log, for its own evidence."""
        with open(self._log, "rb") as file:
            decisions = [event for event in map(json.loads, file) if event["kind"] == "decision"]
        accepted = [event for event in decisions if event["decision"]["verdict"] == "ACCEPT"]
        snapshots = {event["metrics_snapshot"]["_meta"]["snapshot_id"] for event in accepted}
        if not len(snapshots) == len(accepted) == len(decisions) == self._asked:
            told = f"{len(decisions)} decisions and {len(accepted)} ACCEPTs of {len(snapshots)} snapshots"
            raise FailedError(f"{self._asked} checks left {told} in {self._log}")

    def _check(self, *arguments: str) -> float:
        self._asked += 1
        command = [program(GATE, "gatekeeper"), "check", "--policy", self._policy, "--experiment", "exp-42"]
        command += ["--variant", "B", "--log", self._log, *arguments]
        return timed(command, directory=self._directory, output=os.path.join(self._directory, "output.txt"))
