"""A team's repository for workflows to run in: policies, evidence, scripts, our actions, and a ledger for all jobs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import psycopg

from gatekeeper.cli.init import starter
from gatekeeper.ledger.address import DEFAULT_BRANCH
from gatekeeper.model.times import format_time
from tests.actions.runner import PROGRAMS, Workflow
from tests.docs.console import ROOT, read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.actions.runner import Job

HEALTHY: dict[str, Any] = {"error_ratio": 0.006, "latency_p95_ms": 352, "data_loss_incidents": 0}
METRICS: dict[str, dict[str, Any]] = {
    "ACCEPT": HEALTHY,
    "REJECT": HEALTHY | {"error_ratio": 0.02},
    "DEGRADE": HEALTHY | {"latency_p95_ms": None},
}
"""Evidence for the starter policy, by the verdict that it gets."""

CRASHES = {
    "internal-error": "exit 70",
    "unwritable-log": "exit 74",
    "missing": "",
    "killed": "kill -9 $$",
    "broken-install": "echo Traceback >&2; exit 1",
    "another-program": "exit 0",
}
"""Lines of bash in place of gatekeeper that give no verdict; "" takes it away."""

_NOBODY = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}
_PROGRAMS = "basename bash cat cp env git grep head mkdir mktemp python3 rm sed sh sleep tee wc"
_COLLECTION = {
    "sources": {"taken": {"type": "file", "path": "../collected.json"}},
    "metrics": {name: {"source": "taken"} for name in HEALTHY},
}


def git(directory: Path, *words: str) -> str:
    """Run git in *directory*, as somebody."""
    ended = subprocess.run(
        ["git", "-C", str(directory), *words], env=os.environ | _NOBODY, capture_output=True, text=True, check=True
    )
    return ended.stdout


def script(path: Path, line: str) -> None:
    """A program of one line of bash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{line}\n")
    path.chmod(0o755)


