"""Where the actions take gatekeeper from: what `install` names, else PATH, else the repository they come from."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.actions.site import HEALTHY, Site, script, snapshot, without_gatekeeper
from tests.docs.console import read

if TYPE_CHECKING:
    from pathlib import Path

    from tests.actions.runner import Job

pytestmark = pytest.mark.slow

WORKFLOW = """
jobs:
  gate:
    steps:
      - id: gate
        uses: ./.github/actions/gate
        with: {policy: policies/rollout.json, experiment: exp-42, variant: B, stage: DRY_RUN,
               snapshot: collected.json, evidence: change_id=CHG-123, log: ../decision.ndjson, install: "INSTALL"}
"""
# Notes what is installed, and installs nothing.
PYTHON = """
if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; exit; fi
echo "${@: -1}" >> "$INSTALLED"
"""


def run(site: Site, install: str, *, path: str) -> Job:
    """Ask once, with evidence that is accepted, on a runner with these programs."""
    temporary, checkout = site.base / "runner", site.checkout()
    temporary.mkdir()
    (checkout / "collected.json").write_text(json.dumps(snapshot(HEALTHY)))
    workflow = site.workflow(WORKFLOW.replace("INSTALL", install))
    return workflow.run(checkout, temporary, path=path, environment={"INSTALLED": str(site.base / "installed")})


def installed(site: Site) -> list[str]:
    """What pip was told to install."""
    path = site.base / "installed"
    return path.read_text().splitlines() if path.exists() else []


def wheel(directory: Path) -> Path:
    """A wheel whose program `gatekeeper` is the one under test."""
    path = directory / "gatekeeper-9-py3-none-any.whl"
    program = os.path.join(os.path.dirname(sys.executable), "gatekeeper")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("given.py", f"import os, sys\ndef main(): os.execv({program!r}, ['gatekeeper', *sys.argv[1:]])\n")
        file.writestr("gatekeeper-9.dist-info/METADATA", "Metadata-Version: 2.1\nName: gatekeeper\nVersion: 9\n")
        file.writestr("gatekeeper-9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("gatekeeper-9.dist-info/entry_points.txt", "[console_scripts]\ngatekeeper = given:main\n")
        file.writestr("gatekeeper-9.dist-info/RECORD", "")
    return path


def test_what_the_input_names_is_installed_and_asked(site: Site) -> None:
    """By the real pip, into a place of its own; the PATH of the job has no gatekeeper."""
    job = run(site, str(wheel(site.base)), path=without_gatekeeper(site.base / "bin"))
    assert job.outputs("gate")["proceed"] == "true", job.log
    assert not (site.base / "bin/gatekeeper").exists()


def test_what_cannot_be_installed_asks_nothing(site: Site) -> None:
    """The step fails before the question, and nothing says that it may proceed."""
    job = run(site, str(site.base / "none.whl"), path=without_gatekeeper(site.base / "bin"))
    assert job.failed
    assert job.outputs("gate")["proceed"] == ""


def programs(site: Site, *, gate: str) -> str:
    """Programs with a pip that only takes notes, and with a gatekeeper of one line, if any."""
    directory = site.base / "bin"
    path = without_gatekeeper(directory)
    (directory / "python3").unlink()
    script(directory / "python3", PYTHON)
    if gate:
        script(directory / "gatekeeper", gate)
    return path


def test_the_repository_that_the_action_comes_from_is_installed(site: Site) -> None:
    """Where nothing is on PATH: the same version as the action, and what it needs to read a policy in YAML."""
    (site.base / "work/gatekeeper").mkdir()
    (site.base / "work/gatekeeper/version.py").write_text("")
    site.commit("It is gatekeeper's own repository")
    run(site, "", path=programs(site, gate=""))
    (requirement,) = installed(site)
    assert requirement.endswith("[yaml]")
    assert os.path.realpath(requirement.removesuffix("[yaml]")) == str(site.base / "checkout")


def test_somebody_elses_repository_is_not_installed(site: Site) -> None:
    """A copy of the action lies in it: installing that would run its build."""
    job = run(site, "", path=programs(site, gate=""))
    assert installed(site) == []
    assert job.outputs("gate")["exit_code"] == "127"


def test_a_gatekeeper_on_path_is_taken_as_it_is(site: Site) -> None:
    """The job has installed it: nothing is installed over it, unless the input says so."""
    path = programs(site, gate="exit 65")
    job = run(site, "", path=path)
    assert installed(site) == []
    assert job.outputs("gate")["exit_code"] == "65"


def test_both_actions_install_in_the_same_way() -> None:
    """One step, twice: each action is one directory that can be copied."""
    documents = [yaml.safe_load(read(f".github/actions/{name}/action.yml")) for name in ("gate", "policy-review")]
    assert documents[0]["runs"]["steps"][0] == documents[1]["runs"]["steps"][0]
    assert documents[0]["inputs"]["install"] == documents[1]["inputs"]["install"]
