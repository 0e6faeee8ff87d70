"""Carries out jobs of a workflow as GitHub's runner does: shells, files for outputs, `if:`, composite actions.

Whatever it does not know, it refuses, so that a change of a workflow is not passed over. Actions of others are stood
in for by `hosted.py`; ours (`uses: ./…`) are read from the job's checkout and carried out step by step.
Source: docs.github.com, "Workflow syntax for GitHub Actions" and "Metadata syntax", and actions/runner,
CompositeActionHandler.cs: a failed step does not keep an action's outputs from being set.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.actions.expressions import Status, as_text, filled, holds
from tests.actions.file_commands import FileCommands
from tests.actions.hosted import Artifacts, carry_out

# How GitHub starts the shell of a step: unnamed on Linux, and named.
SHELLS = {None: ["bash", "-e"], "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}
PROGRAMS = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"

_WORKFLOW_KEYS = {"name", "on", "permissions", "concurrency", "defaults", "env", "jobs"}
_JOB_KEYS = {"name", "runs-on", "strategy", "env", "steps", "timeout-minutes", "permissions", "if", "concurrency"}
_STEP_KEYS = {"name", "id", "if", "env", "continue-on-error", "timeout-minutes"}
_RUN_KEYS = _STEP_KEYS | {"run", "shell", "working-directory"}
_USES_KEYS = _STEP_KEYS | {"uses", "with"}


@dataclass(frozen=True)
class Result:
    """What a step has left: `conclusion` is `outcome` after continue-on-error."""

    outputs: dict[str, str]
    outcome: str
    conclusion: str

    def as_context(self) -> dict[str, Any]:
        """As `steps.<id>` shows it."""
        return {"outputs": self.outputs, "outcome": self.outcome, "conclusion": self.conclusion}


@dataclass
class Scope:
    """What the steps of a job, or of one composite action, see of each other."""

    environment: dict[str, str]
    inputs: dict[str, Any]
    shell: str | None = None
    action_path: str | None = None
    steps: dict[str, Result] = field(default_factory=dict)
    status: Status = field(default_factory=Status)


@dataclass
class Job:
    """One job on a fresh runner, after it has run.

    `carried_out` names the steps that were not passed over, `log` is all they printed, `summary` the job's page.
    """

    checkout: Path
    temporary: Path
    artifacts: Artifacts
    contexts: dict[str, Any]
    path: str = PROGRAMS
    failed: bool = False
    steps: dict[str, Result] = field(default_factory=dict)
    carried_out: list[str] = field(default_factory=list)
    log: str = ""
    summary: str = ""

    def outputs(self, step: str) -> dict[str, str]:
        """Of a step by its id; empty where it was passed over."""
        return self.steps[step].outputs if step in self.steps else {}


class Workflow:
    """A workflow file, its variables and its artifacts."""

    def __init__(self, text: str, artifacts: Path) -> None:
        # `on` is a boolean to YAML 1.1, which PyYAML reads, and a text to GitHub
        self.document = {"on" if key is True else key: value for key, value in yaml.safe_load(text).items()}
        assert set(self.document) <= _WORKFLOW_KEYS, set(self.document) - _WORKFLOW_KEYS
        self.artifacts = Artifacts(artifacts)

    def matrix(self, job: str | None = None) -> list[dict[str, str]]:
        """The legs of a job, in the order in which GitHub creates them."""
        axes = self._job(job).get("strategy", {}).get("matrix", {})
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]

    def _job(self, name: str | None) -> dict[str, Any]:
        jobs: dict[str, dict[str, Any]] = self.document["jobs"]
        if name is None:
            (job,) = jobs.values()
            return job
        return jobs[name]

    def run(
        self,
        checkout: Path,
        temporary: Path,
        *,
        job: str | None = None,
        path: str = PROGRAMS,
        matrix: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        **contexts: Any,
    ) -> Job:
        """Carry out *job* (the only one, unless named) in *checkout*; *temporary* is the runner's own directory.

        *environment* is what the runner's machine has set; *contexts* are `github`, `inputs`, `vars`, `secrets`.
        """
        document = self._job(job)
        assert set(document) <= _JOB_KEYS, set(document) - _JOB_KEYS
        given: dict[str, Any] = {"github": {}, "inputs": {}, "vars": {}, "secrets": {}, **contexts}
        here = {"sha": "0" * 40, "run_id": "1", "run_attempt": "1", "workspace": str(checkout)}
        given["github"] = here | given["github"]
        (temporary / "home").mkdir(parents=True, exist_ok=True)
        given.update(matrix=matrix or {}, runner={"temp": str(temporary), "os": "Linux"})
        running = Job(checkout, temporary, self.artifacts, given, path)
        shell = document.get("defaults", self.document.get("defaults", {})).get("run", {}).get("shell")
        scope = Scope({}, given["inputs"], shell)
        for stated in (self.document.get("env", {}), document.get("env", {})):
            values = {name: _filled(value, running, scope) for name, value in stated.items()}
            scope.environment.update(values)
        scope.environment.update(environment or {})  # a test may set what a workflow only proposes
        if "if" not in document or holds(document["if"], _contexts(running, scope), scope.status):
            _carry_out_all(document["steps"], running, scope)
        running.failed, running.steps = scope.status.failed, scope.steps
        return running


def _contexts(job: Job, scope: Scope) -> dict[str, Any]:
    steps = {name: result.as_context() for name, result in scope.steps.items()}
    return {**job.contexts, "env": scope.environment, "inputs": scope.inputs, "steps": steps}


def _filled(value: Any, job: Job, scope: Scope) -> str:
    return filled(as_text(value), _contexts(job, scope), scope.status)


def _carry_out_all(steps: list[dict[str, Any]], job: Job, scope: Scope) -> None:
    for step in steps:
        known = _RUN_KEYS if "run" in step else _USES_KEYS
        assert set(step) <= known, set(step) - known
        inner = Scope(
            scope.environment | {name: _filled(value, job, scope) for name, value in step.get("env", {}).items()},
            scope.inputs,
            scope.shell,
            scope.action_path,
            scope.steps,
            scope.status,
        )
        if not holds(as_text(step.get("if", "success()")), _contexts(job, inner), scope.status):
            continue
        job.carried_out.append(step.get("name", step.get("uses", "")))
        added: dict[str, str] = {}
        succeeded, outputs = _run_shell(step, job, inner, added) if "run" in step else _use(step, job, inner)
        scope.environment.update(added)  # what a step puts into GITHUB_ENV is for those behind it
        goes_on = succeeded or _filled(step.get("continue-on-error", "false"), job, inner) == "true"
        if "id" in step:
            words = {True: "success", False: "failure"}
            scope.steps[step["id"]] = Result(outputs, words[succeeded], words[goes_on])
        scope.status = Status(failed=scope.status.failed or not goes_on)


def _run_shell(step: dict[str, Any], job: Job, scope: Scope, added: dict[str, str]) -> tuple[bool, dict[str, str]]:
    number = len(job.carried_out)
    files = FileCommands.of_a_step(job.temporary / f"_runner_file_commands-{number}")
    script = job.temporary / f"script-{number}.sh"
    script.write_text(_filled(step["run"], job, scope), encoding="utf-8")
    directory = job.checkout / _filled(step.get("working-directory", ""), job, scope)
    if not directory.is_dir():
        job.log += f"##[error]no such working directory: {directory}\n"
        return False, {}
    environment = {**_of_the_machine(job), **scope.environment, **files.environment()}
    if scope.action_path is not None:
        environment["GITHUB_ACTION_PATH"] = scope.action_path
    ended = subprocess.run(
        [*SHELLS[step.get("shell", scope.shell)], str(script)],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    job.log += ended.stdout.decode(errors="replace")
    job.summary += files.text("STEP_SUMMARY")
    if files.text("PATH"):
        job.path = ":".join([*reversed(files.text("PATH").split()), job.path])
    try:
        added.update(files.values("ENV"))
        return ended.returncode == 0, files.values("OUTPUT")
    except ValueError as error:
        job.log += f"##[error]{error}\n"
        return False, {}


def _of_the_machine(job: Job) -> dict[str, str]:
    github = {name: value for name, value in job.contexts["github"].items() if name != "token"}  # nobody is handed that
    return {
        "HOME": str(job.temporary / "home"),  # empty at first: no cache, no state, no settings of git
        "PATH": job.path,
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(job.checkout),
        "RUNNER_TEMP": str(job.temporary),
        **{f"GITHUB_{name.upper()}": value for name, value in github.items() if isinstance(value, str)},
    }


def _use(step: dict[str, Any], job: Job, scope: Scope) -> tuple[bool, dict[str, str]]:
    given = {name: _filled(value, job, scope) for name, value in step.get("with", {}).items()}
    if not step["uses"].startswith("./"):
        return carry_out(step["uses"], given, job.artifacts, job.checkout), {}
    directory = job.checkout / step["uses"]
    action = yaml.safe_load((directory / "action.yml").read_text(encoding="utf-8"))
    return _compose(action, given, job, scope, str(directory.resolve()))


def _compose(
    action: dict[str, Any], given: dict[str, str], job: Job, scope: Scope, path: str
) -> tuple[bool, dict[str, str]]:
    """Carry out a composite action. An input that is required and absent stops nothing: GitHub does not look either."""
    assert action["runs"]["using"] == "composite"
    declared = action.get("inputs", {})
    assert set(given) <= set(declared), f"unexpected inputs: {set(given) - set(declared)}"
    inputs = {
        name: given.get(name, _filled(stated.get("default", ""), job, scope)) for name, stated in declared.items()
    }
    inner = Scope(dict(scope.environment), inputs, None, path)
    for step in action["runs"]["steps"]:
        assert "uses" in step or "shell" in step, "a composite action names the shell of every step"
    _carry_out_all(action["runs"]["steps"], job, inner)
    outputs = {name: _filled(stated["value"], job, inner) for name, stated in action.get("outputs", {}).items()}
    return not inner.status.failed, outputs
