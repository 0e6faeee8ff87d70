"""Carries out a workflow as GitHub does, as far as our example needs it: one job, a matrix, artifacts.

Whatever it does not know, it refuses, so that a change of the example is not passed over.
Source: docs.github.com, "Workflow syntax for GitHub Actions" (defaults.run.shell, jobs.<id>.steps[*].if).
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import yaml

# how GitHub starts the shell of a step: unnamed on Linux, and named
_SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
_DONE_ELSEWHERE = ("actions/checkout@v4", "actions/setup-python@v5")
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\(\)")
_COMPARISON = re.compile(r"(?P<left>[\w.-]+) (?P<op>==|!=) '(?P<right>[^']*)'")


@dataclass
class Job:
    """One job on a fresh runner: its directory, its outputs, and whether a step has failed."""

    checkout: str
    environment: dict[str, str]
    matrix: dict[str, str]
    failed: bool = False
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    carried_out: list[str] = field(default_factory=list)


class Workflow:
    """A workflow with its artifacts, which live in a directory of their own."""

    def __init__(self, text: str, *, inputs: dict[str, str], artifacts: str) -> None:
        self.document = yaml.safe_load(text)
        self._inputs = inputs
        self._artifacts = artifacts
        (self._job,) = self.document["jobs"].values()
        self._shell = _SHELLS[self.document.get("defaults", {}).get("run", {}).get("shell")]

    @property
    def legs(self) -> list[str]:
        """The values of the matrix, in the order in which GitHub creates the jobs."""
        stages: list[str] = self._job["strategy"]["matrix"]["stage"]
        return stages

    def run(self, stage: str, checkout: str, **environment: str) -> Job:
        """Carry out the job of *stage* in *checkout*."""
        job = Job(checkout, {}, {"stage": stage})
        for stated in (self.document["env"], self._job["env"]):
            job.environment.update({name: self._filled(str(value), job) for name, value in stated.items()})
        job.environment.update(environment)
        for step in self._job["steps"]:
            if self._is_due(step.get("if", "success()"), job):
                job.carried_out.append(step.get("name", step.get("uses", "")))
                job.failed = not self._carry_out(step, job) or job.failed
        return job

    def _is_due(self, condition: str, job: Job) -> bool:
        if not _STATUS.search(condition) and job.failed:  # success() is understood
            return False
        return all(self._holds(term.strip(), job) for term in condition.split("&&"))

    def _holds(self, term: str, job: Job) -> bool:
        if term in {"always()", "success()"}:
            return term == "always()" or not job.failed
        comparison = _COMPARISON.fullmatch(term)
        assert comparison is not None, term
        equal = self._value(comparison["left"], job) == comparison["right"]
        return equal if comparison["op"] == "==" else not equal

    def _value(self, name: str, job: Job) -> str:
        head, *rest = name.split(".")
        if head == "matrix":
            return job.matrix[rest[0]]
        if head == "inputs":
            return self._inputs[rest[0]]
        if head == "vars":
            return ""  # only where to install from
        assert (head, rest[1]) == ("steps", "outputs"), name
        return job.outputs.get(rest[0], {}).get(rest[2], "")

    def _filled(self, text: str, job: Job) -> str:
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: self._value(match[1], job), text)

    def _carry_out(self, step: dict[str, Any], job: Job) -> bool:
        if "run" in step:
            return self._run_shell(step, job)
        options = {name: str(value) for name, value in step.get("with", {}).items()}
        if step["uses"] == "actions/download-artifact@v4":
            self._download(options, job)
        elif step["uses"] == "actions/upload-artifact@v4":
            self._upload(options, job)
        else:
            assert step["uses"] in _DONE_ELSEWHERE, step["uses"]
        return True

    def _run_shell(self, step: dict[str, Any], job: Job) -> bool:
        script = self._filled(step["run"], job)
        if script.startswith("python -m pip install "):
            return True  # the command under test is installed already
        output = os.path.join(job.checkout, ".github-output")
        with open(output, "w", encoding="utf-8"):
            pass
        programs = os.path.dirname(sys.executable)
        code = subprocess.run(
            [*self._shell, "-c", script],
            cwd=job.checkout,
            stdout=subprocess.DEVNULL,
            check=False,
            env={
                **os.environ,
                "PATH": f"{programs}:{os.environ['PATH']}",
                "GITHUB_SHA": "0" * 40,
                "GITHUB_OUTPUT": output,
                **job.environment,
            },
        ).returncode
        if "id" in step:
            with open(output, encoding="utf-8") as file:
                job.outputs[step["id"]] = dict(line.rstrip("\n").split("=", 1) for line in file)
        return code == 0

    def _download(self, options: dict[str, str], job: Job) -> None:
        """With `pattern` (and not with `name`) finding nothing is no error."""
        assert set(options) == {"pattern", "merge-multiple", "path"}
        source = os.path.join(self._artifacts, options["pattern"])
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(job.checkout, options["path"]), dirs_exist_ok=True)

    def _upload(self, options: dict[str, str], job: Job) -> None:
        """Finding nothing uploads nothing and deletes nothing; else what was there is replaced."""
        assert set(options) == {"name", "overwrite", "path"}
        assert options["overwrite"] == "True"
        patterns = options["path"].split()
        found = {
            name for pattern in patterns if pattern[0] != "!" for name in glob.glob(pattern, root_dir=job.checkout)
        }
        found -= {
            name for pattern in patterns if pattern[0] == "!" for name in glob.glob(pattern[1:], root_dir=job.checkout)
        }
        if not found:
            return
        target = os.path.join(self._artifacts, options["name"])
        shutil.rmtree(target, ignore_errors=True)
        os.makedirs(target)
        for name in found:
            shutil.copy(os.path.join(job.checkout, name), target)
