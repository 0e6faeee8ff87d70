"""The hooks for a team's .pre-commit-config.yaml, run as pre-commit runs them: the entry, then file names."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gatekeeper.cli.init import starter
from tests.actions.runner import PROGRAMS
from tests.docs.console import ROOT, read

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

HOOKS: dict[str, dict[str, Any]] = {hook["id"]: hook for hook in yaml.safe_load(read(".pre-commit-hooks.yaml"))}


def run(hook: str, directory: Path, *changed: str) -> subprocess.CompletedProcess[str]:
    """The hook for a commit that changes these files."""
    chosen = [path for path in changed if re.search(HOOKS[hook]["files"], path)]
    names = chosen if HOOKS[hook].get("pass_filenames", True) else []
    return subprocess.run(
        [*shlex.split(HOOKS[hook]["entry"]), *names],
        cwd=directory,
        env={**os.environ, "PATH": PROGRAMS},
        capture_output=True,
        text=True,
        check=False,
    )


def chosen(hook: str, *paths: str) -> list[str]:
    """Those of *paths* for which the hook runs."""
    return [path for path in paths if re.search(HOOKS[hook]["files"], path)]


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A repository with the starter's policy, its page, and a copy of our policies."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/rollout.json").write_bytes(starter("policy.json"))
    (tmp_path / "policies/README.md").write_bytes(starter("policies.md"))
    shutil.copytree(os.path.join(ROOT, "policies"), tmp_path / "policies", dirs_exist_ok=True)
    return tmp_path


def test_a_sound_policy_passes_and_pages_beside_it_are_not_asked(team: Path) -> None:
    """The hook must not call a README a policy that does not load."""
    ended = run("gatekeeper-policy-check", team, "policies/rollout.json", "policies/README.md")
    assert ended.returncode == 0, ended.stdout


def test_a_policy_that_does_not_load_stops_the_commit(team: Path) -> None:
    """One of two; the message names it."""
    (team / "policies/broken.json").write_text('{"policy_id": "x"}')
    ended = run("gatekeeper-policy-check", team, "policies/rollout.json", "policies/broken.json")
    assert ended.returncode == 65
    assert "policies/broken.json" in ended.stdout


def test_the_hooks_run_for_what_concerns_them() -> None:
    """Golden cases are no policies, but a change of either asks the cases."""
    paths = ["policies/a.json", "policies/a.yaml", "policies/golden/one.json", "policies/README.md", "snapshots/a.json"]
    assert chosen("gatekeeper-policy-check", *paths) == paths[:2]
    assert chosen("gatekeeper-policy-test", *paths) == paths[:3]


def test_the_hooks_are_installed_from_this_repository() -> None:
    """`language: python` installs the repository: the entry's first word must be a program of it."""
    for hook in HOOKS.values():
        assert hook["language"] == "python"
        assert hook["entry"].split()[0] == "gatekeeper"


def test_the_hooks_bring_what_reads_the_files_that_they_are_run_for() -> None:
    """They choose YAML files, and pre-commit installs a repository without its extras."""
    (extra,) = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]["yaml"]
    for hook in HOOKS.values():
        assert re.search(hook["files"], "policies/a.yaml")
        assert hook["additional_dependencies"] == [extra]


def test_a_changed_limit_that_a_golden_case_notices_stops_the_commit(team: Path) -> None:
    """The cases are run for a change of a policy, without its name; they pass as long as it is as it was."""
    assert run("gatekeeper-policy-test", team, "policies/checkout-guarded.json").returncode == 0
    path = team / "policies/checkout-guarded.json"
    policy = yaml.safe_load(path.read_text())
    for guardrail in policy["guardrails"]:
        guardrail["enforcement"] = "observe"
    path.write_text(json.dumps(policy))
    assert run("gatekeeper-policy-test", team, "policies/checkout-guarded.json").returncode == 10