def snapshot(metrics: dict[str, Any]) -> dict[str, Any]:
    """Evidence that is fresh now, with its baseline."""
    now = format_time(time.time_ns() // 1000)
    meta = {"collected_at": now, "watermark_event_time": now, "window": "5m"}
    baseline = {"error_ratio": 0.0055, "latency_p95_ms": 347}
    return {"metrics": metrics, "baseline": {"metrics": baseline, "_meta": meta}, "_meta": meta}


@dataclass
class Site:
    """The team's repository, and what its traffic script was told, in `base`.

    Attributes:
        server, token: where the repository is found as acme/shop, and the token of a job; a directory, unless stated.
        variables, secrets: of the repository, as workflows see them.
        database: of the log, as its owner reaches it; empty where the log is a branch.
        machine: what is set in the environment of every runner.
    """

    base: Path
    server: str = ""
    token: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    database: str = ""
    machine: dict[str, str] = field(default_factory=dict)
    _begun: count[int] = field(default_factory=count)

    @property
    def origin(self) -> Path:
        """The bare repository that jobs check out."""
        return self.base / "origin.git"

    def found(self) -> None:
        """Lay the repository out: the starter's policy without waiting times, our actions, and an empty log branch.

        The branch is made as canary.yml says.
        """
        work = self.base / "work"
        work.mkdir()
        policy = json.loads(starter("policy.json"))
        del policy["stage_policy"]  # no test waits 15 minutes
        policy["holds"]["observation_missing"]["retry_after_seconds"] = 0
        for folder, document in (("policies", policy), ("collections", _COLLECTION)):
            (work / folder).mkdir()
            (work / folder / "rollout.json").write_text(json.dumps(document))
        script(work / "ci/collect-evidence", "cat collected.json")
        script(work / "ci/set-traffic", 'echo "$1" >> "$TRAFFIC"')
        shutil.copytree(os.path.join(ROOT, ".github/actions"), work / ".github/actions")
        subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", str(self.origin)], check=True)
        git(work, "init", "--quiet", "-b", "main")
        git(work, "remote", "add", "origin", str(self.origin))
        self.commit("Policies and scripts")
        (by_hand,) = re.findall(r"^#   (git push origin .*)$", read("docs/examples/workflows/canary.yml"), re.MULTILINE)
        subprocess.run(["bash", "-c", by_hand], cwd=work, env=os.environ | _NOBODY, capture_output=True, check=True)
        (self.base / "acme").mkdir()
        (self.base / "acme/shop").symlink_to(self.origin)

    def commit(self, message: str) -> None:
        """Commit all of the team's working copy to main, and push."""
        git(self.base / "work", "add", "--all")
        git(self.base / "work", "commit", "--quiet", "-m", message)
        git(self.base / "work", "push", "--quiet", "origin", "main")

    @property
    def moved(self) -> list[str]:
        """What the traffic script was called with, in order."""
        path = self.base / "traffic"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def lines(self) -> list[str]:
        """All lines of the ledger, read by nothing of ours."""
        if self.database:
            with psycopg.connect(self.database) as session:
                rows = session.execute("SELECT line FROM gatekeeper.events ORDER BY seq").fetchall()
            return [bytes(line).decode() for (line,) in rows]
        appends = ("log", "--first-parent", "--reverse", "--format=%H", DEFAULT_BRANCH, "--", "events.ndjson")
        commits = git(self.origin, *appends).split()
        return [line for one in commits for line in git(self.origin, "show", f"{one}:events.ndjson").splitlines()]

    @property
    def events(self) -> list[dict[str, Any]]:
        """The same, parsed."""
        return [json.loads(line) for line in self.lines]

    @property
    def verdicts(self) -> list[str]:
        """Of the decisions in the ledger."""
        return [event["decision"]["verdict"] for event in self.events if event["kind"] == "decision"]

    def workflow(self, text: str) -> Workflow:
        """A workflow with the artifacts of this site."""
        return Workflow(text, self.base / "artifacts")

    def checkout(self, name: str = "checkout") -> Path:
        """A fresh clone of main."""
        place = self.base / name
        subprocess.run(["git", "clone", "--quiet", str(self.origin), str(place)], check=True)
        return place

    def run(
        self,
        workflow: Workflow,
        metrics: dict[str, Any],
        *,
        stage: str | None = None,
        gate: str | None = None,
        collector: str | None = None,
    ) -> Job:
        """Run the one job of *workflow* on an empty runner, for *stage* of its matrix, with *metrics* as the evidence.

        The runner has a fresh clone and an empty home; nothing is left of jobs before but what they have put elsewhere.

        *gate* is a line of bash that stands in for gatekeeper; "" takes it away. *collector* replaces the script.
        """
        number = next(self._begun)
        checkout, temporary = self.checkout(f"checkout-{number}"), self.base / f"runner-{number}"
        (checkout / "collected.json").write_text(json.dumps(snapshot(metrics)))
        if collector is not None:
            script(checkout / "ci/collect-evidence", collector)
        path = PROGRAMS
        if gate is not None:
            path = without_gatekeeper(temporary / "bin")
            if gate:
                script(temporary / "bin/gatekeeper", gate)
        temporary.mkdir(exist_ok=True)
        script(temporary / "pip/python", 'if [ "$2" = pip ]; then exit 0; fi; exec python3 "$@"')
        return workflow.run(
            checkout,
            temporary,
            path=f"{temporary / 'pip'}:{path}",
            matrix=None if stage is None else {"stage": stage},
            environment={"BAKE_SECONDS": "0", "TRAFFIC": str(self.base / "traffic"), **self.machine},
            inputs={"change_id": "CHG-123"},
            github={
                "repository": "acme/shop",
                "server_url": self.server or f"file://{self.base}",
                "token": self.token,
                "run_id": str(number + 1),
            },
            vars=self.variables,
            secrets=self.secrets,
        )


def without_gatekeeper(directory: Path) -> str:
    """A PATH with the programs of the machine in *directory*, but for gatekeeper."""
    directory.mkdir(parents=True)
    for name in _PROGRAMS.split():
        found = shutil.which(name, path=PROGRAMS)
        assert found is not None, name
        (directory / name).symlink_to(found)
    return str(directory)
