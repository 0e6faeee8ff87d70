"""A team's repository for workflows to run in: policies, evidence, scripts, our actions, a branch for the log."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gatekeeper.cli.init import starter
from gatekeeper.model.times import format_time
from tests.actions.runner import PROGRAMS, Workflow
from tests.docs.console import ROOT

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
    """The team's repository, and what its traffic script was told, in `base`."""

    base: Path
    jobs: list[Job] = field(default_factory=list)

    @property
    def origin(self) -> Path:
        """The bare repository that jobs check out."""
        return self.base / "origin.git"

    def found(self) -> None:
        """Lay the repository out: the starter's policy without waiting times, our actions, and an empty log branch."""
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
        git(work, "switch", "--quiet", "--orphan", "gate-log")
        git(work, "commit", "--quiet", "--allow-empty", "-m", "Decision log")
        git(work, "push", "--quiet", "origin", "gate-log")
        git(work, "switch", "--quiet", "main")

    def commit(self, message: str) -> None:
        """Commit all of the team's working copy to main, and push."""
        git(self.base / "work", "add", "--all")
        git(self.base / "work", "commit", "--quiet", "-m", message)
        git(self.base / "work", "push", "--quiet", "origin", "main")

    @property
    def moved(self) -> list[str]:
        """What the traffic script was called with, in order."""
        path = self.base / "traffic"
        return path.read_text().split() if path.exists() else []

    @property
    def verdicts(self) -> list[str]:
        """Of the decisions in the log on its branch."""
        if not git(self.origin, "ls-tree", "gate-log", "decision.ndjson"):
            return []
        events = [json.loads(line) for line in git(self.origin, "show", "gate-log:decision.ndjson").splitlines()]
        return [event["decision"]["verdict"] for event in events if event["kind"] == "decision"]

    def workflow(self, text: str) -> Workflow:
        """A workflow with the artifacts of this site."""
        return Workflow(text, self.base / "artifacts")

    def checkout(self) -> Path:
        """A fresh clone of main."""
        place = self.base / f"checkout-{len(self.jobs)}"
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
        """Run the one job of *workflow* on a fresh runner, for *stage* of its matrix, with *metrics* as the evidence.

        *gate* is a line of bash that stands in for gatekeeper; "" takes it away. *collector* replaces the script.
        """
        checkout, temporary = self.checkout(), self.base / f"runner-{len(self.jobs)}"
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
        job = workflow.run(
            checkout,
            temporary,
            path=f"{temporary / 'pip'}:{path}",
            matrix=None if stage is None else {"stage": stage},
            environment={"BAKE_SECONDS": "0", "TRAFFIC": str(self.base / "traffic")},
            inputs={"change_id": "CHG-123"},
            github={"repository": "acme/shop", "run_id": str(len(self.jobs) + 1)},
        )
        self.jobs.append(job)
        return job


def without_gatekeeper(directory: Path) -> str:
    """A PATH with the programs of the machine in *directory*, but for gatekeeper."""
    directory.mkdir(parents=True)
    for name in _PROGRAMS.split():
        found = shutil.which(name, path=PROGRAMS)
        assert found is not None, name
        (directory / name).symlink_to(found)
    return str(directory)
