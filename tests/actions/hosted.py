"""Stands in for the actions of others that our workflows use, by what their pages promise.

Source: README and action.yml of actions/upload-artifact and actions/download-artifact.
"""

from __future__ import annotations

import glob
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PINNED = re.compile(r"(?P<name>[\w-]+/[\w-]+)@[0-9a-f]{40}")


@dataclass(frozen=True)
class Artifacts:
    """The artifacts of workflow runs, one directory each."""

    directory: Path

    def download(self, options: dict[str, str], checkout: Path) -> bool:
        """By `pattern`, finding nothing is no error; by `name` it is."""
        assert set(options) <= {"name", "pattern", "merge-multiple", "path", "run-id", "github-token"}, options
        assert "pattern" not in options or options["merge-multiple"] == "true"
        source = self.directory / options.get("name", options.get("pattern", ""))
        if not source.is_dir():
            return "name" not in options
        shutil.copytree(source, checkout / options["path"], dirs_exist_ok=True)
        return True

    def upload(self, options: dict[str, str], checkout: Path) -> bool:
        """Finding nothing uploads nothing and deletes nothing; else what was there is replaced."""
        assert set(options) == {"name", "overwrite", "path"}, options
        assert options["overwrite"] == "true"
        patterns = options["path"].split()
        found = {name for pattern in patterns if pattern[0] != "!" for name in glob.glob(pattern, root_dir=checkout)}
        found -= {
            name for pattern in patterns if pattern[0] == "!" for name in glob.glob(pattern[1:], root_dir=checkout)
        }
        if found:
            target = self.directory / options["name"]
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for name in found:
                shutil.copy(checkout / name, target)
        return True


def carry_out(uses: str, options: dict[str, str], artifacts: Artifacts, checkout: Path) -> bool:
    """Whether the step succeeded. An action that is not pinned by its commit, or is not known, is refused."""
    pinned = _PINNED.fullmatch(uses)
    assert pinned is not None, f"not pinned by commit: {uses}"
    if pinned["name"] == "actions/download-artifact":
        return artifacts.download(options, checkout)
    if pinned["name"] == "actions/upload-artifact":
        return artifacts.upload(options, checkout)
    if pinned["name"] == "actions/checkout":
        return _check_out(options, checkout)
    assert pinned["name"] == "actions/setup-python", uses  # it is there
    return True


def _check_out(options: dict[str, str], checkout: Path) -> bool:
    """The repository itself was laid out by the test; another branch of it goes to `path`."""
    assert options.pop("persist-credentials") == ("true" if "path" in options else "false")
    assert set(options) <= {"ref", "path", "fetch-depth"}, options
    if "path" not in options:
        return True
    find = ["git", "-C", str(checkout), "remote", "get-url", "origin"]
    origin = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    clone = ["git", "clone", "--quiet", "--branch", options["ref"], origin, str(checkout / options["path"])]
    return subprocess.run(clone, capture_output=True, check=False).returncode == 0
